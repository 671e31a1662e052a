"""Damaged caches: found at open or at read, with every field, never as wrong bytes."""

import json
import os
import pickle
from pathlib import Path

import dataset_rt as drt
import pytest
from support import QUIET, ids, numbered, open_numbers, payload, planned, write_ok


@pytest.fixture
def cache(runtime: drt.DatasetRuntime, tmp_path: Path) -> Path:
    return write_ok(runtime, numbered(40), tmp_path, max_shard_bytes=400).path


def flip(file: Path, offset: int) -> None:
    """Change one byte and nothing else, the time stamps included."""
    stat = file.stat()
    data = bytearray(file.read_bytes())
    data[offset] ^= 0xFF
    file.write_bytes(bytes(data))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def shard_of(sample_id: int) -> tuple[int, int]:
    """Shard and offset of a sample in a cache of raw records, 400 bytes per shard."""
    shard = offset = 0
    for number in range(sample_id + 1):
        size = len(payload(number))
        if offset and offset + size > 400:
            shard, offset = shard + 1, 0
        if number < sample_id:
            offset += size
    return shard, offset


def open_cache(runtime, path: Path, **config) -> drt.CachedDataset:
    return runtime.cached_dataset(
        [path], reader_config=drt.ReaderConfig(seed=1, **{"shuffle": False, **config})
    )


def data_files(path: Path) -> list[str]:
    shards = sorted(file.name for file in (path / "shards").iterdir())
    return ["index.bin", "metadata.arrow", "blocks.bin", f"shards/{shards[-1]}"]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("change", ["cut", "grown", "missing"])
def test_wrong_length_is_found_at_open_with_checks_off(runtime, cache, number, change) -> None:
    name = data_files(cache)[number]
    file = cache / name
    if change == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    elif change == "grown":
        file.write_bytes(file.read_bytes() + b"\0")
    else:
        file.unlink()
    with pytest.raises(drt.CorruptCacheError) as caught:
        open_cache(runtime, cache)
    error = caught.value
    assert error.path == str(cache)
    assert error.file == name
    assert pickle.loads(pickle.dumps(error)).file == name


def test_metadata_cut_before_its_footer_is_found_at_open(runtime, cache) -> None:
    file = cache / "metadata.arrow"
    data = file.read_bytes()
    file.write_bytes(data[:-200] + data[-184:])
    with pytest.raises(drt.CorruptCacheError):
        open_cache(runtime, cache)


@pytest.mark.parametrize("name", ["blocks.bin", "manifest.json"])
def test_one_flipped_byte_in_the_small_files_is_found_at_open(runtime, cache, name) -> None:
    flip(cache / name, -20)
    with pytest.raises(drt.CorruptCacheError):
        open_cache(runtime, cache)


def test_flipped_payload_byte_is_found_as_it_is_read(runtime, cache) -> None:
    shard, offset = shard_of(23)
    flip(cache / f"shards/{shard:06d}.bin", offset + 2)
    dataset = open_cache(runtime, cache)
    iterator = iter(dataset)
    assert [next(iterator).sample_id for _ in range(23)] == list(range(23))
    with pytest.raises(drt.CorruptCacheError) as caught:
        next(iterator)
    error = caught.value
    assert error.path == str(cache)
    assert error.file == f"shards/{shard:06d}.bin"
    assert (error.cache_id, error.sample_id, error.shard) == (0, 23, shard)
    assert error.byte_range == (offset, offset + len(payload(23)))
    assert error.expected != error.found
    assert iterator.position == 24
    assert ids(iterator) == list(range(24, 40))


@pytest.mark.parametrize("workers", [1, 4])
def test_same_error_for_any_number_of_readers(cache, workers: int) -> None:
    shard, offset = shard_of(5)
    flip(cache / f"shards/{shard:06d}.bin", offset)
    pool = drt.DatasetRuntime(num_workers=workers)
    for mapped in (True, False):
        dataset = open_cache(pool, cache, mapped=mapped)
        with pytest.raises(drt.CorruptCacheError) as caught:
            list(dataset)
        assert (caught.value.sample_id, caught.value.shard) == (5, shard)
        with pytest.raises(drt.CorruptCacheError) as caught:
            dataset.get_item(0, 5)
        assert caught.value.sample_id == 5


def test_skip_policy_keeps_the_order_of_the_rest(runtime, cache) -> None:
    reference = planned(open_cache(runtime, cache, shuffle=True), 80)
    shard, offset = shard_of(reference[3])
    flip(cache / f"shards/{shard:06d}.bin", offset)
    dataset = open_cache(runtime, cache, shuffle=True, on_corrupt="skip")
    assert len(dataset) == 40
    lost = reference[3]
    assert ids(dataset) == [sample_id for sample_id in reference[:40] if sample_id != lost]
    assert dataset.position == 40
    assert ids(dataset) == [sample_id for sample_id in reference[40:] if sample_id != lost]


def test_unchecked_records_are_the_users_choice(runtime, cache) -> None:
    shard, offset = shard_of(5)
    flip(cache / f"shards/{shard:06d}.bin", offset)
    sample = open_cache(runtime, cache, verify_records=False).get_item(0, 5)
    assert len(sample.data) == len(payload(5))


def test_flipped_index_byte_is_found_before_anything_is_read(runtime, cache) -> None:
    flip(cache / "index.bin", 32 * 7 + 9)
    with pytest.raises(drt.CorruptCacheError) as caught:
        list(open_cache(runtime, cache, verify_records=False))
    assert caught.value.file == "index.bin"


def test_flipped_metadata_value_is_found(runtime, cache) -> None:
    file = cache / "metadata.arrow"
    flip(file, file.read_bytes().index(b"part-1part-2"))
    with pytest.raises(drt.CorruptCacheError) as caught:
        list(open_cache(runtime, cache))
    assert caught.value.file == "metadata.arrow"


@pytest.mark.parametrize("name", ["index.bin", "metadata.arrow", "shards/000000.bin"])
def test_full_validation_finds_every_flip(runtime, cache, name: str) -> None:
    flip(cache / name, 50)
    with pytest.raises(drt.CorruptCacheError) as caught:
        open_cache(runtime, cache, validate_cache=True)
    assert caught.value.file == name


def test_intact_cache_passes_full_validation(runtime, cache) -> None:
    assert ids(open_cache(runtime, cache, validate_cache=True)) == list(range(40))


def test_truncation_behind_our_back_is_an_error_not_a_crash(runtime, cache) -> None:
    for mapped in (True, False):
        dataset = open_cache(runtime, cache, mapped=mapped)
        iterator = iter(dataset)
        next(iterator)
    for name in ("index.bin", "metadata.arrow", "shards/000000.bin"):
        os.truncate(cache / name, 0)
    with pytest.raises(drt.CorruptCacheError):
        list(dataset)


def test_future_format_is_a_version_error(runtime, cache) -> None:
    manifest = json.loads((cache / "manifest.json").read_text())
    manifest["format_version"] = 999
    (cache / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(drt.CacheVersionError) as caught:
        open_cache(runtime, cache)
    assert caught.value.path == str(cache)
    assert "999" in str(caught.value.found)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":1,"a":2}'])
def test_manifest_that_is_none_is_refused(runtime, cache, text: bytes) -> None:
    (cache / "manifest.json").write_bytes(text)
    with pytest.raises(drt.DatasetError):
        open_cache(runtime, cache)


def test_missing_cache_is_file_not_found(runtime, tmp_path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        open_cache(runtime, tmp_path / "nowhere")
    assert isinstance(caught.value, drt.DatasetError)
    assert "nowhere" in str(caught.value.filename)


@pytest.mark.parametrize("damage", ["manifest.json", "shards/000001.bin", "index.bin"])
def test_one_damaged_cache_never_hides_the_others(runtime, tmp_path, cache, damage: str) -> None:
    (cache / damage).unlink()
    sources = [numbered(40), numbered(5, "good")]
    result = runtime.from_cache_sources(
        sources,
        tmp_path,
        reader_config=drt.ReaderConfig(seed=1, shuffle=False),
        writer_config=QUIET,
    )
    assert isinstance(result, drt.CacheSourcesDatasetSuccess)
    damaged, good = result.results
    assert isinstance(damaged, drt.CacheWriteError)
    assert isinstance(damaged.error, drt.DatasetError)
    assert isinstance(good, drt.CacheWriteSuccess)
    assert result.dataset.cache_paths == [tmp_path / "good"]
    assert ids(result.dataset) == list(range(5))
    assert sources[0].iterations == 0
    assert not (cache / damage).exists()


def test_validation_on_reuse_is_a_source_error(runtime, tmp_path, cache) -> None:
    flip(cache / "shards/000000.bin", 3)
    config = drt.WriterConfig(show_progress=False, validate_cache=True)
    for reader in (drt.ReaderConfig(seed=1), drt.ReaderConfig(seed=1, validate_cache=True)):
        result = runtime.from_cache_sources(
            [numbered(40), numbered(3, "good")],
            tmp_path,
            reader_config=reader,
            writer_config=config,
        )
        assert isinstance(result, drt.CacheSourcesDatasetSuccess)
        assert isinstance(result.results[0].error, drt.CorruptCacheError)
    without = runtime.from_cache_sources(
        [numbered(40), numbered(3, "good")],
        tmp_path,
        reader_config=drt.ReaderConfig(seed=1, validate_cache=True),
        writer_config=QUIET,
    )
    assert isinstance(without.results[0].error, drt.CorruptCacheError)


def test_open_numbers_reads_back_every_payload(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 25, shuffle=False)
    assert [sample.data for sample in dataset] == [payload(i) for i in range(25)]
