"""Reads that wait for a slow disk: nobody else waits with them, and signals are answered."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import dataset_rt as drt
import pytest
from children import ended, in_fork, start
from slow_disk import SHARDS, SlowShard, payload, write_many_shards

LAST = SHARDS - 1
FILES, TASKS = Path("/proc/self/fd"), Path("/proc/self/task")


@pytest.fixture(scope="module")
def cache(runtime, tmp_path_factory) -> Path:
    return write_many_shards(runtime, tmp_path_factory.mktemp("slow"))


@pytest.fixture
def slow(cache):
    shard = SlowShard(cache)
    yield shard
    shard.close()


def open_last(runtime, cache: Path, count: int = 1) -> drt.CachedDataset:
    """The last samples of the cache, in order, read without a mapping."""
    config = drt.ReaderConfig(seed=1, shuffle=False, mapped=False, prefetch_size=8)
    dataset = runtime.cached_dataset([cache], reader_config=config)
    dataset.update_metadata(dataset.get_metadata().tail(count))
    return dataset


READS = {
    "samples": lambda dataset: next(iter(dataset)).data,
    "batches": lambda dataset: bytes(next(dataset.batches(4)).data),
    "items": lambda dataset: dataset.get_item(0, LAST).data,
}


@pytest.mark.parametrize("how", READS)
def test_other_threads_run_while_a_read_waits(runtime, cache, slow, how: str) -> None:
    events = []

    def count() -> None:
        slow.wait_for_reader()
        number = 0
        while number < 100_000:
            number += 1
        events.append(number)
        slow.release()

    thread = threading.Thread(target=count)
    thread.start()
    data = READS[how](open_last(runtime, cache))
    events.append("read")
    thread.join()
    assert (data, events) == (payload(LAST), [100_000, "read"])


ITERATORS = {"samples": iter, "batches": lambda dataset: dataset.batches(2)}


@pytest.mark.parametrize("how", ITERATORS)
def test_child_of_a_fork_is_not_kept_by_a_thread_of_its_parent(
    runtime, cache, slow, how: str
) -> None:
    dataset = open_last(runtime, cache)
    iterator = ITERATORS[how](dataset)
    thread = threading.Thread(target=lambda: next(iterator))
    thread.start()
    slow.wait_for_reader()

    def use() -> tuple[str, int]:
        try:
            next(iterator)
        except RuntimeError as error:
            return type(error).__name__, iterator.state_dict()["position"]
        return "read", -1

    try:
        assert in_fork(use) == ("RuntimeError", 0)
    finally:
        slow.release()
        thread.join()
    assert next(iterator, None) is None


@pytest.fixture
def on_signal():
    """Has a function run by a signal that comes while the read of a slow shard waits."""
    before = signal.getsignal(signal.SIGUSR1)

    def install(slow: SlowShard, handler) -> threading.Thread:
        handled = threading.Event()

        def run(*_: object) -> None:
            try:
                handler()
            finally:
                handled.set()

        def send() -> None:
            slow.wait_for_reader()
            os.kill(os.getpid(), signal.SIGUSR1)
            handled.wait()
            slow.release()

        signal.signal(signal.SIGUSR1, run)
        thread = threading.Thread(target=send)
        thread.start()
        return thread

    yield install
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("how", ITERATORS)
def test_handler_of_a_signal_saves_the_state_of_a_waiting_iterator(
    runtime, cache, slow, on_signal, how: str
) -> None:
    dataset = open_last(runtime, cache, 4)
    iterator = ITERATORS[how](dataset)
    size = 2 if how == "batches" else 1
    taken = 4 // size - 1
    for _ in range(taken):
        next(iterator)
    saved = []

    def save() -> None:
        saved.append((iterator.position, iterator.__length_hint__(), iterator.state_dict()))

    thread = on_signal(slow, save)
    next(iterator)
    thread.join()
    ((position, left, state),) = saved
    assert (position, left, state["position"]) == (taken * size, 1, taken * size)
    again = open_last(runtime, cache, 4)
    again.load_state_dict(state)
    assert [sample.sample_id for sample in again] == list(range(SHARDS - size, SHARDS))


@pytest.mark.parametrize("how", ITERATORS)
def test_handler_of_a_signal_cannot_draw_from_a_waiting_iterator(
    runtime, cache, slow, on_signal, how: str
) -> None:
    iterator = ITERATORS[how](open_last(runtime, cache, 1))
    uses = [
        lambda: next(iterator),
        lambda: iterator.skip(1),
        lambda: iterator.load_state_dict(iterator.state_dict()),
    ]
    refused = []

    def draw() -> None:
        for use in uses:
            with pytest.raises(RuntimeError):
                use()
            refused.append(use)

    thread = on_signal(slow, draw)
    first = next(iterator)
    thread.join()
    assert refused == uses
    assert (first[0] if how == "batches" else first).data == payload(LAST)
    assert next(iterator, None) is None


@pytest.mark.parametrize("how", ITERATORS)
def test_exception_of_a_handler_loses_no_draw_of_a_batch(
    runtime, cache, slow, on_signal, how: str
) -> None:
    iterator = ITERATORS[how](open_last(runtime, cache, 1))

    def fail() -> None:
        raise KeyError("of the handler")

    thread = on_signal(slow, fail)
    with pytest.raises(KeyError, match="of the handler"):
        next(iterator)
    thread.join()
    assert iterator.position == 0
    last = next(iterator)
    assert (last[0] if how == "batches" else last).data == payload(LAST)


def test_finalizer_that_asks_its_iterator_is_answered(runtime, cache) -> None:
    iterator = open_last(runtime, cache, 100).batches(1)
    told = []

    class Asks:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            told.append(iterator.state_dict()["position"])

    for _ in iterator:
        for _ in range(200):
            Asks()
    assert told
    assert max(told) <= 100


@pytest.mark.parametrize("how", ITERATORS)
def test_dropping_an_iterator_waits_for_no_read(cache, slow, how: str) -> None:
    runtime = drt.DatasetRuntime(num_workers=2)
    iterator = ITERATORS[how](open_last(runtime, cache, 6))
    next(iterator)
    slow.wait_for_reader()
    del iterator
    slow.release()
    assert len(list(open_last(runtime, cache, 6))) == 6


BLOCKED = """
from slow_disk import SHARDS
config = drt.ReaderConfig(seed=1, shuffle=False, mapped=False, prefetch_size=8)
runtime = drt.DatasetRuntime(num_workers=8)
dataset = runtime.cached_dataset([sys.argv[1]], reader_config=config)
dataset.skip(SHARDS - int(sys.argv[3]))
kept = {
    "samples": lambda: next(iter(dataset)),
    "batches": lambda: next(dataset.batches(1)),
    "items": lambda: dataset.get_item(0, SHARDS - 1),
    "live": lambda: [iter(dataset), dataset.batches(2), dataset.batches(2)],
}[sys.argv[2]]()
if sys.argv[2] == "live":
    kept += [*map(next, kept)]
    say("read")
    sys.stdin.readline()
"""


@pytest.mark.parametrize("how", ["samples", "batches", "items"])
def test_interrupt_ends_a_waiting_process(runtime, cache, slow, how: str) -> None:
    child = start(BLOCKED, cache, how, 1)
    slow.wait_for_reader()
    child.send_signal(signal.SIGINT)
    _, errors = ended(child)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode == -signal.SIGINT
    slow.release()
    assert READS[how](open_last(runtime, cache)) == payload(LAST)


def test_process_ends_with_live_iterators_and_reads_under_way(cache, slow) -> None:
    child = start(BLOCKED, cache, "live", 6)
    assert child.stdout.readline() == '"read"\n'
    slow.wait_for_reader()
    assert ended(child, "\n") == ("", "")
    assert child.returncode == 0
    slow.release()


def test_dropped_iterators_leave_no_file_and_no_thread(runtime, cache) -> None:
    def count() -> tuple[int, int]:
        return len(list(FILES.iterdir())), len(list(TASKS.iterdir()))

    for mapped in (True, False):
        config = drt.ReaderConfig(seed=1, mapped=mapped, prefetch_size=8)
        dataset = runtime.cached_dataset([cache], reader_config=config)
        list(dataset)
        before = count()
        for _ in range(20):
            iterators = [iter(dataset), dataset.batches(7), iter(dataset.partition(0, 2))]
            for iterator in iterators:
                next(iterator)
            del iterators, iterator
        list(dataset)
        assert count() == before
