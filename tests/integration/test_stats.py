"""What ``stats`` counts: every read once, whoever made it."""

from __future__ import annotations

import dataclasses
import threading

import dataset_rt as drt
import pytest
from support import ids, numbered, open_numbers, payload, write_ok

TOTAL = sum(len(payload(number)) for number in range(20))


def test_nothing_is_counted_before_the_first_read(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    dataset.plan(20)
    iter(dataset)
    assert dataset.stats() == drt.ReadStats(0, 0, 0, 0, 0, 0, 0.0, 0.0)


def test_single_reads_are_counted_at_once(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, shuffle=False)
    iterator = iter(dataset)
    for number in range(20):
        next(iterator)
        stats = dataset.stats()
        assert stats.warm_reads + stats.cold_reads == number + 1
    assert (stats.payload_bytes, stats.checked_records) == (TOTAL, 20)
    del iterator
    assert dataset.stats() == stats


@pytest.mark.parametrize("size", [1, 7, 64])
def test_batches_count_their_draws(runtime, tmp_path, size: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, shuffle=False)
    list(dataset.batches(size))
    stats = dataset.stats()
    assert stats.warm_reads + stats.cold_reads == 20
    assert stats.payload_bytes == TOTAL


def test_reads_without_a_mapping_are_cold_and_waited_for(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, shuffle=False, mapped=False)
    list(dataset)
    stats = dataset.stats()
    assert (stats.warm_reads, stats.cold_reads, stats.payload_bytes) == (0, 20, TOTAL)
    assert stats.wait_seconds > 0


def test_views_iterators_and_items_of_a_dataset_count_together(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    views = [dataset.partition(index, 2) for index in range(2)]
    for view in views:
        list(view)
    dataset.update_metadata(dataset.get_metadata().head(5))
    list(dataset)
    dataset.get_items([(0, 1), (0, 2)])
    stats = dataset.stats()
    assert stats.warm_reads + stats.cold_reads == 25
    assert stats.item_reads == 2
    assert stats.checked_records == 27
    assert [view.stats() for view in views] == [stats, stats]
    assert open_numbers(runtime, tmp_path, 20).stats().checked_records == 0


def test_unchecked_reads_are_not_called_checked(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, verify_records=False)
    list(dataset)
    assert dataset.stats().checked_records == 0
    assert dataset.stats().payload_bytes > 0


@pytest.mark.parametrize("rows", [20, 400])
def test_decoding_takes_time(runtime, tmp_path, rows: int) -> None:
    source = numbered(0, "words")
    source.rows = [(b"word " * 200, {"number": number}) for number in range(rows)]
    lz4 = drt.ShardCompression(algo="lz4", ratio=2.0)
    path = write_ok(runtime, source, tmp_path, shard_compression=lz4).path
    dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1))
    list(dataset)
    stats = dataset.stats()
    assert stats.decode_seconds > 0
    assert stats.payload_bytes == 1000 * rows
    dataset.get_item(0, 0)
    assert dataset.stats().decode_seconds > stats.decode_seconds


def test_skipped_draws_are_counted(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(20), tmp_path).path
    shard = path / "shards" / "000000.bin"
    shard.write_bytes(bytes([shard.read_bytes()[0] ^ 1]) + shard.read_bytes()[1:])
    config = drt.ReaderConfig(seed=1, shuffle=False, on_corrupt="skip")
    dataset = runtime.cached_dataset([path], reader_config=config)
    assert ids(dataset) == list(range(1, 20))
    assert sum(len(batch) for batch in dataset.batches(8)) == 19
    stats = dataset.stats()
    assert (stats.corrupt_skips, stats.warm_reads + stats.cold_reads) == (2, 38)


def test_threads_count_without_losing_any(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)

    def work() -> None:
        for _ in range(20):
            list(dataset)
            dataset.stats()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = dataset.stats()
    assert stats.warm_reads + stats.cold_reads == 4 * 20 * 20


def test_result_is_frozen_and_says_what_it_holds(runtime, tmp_path) -> None:
    stats = open_numbers(runtime, tmp_path, 20).stats()
    with pytest.raises(dataclasses.FrozenInstanceError):
        stats.warm_reads = 1
    assert repr(stats).startswith("ReadStats(warm_reads=0, cold_reads=0, item_reads=0,")
