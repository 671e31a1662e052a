"""The trial of a store that is far away."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.trial import objects
from benchmarks.trial.base import Steps, Trial
from benchmarks.trial.consume import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.trial.records import Delivered


class RemoteTrial(Trial):
    """Two epochs out of an object store, the first with nothing of it on the disk."""

    def _opened(self, local: Path) -> None:
        self.engine.open_remote(objects.url_of(self._prefix()), local)

    def _prefix(self) -> str:
        store = self.engine.store.parent
        return f"{store.parent.name}/{store.name}"

    def check(self) -> Iterator[Delivered]:
        objects.put_folder(self.engine.store, self._prefix())
        with tempfile.TemporaryDirectory(dir=self.scratch) as local:
            self._opened(Path(local))
            yield from self.engine.delivered(self.workload.kind, self.engine.spec.rows)
            self.engine.close()

    def prepare(self) -> None:
        self.engine.preload()

    def run(self) -> Steps:
        steps: Steps = {}

        def timed(name: str, action: Callable[[], Tally]) -> None:
            before = objects.sent_bytes()
            step = self._measured(action)
            steps[name] = replace(step, fetched_bytes=objects.sent_bytes() - before)

        def epoch() -> Tally:
            return self.engine.read(self.engine.spec.rows, hashed=self.workload.hashed)

        with tempfile.TemporaryDirectory(dir=self.scratch) as local:

            def opening() -> Tally:
                self._opened(Path(local))
                return Tally(1, 0)

            timed("open", opening)
            timed("first_epoch", epoch)
            timed("second_epoch", epoch)
            self.engine.close()
        return steps
