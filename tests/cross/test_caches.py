"""The core and the oracle read each other's caches, bit by bit."""

from pathlib import Path

import dataset_rt as drt
import pytest
from cache_format import Cache, WriteOptions, write_cache
from format_cases import comparable, plain_rows, typed_rows

RUNTIME = drt.DatasetRuntime(num_workers=2)


class Source:
    """A source over given rows."""

    def __init__(self, name: str, rows: list) -> None:
        self.name = name
        self._rows = rows

    def __iter__(self):
        return (drt.CacheInput(*row) for row in self._rows)


def write_with_core(base: Path, rows: list, algo: str, max_shard_bytes: int) -> Path:
    config = drt.WriterConfig(
        show_progress=False,
        max_shard_bytes=max_shard_bytes,
        shard_compression=drt.ShardCompression(algo=algo),
    )
    (result,) = RUNTIME.write_cache(Source("c", rows), base, writer_config=config)
    assert isinstance(result, drt.CacheWriteSuccess), result
    return result.path


def read_with_core(path: Path) -> list:
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
    dataset = RUNTIME.cached_dataset([path], reader_config=config)
    samples = list(dataset)
    assert [sample.sample_id for sample in samples] == list(range(len(samples)))
    return [(sample.data, sample.metadata) for sample in samples]


@pytest.mark.parametrize("algo", ["none", "lz4"])
@pytest.mark.parametrize("max_shard_bytes", [100, 1_000_000])
def test_oracle_reads_what_the_core_wrote(tmp_path: Path, algo: str, max_shard_bytes: int) -> None:
    rows = typed_rows(300)
    cache = Cache.open(write_with_core(tmp_path, rows, algo, max_shard_bytes))
    cache.verify()
    assert comparable(cache.samples()) == comparable(rows)


@pytest.mark.parametrize("algo", ["none", "lz4"])
@pytest.mark.parametrize("narrow_text", [False, True])
def test_core_reads_what_the_oracle_wrote(tmp_path: Path, algo: str, narrow_text: bool) -> None:
    rows = typed_rows(300)
    options = WriteOptions(
        compression=algo, max_shard_bytes=500, batch_rows=7, narrow_text=narrow_text
    )
    write_cache(tmp_path / "c", "c", rows, options)
    assert comparable(read_with_core(tmp_path / "c")) == comparable(rows)


def test_rows_without_metadata_cross_both_ways(tmp_path: Path) -> None:
    rows = plain_rows(10)
    written = write_with_core(tmp_path / "core", rows, "none", 1000)
    assert Cache.open(written).samples() == rows
    write_cache(tmp_path / "oracle", "oracle", rows, WriteOptions(batch_rows=3))
    assert read_with_core(tmp_path / "oracle") == rows


def test_index_and_shards_of_equal_data_are_equal_bytes(tmp_path: Path) -> None:
    """Equal but for `metadata.arrow`, whose encoding is each Arrow library's own."""
    rows = typed_rows(100)
    core = Cache.open(write_with_core(tmp_path / "core", rows, "none", 1000))
    write_cache(tmp_path / "oracle", "oracle", rows, WriteOptions(max_shard_bytes=1000))
    oracle = Cache.open(tmp_path / "oracle")
    same = [name for name in core.files if name.startswith("shards/") or name == "index.bin"]
    assert len(same) > 3
    assert {name: core.files[name] for name in same} == {name: oracle.files[name] for name in same}
