"""Exact resume: positions, skips and states of datasets and iterators."""

import json
import subprocess
import sys
from itertools import islice

import dataset_rt as drt
import polars as pl
import pytest
from support import ids, open_numbers, planned

MODES = [
    {"shuffle": False},
    {"shuffle": True},
    {"shuffle": True, "replacement": False},
]


@pytest.fixture(params=MODES, ids=["ordered", "shuffled", "once"])
def mode(request) -> dict[str, bool]:
    return request.param


@pytest.mark.parametrize("taken", [0, 1, 4, 9, 10])
def test_saved_iterator_goes_on_exactly(runtime, tmp_path, mode, taken: int) -> None:
    reference = planned(open_numbers(runtime, tmp_path, **mode), 30)
    iterator = iter(open_numbers(runtime, tmp_path, **mode))
    assert ids(islice(iterator, taken)) == reference[:taken]
    state = json.loads(json.dumps(iterator.state_dict()))

    resumed = open_numbers(drt.DatasetRuntime(num_workers=1), tmp_path, prefetch_size=1, **mode)
    resumed.load_state_dict(state)
    assert resumed.position == taken
    rest = reference[taken:10] or reference[10:20]
    assert ids(resumed) == rest
    following = 10 if reference[taken:10] else 20
    assert ids(resumed) == reference[following : following + 10]


@pytest.mark.parametrize("length", [3, 7, 12])
def test_saved_at_every_position_of_three_epochs(runtime, tmp_path, mode, length: int) -> None:
    def prepared() -> drt.CachedDataset:
        dataset = open_numbers(runtime, tmp_path, 5, **mode)
        table = dataset.get_metadata()
        table = pl.concat([table, table[[3, 0]]]).with_columns(weight=pl.col("label") + 1)
        dataset.update_metadata(table)
        dataset.set_epoch_len(length)
        return dataset

    dataset, resumed = prepared(), prepared()
    reference = planned(dataset, 5 * length)
    for start in range(0, 3 * length, length):
        between, iterator = dataset.state_dict(), iter(dataset)
        assert between == {**iterator.state_dict(), "window_end": start}
        for position in range(start, start + length + 1):
            state = json.loads(json.dumps(iterator.state_dict()))
            assert (state["position"], state["window_end"]) == (position, start + length)
            resumed.load_state_dict(state)
            assert (resumed.position, len(resumed)) == (position, length)
            end = start + length if position < start + length else start + 2 * length
            assert ids(resumed) == reference[position:end]
            assert ids(resumed) == reference[end : end + length]
            assert (
                ids(islice(iterator, 1)) == reference[position : min(position + 1, start + length)]
            )


def test_position_counts_before_and_after_a_draw(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    dataset.set_epoch_len(500)
    iterator = iter(dataset)
    list(islice(iterator, 100))
    state = iterator.state_dict()
    fresh = open_numbers(runtime, tmp_path)
    fresh.load_state_dict(state)
    assert (fresh.position, len(fresh)) == (100, 500)
    iterator = iter(fresh)
    assert iterator.position == 100
    next(iterator)
    assert iterator.position == 101


def test_state_counts_delivered_draws_not_prefetched_ones(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, prefetch_size=64)
    iterator = iter(dataset)
    list(islice(iterator, 3))
    fresh = open_numbers(runtime, tmp_path)
    fresh.load_state_dict(iterator.state_dict())
    assert ids(fresh) == ids(iterator)


def test_state_is_small_plain_and_jsonable(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, seed=2**64 - 1)
    for source in (dataset, iter(dataset)):
        state = source.state_dict()
        assert type(state) is dict
        assert len(json.dumps(state)) < 1024
        assert all(type(key) is str for key in state)
        assert json.loads(json.dumps(state)) == state


def test_third_epoch_with_repeated_rows_and_another_length(runtime, tmp_path, mode) -> None:
    def prepared() -> drt.CachedDataset:
        dataset = open_numbers(runtime, tmp_path, **mode)
        frame = dataset.get_metadata()
        weighted = pl.concat([frame, frame.head(4)]).with_columns(weight=pl.col("label") + 1)
        dataset.update_metadata(weighted)
        dataset.set_epoch_len(23)
        return dataset

    reference = planned(prepared(), 23 * 4)
    dataset = prepared()
    list(dataset), list(dataset)
    iterator = iter(dataset)
    list(islice(iterator, 17))
    resumed = prepared()
    resumed.load_state_dict(iterator.state_dict())
    assert ids(resumed) == reference[46 + 17 : 69]
    assert ids(resumed) == reference[69:92]


def test_live_iterators_are_untouched_by_a_loaded_state(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    expected = planned(dataset, 10)
    iterator = iter(dataset)
    state = dataset.state_dict()
    dataset.load_state_dict(state)
    assert ids(iterator) == expected


def test_iterator_takes_a_state_of_its_own(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    expected = planned(dataset, 10)
    iterator = iter(dataset)
    list(islice(iterator, 2))
    state = iterator.state_dict()
    list(islice(iterator, 5))
    iterator.load_state_dict(state)
    assert iterator.position == 2
    assert ids(iterator) == expected[2:]


def test_skip_on_the_dataset_is_recorded(runtime, tmp_path, mode) -> None:
    dataset = open_numbers(runtime, tmp_path, **mode)
    reference = planned(dataset, 3000)
    before = dataset.state_dict()
    dataset.skip(2000)
    assert dataset.position == 2000
    assert next(iter(dataset)).sample_id == reference[2000]
    state = dataset.state_dict()
    assert {**before, "position": state["position"]} != state  # the skip shows besides
    fresh = open_numbers(runtime, tmp_path, **mode)
    fresh.load_state_dict(state)
    assert fresh.position == dataset.position


def test_skip_on_an_iterator_stops_at_its_windows_end(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    reference = planned(dataset, 20)
    iterator = iter(dataset)
    next(iterator)
    iterator.skip(3)
    assert next(iterator).sample_id == reference[4]
    iterator.skip(100)
    assert iterator.position == 10
    assert ids(iterator) == []
    assert ids(dataset) == reference[10:20]


@pytest.mark.parametrize("draws", [-1, 2**64])
def test_impossible_skips_are_refused(runtime, tmp_path, draws: int) -> None:
    dataset = open_numbers(runtime, tmp_path)
    for target in (dataset, iter(dataset)):
        position = target.position
        with pytest.raises((drt.InvalidConfigError, OverflowError)):
            target.skip(draws)
        assert target.position == position


def test_resume_far_out_reads_nothing_before(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    dataset.skip(10**9)
    fresh = open_numbers(runtime, tmp_path)
    fresh.load_state_dict(dataset.state_dict())
    assert ids(fresh) == planned(dataset, 10, 10**9)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("seed", {"seed": 8}),
        ("mode", {"shuffle": False}),
        ("mode", {"replacement": False}),
    ],
)
def test_other_seed_or_mode_names_both_sides(runtime, tmp_path, field, changes) -> None:
    state = open_numbers(runtime, tmp_path).state_dict()
    other = open_numbers(runtime, tmp_path, **changes)
    with pytest.raises(drt.StateMismatchError) as caught:
        other.load_state_dict(state)
    assert caught.value.field == field
    assert caught.value.expected != caught.value.found
    assert other.position == 0


def test_other_table_or_caches_are_a_mismatch(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    state = dataset.state_dict()
    dataset.update_metadata(dataset.get_metadata().head(9))
    with pytest.raises(drt.StateMismatchError):
        dataset.load_state_dict(state)
    with pytest.raises(drt.StateMismatchError):
        open_numbers(runtime, tmp_path, 11).load_state_dict(state)


def test_columns_that_draws_ignore_do_not_matter_to_a_state(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    state = dataset.state_dict()
    dataset.update_metadata(dataset.get_metadata().with_columns(note=1, label=pl.lit(5, pl.Int64)))
    dataset.load_state_dict(state)


@pytest.mark.parametrize(
    "state", [{}, {"version": 99}, {"version": 1}, {"position": -1}, {"seed": "x"}]
)
def test_states_that_are_none_are_refused(runtime, tmp_path, state) -> None:
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises(drt.DatasetError):
        dataset.load_state_dict(state)
    assert dataset.position == 0


def test_epoch_length_of_the_state_is_adopted(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    dataset.set_epoch_len(4)
    state = dataset.state_dict()
    fresh = open_numbers(runtime, tmp_path)
    fresh.load_state_dict(state)
    assert len(fresh) == 4


def test_moved_and_copied_caches_are_the_same(runtime, tmp_path) -> None:
    import shutil

    dataset = open_numbers(runtime, tmp_path)
    state, order = dataset.state_dict(), planned(dataset, 50)
    shutil.copytree(tmp_path / "numbers-10", tmp_path / "elsewhere", copy_function=shutil.copyfile)
    config = drt.ReaderConfig(seed=7)
    moved = runtime.cached_dataset([tmp_path / "elsewhere"], reader_config=config)
    moved.load_state_dict(state)
    assert planned(moved, 50) == order


def test_resume_in_a_new_process(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    reference = planned(dataset, 10)
    iterator = iter(dataset)
    list(islice(iterator, 4))
    code = f"""
import json, sys
import dataset_rt as drt
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset(
    [{str(tmp_path / "numbers-10")!r}], reader_config=drt.ReaderConfig(seed=7))
dataset.load_state_dict(json.loads(sys.argv[1]))
print(json.dumps([sample.sample_id for sample in dataset]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(iterator.state_dict())],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    assert json.loads(done.stdout) == reference[4:]
