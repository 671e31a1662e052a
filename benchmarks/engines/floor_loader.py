"""The floor's DataLoader: one uint8 tensor per batch, filled from the mapping in the worker.

With ``empty`` it opens nothing and sends one small tensor per batch: what torch itself
costs, in time and in a worker's memory.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.trial.consume import Tally, drain_payloads
from benchmarks.trial.engine import Loader
from benchmarks.trial.records import Delivered, RecordSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SEED = 7


class _Sample(NamedTuple):
    data: bytes
    metadata: dict[str, bool | int | float | str]
    cache_id: int
    sample_id: int


class FloorDataset:
    """Map-style dataset whose items are whole batches, by position of their first draw."""

    def __init__(self, spec: RecordSpec, store: Path, batch_size: int, *, empty: bool) -> None:
        self._spec = spec
        self._store = store
        self._batch_size = batch_size
        self._empty = empty
        self._floor: Any = None

    def __len__(self) -> int:
        return (self._spec.rows + self._batch_size - 1) // self._batch_size

    def open(self) -> Any:
        """The mapping of this process."""
        if self._floor is None:
            module: Any = import_module("drt_floor")
            starts = self._spec.cache_starts()
            self._floor = module.Floor(os.fspath(self._store), starts, _Sample)
        return self._floor

    def span(self, batch: int) -> tuple[int, int]:
        """Position of the batch's first draw, and its number of draws."""
        start = batch * self._batch_size
        return start, min(self._batch_size, self._spec.rows - start)

    def __getitem__(self, batch: int) -> Any:
        torch: Any = import_module("torch")
        if self._empty:
            return torch.zeros(8, dtype=torch.uint8)
        buffer = self.open().batch(_SEED, *self.span(batch))
        return torch.frombuffer(buffer, dtype=torch.uint8)


class FloorLoader(Loader):
    """See the module text."""

    def __init__(
        self, spec: RecordSpec, store: Path, batch_size: int, workers: int, *, empty: bool
    ) -> None:
        data: Any = import_module("torch.utils.data")
        self._spec = spec
        self._empty = empty
        self._dataset = FloorDataset(spec, store, batch_size, empty=empty)
        self._loader = data.DataLoader(
            self._dataset,
            batch_size=None,
            num_workers=workers,
            multiprocessing_context="spawn" if workers else None,
            persistent_workers=workers > 0,
        )

    def drain(self, *, hashed: bool) -> Tally:
        buffers = (batch.numpy() for batch in self._loader)
        return drain_payloads(buffers, hashed=hashed)._replace(samples=self._spec.rows)

    def delivered(self) -> Iterator[Delivered]:
        if self._empty:
            sample = next(iter(self._dataset.open().draws(_SEED, 0, 1)))
            yield Delivered(sample.cache_id, sample.sample_id, sample.data, sample.metadata)
            return
        for number, batch in enumerate(self._loader):
            buffer, offset = batch.numpy().tobytes(), 0
            for sample in self._dataset.open().draws(_SEED, *self._dataset.span(number)):
                payload = buffer[offset : offset + len(sample.data)]
                offset += len(payload)
                yield Delivered(sample.cache_id, sample.sample_id, payload, None)
