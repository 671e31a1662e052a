"""Caches of the original system open like any other, and hostile ones are typed errors."""

import hashlib
import json
import struct
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from format_cases import comparable, typed_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from original_format import OriginalOptions, cache_files, read_cache, write_cache
from support import Rows, flat, ids, leftovers, versioned, write_fails, write_ok

GOLDEN = Path(__file__).parents[1] / "golden" / "caches"
CASES = [
    f"original-v{version}/typed-{compression}"
    for version in (2, 3)
    for compression in ("none", "lz4")
]
IN_ORDER = drt.ReaderConfig(seed=1, shuffle=False)
RUNTIME = drt.DatasetRuntime(num_workers=2)


def contents(dataset: drt.CachedDataset) -> list:
    return comparable([(bytes(sample.data), sample.metadata) for sample in dataset])


def forge(cache: Path, file: str, data: bytes) -> None:
    """Replace a file, and its hash and length in the manifest."""
    manifest = json.loads((cache / "manifest.json").read_bytes())
    digest = hashlib.sha256(data).hexdigest()
    match file:
        case "index.bin":
            manifest["index_sha256"] = digest
        case "metadata.arrow":
            manifest["metadata_sha256"] = digest
        case shard:
            entry = manifest["shards"][int(Path(shard).stem)]
            entry |= {"sha256": digest, "byte_len": len(data)}
    (cache / "manifest.json").write_text(json.dumps(manifest))
    (cache / file).write_bytes(data)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mapped", [True, False])
def test_golden_cache_reads_like_any_other(
    runtime: drt.DatasetRuntime, case: str, mapped: bool
) -> None:
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True, mapped=mapped)
    dataset = runtime.cached_dataset([GOLDEN / case], reader_config=config)
    assert contents(dataset) == comparable(typed_rows())
    assert comparable(read_cache(GOLDEN / case).rows) == comparable(typed_rows())
    sample = dataset.get_item(0, 7)
    assert (sample.data, sample.cache_id, sample.sample_id) == (typed_rows()[7][0], 0, 7)
    table = dataset.get_metadata()
    assert table["count"].to_list() == [metadata["count"] for _, metadata in typed_rows()]
    scores = table["score"].to_list()
    expected = [metadata["score"] for _, metadata in typed_rows()]
    assert [struct.pack("<d", score) for score in scores] == [
        struct.pack("<d", score) for score in expected
    ]


def test_table_draws_and_resume_are_those_of_any_cache(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    converted = drt.convert(GOLDEN / CASES[1], tmp_path / "format-1").path
    draws = []
    for path in (GOLDEN / CASES[1], converted):
        dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=9))
        table = dataset.get_metadata()
        dataset.update_metadata(table.filter(table["flag"] == True))  # noqa: E712 - polars
        iterator = iter(dataset)
        first = [next(iterator).sample_id for _ in range(4)]
        state = iterator.state_dict()
        other = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=9))
        other.update_metadata(table.filter(table["flag"] == True))  # noqa: E712 - polars
        other.load_state_dict(state)
        assert ids(other) == ids(iterator)
        draws.append(first)
    assert draws[0] == draws[1]


def test_state_moves_with_the_cache_and_not_to_another(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    rows = typed_rows()
    for name, version in (("two", 2), ("three", 3)):
        write_cache(tmp_path / name, "typed", rows, OriginalOptions(version))
    write_cache(tmp_path / "other", "typed", rows[:-1] + rows[:1], OriginalOptions(3))
    state = runtime.cached_dataset([tmp_path / "two"], reader_config=IN_ORDER).state_dict()
    runtime.cached_dataset([tmp_path / "three"], reader_config=IN_ORDER).load_state_dict(state)
    other = runtime.cached_dataset([tmp_path / "other"], reader_config=IN_ORDER)
    with pytest.raises(drt.StateMismatchError):
        other.load_state_dict(state)


def test_versions_and_formats_mix_in_one_dataset(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    format_1 = drt.convert(GOLDEN / CASES[0], tmp_path / "format-1").path
    paths = [GOLDEN / CASES[3], format_1, GOLDEN / CASES[0], GOLDEN / CASES[3]]
    dataset = runtime.cached_dataset(paths, reader_config=IN_ORDER)
    assert contents(dataset) == comparable(typed_rows() * 4)
    # The stored identity of version 3 does not count, so a cache may even be there twice.
    assert dataset.get_metadata()["cache_id"].unique().sort().to_list() == [0, 1, 2, 3]
    handle = dataset.dump_config(tmp_path / "dump")
    assert contents(drt.CachedDataset.from_config(handle)) == comparable(typed_rows() * 4)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_loader_delivers_every_sample(runtime: drt.DatasetRuntime, num_workers: int) -> None:
    dataset = runtime.cached_dataset([GOLDEN / CASES[3]], reader_config=IN_ORDER)
    loader = dataset.to_torch_dataloader(batch_size=8, num_workers=num_workers, collate_fn=list)
    assert comparable([(s.data, s.metadata) for batch in loader for s in batch]) == comparable(
        typed_rows()
    )


def test_cold_and_large_records_come_from_the_pool(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    rows = [(bytes([i]) * 300_000, {"i": i}) for i in range(30)]
    write_cache(tmp_path / "c", "c", rows, OriginalOptions(compression="lz4"))
    for mapped in (True, False):
        config = drt.ReaderConfig(seed=1, shuffle=False, mapped=mapped, prefetch_size=8)
        dataset = runtime.cached_dataset([tmp_path / "c"], reader_config=config)
        assert contents(dataset) == rows


@pytest.mark.parametrize("version", [0, 1, 4, 99])
def test_other_versions_are_refused_by_number(
    runtime: drt.DatasetRuntime, tmp_path: Path, version: int
) -> None:
    write_cache(tmp_path / "c", "c", typed_rows(3), OriginalOptions(version))
    for refused in (
        lambda: runtime.cached_dataset([tmp_path / "c"], reader_config=IN_ORDER),
        lambda: drt.inspect(tmp_path / "c"),
        lambda: drt.verify(tmp_path / "c"),
        lambda: drt.convert(tmp_path / "c", tmp_path / "d"),
    ):
        with pytest.raises(drt.CacheVersionError) as caught:
            refused()
        assert str(version) in str(caught.value.found)


@pytest.mark.parametrize("name", ["../../x.bin", "/etc/passwd", "sub/000000.bin", "", "a\0b"])
def test_shard_names_are_compared_and_not_followed(
    runtime: drt.DatasetRuntime, tmp_path: Path, name: str
) -> None:
    write_cache(tmp_path / "c", "c", typed_rows(3))
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_bytes())
    manifest["shards"][0]["name"] = name
    (tmp_path / "c" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(drt.CorruptCacheError):
        runtime.cached_dataset([tmp_path / "c"], reader_config=IN_ORDER)


@pytest.mark.parametrize(
    "row", [(9, 0, 20), (2**63, 0, 20), (0, 2**63, 20), (0, 5, 2**62), (0, 0, 2**64 - 1), (0, 0, 7)]
)
def test_rows_beyond_their_shard_are_refused(
    runtime: drt.DatasetRuntime, tmp_path: Path, row: tuple[int, int, int]
) -> None:
    cache = tmp_path / "c"
    write_cache(cache, "c", typed_rows(5))
    index = (cache / "index.bin").read_bytes()
    forge(cache, "index.bin", index[:48] + struct.pack("<QQQ", *row) + index[72:])
    dataset = runtime.cached_dataset([cache], reader_config=IN_ORDER)
    assert dataset.get_item(0, 1).data == typed_rows()[1][0]
    with pytest.raises(drt.CorruptCacheError) as caught:
        dataset.get_item(0, 2)
    assert (caught.value.sample_id, caught.value.file) == (2, "index.bin")
    with pytest.raises(drt.CorruptCacheError):
        runtime.cached_dataset([cache], reader_config=drt.ReaderConfig(seed=1, validate_cache=True))
    assert 2 in drt.verify(cache).damaged_sample_ids


def test_repeated_and_overlapping_rows_are_found_by_verification(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_cache(cache, "c", typed_rows(5))
    index = (cache / "index.bin").read_bytes()
    forge(cache, "index.bin", index[:48] + index[24:48] + index[72:])
    report = drt.verify(cache)
    assert report.damaged_sample_ids == [2]
    assert report.damages[0].error.file == "index.bin"


@pytest.mark.parametrize("declared", [0, 99, 101, 0xFFFFFFFF])
def test_length_before_an_lz4_block_is_exact(
    runtime: drt.DatasetRuntime, tmp_path: Path, declared: int
) -> None:
    cache = tmp_path / "c"
    write_cache(cache, "c", [(b"a" * 100, {"k": 1})], OriginalOptions(compression="lz4"))
    shard = bytearray((cache / "shards/000000.bin").read_bytes())
    assert shard[15:19] == struct.pack("<I", 100)
    shard[15:19] = struct.pack("<I", declared)
    forge(cache, "shards/000000.bin", bytes(shard))
    dataset = runtime.cached_dataset([cache], reader_config=IN_ORDER)
    with pytest.raises(drt.CorruptCacheError) as caught:
        dataset.get_item(0, 0)
    assert (caught.value.shard, caught.value.sample_id) == (0, 0)
    assert drt.verify(cache).damaged_sample_ids == [0]


@pytest.mark.parametrize("data", [b"", b"ARROW1\0\0", b"x" * 4000])
def test_metadata_is_opened_at_once(
    runtime: drt.DatasetRuntime, tmp_path: Path, data: bytes
) -> None:
    write_cache(tmp_path / "c", "c", typed_rows(5))
    forge(tmp_path / "c", "metadata.arrow", data)
    with pytest.raises(drt.CorruptCacheError) as caught:
        runtime.cached_dataset([tmp_path / "c"], reader_config=IN_ORDER)
    assert caught.value.file == "metadata.arrow"


def test_metadata_of_other_rows_or_columns_is_refused_at_open(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    cache = tmp_path / "c"
    rows = typed_rows(5)
    others = [rows[:4], [*rows, rows[0]], [(data, {"k": 1}) for data, _ in rows]]
    for other in others:
        write_cache(cache, "c", rows)
        forge(cache, "metadata.arrow", cache_files("c", other, OriginalOptions())["metadata.arrow"])
        with pytest.raises(drt.CorruptCacheError) as caught:
            runtime.cached_dataset([cache], reader_config=IN_ORDER)
        assert caught.value.file == "metadata.arrow"


def test_writing_over_one_follows_the_rules_of_a_cache_without_version(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    rows = typed_rows(5)
    write_cache(tmp_path / "c", "c", rows)
    source = Rows("c", rows[:2])
    error = write_fails(runtime, source, tmp_path).error
    assert isinstance(error, drt.CacheExistsError)
    result = runtime.from_cache_sources(
        source,
        tmp_path,
        writer_config=drt.WriterConfig(show_progress=False, validate_cache=True),
        reader_config=IN_ORDER,
    )
    assert isinstance(result, drt.CacheSourcesDatasetSuccess)
    assert contents(result.dataset) == comparable(rows)
    (reused,) = result.results
    assert (reused.status, reused.row_count, reused.created_at) == ("reused", 5, "")
    assert source.iterations == 0
    newer = versioned("c", rows[:2], "2")
    assert isinstance(write_fails(runtime, newer, tmp_path).error, drt.CacheVersionError)
    assert drt.inspect(tmp_path / "c").format == "original"
    rebuilt = write_ok(runtime, newer, tmp_path, on_version_change="rebuild")
    assert (rebuilt.status, drt.inspect(rebuilt.path).format) == ("built", "dataset_rt")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("case", CASES)
def test_conversion_keeps_every_bit(runtime: drt.DatasetRuntime, tmp_path: Path, case: str) -> None:
    made = drt.convert(GOLDEN / case, tmp_path / "made")
    assert (made.source_name, made.row_count, made.status) == ("typed", 40, "built")
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
    assert contents(runtime.cached_dataset([made.path], reader_config=config)) == comparable(
        typed_rows()
    )
    before, after = drt.inspect(GOLDEN / case), drt.inspect(made.path)
    assert before.metadata_schema == after.metadata_schema
    assert (before.compression, before.payload_bytes) == (after.compression, after.payload_bytes)
    assert drt.verify(made.path).is_intact


def test_damage_is_not_converted(tmp_path: Path) -> None:
    write_cache(tmp_path / "c", "c", [(b"payload", {"k": 1})])
    shard = tmp_path / "c" / "shards" / "000000.bin"
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")
    with pytest.raises(drt.CorruptCacheError) as caught:
        drt.convert(tmp_path / "c", tmp_path / "d")
    assert caught.value.shard == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]


ROWS = typed_rows(12)
INTACT = {
    compression: cache_files("c", ROWS, OriginalOptions(3, compression, 1.0, 500))
    for compression in ("none", "lz4")
}


@pytest.mark.parametrize("compression", INTACT)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(file=st.integers(0, 99), at=st.integers(0, 2**32), change=st.integers(1, 255))
def test_any_changed_byte_is_found_or_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, compression: str, file: int, at: int, change: int
) -> None:
    cache = tmp_path_factory.mktemp("any") / "c"
    files = INTACT[compression]
    changed = sorted(files)[file % len(files)]
    for name, intact in files.items():
        content = bytearray(intact)
        if name == changed:
            content[at % len(content)] ^= change
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(bytes(content))
    for validates in (True, False):
        config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=validates)
        try:
            dataset = RUNTIME.cached_dataset([cache], reader_config=config)
            found = contents(dataset)
            dataset.get_metadata()
        except (drt.CorruptCacheError, drt.CacheVersionError):
            continue
        # Without the hash of whole files a changed payload is what the cache holds now.
        assert len(found) == len(ROWS)
        if validates:
            assert found == comparable(ROWS)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mapped", [True, False])
def test_batches_and_counts_are_those_of_any_cache(
    runtime: drt.DatasetRuntime, case: str, mapped: bool
) -> None:
    rows = typed_rows()
    config = IN_ORDER.model_copy(update={"mapped": mapped})
    dataset = runtime.cached_dataset([GOLDEN / case], reader_config=config)
    batches = list(dataset.batches(7))
    assert [len(batch) for batch in batches] == [7] * (len(rows) // 7) + [len(rows) % 7]
    samples = flat(batches)
    assert comparable([(s.data, s.metadata) for s in samples]) == comparable(rows)
    tables = flat(pl.DataFrame(batch.metadata).to_dicts() for batch in batches)
    assert comparable([("", row) for row in tables]) == comparable([("", row) for _, row in rows])
    dataset.get_item(0, 7)
    stats = dataset.stats()
    assert (stats.warm_reads + stats.cold_reads, stats.item_reads) == (len(rows), 1)
    assert stats.payload_bytes == sum(len(data) for data, _ in [*rows, rows[7]])
    # These caches hold no checksum of a record, so none can have been compared.
    assert stats.checked_records == 0
