"""Servers that fail, stall, truncate, lie or change: retries, typed errors, never wrong bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import pytest
from fault_proxy import FAULTS, FaultProxy, proxying
from object_server import environment, rows, store_config, told
from support import write_ok

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from object_server import ObjectServer

CONFIG = drt.ReaderConfig(seed=5, replacement=False)


@pytest.fixture
def proxy(object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    with proxying(object_server.port) as (proxy, port):
        for name, value in environment(port).items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.fixture
def config_of_store(tmp_path: Path, fault: str) -> drt.StoreConfig:
    """A store whose requests end soon where they would wait for ever."""
    options = {"request_timeout_seconds": 0.5} if fault == "stall" else {}
    return store_config(tmp_path / "store", max_requests=2, attempts=3, **options)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_that_passes_changes_neither_order_nor_bytes(
    train_cache: Path,
    cache_url: str,
    proxy: FaultProxy,
    config_of_store: drt.StoreConfig,
    fault: str,
) -> None:
    runtime, store = drt.DatasetRuntime(num_workers=2), config_of_store
    expected = told(runtime.cached_dataset([train_cache], reader_config=CONFIG))
    dataset = runtime.cached_dataset([cache_url], reader_config=CONFIG, store_config=store)
    proxy.spoil(fault, every=3)
    iterator = iter(dataset)
    begun = told([next(iterator) for _ in range(100)])
    assert dataset.stats().fetch_repeats > 0
    assert proxy.spoiled > 0
    resumed = runtime.cached_dataset([cache_url], reader_config=CONFIG, store_config=store)
    resumed.load_state_dict(iterator.state_dict())
    assert begun + told(resumed) == expected


def outcome(iterator: Any) -> Any:
    """The next draw's sample, or its error; None at the end."""
    try:
        return next(iterator, None)
    except (drt.RemoteReadError, drt.CorruptCacheError) as error:
        return error


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_that_stays_is_a_typed_error_of_its_draws_alone(
    train_cache: Path,
    cache_url: str,
    proxy: FaultProxy,
    config_of_store: drt.StoreConfig,
    fault: str,
) -> None:
    runtime, store = drt.DatasetRuntime(num_workers=2), config_of_store
    ordered = drt.ReaderConfig(seed=5, shuffle=False)
    expected = told(runtime.cached_dataset([train_cache], reader_config=ordered))
    dataset = runtime.cached_dataset([cache_url], reader_config=ordered, store_config=store)
    proxy.spoil(fault, at="shards/000001.bin")
    iterator, read, errors = iter(dataset), [], []
    while (drawn := outcome(iterator)) is not None:
        if isinstance(drawn, drt.CachedSample):
            read.append(drawn)
        else:
            errors.append(drawn)
            proxy.behave()
    wrong = fault in {"flip", "other_bytes"}
    for error in errors:
        assert isinstance(error, drt.CorruptCacheError if wrong else drt.RemoteReadError)
        assert error.url == f"{cache_url}/shards/000001.bin"
        assert error.byte_range is not None
    assert len(errors) == 1 if fault == "flip" else errors  # one record of many that came with it
    assert len(read) + len(errors) == len(expected)
    kept = [sample for sample in expected if sample[1] in {one.sample_id for one in read}]
    assert told(read) == kept


@pytest.mark.parametrize("knows_preconditions", [True, False])
def test_another_version_in_mid_run_is_an_error_and_never_mixed(
    runtime: drt.DatasetRuntime,
    object_server: ObjectServer,
    proxy: FaultProxy,
    tmp_path: Path,
    knows_preconditions: bool,
) -> None:
    first = write_ok(runtime, rows(400, "one"), tmp_path).path
    url = object_server.url(f"changing-{knows_preconditions}")
    drt.upload(first, url)
    # Records of 128 KiB and more apart are asked for one by one.
    wide = drt.ReaderConfig(seed=1)
    dataset = runtime.cached_dataset(
        [url], reader_config=wide, store_config=store_config(tmp_path / "store")
    )
    dataset.get_item(0, 399)
    shard = object_server.get(f"changing-{knows_preconditions}/shards/000000.bin")
    object_server.put(f"changing-{knows_preconditions}/shards/000000.bin", shard[::-1])
    if not knows_preconditions:
        proxy.spoil("other_version")
    with pytest.raises(drt.RemoteReadError) as changed:
        dataset.get_item(0, 1)
    assert changed.value.attempts == 1
    assert "another version" in str(changed.value.cause)
    assert dataset.get_item(0, 399).sample_id == 399  # is in the store


def test_server_that_fails_while_a_cache_is_opened_leaves_nothing_half(
    runtime: drt.DatasetRuntime, cache_url: str, proxy: FaultProxy, tmp_path: Path
) -> None:
    store = store_config(tmp_path / "store", attempts=1)
    proxy.spoil("unavailable", at="metadata.arrow")
    with pytest.raises(drt.RemoteReadError) as failed:
        runtime.cached_dataset([cache_url], reader_config=CONFIG, store_config=store)
    assert failed.value.url == f"{cache_url}/metadata.arrow"
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert left == []


INTERRUPTED = """
import sys
import dataset_rt as drt

runtime = drt.DatasetRuntime(num_workers=2)
try:
    dataset = runtime.cached_dataset(
        [sys.argv[1]],
        reader_config=drt.ReaderConfig(seed=1),
        store_config=drt.StoreConfig(path=sys.argv[2]),
    )
    print(sum(1 for sample in dataset))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("at", ["manifest.json", "index.bin", "/shards/"])
def test_interrupt_is_answered_while_a_server_stalls(
    cache_url: str, proxy: FaultProxy, tmp_path: Path, at: str
) -> None:
    proxy.spoil("stall", at=at)
    command = [sys.executable, "-c", INTERRUPTED, cache_url, str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        proxy.stalled.wait()
        reader.send_signal(signal.SIGINT)
        output, _ = reader.communicate()
    assert (reader.returncode, output) == (0, "interrupted\n")


def test_damaged_draws_can_be_skipped(
    runtime: drt.DatasetRuntime, cache_url: str, proxy: FaultProxy, tmp_path: Path
) -> None:
    store = store_config(tmp_path / "store", attempts=1)
    skipping = drt.ReaderConfig(seed=5, shuffle=False, on_corrupt="skip")
    dataset = runtime.cached_dataset([cache_url], reader_config=skipping, store_config=store)
    proxy.spoil("flip", at="shards/000001.bin")
    read = [sample.sample_id for sample in dataset]
    assert read == sorted(read)
    assert dataset.stats().corrupt_skips == 1 == 1000 - len(read)
