"""The trial of what grows with rows: opening, the table, weights, the first draw, resuming."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from benchmarks.trial import pages
from benchmarks.trial.base import Steps, Trial
from benchmarks.trial.consume import Tally
from benchmarks.trial.engine import NotOfferedError

if TYPE_CHECKING:
    from collections.abc import Callable


class GrowthTrial(Trial):
    """Open, look at the table, set weights, draw: each once, in a fresh process."""

    RESUME_AT = 10**9
    SAVES = 10_000
    ONCE = 500

    def prepare(self) -> None:
        self.engine.preload()
        pages.warm(self.engine.store)

    def run(self) -> Steps:
        engine, rows = self.engine, self.engine.spec.rows * self.workload.repeats
        steps: Steps = {}

        def timed(name: str, action: Callable[[], Any], samples: int = 1) -> None:
            def counted() -> Tally:
                action()
                return Tally(samples, 0)

            try:
                steps[name] = self._measured(counted)
            except NotOfferedError:
                return

        timed("open", engine.open)
        timed("table_first", engine.table)
        timed("table_next", engine.table)
        weights = array("d", (1.0 + row % 7 for row in range(rows)))
        try:
            weighted = engine.weighted(weights)
        except NotOfferedError:
            return steps
        timed("update", lambda: engine.update(weighted))
        timed("first_sample", engine.first)
        timed("next_window", engine.first)
        timed("draw", lambda: engine.draw(self.workload.draws), self.workload.draws)
        timed("resume_near", lambda: engine.resume(0))
        timed("resume_far", lambda: engine.resume(self.RESUME_AT))
        timed("read", lambda: engine.read(self.SAVES, hashed=False), self.SAVES)
        timed("save", lambda: engine.save(self.SAVES), self.SAVES)
        try:
            subset = engine.subset(max(1, rows // 10))
        except NotOfferedError:
            return steps
        timed("subset", lambda: engine.update(subset))
        timed("subset_first", engine.first)
        engine.once(weighted)
        timed("once", lambda: engine.draw(self.ONCE), self.ONCE)
        return steps
