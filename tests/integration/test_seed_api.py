"""Code written for the API of the first releases runs unchanged: every name is called."""

import dataclasses
import inspect
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from dataset_rt import api
from support import numbered

NAMES = [
    "CacheInput",
    "CacheSource",
    "CacheSourcesDatasetError",
    "CacheSourcesDatasetResult",
    "CacheSourcesDatasetSuccess",
    "CacheWriteError",
    "CacheWriteResult",
    "CacheWriteSuccess",
    "CachedDataset",
    "CachedSample",
    "DatasetRuntime",
    "ReaderConfig",
    "ShardCompression",
    "SizedTorchIterableDataset",
    "WriterConfig",
    "WriterProfilerConfig",
]


class TextSamples:
    name = "train_records_v1"

    def __iter__(self):
        for text, label in [("Hello world", 0), ("Dataset caching", 1), ("Third", 1)]:
            yield drt.CacheInput(data=text.encode(), metadata={"label": label})


class Empty:
    name = "empty"

    def __iter__(self):
        return iter(())


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_public_in_package_and_api(name: str) -> None:
    assert getattr(drt, name) is getattr(api, name)
    assert name in drt.__all__
    assert name in api.__all__
    assert name in dir(drt)


def test_unknown_names_are_attribute_errors() -> None:
    for module in (drt, api):
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018


def test_config_defaults_are_those_of_the_first_releases() -> None:
    writer = drt.WriterConfig()
    assert (writer.prefetch_size, writer.max_shard_bytes) == (64, 64 * 1024 * 1024)
    assert writer.shard_compression == drt.ShardCompression(algo="none", ratio=1.0)
    assert (writer.show_progress, writer.validate_cache) == (True, False)
    assert writer.profiler == drt.WriterProfilerConfig(
        enabled=False, path=Path("dataset_rt_profile.json")
    )
    reader = drt.ReaderConfig(seed=42)
    assert (reader.prefetch_size, reader.shuffle, reader.validate_cache) == (64, True, False)
    assert writer == api.DEFAULT_WRITER_CONFIG
    assert api.CompressionAlgo is not None


def test_write_cache_takes_one_source_or_a_list(tmp_path: Path) -> None:
    runtime = drt.DatasetRuntime(num_workers=4)
    assert runtime.num_workers == 4
    config = drt.WriterConfig(
        prefetch_size=8,
        max_shard_bytes=1024,
        shard_compression=drt.ShardCompression(algo="lz4", ratio=2.0),
        show_progress=False,
        validate_cache=True,
        profiler=drt.WriterProfilerConfig(enabled=True, path=tmp_path / "profile.json"),
    )
    (one,) = runtime.write_cache(TextSamples(), str(tmp_path), writer_config=config)
    match one:
        case drt.CacheWriteSuccess(source_name, path):
            assert source_name == "train_records_v1"
            assert path == tmp_path / "train_records_v1"
        case drt.CacheWriteError(source_name, message):
            pytest.fail(f"{source_name}: {message}")
    assert (tmp_path / "profile.json").is_file()

    first, second = runtime.write_cache([Empty(), numbered(3)], tmp_path, writer_config=config)
    assert first == drt.CacheWriteError(
        source_name="empty", message="cache source yielded no samples"
    )
    assert isinstance(second, drt.CacheWriteSuccess)


def test_from_cache_sources_and_the_whole_dataset(tmp_path: Path) -> None:
    runtime = drt.DatasetRuntime(num_workers=1)
    result = runtime.from_cache_sources(
        [TextSamples(), Empty()],
        tmp_path,
        reader_config=drt.ReaderConfig(seed=42, prefetch_size=4, shuffle=False),
        writer_config=drt.WriterConfig(show_progress=False),
    )
    match result:
        case drt.CacheSourcesDatasetSuccess(dataset, results):
            assert [type(entry) for entry in results] == [
                drt.CacheWriteSuccess,
                drt.CacheWriteError,
            ]
        case error:
            pytest.fail(str(error))

    assert dataset.cache_paths == [tmp_path / "train_records_v1"]
    assert dataset.reader_config == drt.ReaderConfig(seed=42, prefetch_size=4, shuffle=False)
    assert len(dataset) == 3
    samples = list(dataset)
    assert samples[1] == drt.CachedSample(
        data=b"Dataset caching", metadata={"label": 1}, cache_id=0, sample_id=1
    )
    assert isinstance(samples[0], drt.CachedSample)

    metadata = dataset.get_metadata()
    assert metadata.columns == ["cache_id", "sample_id", "label", "weight"]
    assert dataset.samples_metadata().equals(metadata)
    dataset.update_metadata(metadata.head(2))
    assert len(dataset) == 2
    dataset.set_samples_metadata(metadata.filter(pl.col("label") == 1))
    dataset.set_epoch_len(5)
    assert [sample.sample_id for sample in dataset] == [1, 2, 1, 2, 1]


def test_no_cache_gives_an_error_value(tmp_path: Path) -> None:
    runtime = drt.DatasetRuntime(num_workers=1)
    result = runtime.from_cache_sources(
        Empty(),
        tmp_path,
        reader_config=drt.ReaderConfig(seed=1),
        writer_config=drt.WriterConfig(show_progress=False),
    )
    match result:
        case drt.CacheSourcesDatasetError(results, message):
            assert results == [drt.CacheWriteError("empty", "cache source yielded no samples")]
            assert message
        case _:
            pytest.fail("a dataset without caches")


def test_cached_dataset_opens_paths_of_either_kind(tmp_path: Path) -> None:
    runtime = drt.DatasetRuntime(num_workers=2)
    runtime.write_cache(
        [numbered(2, "a"), numbered(3, "b")],
        tmp_path,
        writer_config=drt.WriterConfig(show_progress=False),
    )
    dataset = runtime.cached_dataset(
        [tmp_path / "b", str(tmp_path / "a")],
        reader_config=drt.ReaderConfig(
            seed=42, prefetch_size=64, shuffle=False, validate_cache=True
        ),
    )
    assert [(s.cache_id, s.sample_id) for s in dataset] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


def test_dataset_is_not_made_by_hand() -> None:
    with pytest.raises(TypeError, match="DatasetRuntime"):
        drt.CachedDataset()


def test_source_protocol_and_result_unions_are_usable() -> None:
    assert isinstance(TextSamples(), drt.CacheSource)
    assert not isinstance(object(), drt.CacheSource)
    failure = drt.CacheWriteError("a", "b")
    assert isinstance(failure, drt.CacheWriteResult)
    assert isinstance(drt.CacheSourcesDatasetError([], ""), drt.CacheSourcesDatasetResult)
    assert dataclasses.is_dataclass(failure)


def test_torch_view_is_sized_and_yields_samples(tmp_path: Path) -> None:
    from torch.utils import data as torch_data

    runtime = drt.DatasetRuntime(num_workers=2)
    runtime.write_cache(numbered(5), tmp_path, writer_config=drt.WriterConfig(show_progress=False))
    dataset = runtime.cached_dataset(
        [tmp_path / "numbers"], reader_config=drt.ReaderConfig(seed=3, shuffle=False)
    )
    view = dataset.to_torch_iterable_dataset()
    assert isinstance(view, drt.SizedTorchIterableDataset)
    assert isinstance(view, torch_data.IterableDataset)
    assert len(view) == 5
    loader = torch_data.DataLoader(view, batch_size=None, num_workers=0)
    samples = list(loader)
    assert [sample.sample_id for sample in samples] == [0, 1, 2, 3, 4]
    assert isinstance(samples[0], drt.CachedSample)


def test_public_names_have_documentation() -> None:
    for name in NAMES:
        value = getattr(drt, name)
        if inspect.isclass(value):
            assert value.__doc__, name
