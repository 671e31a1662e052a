"""What every kind of trial is: something is prepared, something is timed."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.trial import pages
from benchmarks.trial.consume import Tally
from benchmarks.trial.meter import Step, measure
from benchmarks.trial.spinner import Spinner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.trial.engine import Engine
    from benchmarks.trial.records import Delivered

Steps = dict[str, Step]

_CHECKED_DRAWS = 20_000
"""Samples checked before timing; small sets are checked whole, with repeats."""


@dataclass(frozen=True)
class Workload:
    """What a trial does; the same fields as in a definition's ``[workload]``."""

    kind: str
    draws: int
    consume: str
    temperature: str
    spinner: bool
    batch_size: int
    workers: int
    pass_seconds: float
    repeats: int

    @property
    def hashed(self) -> bool:
        """Whether each payload is hashed by the consumer."""
        return self.consume == "crc32"


class Trial(ABC):
    """One kind of trial with one engine. ``prepare`` once, then ``run`` per round."""

    def __init__(self, engine: Engine, workload: Workload, scratch: Path) -> None:
        self.engine = engine
        self.workload = workload
        self.scratch = scratch

    def check(self) -> Iterator[Delivered]:
        """Deliver samples by the path that will be timed."""
        self.engine.open()
        draws = min(_CHECKED_DRAWS, max(self.workload.draws, self.engine.spec.rows))
        yield from self.engine.delivered(self.workload.kind, draws)
        self.engine.close()

    def prepare(self) -> None:
        """Do whatever the first run must not pay for."""
        pages.warm(self.engine.store)
        self.engine.open()

    @abstractmethod
    def run(self) -> Steps:
        """Do it once and measure."""

    def _repeated(self, action: Callable[[], Tally]) -> Callable[[], Tally]:
        """Repeat a pass until the trial is long enough to be measured."""
        enough_ns = int(self.workload.pass_seconds * 1e9)

        def passes() -> Tally:
            total = Tally(0, 0)
            start = time.perf_counter_ns()
            while True:
                total = total.plus(action())
                if time.perf_counter_ns() - start >= enough_ns:
                    return total

        return passes

    def _measured(self, action: Callable[[], Tally], children: list[int] | None = None) -> Step:
        gc.collect()
        if not self.workload.spinner:
            return measure(action, children=children or ())
        with Spinner() as spinner:
            turns, cpu_ns = spinner.turns, spinner.cpu_ns()
            step = measure(action, children=children or ())
            return replace(
                step,
                cpu_ns=step.cpu_ns - (spinner.cpu_ns() - cpu_ns),
                spinner_turns=spinner.turns - turns,
            )
