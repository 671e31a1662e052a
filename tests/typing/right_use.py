"""Code of a user that type checkers accept, with the types they must find. Never run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import dataset_rt as drt
import polars as pl
from typing_extensions import assert_type

if TYPE_CHECKING:
    from collections.abc import Iterator


class Squares:
    """A source without a base class: its name and its iterator make it one."""

    name = "squares"

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for number in range(10):
            yield drt.CacheInput(bytes(number), {"number": number, "even": number % 2 == 0})


def write(runtime: drt.DatasetRuntime) -> None:
    results = runtime.write_cache(Squares(), Path("base"))
    assert_type(results, list[drt.CacheWriteResult])
    for result in results:
        if isinstance(result, drt.CacheWriteSuccess):
            assert_type(result.path, Path)
            assert_type(result.row_count, int)
        else:
            assert_type(result, drt.CacheWriteError)
            assert_type(result.error, Exception | None)


def read(runtime: drt.DatasetRuntime) -> None:
    config = drt.ReaderConfig(seed=7, shuffle=True, replacement=False, on_corrupt="skip")
    dataset = runtime.cached_dataset(["base/squares"], reader_config=config)
    assert_type(dataset, drt.CachedDataset)
    assert_type(len(dataset), int)
    for sample in dataset:
        assert_type(sample, drt.CachedSample)
        assert_type(sample.data, bytes)
        assert_type(sample.metadata, dict[str, bool | int | float | str])
    assert_type(dataset.get_item(0, 1), drt.CachedSample)
    assert_type(dataset.partition(0, 2), drt.CachedDataset)


def read_batches(dataset: drt.CachedDataset) -> None:
    batches = dataset.batches(16, drop_last=True)
    assert_type(batches.position, int)
    for batch in batches:
        assert_type(batch, drt.SampleBatch)
        assert_type(batch.data, drt.PayloadBuffer)
        assert_type(bytes(batch.data), bytes)
        assert_type(batch.offsets.tolist(), list[int])
        assert_type(batch[0], drt.CachedSample)
        assert_type(pl.DataFrame(batch.metadata), pl.DataFrame)


def count(dataset: drt.CachedDataset) -> None:
    assert_type(dataset.stats(), drt.ReadStats)
    assert_type(dataset.stats().wait_seconds, float)


def edit(dataset: drt.CachedDataset) -> None:
    table = dataset.get_metadata()
    assert_type(table, pl.DataFrame)
    dataset.update_metadata(table.with_columns(weight=pl.lit(2.0)))
    dataset.set_epoch_len(100)


def resume(dataset: drt.CachedDataset) -> None:
    assert_type(dataset.position, int)
    dataset.load_state_dict(dataset.state_dict())
    assert_type(dataset.plan(5), pl.DataFrame)
    assert_type(dataset.sampling_report(0, 5, by="number"), pl.DataFrame)
    assert_type(dataset.draw_seed(0), int)


def prepare(runtime: drt.DatasetRuntime) -> drt.CachedDataset:
    outcome = runtime.from_cache_sources(
        [Squares()], "base", reader_config=drt.ReaderConfig(seed=1)
    )
    if isinstance(outcome, drt.CacheSourcesDatasetError):
        raise SystemExit(outcome.message)
    assert_type(outcome, drt.CacheSourcesDatasetSuccess)
    return outcome.dataset


def from_afar(runtime: drt.DatasetRuntime, path: str) -> drt.CachedDataset:
    sent = drt.upload(path, "s3://bucket/cache", progress=lambda done, total: print(done / total))
    assert_type(sent, drt.CacheUpload)
    store = drt.StoreConfig(path="store", limit_bytes=2**30)
    dataset = runtime.cached_dataset(
        [sent.url], reader_config=drt.ReaderConfig(seed=1), store_config=store
    )
    assert_type(dataset.cache_urls, list[str | None])
    assert_type(dataset.stats().fetched_bytes, int)
    return dataset


def look_after(path: str) -> None:
    report = drt.verify(path, num_workers=2, progress=lambda done, total: print(done / total))
    assert_type(report, drt.CacheVerification)
    for damage in report.damages:
        assert_type(damage.error, drt.CorruptCacheError)
        assert_type(damage.sample_ids, range | None)
    facts = drt.inspect(path)
    assert_type(facts.metadata_schema, dict[str, str])
    assert_type(facts.files[0], drt.CacheFileInfo)
    assert_type(drt.convert(path, "new", compression="lz4"), drt.CacheWriteSuccess)
