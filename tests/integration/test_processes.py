"""Forked children, handles for other processes, threads beside a reader."""

import itertools
import multiprocessing
import threading
from pathlib import Path

import dataset_rt as drt
import pytest
from children import in_fork
from support import flat, ids, numbered, open_numbers, planned, write_one

TASKS = Path("/proc/self/task")


@pytest.mark.parametrize("prefetch", [8, 64])
@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("taken", [0, 1, 5, 17, 50])
def test_forked_child_reads_what_was_opened_before(
    runtime, tmp_path, mapped, prefetch, taken
) -> None:
    dataset = open_numbers(runtime, tmp_path, 50, mapped=mapped, prefetch_size=prefetch)
    order = planned(dataset, 150)
    live = iter(dataset)
    assert ids(itertools.islice(live, taken)) == order[:taken]
    assert in_fork(lambda: ids(dataset)) == order[50:100]
    assert in_fork(lambda: ids(live)) == order[taken:50]
    assert ids(live) == order[taken:50]
    assert ids(dataset) == order[50:100]


@pytest.mark.parametrize("mapped", [True, False])
def test_forked_child_reads_batches_that_were_begun_before(runtime, tmp_path, mapped) -> None:
    dataset = open_numbers(runtime, tmp_path, 50, mapped=mapped, prefetch_size=8)
    order = planned(dataset, 100)
    live = dataset.batches(7)
    next(live)
    assert in_fork(lambda: flat(ids(batch) for batch in live)) == order[7:50]
    assert in_fork(lambda: flat(ids(batch) for batch in dataset.batches(7))) == order[50:]
    assert flat(ids(batch) for batch in live) == order[7:50]


def test_forked_child_opens_and_writes_on_the_inherited_runtime(runtime, tmp_path) -> None:
    open_numbers(runtime, tmp_path)

    def work() -> list[int]:
        assert isinstance(write_one(runtime, numbered(6), tmp_path), drt.CacheWriteSuccess)
        config = drt.ReaderConfig(seed=1, shuffle=False)
        return ids(runtime.cached_dataset([tmp_path / "numbers"], reader_config=config))

    assert in_fork(work) == list(range(6))


def test_fork_while_another_thread_reads(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 50)
    order = planned(dataset, 50)
    stop = threading.Event()

    def keep_reading() -> None:
        other = open_numbers(runtime, tmp_path, 50, seed=3)
        while not stop.is_set():
            list(other)

    thread = threading.Thread(target=keep_reading)
    thread.start()
    try:
        for _ in range(5):
            assert in_fork(lambda: ids(dataset)) == order
    finally:
        stop.set()
        thread.join()


def test_dump_is_opened_with_table_and_cursor(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    frame = dataset.get_metadata().head(12).with_columns(weight=2.0, note=1)
    dataset.update_metadata(frame)
    dataset.set_epoch_len(5)
    dataset.skip(3)
    file = dataset.dump_config(tmp_path / "handle")
    for pool in (None, runtime):
        again = drt.CachedDataset.from_config(file, pool)
        assert again.get_metadata().equals(frame)
        assert again.reader_config == dataset.reader_config
        assert again.cache_paths == dataset.cache_paths
        assert (again.position, len(again)) == (3, 5)
        assert planned(again, 20) == planned(dataset, 20)
        assert again.state_dict() == dataset.state_dict()


def read_dump(file: str) -> list[int]:
    return ids(drt.CachedDataset.from_config(file))


@pytest.mark.parametrize("mapped", [True, False])
def test_threads_share_one_iterator_of_batches(runtime, tmp_path, mapped: bool) -> None:
    dataset = open_numbers(runtime, tmp_path, 400, mapped=mapped)
    order = planned(dataset, 400)
    batches = dataset.batches(8)
    parts: list[list[int]] = []

    def work() -> None:
        parts.extend(ids(batch) for batch in batches)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(parts) == sorted(order[start : start + 8] for start in range(0, 400, 8))


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_dump_is_read_by_other_processes(runtime, tmp_path, method: str) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    file = str(dataset.dump_config(tmp_path))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(read_dump, [file, file]) == [planned(dataset, 20)] * 2


def test_missing_dump_is_an_os_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        drt.CachedDataset.from_config(tmp_path / "nothing")


def test_threads_share_one_dataset_without_repeating_draws(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 40)
    order = planned(dataset, 40 * 8)
    windows: list[list[int]] = []

    def work() -> None:
        windows.extend(ids(dataset) for _ in range(2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [order[start : start + 40] for start in range(0, 320, 40)]
    assert sorted(windows) == sorted(expected)


def test_one_iterator_shared_by_threads_gives_each_draw_once(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 40)
    dataset.set_epoch_len(4000)
    expected = planned(dataset, 4000)
    iterator = iter(dataset)
    shares: list[list[int]] = []
    threads = [threading.Thread(target=lambda: shares.append(ids(iterator))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(flat(shares)) == sorted(expected)


def test_no_thread_is_made_per_iterator(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    ids(dataset)
    before = len(list(TASKS.iterdir()))
    iterators = [iter(dataset) for _ in range(20)]
    for iterator in iterators:
        next(iterator)
    assert len(list(TASKS.iterdir())) == before
