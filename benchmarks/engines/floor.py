"""The floor: the C iterator of ``benchmarks/floor``, compiled into this environment.

It hands out what a reader of ours hands out, a named tuple of payload bytes, a dict of the
four metadata values and two ids, copied from a mapping in the consumer's thread. It checks
nothing. Its writer is a plain loop over buffered files without checksum or sync, its
verification a fast hash of the files on two threads, its loader sends each batch as one
buffer.
"""

from __future__ import annotations

import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.engines.flat_store import PAYLOAD, write_flat_store
from benchmarks.trial.consume import Tally, drain_payloads, drain_samples
from benchmarks.trial.engine import Engine, Loader
from benchmarks.trial.records import Delivered, Metadata

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

drt_floor: Any = import_module("drt_floor")

_SEED = 7
_HASH_BLOCK_BYTES = 4 << 20


class Sample(NamedTuple):
    """The same shape as a sample of ours."""

    data: bytes
    metadata: Metadata
    cache_id: int
    sample_id: int


def _hash_range(path: Path, start: int, stop: int) -> int:
    """XXH3-128 of a part of a file; hashing releases the GIL."""
    xxhash: Any = import_module("xxhash")
    hasher = xxhash.xxh3_128()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
        data = memoryview(view)
        for block in range(start, stop, _HASH_BLOCK_BYTES):
            with data[block : min(block + _HASH_BLOCK_BYTES, stop)] as part:
                hasher.update(part)
        data.release()
    return int(hasher.intdigest())


class FloorEngine(Engine):
    """See the module text."""

    _floor: Any = None
    _position = 0

    def versions(self) -> dict[str, str]:
        return {"floor": "1"}

    def build_profile(self) -> str:
        return "release" if drt_floor.optimized else "debug"

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        write_flat_store(directory, caches)

    def open(self) -> None:
        self._floor = drt_floor.Floor(os.fspath(self.store), self.spec.cache_starts(), Sample)
        self._position = 0

    def close(self) -> None:
        self._floor = None

    def _claim(self, draws: int) -> int:
        start = self._position
        self._position += draws
        return start

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        if kind == "batches":
            yield from self._delivered_batch(draws)
            return
        for sample in self._floor.draws(_SEED, self._claim(draws), draws):
            yield Delivered(sample.cache_id, sample.sample_id, sample.data, sample.metadata)

    def _delivered_batch(self, draws: int) -> Iterator[Delivered]:
        """Cut one buffer into payloads by the lengths that single samples of it have."""
        start = self._claim(draws)
        buffer = bytes(self._floor.batch(_SEED, start, draws))
        offset = 0
        for sample in self._floor.draws(_SEED, start, draws):
            payload = buffer[offset : offset + len(sample.data)]
            offset += len(payload)
            yield Delivered(sample.cache_id, sample.sample_id, payload, None)

    def read(self, draws: int, *, hashed: bool) -> Tally:
        samples = self._floor.draws(_SEED, self._claim(draws), draws)
        return drain_samples(samples, hashed=hashed)

    def read_batches(self, draws: int, batch_size: int, *, hashed: bool) -> Tally:
        start = self._claim(draws)
        batch = self._floor.batch
        buffers = (
            batch(_SEED, first, min(batch_size, start + draws - first))
            for first in range(start, start + draws, batch_size)
        )
        return drain_payloads(buffers, hashed=hashed)._replace(samples=draws)

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        fetch = self._floor.fetch
        return drain_samples((fetch(*identity) for identity in ids), hashed=hashed)

    def verify_store(self) -> None:
        path = self.store / PAYLOAD
        middle = path.stat().st_size // 2
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(_hash_range, path, 0, middle)
            second = threads.submit(_hash_range, path, middle, path.stat().st_size)
            first.result()
            second.result()

    def weighted(self, weights: array[float]) -> Any:
        return weights

    def update(self, weighted: Any) -> None:
        self._floor.weigh(weighted)
        self._position = 0

    def draw(self, draws: int) -> None:
        self._floor.rows(_SEED, self._claim(draws), draws)

    def resume(self, position: int) -> Tally:
        self._position = position
        return self.first()

    def loader(self, batch_size: int, workers: int) -> Loader:
        from benchmarks.engines.floor_loader import FloorLoader

        return FloorLoader(self.spec, self.store, batch_size, workers, empty=bool(self.options))


ENGINE = FloorEngine
