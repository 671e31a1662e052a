"""lmdb: one environment, one key per sample, payload only.

Fast path: a read-only environment without locking and read-ahead, one transaction, ``get``
by an 8-byte big-endian key, in an order shuffled by ``random``. It hands out payload bytes
and neither metadata nor a checksum, so it does less than the others. Writing is one
transaction with the default syncs.
"""

from __future__ import annotations

import os
import random
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any

from benchmarks.trial.consume import Tally, drain_payloads
from benchmarks.trial.engine import Engine
from benchmarks.trial.records import Delivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

lmdb: Any = import_module("lmdb")

_KEY = Struct(">Q")
_MAP_BYTES = 1 << 36


class LmdbEngine(Engine):
    """See the module text."""

    _environment: Any
    _transaction: Any
    _random: random.Random

    def versions(self) -> dict[str, str]:
        library = ".".join(map(str, lmdb.version()))
        return {"lmdb": str(lmdb.__version__), "liblmdb": library}

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        directory.mkdir(parents=True)
        starts = self.spec.cache_starts()
        with (
            lmdb.open(os.fspath(directory), map_size=_MAP_BYTES) as environment,
            environment.begin(write=True) as transaction,
        ):
            for start, records in zip(starts[:-1], caches, strict=True):
                for row, record in enumerate(records, start):
                    transaction.put(_KEY.pack(row), record[0], append=True)

    def open(self) -> None:
        self._environment = lmdb.open(
            os.fspath(self.store), readonly=True, lock=False, readahead=False
        )
        self._transaction = self._environment.begin()
        self._random = random.Random(7)

    def close(self) -> None:
        self._transaction.abort()
        self._environment.close()

    def _payloads(self, rows: Iterable[int]) -> Iterator[bytes]:
        get, pack = self._transaction.get, _KEY.pack
        return (get(pack(row)) for row in rows)

    def _rows(self, draws: int) -> list[int]:
        return self._random.choices(range(self.spec.rows), k=draws)

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        del kind
        rows = self._rows(draws)
        for row, payload in zip(rows, self._payloads(rows), strict=True):
            yield Delivered(*self.spec.identity(row), payload, None)

    def read(self, draws: int, *, hashed: bool) -> Tally:
        return drain_payloads(self._payloads(self._rows(draws)), hashed=hashed)

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        starts = self.spec.cache_starts()
        rows = (starts[cache_id] + sample_id for cache_id, sample_id in ids)
        return drain_payloads(self._payloads(rows), hashed=hashed)


ENGINE = LmdbEngine
