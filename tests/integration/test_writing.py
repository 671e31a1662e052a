"""What a source may yield: names, metadata, payloads."""

import collections
import math
import types
from pathlib import Path

import dataset_rt as drt
import numpy as np
import pytest
from support import QUIET, Rows, leftovers, numbered, write_fails, write_ok


def read_back(runtime: drt.DatasetRuntime, path: Path) -> list[drt.CachedSample]:
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
    return list(runtime.cached_dataset([path], reader_config=config))


@pytest.mark.parametrize(
    "name", ["", ".", "..", "tmp", "TMP", "Tmp", "a/b", "/abs", "a\0b", "../up", "a/"]
)
def test_source_name_must_be_one_plain_segment(
    runtime: drt.DatasetRuntime, tmp_path: Path, name: str
) -> None:
    base = tmp_path / "base"
    before = sorted(tmp_path.rglob("*"))
    failure = write_fails(runtime, numbered(2, name), base)
    assert isinstance(failure.error, drt.InvalidConfigError)
    assert failure.source_name == name
    after = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert after == [path for path in before if path.is_file()]


@pytest.mark.parametrize("name", ["a", "tmp2", ".hidden", "with space", "größe", "a.b-c_d", "CON"])
def test_other_names_work(runtime: drt.DatasetRuntime, tmp_path: Path, name: str) -> None:
    assert write_ok(runtime, numbered(1, name), tmp_path).path == tmp_path / name


def test_duplicate_names_are_refused_before_anything_is_written(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    sources = [numbered(2, "a"), numbered(2, "b"), numbered(2, "a")]
    with pytest.raises(drt.InvalidConfigError) as caught:
        runtime.write_cache(sources, tmp_path / "base", writer_config=QUIET)
    assert "a" in str(caught.value)
    assert [source.iterations for source in sources] == [0, 0, 0]
    assert not (tmp_path / "base").exists() or list((tmp_path / "base").iterdir()) == []


def test_unreadable_name_is_numbered(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    class Nameless:
        @property
        def name(self) -> str:
            raise RuntimeError("no name")

        def __iter__(self):
            return iter(())

    class Numeric:
        name = 3

        def __iter__(self):
            return iter(())

    results = runtime.write_cache([Nameless(), Numeric()], tmp_path, writer_config=QUIET)
    assert [result.source_name for result in results] == ["source[0]", "source[1]"]
    assert all(isinstance(result, drt.CacheWriteError) for result in results)


FLOATS = [0.0, -0.0, 1 / 3, math.pi, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 0.1 + 0.2]


def test_every_type_comes_back_exactly(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    rows = [
        (bytes([i]), {"f": value, "i": number, "b": flag, "s": text})
        for i, (value, number, flag, text) in enumerate(
            zip(
                FLOATS,
                [0, -1, 2**63 - 1, -(2**63), 1, 2, 3, 4, 5],
                [True, False] * 4 + [True],
                ["", "a", "ä", "日本", "\0", "x" * 1000, "\n", "🎈", '"'],
                strict=True,
            )
        )
    ]
    samples = read_back(runtime, write_ok(runtime, Rows("types", rows), tmp_path).path)
    for (data, metadata), sample in zip(rows, samples, strict=True):
        assert sample.data == data
        assert list(sample.metadata) == sorted(metadata)
        for key, value in metadata.items():
            got = sample.metadata[key]
            assert type(got) is type(value)
            assert got == value
    assert math.copysign(1, samples[1].metadata["f"]) == -1


def test_nan_is_a_float_like_others(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, Rows("nan", [(b"x", {"f": math.nan})]), tmp_path).path
    assert math.isnan(read_back(runtime, path)[0].metadata["f"])


@pytest.mark.parametrize(
    "metadata",
    [
        types.MappingProxyType({"a": 1}),
        collections.OrderedDict(a=1),
        collections.UserDict({"a": 1}),
        collections.ChainMap({"a": 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_mapping_works(runtime: drt.DatasetRuntime, tmp_path: Path, metadata) -> None:
    path = write_ok(runtime, Rows("mapping", [(b"x", metadata)]), tmp_path).path
    assert read_back(runtime, path)[0].metadata == {"a": 1}


def test_empty_mapping_gives_ids_and_weight_only(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    path = write_ok(runtime, Rows("bare", [(b"a", {}), (b"b", {})]), tmp_path).path
    dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1))
    assert dataset.get_metadata().columns == ["cache_id", "sample_id", "weight"]
    assert [sample.metadata for sample in dataset] == [{}, {}]


@pytest.mark.parametrize(
    ("metadata", "column"),
    [
        ({"cache_id": 1}, "cache_id"),
        ({"sample_id": 1}, "sample_id"),
        ({"weight": 1.0}, "weight"),
        ({"a": None}, "a"),
        ({"a": 2**63}, "a"),
        ({"a": -(2**63) - 1}, "a"),
        ({"a": 10**30}, "a"),
        ({"a": b"bytes"}, "a"),
        ({"a": [1]}, "a"),
        ({"a": 1j}, "a"),
        ({"a": "\ud800"}, "a"),
    ],
)
def test_first_row_refuses(
    runtime: drt.DatasetRuntime, tmp_path: Path, metadata: dict, column: str
) -> None:
    failure = write_fails(runtime, Rows("bad", [(b"x", metadata)]), tmp_path)
    assert isinstance(failure.error, drt.InvalidMetadataError)
    assert failure.error.column == column
    assert failure.error.rows == (0,)
    assert not (tmp_path / "bad").exists()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("metadata", [{1: 2}, None, [("a", 1)], "a", 3])
def test_metadata_must_be_a_mapping_with_text_keys(
    runtime: drt.DatasetRuntime, tmp_path: Path, metadata: object
) -> None:
    failure = write_fails(runtime, Rows("bad", [(b"x", metadata)]), tmp_path)
    assert isinstance(failure.error, drt.InvalidMetadataError | TypeError)


@pytest.mark.parametrize(
    ("second", "column", "types"),
    [
        ({"a": True, "b": "x"}, "a", ("int64", "bool")),
        ({"a": 1.0, "b": "x"}, "a", ("int64", "float64")),
        ({"a": "1", "b": "x"}, "a", ("int64", "string")),
        ({"a": None, "b": "x"}, "a", (None, None)),
        ({"a": 2**63, "b": "x"}, "a", (None, None)),
        ({"a": 1}, "b", ("string", None)),
        ({"a": 1, "b": "x", "c": 1}, "c", (None, None)),
    ],
)
def test_later_row_must_match_the_first(
    runtime: drt.DatasetRuntime, tmp_path: Path, second: dict, column: str, types: tuple
) -> None:
    rows = [(b"x", {"a": 1, "b": "x"})] * 5 + [(b"y", second)]
    error = write_fails(runtime, Rows("bad", rows), tmp_path).error
    assert isinstance(error, drt.InvalidMetadataError)
    assert error.column == column
    assert error.rows == (5,)
    for got, wanted in zip((error.expected, error.found), types, strict=True):
        assert wanted in (None, got)


def test_an_integer_is_not_taken_for_a_float(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    error = write_fails(
        runtime, Rows("bad", [(b"x", {"f": 1.5}), (b"y", {"f": 2})]), tmp_path
    ).error
    assert isinstance(error, drt.InvalidMetadataError)
    assert (error.column, error.expected, error.found) == ("f", "float64", "int64")


@pytest.mark.parametrize(
    "data",
    [
        b"abc",
        bytearray(b"abc"),
        memoryview(b"abc"),
        memoryview(b"xabcx")[1:4],
        np.frombuffer(b"abc", dtype=np.uint8),
        np.array([[1, 2], [3, 4]], dtype=np.int32),
    ],
    ids=lambda value: type(value).__name__,
)
def test_payload_is_any_buffer_in_c_order(
    runtime: drt.DatasetRuntime, tmp_path: Path, data: object
) -> None:
    path = write_ok(runtime, Rows("buffer", [(data, {})]), tmp_path).path
    assert read_back(runtime, path)[0].data == memoryview(data).tobytes()


@pytest.mark.parametrize(
    "data", [3, "text", [1, 2], (1, 2), None, 1.5, range(3), {"a": 1}], ids=repr
)
def test_payload_without_a_buffer_is_refused(
    runtime: drt.DatasetRuntime, tmp_path: Path, data: object
) -> None:
    failure = write_fails(runtime, Rows("bad", [(b"ok", {}), (data, {})]), tmp_path)
    assert failure.error is not None
    assert type(data).__name__ in failure.message
    assert leftovers(tmp_path) == []


def test_payload_that_is_not_contiguous_is_refused(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    strided = np.arange(10, dtype=np.uint8)[::2]
    fortran = np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3))
    for data in (strided, fortran):
        write_fails(runtime, Rows("bad", [(data, {})]), tmp_path)


@pytest.mark.parametrize("item", [b"bytes", (b"x",), (b"x", {}, 1), None, 3])
def test_item_must_be_an_input(runtime: drt.DatasetRuntime, tmp_path: Path, item: object) -> None:
    class Wrong:
        name = "wrong"

        def __iter__(self):
            yield item

    write_fails(runtime, Wrong(), tmp_path)


def test_empty_and_oversized_payloads(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    rows = [(b"", {}), (b"x" * 5000, {}), (b"", {}), (b"y" * 10, {}), (b"z" * 100, {})]
    path = write_ok(runtime, Rows("sizes", rows), tmp_path, max_shard_bytes=100).path
    assert [sample.data for sample in read_back(runtime, path)] == [data for data, _ in rows]
    sizes = sorted(file.stat().st_size for file in (path / "shards").iterdir())
    assert 5000 in sizes


@pytest.mark.parametrize("algo", ["none", "lz4"])
def test_compressible_and_random_payloads_come_back(
    runtime: drt.DatasetRuntime, tmp_path: Path, algo: str
) -> None:
    noise = np.random.default_rng(3).integers(0, 256, 4000, dtype=np.uint8).tobytes()
    rows = [(b"ab" * 2000, {}), (noise, {}), (b"", {}), (b"q", {})]
    compression = drt.ShardCompression(algo=algo)
    path = write_ok(runtime, Rows("c", rows), tmp_path, shard_compression=compression).path
    assert [sample.data for sample in read_back(runtime, path)] == [data for data, _ in rows]
    stored = sum(file.stat().st_size for file in (path / "shards").iterdir())
    assert stored == 8001 if algo == "none" else 4001 <= stored < 4200


def test_bytes_do_not_depend_on_workers_or_prefetch(tmp_path: Path) -> None:
    trees = []
    for number, (workers, prefetch) in enumerate([(1, 1), (2, 64), (8, 3)]):
        base = tmp_path / str(number)
        write_ok(
            drt.DatasetRuntime(num_workers=workers),
            numbered(300),
            base,
            prefetch_size=prefetch,
            max_shard_bytes=2000,
            shard_compression=drt.ShardCompression(algo="lz4"),
        )
        trees.append(
            {
                str(file.relative_to(base)): file.read_bytes()
                for file in sorted(base.rglob("*"))
                if file.is_file() and file.name != "origin.json" and base / "tmp" != file.parent
            }
        )
    assert len(trees[0]) > 5
    assert trees[0] == trees[1] == trees[2]


def test_source_is_iterated_once_and_buffers_may_be_reused(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    class Reusing:
        name = "reusing"

        def __iter__(self):
            buffer = bytearray(4)
            for i in range(50):
                buffer[:] = i.to_bytes(4, "little")
                yield drt.CacheInput(buffer, {"i": i})

    path = write_ok(runtime, Reusing(), tmp_path).path
    for i, sample in enumerate(read_back(runtime, path)):
        assert sample.data == i.to_bytes(4, "little")


@pytest.mark.parametrize("count", [2047, 2048, 2049, 4096, 6145])
def test_caches_around_block_borders_come_back_whole(runtime, tmp_path, count: int) -> None:
    rows = [(i.to_bytes(4, "little"), {"i": i, "text": f"row {i}"}) for i in range(count)]
    path = write_ok(runtime, Rows("long", rows), tmp_path).path
    assert (path / "index.bin").stat().st_size == 32 * count
    for i, sample in enumerate(read_back(runtime, path)):
        assert (sample.data, sample.metadata) == rows[i]
    assert i == count - 1
