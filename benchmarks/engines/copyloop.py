"""A plain copy loop: the payload slices of one mapping, in shuffled order, in pure Python.

It reads the floor's files. No metadata, no ids, no checks: what anyone could write in ten
lines, and the second yardstick besides the floor.
"""

from __future__ import annotations

import mmap
import random
from array import array
from typing import TYPE_CHECKING, Any

from benchmarks.engines.flat_store import OFFSETS, PAYLOAD, write_flat_store
from benchmarks.trial.consume import Tally, drain_payloads
from benchmarks.trial.engine import Engine
from benchmarks.trial.records import Delivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


class CopyLoopEngine(Engine):
    """See the module text."""

    _view: mmap.mmap
    _offsets: array[int]
    _random: random.Random

    def versions(self) -> dict[str, str]:
        return {"copyloop": "1"}

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        write_flat_store(directory, caches)

    def open(self) -> None:
        with (self.store / PAYLOAD).open("rb") as file:
            self._view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self._offsets = array("Q", (self.store / OFFSETS).read_bytes())
        self._random = random.Random(7)

    def close(self) -> None:
        self._view.close()

    def _rows(self, draws: int) -> list[int]:
        return self._random.choices(range(self.spec.rows), k=draws)

    def _payloads(self, rows: Iterable[int]) -> Iterator[bytes]:
        view, offsets = self._view, self._offsets
        return (view[offsets[row] : offsets[row + 1]] for row in rows)

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        del kind
        rows = self._rows(draws)
        for row, payload in zip(rows, self._payloads(rows), strict=True):
            yield Delivered(*self.spec.identity(row), payload, None)

    def read(self, draws: int, *, hashed: bool) -> Tally:
        return drain_payloads(self._payloads(self._rows(draws)), hashed=hashed)


ENGINE = CopyLoopEngine
