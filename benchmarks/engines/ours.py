"""dataset_rt of this checkout, through its public API and with its defaults.

Record checksums are on, prefetch is the default, and the runtime has the number of threads
that the options say. The loader is ``to_torch_dataloader``: with workers, which are spawned
and persistent, the batches it makes by itself, of which every payload is taken as bytes;
without workers lists of samples, as for the others, because nothing has to be sent.
Out of an object store each row is drawn once per epoch, as the others do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
from dataset_rt import _native

from benchmarks.engines.dicts import as_list
from benchmarks.engines.sources import NamedSource
from benchmarks.trial.consume import Tally, drain_lists, drain_payloads, drain_samples
from benchmarks.trial.engine import Engine, Loader
from benchmarks.trial.records import Delivered

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_SEED = 7


class OursLoader(Loader):
    """``to_torch_dataloader``; each pass is the dataset's next window."""

    def __init__(self, dataset: drt.CachedDataset, batch_size: int, workers: int) -> None:
        options: dict[str, Any] = {"collate_fn": as_list}
        if workers:
            options = {"multiprocessing_context": "spawn", "persistent_workers": True}
        self._is_listed = not workers
        self._loader = dataset.to_torch_dataloader(
            batch_size=batch_size, num_workers=workers, **options
        )

    def drain(self, *, hashed: bool) -> Tally:
        if self._is_listed:
            return drain_lists(self._loader, hashed=hashed)
        total = Tally(0, 0)
        for batch in self._loader:
            total = total.plus(drain_payloads(batch.data, hashed=hashed))
        return total

    def delivered(self) -> Iterator[Delivered]:
        for batch in self._loader:
            samples = batch
            if not self._is_listed:
                samples = [batch.sample(number) for number in range(len(batch.data))]
            for data, metadata, cache_id, sample_id in samples:
                yield Delivered(cache_id, sample_id, data, metadata)


class OursEngine(Engine):
    """See the module text."""

    make_input = drt.CacheInput
    _runtime: drt.DatasetRuntime | None = None
    _opened: drt.CachedDataset | None = None

    def versions(self) -> dict[str, str]:
        return {"dataset_rt": _native.__version__}

    def build_profile(self) -> str:
        return _native.__build_profile__

    def preload(self) -> None:
        # Names of the package load what they need when they are first used.
        import_module("polars")
        drt.ReaderConfig(seed=_SEED)
        self._pool()

    def _paths(self) -> list[Path]:
        return [self.store / f"cache-{cache_id}" for cache_id in range(self.spec.caches)]

    def _pool(self) -> drt.DatasetRuntime:
        if self._runtime is None:
            self._runtime = drt.DatasetRuntime(num_workers=int(self.options["workers"]))
        return self._runtime

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        ratio = 1.0 if self.spec.codec == "none" else 2.0
        compression = drt.ShardCompression.model_validate({"algo": self.spec.codec, "ratio": ratio})
        results = self._pool().write_cache(
            [NamedSource(cache_id, inputs) for cache_id, inputs in enumerate(caches)],
            directory,
            writer_config=drt.WriterConfig(shard_compression=compression, show_progress=False),
        )
        failed = [result for result in results if not isinstance(result, drt.CacheWriteSuccess)]
        if failed:
            raise RuntimeError(str(failed))

    def open(self) -> None:
        config = drt.ReaderConfig(seed=_SEED)
        self._opened = self._pool().cached_dataset(self._paths(), reader_config=config)

    def open_remote(self, url: str, local: Path) -> None:
        names = [path.name for path in self._paths()]
        self._opened = self._pool().cached_dataset(
            [f"{url}/{name}" for name in names],
            reader_config=drt.ReaderConfig(seed=_SEED, replacement=False),
            store_config=drt.StoreConfig(path=local),
        )

    def close(self) -> None:
        self._opened = None

    @property
    def _dataset(self) -> drt.CachedDataset:
        if self._opened is None:
            raise RuntimeError("not open")
        return self._opened

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        dataset = self._dataset
        if kind == "get_item":
            for number in range(draws):
                sample = dataset.get_item(*self.spec.identity(number % self.spec.rows))
                yield Delivered(sample.cache_id, sample.sample_id, sample.data, sample.metadata)
            return
        dataset.set_epoch_len(draws)
        if kind == "batches" and not self.options.get("single"):
            for batch in dataset.batches(256):
                for data, metadata, cache_id, sample_id in batch:
                    yield Delivered(cache_id, sample_id, data, metadata)
            return
        for data, metadata, cache_id, sample_id in dataset:
            yield Delivered(cache_id, sample_id, data, metadata)

    def read(self, draws: int, *, hashed: bool) -> Tally:
        self._dataset.set_epoch_len(draws)
        return drain_samples(self._dataset, hashed=hashed)

    def read_batches(self, draws: int, batch_size: int, *, hashed: bool) -> Tally:
        if self.options.get("single"):
            return self.read(draws, hashed=hashed)
        self._dataset.set_epoch_len(draws)
        batches = self._dataset.batches(batch_size)
        return drain_payloads((batch.data for batch in batches), hashed=hashed)._replace(
            samples=draws
        )

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        get_item = self._dataset.get_item
        samples = (get_item(cache_id, sample_id) for cache_id, sample_id in ids)
        return drain_samples(samples, hashed=hashed)

    def verify_store(self) -> None:
        config = drt.ReaderConfig(seed=_SEED, validate_cache=True)
        self._pool().cached_dataset(self._paths(), reader_config=config)

    def table(self) -> int:
        return self._dataset.get_metadata().height

    def weighted(self, weights: array[float]) -> Any:
        numpy: Any = import_module("numpy")
        polars: Any = import_module("polars")
        column = polars.Series("weight", numpy.frombuffer(weights))
        table = self._dataset.get_metadata()
        repeats = len(column) // table.height
        if repeats == 1:
            return table.with_columns(column)
        # In one piece, or Polars makes it one while it is handed over, and keeps both.
        many = polars.concat([table] * repeats, rechunk=False)
        return many.with_columns(column).rechunk()

    def update(self, weighted: Any) -> None:
        self._dataset.update_metadata(weighted)

    def first(self) -> Tally:
        sample = next(iter(self._dataset))
        return Tally(1, len(sample.data))

    def draw(self, draws: int) -> None:
        self._dataset.plan(draws)

    def resume(self, position: int) -> Tally:
        state = self._dataset.state_dict()
        state["position"] = position
        state["window_end"] = position + len(self._dataset)
        self._dataset.load_state_dict(state)
        return self.first()

    def save(self, draws: int) -> Tally:
        self._dataset.set_epoch_len(draws)
        iterator = iter(self._dataset)
        size = 0
        for sample in iterator:
            size += len(sample.data)
            iterator.state_dict()
        return Tally(draws, size)

    def subset(self, rows: int) -> Any:
        table = self._dataset.get_metadata()
        return table.gather_every(max(1, table.height // rows))

    def once(self, weighted: Any) -> None:
        config = drt.ReaderConfig(seed=_SEED, replacement=False)
        self._opened = self._pool().cached_dataset(self._paths(), reader_config=config)
        self._opened.update_metadata(weighted)

    def loader(self, batch_size: int, workers: int) -> Loader:
        self._dataset.set_epoch_len(self.spec.rows)
        return OursLoader(self._dataset, batch_size, workers)


ENGINE = OursEngine
