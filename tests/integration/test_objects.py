"""Caches at URLs: uploaded, opened through a store, and read as if they were on the disk."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import pytest
from object_server import ObjectServer, rows, store_config, told
from support import Rows, write_ok

if TYPE_CHECKING:
    from pathlib import Path

MODES: list[dict[str, Any]] = [
    {"seed": 3},
    {"seed": 3, "shuffle": False},
    {"seed": 3, "replacement": False},
    {"seed": 3, "replacement": False, "mapped": False},
]


@pytest.fixture(params=["s3", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path, train_cache: Path) -> str:
    """The cache behind one protocol and another."""
    if request.param == "s3":
        return request.getfixturevalue("cache_url")
    address = f"file://{tmp_path}/objects/train"
    drt.upload(train_cache, address)
    return address


@pytest.mark.parametrize("mode", MODES)
def test_samples_and_order_are_those_of_the_cache_on_the_disk(
    runtime: drt.DatasetRuntime, train_cache: Path, url: str, tmp_path: Path, mode: dict[str, Any]
) -> None:
    config = drt.ReaderConfig(**mode)
    local = runtime.cached_dataset([train_cache], reader_config=config)
    remote = runtime.cached_dataset(
        [url], reader_config=config, store_config=store_config(tmp_path / "store")
    )
    assert remote.get_metadata().equals(local.get_metadata())
    for _ in range(2):
        assert told(remote) == told(local)
    assert remote.state_dict() == local.state_dict()
    batches = zip(remote.batches(64), local.batches(64), strict=True)
    for ours, theirs in batches:
        assert bytes(ours.data) == bytes(theirs.data)
        assert list(ours.sample_ids) == list(theirs.sample_ids)


def test_opening_fetches_no_payload_and_a_full_store_fetches_nothing(
    runtime: drt.DatasetRuntime, cache_url: str, train_cache: Path, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=1, replacement=False)
    store = store_config(tmp_path / "store")
    dataset = runtime.cached_dataset([cache_url], reader_config=config, store_config=store)
    shards = sum(file.stat().st_size for file in (train_cache / "shards").iterdir())
    everything = sum(file.stat().st_size for file in train_cache.rglob("*") if file.is_file())
    opened = dataset.stats()
    assert opened.fetched_bytes <= everything - shards
    first = told(dataset)
    read = dataset.stats()
    assert read.fetched_bytes - opened.fetched_bytes == shards
    assert read.fetch_repeats == 0
    again = runtime.cached_dataset([cache_url], reader_config=config, store_config=store)
    assert told(again) == first
    manifest = (train_cache / "manifest.json").stat().st_size
    assert again.stats().fetched_bytes == manifest


def test_few_draws_of_large_records_move_little_more_than_they_need(
    runtime: drt.DatasetRuntime, object_server: ObjectServer, tmp_path: Path
) -> None:
    large = drt.CacheInput(bytes(300_000), {})
    path = write_ok(runtime, Rows("large", [large] * 40), tmp_path).path
    url = object_server.url("large")
    drt.upload(path, url)
    dataset = runtime.cached_dataset(
        [url], reader_config=drt.ReaderConfig(seed=1), store_config=store_config(tmp_path / "store")
    )
    dataset.set_epoch_len(5)
    before = dataset.stats().fetched_bytes
    drawn = {sample.sample_id for sample in dataset}
    assert dataset.stats().fetched_bytes - before == 300_000 * len(drawn)


def test_iterator_resumes_in_mid_window(
    runtime: drt.DatasetRuntime, cache_url: str, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=9)
    open_one = lambda name: runtime.cached_dataset(  # noqa: E731
        [cache_url], reader_config=config, store_config=store_config(tmp_path / name)
    )
    whole = told(open_one("a"))
    iterator = iter(open_one("b"))
    begun = told([next(iterator) for _ in range(333)])
    state = iterator.state_dict()
    resumed = open_one("c")
    resumed.load_state_dict(state)
    assert begun + told(resumed) == whole


def test_edited_table_views_and_access_by_identity_work_through_a_store(
    runtime: drt.DatasetRuntime, train_cache: Path, cache_url: str, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=4)
    local = runtime.cached_dataset([train_cache], reader_config=config)
    remote = runtime.cached_dataset(
        [cache_url], reader_config=config, store_config=store_config(tmp_path / "store")
    )
    table = local.get_metadata()
    table = table.filter(table["label"] == 1)
    for dataset in (local, remote):
        dataset.update_metadata(table)
    for index in range(3):
        assert told(remote.partition(index, 3)) == told(local.partition(index, 3))
    ids = [(0, 999), (0, 0), (0, 500), (0, 999)]
    assert told(remote.get_items(ids)) == told(local.get_items(ids))


def test_directories_and_urls_are_one_dataset(
    runtime: drt.DatasetRuntime, train_cache: Path, cache_url: str, tmp_path: Path
) -> None:
    other = write_ok(runtime, rows(100, "other"), tmp_path).path
    config = drt.ReaderConfig(seed=2, shuffle=False)
    mixed = runtime.cached_dataset(
        [other, cache_url], reader_config=config, store_config=store_config(tmp_path / "store")
    )
    assert told(mixed) == told(runtime.cached_dataset([other, train_cache], reader_config=config))


def test_dumped_config_opens_the_dataset_again(
    runtime: drt.DatasetRuntime, cache_url: str, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=6)
    dataset = runtime.cached_dataset(
        [cache_url], reader_config=config, store_config=store_config(tmp_path / "store")
    )
    handle = dataset.dump_config(tmp_path / "handle")
    expected = told(dataset)
    opened = drt.CachedDataset.from_config(handle)
    assert opened.stats().fetch_requests == 0
    assert told(opened) == expected


def test_upload_goes_on_where_it_was(object_server: ObjectServer, train_cache: Path) -> None:
    url = object_server.url("again")
    first = drt.upload(train_cache, url)
    assert first.kept_files == 0
    object_server.delete("again/manifest.json")
    object_server.put("again/index.bin", bytes((train_cache / "index.bin").stat().st_size))
    calls: list[tuple[int, int]] = []
    second = drt.upload(train_cache, url, progress=lambda done, total: calls.append((done, total)))
    assert second.sent_files == 2
    assert second.sent_files + second.kept_files == first.sent_files
    assert calls[-1][0] == calls[-1][1] == first.sent_bytes
    assert object_server.get("again/index.bin") == (train_cache / "index.bin").read_bytes()


def test_what_can_not_be_honoured_is_refused(
    runtime: drt.DatasetRuntime,
    object_server: ObjectServer,
    train_cache: Path,
    cache_url: str,
    tmp_path: Path,
) -> None:
    config = drt.ReaderConfig(seed=1)
    store = store_config(tmp_path / "store")
    with pytest.raises(drt.InvalidConfigError) as no_store:
        runtime.cached_dataset([cache_url], reader_config=config)
    assert no_store.value.field == "store_config"
    hashed = drt.ReaderConfig(seed=1, validate_cache=True)
    with pytest.raises(drt.InvalidConfigError) as validated:
        runtime.cached_dataset([cache_url], reader_config=hashed, store_config=store)
    assert validated.value.field == "validate_cache"
    nothing = object_server.url("nothing")
    with pytest.raises(drt.RemoteReadError) as missing:
        runtime.cached_dataset([nothing], reader_config=config, store_config=store)
    assert missing.value.url == object_server.url("nothing/manifest.json")
    assert missing.value.attempts == 1
    assert isinstance(missing.value, OSError)
    with pytest.raises(drt.InvalidConfigError):
        drt.upload(train_cache, "ftp://somewhere")
    with pytest.raises(TypeError):
        runtime.cached_dataset([cache_url], reader_config=config, store_config={"path": "x"})


def test_cache_of_the_original_system_is_refused_at_a_url(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text('{"version": 3}')
    with pytest.raises((drt.InvalidConfigError, drt.CorruptCacheError)):
        drt.upload(tmp_path / "old", f"file://{tmp_path}/new")


def test_records_are_checked_whatever_the_config_says(
    runtime: drt.DatasetRuntime, cache_url: str, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=1, verify_records=False)
    dataset = runtime.cached_dataset(
        [cache_url], reader_config=config, store_config=store_config(tmp_path / "store")
    )
    assert dataset.reader_config.verify_records is True


def test_record_damaged_in_the_store_is_fetched_again(
    runtime: drt.DatasetRuntime, train_cache: Path, cache_url: str, tmp_path: Path
) -> None:
    config = drt.ReaderConfig(seed=1, shuffle=False)
    store = store_config(tmp_path / "store")
    expected = told(runtime.cached_dataset([train_cache], reader_config=config))
    dataset = runtime.cached_dataset([cache_url], reader_config=config, store_config=store)
    assert told(dataset) == expected
    (folder,) = dataset.cache_paths
    for shard in (folder / "shards").iterdir():
        content = bytearray(shard.read_bytes())
        content[: len(content) // 2] = bytes(len(content) // 2)
        shard.write_bytes(content)
    assert told(dataset) == expected
    assert told(dataset.batches(100).__next__()) == expected[:100]


def test_package_and_local_reading_import_no_object_library(train_cache: Path) -> None:
    script = (
        "import sys, dataset_rt as drt\n"
        "config = drt.ReaderConfig(seed=1)\n"
        "runtime = drt.DatasetRuntime(num_workers=1)\n"
        "dataset = runtime.cached_dataset([sys.argv[1]], reader_config=config)\n"
        "assert sum(1 for _ in dataset) == 1000\n"
        "drt.StoreConfig(path='x'), drt.upload, drt.RemoteReadError\n"
        "assert 'obstore' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(train_cache)], check=True)
