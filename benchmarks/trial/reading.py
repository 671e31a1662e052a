"""Trials that read from a store on this disk."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from benchmarks.trial import pages
from benchmarks.trial.base import Steps, Trial, Workload
from benchmarks.trial.consume import Tally
from benchmarks.trial.meter import child_pids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.trial.engine import Engine, Loader
    from benchmarks.trial.records import Delivered

_COLD_SHARE = 0.05
"""Largest share of a store in memory that still counts as cold."""

_WARMING_PASSES = 4
"""Draws with replacement reach 98 of 100 samples in so many passes."""

_WARMING_SECONDS = 3.0


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
