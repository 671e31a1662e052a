"""Windows, cursor and epoch length: which draws an iterator covers."""

import collections
import gc
import sys

import dataset_rt as drt
import pytest
from support import ids, open_numbers, planned


def ordered(runtime, tmp_path, count: int = 10) -> drt.CachedDataset:
    return open_numbers(runtime, tmp_path, count, shuffle=False)


def test_ordered_stream_continues_cyclically_over_windows(runtime, tmp_path) -> None:
    dataset = ordered(runtime, tmp_path)
    dataset.set_epoch_len(4)
    assert [ids(dataset) for _ in range(4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 0, 1],
        [2, 3, 4, 5],
    ]


def test_epoch_longer_than_the_table_repeats_rows(runtime, tmp_path) -> None:
    dataset = ordered(runtime, tmp_path, 3)
    dataset.set_epoch_len(8)
    assert len(dataset) == 8
    assert ids(dataset) == [0, 1, 2, 0, 1, 2, 0, 1]


def test_two_live_iterators_never_overlap(runtime, tmp_path) -> None:
    dataset = ordered(runtime, tmp_path)
    dataset.set_epoch_len(3)
    first, second = iter(dataset), iter(dataset)
    assert (next(second).sample_id, next(first).sample_id) == (3, 0)
    assert ids(first) == [1, 2]
    assert ids(second) == [4, 5]


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_dropping_an_iterator_changes_nothing_for_the_next(runtime, tmp_path, taken) -> None:
    dataset = ordered(runtime, tmp_path)
    dataset.set_epoch_len(4)
    for k in range(3):
        iterator = iter(dataset)
        for i in range(taken):
            assert next(iterator).sample_id == (4 * k + i) % 10
        del iterator
        gc.collect()
        assert dataset.position == 4 * (k + 1)


def test_cursor_moves_when_the_iterator_is_made(runtime, tmp_path) -> None:
    dataset = ordered(runtime, tmp_path)
    assert dataset.position == 0
    iterator = iter(dataset)
    assert dataset.position == 10
    assert iterator.position == 0
    next(iterator)
    assert iterator.position == 1


@pytest.mark.parametrize("length", [0, -1])
def test_epoch_length_is_at_least_one(runtime, tmp_path, length: int) -> None:
    dataset = ordered(runtime, tmp_path)
    with pytest.raises((drt.InvalidConfigError, OverflowError)):
        dataset.set_epoch_len(length)
    assert len(dataset) == 10


@pytest.mark.parametrize("length", [1.5, "3", None])
def test_epoch_length_is_an_integer(runtime, tmp_path, length: object) -> None:
    with pytest.raises(TypeError):
        ordered(runtime, tmp_path).set_epoch_len(length)


def test_exhausted_iterator_stays_exhausted(runtime, tmp_path) -> None:
    iterator = iter(ordered(runtime, tmp_path, 2))
    assert ids(iterator) == [0, 1]
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


def test_plan_tells_draws_without_moving(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    frame = dataset.plan(25)
    assert frame.columns == ["position", "row", "cache_id", "sample_id"]
    assert frame["position"].to_list() == list(range(25))
    assert dataset.position == 0
    assert ids(dataset) == frame["sample_id"].to_list()[:10]
    assert planned(dataset, 15) == frame["sample_id"].to_list()[10:]
    assert planned(dataset, 5, 3) == frame["sample_id"].to_list()[3:8]
    assert dataset.plan(0).height == 0


def test_shuffled_epochs_differ_and_repeat_for_the_same_seed(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 50)
    first, second = ids(dataset), ids(dataset)
    assert first != second
    again = open_numbers(runtime, tmp_path, 50)
    assert [ids(again), ids(again)] == [first, second]
    other = open_numbers(runtime, tmp_path, 50, seed=8)
    assert ids(other) != first


def test_seeds_that_differ_in_the_upper_half_are_independent(runtime, tmp_path) -> None:
    low = planned(open_numbers(runtime, tmp_path, 50, seed=7), 2000)
    high = planned(open_numbers(runtime, tmp_path, 50, seed=7 + 2**32), 2000)
    assert low != high
    assert collections.Counter(low) != collections.Counter(high)


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("prefetch", [1, 64])
def test_order_does_not_depend_on_workers_or_prefetch(tmp_path, runtime, workers, prefetch) -> None:
    expected = planned(open_numbers(runtime, tmp_path, 30), 60)
    pool = drt.DatasetRuntime(num_workers=workers)
    dataset = open_numbers(pool, tmp_path, 30, prefetch_size=prefetch)
    assert ids(dataset) + ids(dataset) == expected
    positioned = open_numbers(pool, tmp_path, 30, prefetch_size=prefetch, mapped=False)
    assert ids(positioned) == expected[:30]


def test_without_replacement_each_row_comes_once_per_cycle(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, replacement=False)
    first, second = ids(dataset), ids(dataset)
    assert sorted(first) == sorted(second) == list(range(30))
    assert first != second
    assert first != list(range(30))


def test_weights_order_a_cycle_without_replacement(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, replacement=False)
    frame = dataset.get_metadata()
    heavy = (frame["sample_id"] < 3).cast(int) * 10**6 + 1
    dataset.update_metadata(frame.with_columns(weight=heavy))
    drawn = ids(dataset)
    assert sorted(drawn) == list(range(30))
    assert sorted(drawn[:3]) == [0, 1, 2]


def test_draw_seed_is_a_function_of_seed_and_position(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    seeds = [dataset.draw_seed(position) for position in range(10_000)]
    assert len(set(seeds)) == 10_000
    assert all(0 <= seed < 2**64 for seed in seeds)
    list(dataset)
    assert open_numbers(runtime, tmp_path).draw_seed(1234) == seeds[1234]
    assert open_numbers(runtime, tmp_path, seed=8).draw_seed(1234) != seeds[1234]


def test_payload_is_a_bytes_object_and_metadata_the_callers_own(runtime, tmp_path) -> None:
    dataset = ordered(runtime, tmp_path, 2)
    first, _ = samples = list(dataset)
    assert type(first.data) is bytes
    assert type(first.metadata) is dict
    first.metadata["label"] = 99
    assert next(iter(dataset)).metadata["label"] == 0
    keys = [list(sample.metadata) for sample in samples]
    assert keys == [["flag", "label", "quality", "split"]] * 2
    assert all(a is b for a, b in zip(*keys, strict=True))  # interned
    assert sys.getrefcount(first.data) <= 3


def test_relative_paths_survive_a_change_of_directory(runtime, tmp_path, monkeypatch) -> None:
    open_numbers(runtime, tmp_path)
    monkeypatch.chdir(tmp_path)
    config = drt.ReaderConfig(seed=1, shuffle=False)
    dataset = runtime.cached_dataset(["numbers-10"], reader_config=config)
    monkeypatch.chdir("/")
    assert dataset.cache_paths == [tmp_path / "numbers-10"]
    assert ids(dataset) == list(range(10))
    dataset.update_metadata(dataset.get_metadata().head(3))
    assert ids(dataset) == [0, 1, 2]
