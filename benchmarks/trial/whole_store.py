"""Trials on a whole store: it is written, it is verified."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from benchmarks.trial import pages
from benchmarks.trial.base import Steps, Trial
from benchmarks.trial.consume import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.trial.records import Delivered


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
