"""The kinds of trial: what is prepared, what is timed, what is left behind."""

from __future__ import annotations

import gc
import os
import random
import shutil
import time
from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.trial import pages
from benchmarks.trial.consume import Tally
from benchmarks.trial.engine import Engine, Loader, NotOfferedError
from benchmarks.trial.meter import Step, child_pids, measure
from benchmarks.trial.spinner import Spinner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.trial.records import Delivered

Steps = dict[str, Step]

_COLD_SHARE = 0.05
"""Largest share of a store in memory that still counts as cold."""

_WARMING_PASSES = 4
"""Draws with replacement reach 98 of 100 samples in so many passes."""

_WARMING_SECONDS = 3.0

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


class ReadTrial(Trial):
    """Iterate over samples; cold ones start from an evicted store in a fresh process."""

    def action(self) -> Tally:
        """One pass."""
        return self.engine.read(self.workload.draws, hashed=self.workload.hashed)

    def prepare(self) -> None:
        self.engine.preload()
        if self.workload.temperature == "warm":
            super().prepare()
            started = time.monotonic()
            for _ in range(_WARMING_PASSES):
                self.action()
                if time.monotonic() - started > _WARMING_SECONDS:
                    break

    def run(self) -> Steps:
        name = self.workload.kind
        if self.workload.temperature == "warm":
            self.action()  # others have had the caches since the last time
            return {name: self._measured(self._repeated(self.action))}
        pages.evict(self.engine.store)
        share = pages.resident_share(self.engine.store)
        if share > _COLD_SHARE:
            raise RuntimeError(f"{share:.0%} of the store stayed in memory: not a cold read")

        def opening() -> Tally:
            self.engine.open()
            return Tally(1, 0)

        return {"open": self._measured(opening), name: self._measured(self.action)}


class BatchTrial(ReadTrial):
    """Iterate over batches."""

    def action(self) -> Tally:
        work = self.workload
        return self.engine.read_batches(work.draws, work.batch_size, hashed=work.hashed)


class FetchTrial(ReadTrial):
    """Read by identity, in an order drawn beforehand."""

    def __init__(self, engine: Engine, workload: Workload, scratch: Path) -> None:
        super().__init__(engine, workload, scratch)
        rows = random.Random(5).choices(range(engine.spec.rows), k=workload.draws)
        self._ids = [engine.spec.identity(row) for row in rows]

    def action(self) -> Tally:
        return self.engine.fetch(self._ids, hashed=self.workload.hashed)


class WriteTrial(Trial):
    """Write a store from memory into a new directory, which is removed afterwards."""

    def check(self) -> Iterator[Delivered]:
        self.engine.open()
        yield from self.engine.delivered("read", self.engine.spec.rows)
        self.engine.close()

    def prepare(self) -> None:
        spec, make = self.engine.spec, self.engine.make_input
        self._size = 0
        self._inputs: list[list[Any]] = []
        for cache_id in range(spec.caches):
            self._inputs.append([])
            for data, metadata in spec.records(cache_id):
                self._size += len(data)
                self._inputs[-1].append(make(data, metadata))

    def run(self) -> Steps:
        target = self.scratch / "written"

        def write() -> Tally:
            self.engine.write(target, self._inputs)
            return Tally(self.engine.spec.rows, self._size)

        os.sync()  # what an earlier contender left unsynced is not this one's to write
        try:
            return {"write": self._measured(write)}
        finally:
            shutil.rmtree(target, ignore_errors=True)


class VerifyTrial(Trial):
    """Hash and compare everything that is stored."""

    def prepare(self) -> None:
        pages.warm(self.engine.store)

    def run(self) -> Steps:
        spec = self.engine.spec
        size = sum(path.stat().st_size for path in self.engine.store.rglob("*") if path.is_file())

        def verify() -> Tally:
            self.engine.verify_store()
            return Tally(spec.rows, size)

        return {"verify": self._measured(verify)}


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


class LoaderTrial(Trial):
    """Drain a DataLoader whose workers have been started by an earlier pass."""

    _loader: Loader

    def prepare(self) -> None:
        super().prepare()
        self._loader = self.engine.loader(self.workload.batch_size, self.workload.workers)
        self._loader.drain(hashed=False)

    def run(self) -> Steps:
        def drain() -> Tally:
            return self._loader.drain(hashed=self.workload.hashed)

        drain()  # others have had the caches since the last time
        return {"loader": self._measured(self._repeated(drain), child_pids())}

    def check(self) -> Iterator[Delivered]:
        self.engine.open()
        yield from self.engine.loader(self.workload.batch_size, self.workload.workers).delivered()
        self.engine.close()


KINDS: dict[str, type[Trial]] = {
    "read": ReadTrial,
    "batches": BatchTrial,
    "get_item": FetchTrial,
    "write": WriteTrial,
    "verify": VerifyTrial,
    "growth": GrowthTrial,
    "loader": LoaderTrial,
}
