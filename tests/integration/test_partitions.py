"""Ranks: views that share one window without overlap or gap."""

from itertools import islice

import dataset_rt as drt
import polars as pl
import pytest
from support import flat, ids, open_numbers, planned

COUNTS = [1, 2, 3, 4, 8]
MODES = [{"shuffle": False}, {}, {"replacement": False}]
EPOCH = 11


def edited(runtime, tmp_path, **config) -> drt.CachedDataset:
    """Five samples as seven weighted rows; epochs of eleven draws."""
    dataset = open_numbers(runtime, tmp_path, 5, **config)
    table = dataset.get_metadata()
    table = pl.concat([table, table[[3, 0]]]).with_columns(weight=pl.col("label") + 1)
    dataset.update_metadata(table)
    dataset.set_epoch_len(EPOCH)
    return dataset


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_ranks_interleave_to_the_single_stream(runtime, tmp_path, count, mode) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, **mode)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=2.0))
    reference = planned(dataset, 60)
    views = [dataset.partition(index, count) for index in range(count)]
    assert dataset.position == 0
    for epoch in range(2):
        window = reference[30 * epoch : 30 * epoch + 30]
        for index, view in enumerate(views):
            assert len(view) == len(window[index::count])
            assert ids(view) == window[index::count]
    assert dataset.position == 0
    assert all(view.position == 60 for view in views)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_ranks_of_weighted_and_repeated_rows_are_the_window(runtime, tmp_path, count, mode) -> None:
    dataset = edited(runtime, tmp_path, **mode)
    reference = planned(dataset, 3 * EPOCH)
    views = {
        tail: [dataset.partition(index, count, **options) for index in range(count)]
        for tail, options in [
            ("uneven", {}),
            ("drop", {"drop_uneven": True}),
            ("pad", {"pad": True}),
        ]
    }
    for start in range(0, 3 * EPOCH, EPOCH):
        window = reference[start : start + EPOCH]
        whole = {
            "uneven": window,
            "drop": window[: EPOCH - EPOCH % count],
            "pad": window + window[: -EPOCH % count],
        }
        for tail, expected in whole.items():
            shares = [ids(view) for view in views[tail]]
            assert shares == [expected[index::count] for index in range(count)]
            assert [len(view) for view in views[tail]] == [len(share) for share in shares]
            assert {view.position for view in views[tail]} == {start + EPOCH}


@pytest.mark.parametrize("after", COUNTS)
@pytest.mark.parametrize("before", COUNTS)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_saved_on_some_ranks_and_resumed_on_others(runtime, tmp_path, mode, before, after) -> None:
    dataset, fresh = edited(runtime, tmp_path, **mode), edited(runtime, tmp_path, **mode)
    reference = planned(dataset, 3 * EPOCH)
    dataset.skip(EPOCH)
    for taken in range(EPOCH // before + 2):
        iterators = [iter(dataset.partition(index, before)) for index in range(before)]
        drawn = [ids(islice(iterator, taken)) for iterator in iterators]
        states = [iterator.state_dict() for iterator in iterators]
        assert all(state == states[0] for state in states)
        position = min(EPOCH + taken * before, 2 * EPOCH)
        assert states[0]["position"] == position
        assert sorted(flat(drawn)) == sorted(reference[EPOCH:position])

        fresh.load_state_dict(states[-1])
        window = reference[position : 2 * EPOCH] or reference[2 * EPOCH :]
        shares = [ids(fresh.partition(index, after)) for index in range(after)]
        assert shares == [window[index::after] for index in range(after)]


def test_ten_rows_on_four_ranks(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)

    def shares(**options: bool) -> list[list[int]]:
        return [ids(dataset.partition(index, 4, **options)) for index in range(4)]

    assert shares() == [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]
    assert shares(drop_uneven=True) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert shares(pad=True) == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]


def test_padding_repeats_the_windows_first_draws_as_often_as_needed(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 2, shuffle=False)
    assert [ids(dataset.partition(i, 5, pad=True)) for i in range(5)] == [[0], [1], [0], [1], [0]]
    assert [len(dataset.partition(i, 5)) for i in range(5)] == [1, 1, 0, 0, 0]
    assert ids(dataset.partition(4, 5)) == []


@pytest.mark.parametrize(
    ("index", "count", "options"),
    [(2, 2, {}), (-1, 2, {}), (0, 0, {}), (0, 2, {"drop_uneven": True, "pad": True})],
)
def test_impossible_partitions_are_refused(runtime, tmp_path, index, count, options) -> None:
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises((drt.InvalidConfigError, OverflowError)):
        dataset.partition(index, count, **options)


def test_skipping_damage_is_refused_for_more_than_one_rank(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, on_corrupt="skip")
    with pytest.raises(drt.InvalidConfigError):
        dataset.partition(0, 2)
    assert len(dataset.partition(0, 1)) == 10


def test_ranks_that_are_equally_far_hold_one_state(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 40)
    states = []
    for index in range(4):
        iterator = iter(dataset.partition(index, 4))
        list(islice(iterator, 3))
        assert iterator.position == 12
        states.append(iterator.state_dict())
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_four_ranks_resume_as_any_number(runtime, tmp_path, after: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 40)
    reference = planned(dataset, 80)
    iterator = iter(dataset.partition(2, 4))
    list(islice(iterator, 3))
    state = iterator.state_dict()

    drawn = {}
    for index in range(after):
        fresh = open_numbers(runtime, tmp_path, 40)
        fresh.load_state_dict(state)
        view = fresh.partition(index, after)
        assert view.position == 12
        drawn[index] = ids(view)
        assert drawn[index] == reference[12:40][index::after]
        assert ids(view) == reference[40:80][index::after]


def test_position_in_and_at_the_end_of_an_uneven_window(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    for index in range(4):
        view = dataset.partition(index, 4)
        iterator = iter(view)
        list(islice(iterator, 2))
        assert iterator.position == 8
        list(iterator)
        assert iterator.position == 10
        assert view.position == 10


def test_view_of_a_moved_cursor_starts_there(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    reference = planned(dataset, 20)
    list(dataset)
    assert ids(dataset.partition(1, 2)) == reference[10:20][1::2]


def test_parts_of_a_part(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    share = ids(dataset.partition(1, 2))
    halves = [ids(dataset.partition(1, 2).partition(part, 2)) for part in range(2)]
    assert halves == [share[0::2], share[1::2]]
