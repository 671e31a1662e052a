"""Configs: shape refused by the model, rules across fields by the core, frozen, picklable."""

import pickle
from pathlib import Path

import dataset_rt as drt
import numpy as np
import pydantic
import pytest
from support import numbered, open_numbers


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63, 2**64 - 1, np.uint64(2**64 - 1), np.int8(3)])
def test_seed_takes_the_whole_range(seed: int) -> None:
    assert drt.ReaderConfig(seed=seed).seed == int(seed)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True, b"1"])
def test_seed_outside_is_refused_by_the_model(seed: object) -> None:
    with pytest.raises(pydantic.ValidationError):
        drt.ReaderConfig(seed=seed)


def test_seed_is_required() -> None:
    with pytest.raises(pydantic.ValidationError):
        drt.ReaderConfig()


@pytest.mark.parametrize(
    "fields",
    [
        {"prefetch_size": 0},
        {"prefetch_size": -1},
        {"prefetch_size": True},
        {"prefetch_size": "64"},
        {"shuffle": 1},
        {"shuffle": "yes"},
        {"validate_cache": None},
        {"replacement": 0},
        {"verify_records": "on"},
        {"on_corrupt": "ignore"},
        {"mapped": 2},
        {"unknown": 1},
        {"shuffle": False, "replacement": False},
    ],
)
def test_reader_config_refuses(fields: dict[str, object]) -> None:
    with pytest.raises(pydantic.ValidationError):
        drt.ReaderConfig(seed=1, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"prefetch_size": 0},
        {"max_shard_bytes": 0},
        {"max_shard_bytes": 1.5},
        {"show_progress": "no"},
        {"on_version_change": "ask"},
        {"num_processes": -1},
        {"num_processes": 1025},
        {"num_processes": True},
        {"process_timeout_seconds": 0.0},
        {"process_timeout_seconds": float("nan")},
        {"shard_compression": {"algo": "zstd"}},
        {"shard_compression": {"algo": "none", "ratio": 2.0}},
        {"shard_compression": {"algo": "lz4", "ratio": 0.0}},
        {"shard_compression": {"algo": "lz4", "ratio": float("inf")}},
        {"shard_compression": {"algo": "lz4", "ratio": float("nan")}},
        {"shard_compression": {"algo": "lz4", "level": 3}},
        {"profiler": {"enabled": "yes"}},
        {"unknown": 1},
    ],
)
def test_writer_config_refuses(fields: dict[str, object]) -> None:
    with pytest.raises(pydantic.ValidationError):
        drt.WriterConfig(**fields)


def test_additions_have_their_defaults() -> None:
    reader = drt.ReaderConfig(seed=1)
    assert reader.replacement is True
    assert reader.verify_records is True
    assert reader.on_corrupt == "raise"
    assert reader.mapped is True
    writer = drt.WriterConfig()
    assert writer.on_version_change == "refuse"
    assert (writer.num_processes, writer.process_timeout_seconds) == (0, 3600.0)


@pytest.mark.parametrize(
    "config",
    [
        drt.ReaderConfig(seed=2**64 - 1, shuffle=False),
        drt.WriterConfig(max_shard_bytes=5, profiler={"enabled": True, "path": "a/b.json"}),
        drt.ShardCompression(algo="lz4", ratio=3),
        drt.WriterProfilerConfig(path=Path("x")),
    ],
)
def test_config_is_frozen_and_pickles_under_the_api_name(config: pydantic.BaseModel) -> None:
    assert type(config).__module__ == "dataset_rt.api"
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert type(again) is type(config)
    with pytest.raises(pydantic.ValidationError):
        setattr(config, next(iter(type(config).model_fields)), None)


def test_core_checks_a_config_that_slipped_past_the_model(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    config = drt.WriterConfig(show_progress=False)
    bad = config.model_copy(update={"max_shard_bytes": 0})
    with pytest.raises(drt.InvalidConfigError) as caught:
        runtime.write_cache(numbered(1, "a"), tmp_path, writer_config=bad)
    assert caught.value.field == "max_shard_bytes"
    assert not (tmp_path / "a").exists()


def test_wrong_config_class_is_a_type_error(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="writer_config"):
        runtime.write_cache([], tmp_path, writer_config=drt.ReaderConfig(seed=1))
    with pytest.raises(TypeError, match="reader_config"):
        runtime.cached_dataset([tmp_path], reader_config={"seed": 1})
    with pytest.raises(TypeError, match="reader_config"):
        runtime.from_cache_sources([], tmp_path, reader_config=None)


@pytest.mark.parametrize("num_workers", [0, -1, 10**9])
def test_runtime_refuses_impossible_worker_counts(num_workers: int) -> None:
    with pytest.raises(drt.InvalidConfigError, match="an integer from 1 to 1024"):
        drt.DatasetRuntime(num_workers=num_workers)


@pytest.mark.parametrize("num_workers", [True, 1.0, "2", None])
def test_runtime_wants_an_integer(num_workers: object) -> None:
    with pytest.raises(TypeError):
        drt.DatasetRuntime(num_workers=num_workers)


def test_runtime_and_dataset_do_not_pickle(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    for value in (runtime, dataset, iter(dataset)):
        with pytest.raises(TypeError):
            pickle.dumps(value)
