"""dataset-rt 0.4.8, the system this one replaces: its public iterator and loader.

Fast path: ``for sample in dataset`` with its default prefetch of 64, record hashes are not
checked by it at all. The number of native workers is an option; the report takes the best
of 1, 2 and 4 in each round. Its loader is ``to_torch_dataloader`` with lists of samples, one
native thread per process.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from benchmarks.engines.dicts import as_list
from benchmarks.engines.sources import NamedSource
from benchmarks.trial.consume import Tally, drain_lists, drain_samples
from benchmarks.trial.engine import Engine, Loader
from benchmarks.trial.records import Delivered

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

drt: Any = import_module("dataset_rt")


class OriginalLoader(Loader):
    """``to_torch_dataloader`` with spawned, persistent workers."""

    def __init__(self, dataset: Any, ids: dict[int, int], batch_size: int, workers: int) -> None:
        self._ids = ids
        self._loader = dataset.to_torch_dataloader(
            batch_size=batch_size,
            num_workers=workers,
            native_num_workers=1,
            collate_fn=as_list,
            shuffle=True,
            seed=7,
            verbose=False,
        )

    def drain(self, *, hashed: bool) -> Tally:
        return drain_lists(self._loader, hashed=hashed)

    def delivered(self) -> Iterator[Delivered]:
        for batch in self._loader:
            for data, metadata, cache_id, sample_id in batch:
                yield Delivered(self._ids[cache_id], sample_id, data, metadata)


class OriginalEngine(Engine):
    """See the module text."""

    make_input = drt.CacheInput
    _runtime: Any = None
    _dataset: Any = None

    def versions(self) -> dict[str, str]:
        return {"dataset-rt": version("dataset-rt")}

    def _paths(self) -> list[Path]:
        return [self.store / f"cache-{cache_id}" for cache_id in range(self.spec.caches)]

    def _pool(self) -> Any:
        if self._runtime is None:
            self._runtime = drt.DatasetRuntime(num_workers=self.options["workers"])
        return self._runtime

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        ratio = 1.0 if self.spec.codec == "none" else 2.0
        compression = drt.ShardCompression(algo=self.spec.codec, ratio=ratio)
        results = self._pool().write_cache(
            [NamedSource(cache_id, inputs) for cache_id, inputs in enumerate(caches)],
            directory,
            writer_config=drt.WriterConfig(shard_compression=compression, show_progress=False),
        )
        failed = [result for result in results if not isinstance(result, drt.CacheWriteSuccess)]
        if failed:
            raise RuntimeError(str(failed))

    def open(self) -> None:
        config = drt.ReaderConfig(seed=7, shuffle=True)
        self._dataset = self._pool().cached_dataset(self._paths(), reader_config=config)

    def close(self) -> None:
        self._dataset = None

    def _ids(self) -> dict[int, int]:
        """Position of a cache by the id it hands out, which is a hash of its name."""
        stored = self._dataset.get_metadata()["cache_id"].unique(maintain_order=True)
        return {cache_id: position for position, cache_id in enumerate(stored)}

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        ids = self._ids()
        if kind == "get_item":
            stored = list(ids)
            for number in range(draws):
                cache_id, sample_id = self.spec.identity(number % self.spec.rows)
                sample = self._dataset.get_item(stored[cache_id], sample_id)
                yield Delivered(cache_id, sample_id, sample.data, sample.metadata)
            return
        self._dataset.set_epoch_len(draws)
        for sample in self._dataset:
            yield Delivered(ids[sample.cache_id], sample.sample_id, sample.data, sample.metadata)

    def read(self, draws: int, *, hashed: bool) -> Tally:
        self._dataset.set_epoch_len(draws)
        return drain_samples(self._dataset, hashed=hashed)

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        stored = list(self._ids())
        get_item = self._dataset.get_item
        samples = (get_item(stored[cache_id], sample_id) for cache_id, sample_id in ids)
        return drain_samples(samples, hashed=hashed)

    def verify_store(self) -> None:
        config = drt.ReaderConfig(seed=7, validate_cache=True)
        self._pool().cached_dataset(self._paths(), reader_config=config)

    def table(self) -> int:
        return int(self._dataset.get_metadata().height)

    def weighted(self, weights: array[float]) -> Any:
        numpy: Any = import_module("numpy")
        polars: Any = import_module("polars")
        column = polars.Series("weight", numpy.frombuffer(weights))
        return self._dataset.get_metadata().with_columns(column)

    def update(self, weighted: Any) -> None:
        self._dataset.update_metadata(weighted)

    def first(self) -> Tally:
        sample = next(iter(self._dataset))
        return Tally(1, len(sample.data))

    def loader(self, batch_size: int, workers: int) -> Loader:
        self._dataset.set_epoch_len(self.spec.rows)
        return OriginalLoader(self._dataset, self._ids(), batch_size, workers)


ENGINE = OriginalEngine
