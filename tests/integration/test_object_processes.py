"""Several processes over one store: loader workers, readers with a limit, and kills."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import pytest
from children import private_kib
from object_reader import read_for_ever
from object_server import environment, store_config, told
from store_format import leases, stored_caches, used_bytes
from support import Rows, write_ok

if TYPE_CHECKING:
    from pathlib import Path

    from object_server import ObjectServer

CONFIG = drt.ReaderConfig(seed=5, replacement=False)


def seen(loader: object) -> list[tuple[int, bytes]]:
    """Samples of all batches, in order of arrival."""
    return [
        (int(sample_id), bytes(payload))
        for batch in loader
        for sample_id, payload in zip(batch.sample_id, batch.data, strict=True)
    ]


@pytest.mark.parametrize("start", ["spawn", "forkserver", None])
def test_loader_workers_fetch_for_themselves_and_keep_the_order(
    runtime: drt.DatasetRuntime,
    train_cache: Path,
    cache_url: str,
    tmp_path: Path,
    start: str | None,
) -> None:
    dataset = runtime.cached_dataset(
        [cache_url], reader_config=CONFIG, store_config=store_config(tmp_path / "store")
    )
    local = runtime.cached_dataset([train_cache], reader_config=CONFIG)
    options = {} if start is None else {"multiprocessing_context": start}
    loader = dataset.to_torch_dataloader(batch_size=50, num_workers=2, **options)
    for _ in range(2):
        expected = [(sample.sample_id, sample.data) for sample in local]
        assert seen(loader) == expected
    assert dataset.state_dict() == local.state_dict()


def test_forked_worker_says_that_it_can_not_fetch_and_reads_what_is_there(
    runtime: drt.DatasetRuntime, cache_url: str, tmp_path: Path
) -> None:
    dataset = runtime.cached_dataset(
        [cache_url], reader_config=CONFIG, store_config=store_config(tmp_path / "store")
    )
    options = {"batch_size": 50, "num_workers": 1, "multiprocessing_context": "fork"}
    with pytest.raises(drt.RemoteReadError, match="forkserver"):
        seen(dataset.to_torch_dataloader(**options))
    in_store = sorted(seen_here(dataset))
    assert sorted(seen(dataset.to_torch_dataloader(**options))) == in_store


ENDING = """
import sys
import dataset_rt as drt

url, store, draws = sys.argv[1:]
runtime = drt.DatasetRuntime(num_workers=2)
dataset = runtime.cached_dataset(
    [url], reader_config=drt.ReaderConfig(seed=1), store_config=drt.StoreConfig(path=store)
)
samples = iter(dataset)
for _ in range(int(draws)):
    next(samples)
"""


@pytest.mark.parametrize("draws", [0, 1, 2, 5, 20])
def test_process_may_end_while_it_fetches(cache_url: str, tmp_path: Path, draws: int) -> None:
    command = [sys.executable, "-c", ENDING, cache_url, str(tmp_path / "store"), str(draws)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


KILLS = int(os.environ.get("DATASET_RT_KILLS", "30"))
READERS = 2
LIMIT = 4 * 2**20


def start_reader(arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """A process that reads for ever, and what it says."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["object_reader"])
    heard, says = context.Pipe(duplex=False)
    reader = context.Process(target=read_for_ever, args=(*arguments, says), daemon=True)
    reader.start()
    says.close()
    return reader, heard


def test_store_stays_sound_however_its_readers_are_killed(
    runtime: drt.DatasetRuntime, object_server: ObjectServer, tmp_path: Path
) -> None:
    samples = [(bytes([i % 251]) * (i * 37 % 9000), {"i": i}) for i in range(2000)]
    path = write_ok(runtime, Rows("large", samples), tmp_path, max_shard_bytes=300_000).path
    url, store_path = object_server.url("killed"), tmp_path / "store"
    drt.upload(path, url)
    store = store_config(store_path, limit_bytes=LIMIT, look_ahead_bytes=2**19, max_requests=4)
    moments = random.Random(11)
    arguments = (environment(object_server.port), url, store)
    readers = [start_reader((*arguments, seed)) for seed in range(READERS)]
    for kill in range(KILLS):
        reader, heard = readers.pop(0)
        for _ in range(moments.choice([0, 0, 1, 2, 5, 20])):
            for sample_id, data in heard.recv():
                assert data == samples[sample_id][0]
        os.kill(reader.pid, signal.SIGKILL)
        reader.join()
        heard.close()
        readers.append(start_reader((*arguments, READERS + kill)))
    for reader, heard in readers:
        heard.recv()
        os.kill(reader.pid, signal.SIGKILL)
        reader.join()
        heard.close()

    (stored,) = stored_caches(store_path).values()
    for record in stored.marked():
        assert record.is_right or record.is_hole, record
    config = drt.ReaderConfig(seed=1, replacement=False)
    dataset = runtime.cached_dataset([url], reader_config=config, store_config=store)
    local = runtime.cached_dataset([path], reader_config=config)
    assert told(dataset) == told(local)
    assert list((store_path / "tmp").iterdir()) == [] if (store_path / "tmp").exists() else True
    # What the killed ones left was counted before this process asked for anything.
    assert used_bytes(store_path) <= LIMIT
    dead = [lease for lease in leases(store_path) if lease]
    assert len(dead) <= 2 * (READERS + 1)


def seen_here(dataset: drt.CachedDataset) -> list[tuple[int, bytes]]:
    """The same of a window read in this process."""
    return [(sample.sample_id, sample.data) for sample in dataset]


def test_memory_of_a_reader_is_flat(
    runtime: drt.DatasetRuntime, object_server: ObjectServer, tmp_path: Path
) -> None:
    samples = [(bytes([i % 251]) * (i * 37 % 9000), {"i": i}) for i in range(400)]
    path = write_ok(runtime, Rows("flat", samples), tmp_path, max_shard_bytes=300_000).path
    url = object_server.url("flat")
    drt.upload(path, url)
    store = store_config(tmp_path / "store", limit_bytes=2**20, look_ahead_bytes=2**17)
    dataset = runtime.cached_dataset([url], reader_config=CONFIG, store_config=store)
    for _ in range(3):
        seen_here(dataset)
    before, fetched = private_kib(), dataset.stats().fetched_bytes
    for _ in range(5):
        seen_here(dataset)
    assert dataset.stats().fetched_bytes - fetched > 2**20
    assert private_kib() - before < 4096
