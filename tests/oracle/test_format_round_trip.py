"""What the oracle writes it reads back, bit by bit."""

from pathlib import Path

import pytest
from cache_format import Cache, WriteOptions, write_cache
from format_cases import comparable, plain_rows, typed_rows
from hypothesis import given
from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = {"b": st.booleans(), "i": INT64, "f": st.floats(allow_nan=True), "s": TEXT}


def read(directory: Path) -> Cache:
    cache = Cache.open(directory)
    cache.verify()
    return cache


@pytest.mark.parametrize("narrow_text", [False, True])
@pytest.mark.parametrize("compression", ["none", "lz4"])
def test_every_type_comes_back(tmp_path: Path, compression: str, narrow_text: bool) -> None:
    options = WriteOptions(
        compression=compression,
        version="v 1 ✓",
        max_shard_bytes=200,
        batch_rows=7,
        narrow_text=narrow_text,
    )
    write_cache(tmp_path / "c", "c", typed_rows(), options)
    cache = read(tmp_path / "c")
    assert comparable(cache.samples()) == comparable(typed_rows())
    assert len(cache.files) > 3 + 5
    assert cache.row_ends == [7, 14, 21, 28, 35, 40]
    codecs = {cache.index_row(number).codec for number in range(len(cache))}
    assert codecs == ({0} if compression == "none" else {0, 1})


def test_rows_without_metadata_come_back(tmp_path: Path) -> None:
    write_cache(tmp_path / "c", "c", plain_rows(5), WriteOptions(batch_rows=2))
    cache = read(tmp_path / "c")
    assert cache.samples() == plain_rows(5)
    assert cache.row_ends == [2, 4, 5]


def test_files_of_several_blocks_come_back(tmp_path: Path) -> None:
    rows = [(b"", {"k": "x" * 60, "n": number}) for number in range(5_000)]
    write_cache(tmp_path / "c", "c", rows)
    cache = read(tmp_path / "c")
    assert len(cache.files["index.bin"]) > 2 * 65_536 < len(cache.files["metadata.arrow"])
    assert cache.samples() == rows
    assert cache.files["shards/000000.bin"] == b""


def test_batch_closes_when_text_reaches_the_limit(tmp_path: Path) -> None:
    rows = [(b"", {"a": "xy", "b": "é"}) for _ in range(5)]
    write_cache(tmp_path / "c", "c", rows, WriteOptions(batch_string_bytes=8))
    assert read(tmp_path / "c").row_ends == [2, 4, 5]


def test_exact_fit_stays_in_its_shard(tmp_path: Path) -> None:
    rows = [(bytes(length), {}) for length in (6, 4, 1, 30, 0, 10)]
    write_cache(tmp_path / "c", "c", rows, WriteOptions(max_shard_bytes=10))
    cache = read(tmp_path / "c")
    assert [cache.index_row(number).shard for number in range(6)] == [0, 0, 1, 2, 3, 3]


def test_content_digest_depends_on_the_data_alone(tmp_path: Path) -> None:
    changes = [
        ("a", {}),
        ("b", {"version": "2"}),
        ("c", {"created_at": "1999-12-31T23:59:59Z", "writer_version": "9"}),
    ]
    for name, change in changes:
        write_cache(tmp_path / name, name, typed_rows(), WriteOptions(**change))
    digests = {Cache.open(tmp_path / name).manifest["content_digest"] for name, _ in changes}
    assert len(digests) == 1
    write_cache(tmp_path / "d", "d", typed_rows()[:-1])
    assert Cache.open(tmp_path / "d").manifest["content_digest"] not in digests


OPTIONS = st.builds(
    WriteOptions,
    compression=st.sampled_from(["none", "lz4"]),
    max_shard_bytes=st.integers(1, 300),
    batch_rows=st.integers(1, 5),
)


@given(
    payloads=st.lists(st.binary(max_size=80), min_size=1, max_size=12),
    kinds=st.sets(st.sampled_from("bifs")),
    options=OPTIONS,
    data=st.data(),
)
def test_random_caches_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    payloads: list[bytes],
    kinds: set[str],
    options: WriteOptions,
    data: st.DataObject,
) -> None:
    directory = tmp_path_factory.mktemp("random") / "c"
    row = st.fixed_dictionaries({kind: VALUES[kind] for kind in sorted(kinds)})
    rows = [(payload, data.draw(row)) for payload in payloads]
    write_cache(directory, "c", rows, options)
    assert comparable(read(directory).samples()) == comparable(rows)
