"""Batches hold the draws of single reads, in the same order, wherever they are cut."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import polars as pl
import pytest
from support import flat, ids, numbered, open_numbers, payload, planned, write_ok

if TYPE_CHECKING:
    from collections.abc import Iterable

MODES: dict[str, dict[str, bool]] = {
    "ordered": {"shuffle": False},
    "with replacement": {"shuffle": True},
    "each once": {"shuffle": True, "replacement": False},
}
STORED: dict[str, drt.ShardCompression] = {
    "none": drt.ShardCompression(algo="none"),
    "lz4": drt.ShardCompression(algo="lz4", ratio=1.0),
}


def singles(batches: Iterable[drt.SampleBatch]) -> list[drt.CachedSample]:
    return flat(iter_samples(batch) for batch in batches)


def iter_samples(batch: drt.SampleBatch) -> list[drt.CachedSample]:
    return [batch[number] for number in range(len(batch))]


def open_stored(runtime, tmp_path, algo: str, **config: Any) -> drt.CachedDataset:
    path = tmp_path / algo / "numbers"
    if not path.exists():
        write_ok(runtime, numbered(50), path.parent, shard_compression=STORED[algo])
    return runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=7, **config))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("algo", STORED)
@pytest.mark.parametrize("mapped", [True, False])
def test_batches_are_the_draws_of_single_reads(runtime, tmp_path, mode, algo, mapped) -> None:
    expected = list(open_stored(runtime, tmp_path, algo, **MODES[mode]))
    for size in (1, 7, 256):
        dataset = open_stored(runtime, tmp_path, algo, mapped=mapped, **MODES[mode])
        batches = list(dataset.batches(size))
        assert singles(batches) == expected
        sizes = [len(batch) for batch in batches]
        assert sizes == [size] * (50 // size) + [50 % size] * (50 % size > 0)


@pytest.mark.parametrize("prefetch", [1, 64])
def test_parts_of_a_batch_belong_together(runtime, tmp_path, prefetch) -> None:
    paths = [write_ok(runtime, numbered(20, name), tmp_path).path for name in "ab"]
    config = drt.ReaderConfig(seed=3, prefetch_size=prefetch)
    dataset = runtime.cached_dataset(paths, reader_config=config)
    plan = dataset.plan(40)
    for number, batch in enumerate(dataset.batches(16)):
        rows = plan[16 * number : 16 * number + 16]
        assert batch.positions.tolist() == rows["position"].to_list()
        assert batch.cache_ids.tolist() == rows["cache_id"].to_list()
        assert batch.sample_ids.tolist() == rows["sample_id"].to_list()
        payloads = [payload(sample_id) for sample_id in rows["sample_id"]]
        ends = list(itertools.accumulate(map(len, payloads), initial=0))
        assert bytes(batch.data) == b"".join(payloads)
        assert batch.offsets.tolist() == ends
        assert [bytes(batch.payload(i)) for i in range(len(batch))] == payloads
        views = (batch.offsets, batch.positions, batch.cache_ids, batch.sample_ids)
        assert [view.format for view in views] == ["q", "Q", "Q", "Q"]
        table = pl.DataFrame(batch.metadata)
        assert table.columns == ["flag", "label", "quality", "split"]
        assert table.to_dicts() == [sample.metadata for sample in iter_samples(batch)]


def test_numbers_of_a_batch_are_those_of_a_sequence(runtime, tmp_path) -> None:
    (batch,) = open_numbers(runtime, tmp_path, 5, shuffle=False).batches(5)
    assert batch[-1] == batch[4]
    assert bytes(batch.payload(-5)) == payload(0)
    assert ids(batch) == list(range(5))
    assert list(batch) == iter_samples(batch)
    for number in (5, -6):
        with pytest.raises(IndexError):
            batch[number]
        with pytest.raises(IndexError):
            batch.payload(number)
    assert repr(batch) == f"<SampleBatch of 5 samples from position 0 on, {len(batch.data)} bytes>"


def test_cache_without_columns_gives_a_table_of_rows_alone(runtime, tmp_path) -> None:
    source = numbered(0, "bare")
    source.rows = [(bytes([number]), {}) for number in range(4)]
    path = write_ok(runtime, source, tmp_path).path
    config = drt.ReaderConfig(seed=1, shuffle=False)
    (batch,) = runtime.cached_dataset([path], reader_config=config).batches(9)
    assert batch.metadata.row_count == 4
    assert batch[3] == (b"\3", {}, 0, 3)


def test_window_is_claimed_when_the_iterator_is_made(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    dataset.set_epoch_len(7)
    batches = dataset.batches(3)
    assert dataset.position == 7
    assert batches.position == 0
    assert batches.__length_hint__() == 3
    assert [ids(batch) for batch in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert batches.position == 7
    assert next(batches, None) is None
    assert [ids(batch) for batch in dataset.batches(7)] == [[7, 8, 9, 0, 1, 2, 3]]


def test_drop_last_leaves_out_the_rest_and_ends_at_the_windows_end(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    batches = dataset.batches(4, drop_last=True)
    assert batches.__length_hint__() == 2
    assert [ids(batch) for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert batches.position == 10
    assert batches.state_dict()["skipped"] == 0
    assert list(dataset.batches(11, drop_last=True)) == []
    assert dataset.position == 20


@pytest.mark.parametrize("size", [0, -1, 2**64])
def test_batch_size_out_of_range_claims_nothing(runtime, tmp_path, size: int) -> None:
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises(drt.InvalidConfigError) as caught:
        dataset.batches(size)
    assert caught.value.field == "batch_size"
    assert dataset.position == 0


@pytest.mark.parametrize("size", [True, 2.0, "2", None])
def test_batch_size_is_an_integer(runtime, tmp_path, size: object) -> None:
    with pytest.raises(TypeError):
        open_numbers(runtime, tmp_path).batches(size)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("tail", [{}, {"drop_uneven": True}, {"pad": True}])
def test_ranks_have_batches_of_their_parts(runtime, tmp_path, count, tail) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    ends = set()
    for index in range(count):
        expected = ids(dataset.partition(index, count, **tail))
        batches = dataset.partition(index, count, **tail).batches(4)
        assert flat(ids(batch) for batch in batches) == expected
        ends.add(batches.position)
    assert ends == {20}


def test_ranks_that_had_equally_many_batches_are_at_one_position(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 7)
    iterators = [dataset.partition(index, 2).batches(2) for index in range(2)]
    for position in (4, 7):
        for batches in iterators:
            next(batches)
        assert {batches.position for batches in iterators} == {position}


@pytest.mark.parametrize(("taken", "size"), [(0, 4), (1, 4), (2, 7), (3, 1)])
def test_state_saved_between_batches_resumes_with_another_size(
    runtime, tmp_path, taken, size
) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, prefetch_size=3)
    order = planned(dataset, 40)
    batches = dataset.batches(5)
    for _ in range(taken):
        next(batches)
    state = batches.state_dict()
    assert state["position"] == 5 * taken
    resumed = open_numbers(runtime, tmp_path, 20, mapped=False)
    resumed.load_state_dict(state)
    assert flat(ids(batch) for batch in resumed.batches(size)) == order[5 * taken : 20]
    assert ids(resumed) == order[20:]
    batches.load_state_dict(state)
    assert flat(ids(batch) for batch in batches) == order[5 * taken : 20]
    single = iter(open_numbers(runtime, tmp_path, 20))
    single.load_state_dict(state)
    assert ids(single) == order[5 * taken : 20]


def test_skip_passes_over_draws_within_the_window(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    batches = dataset.batches(4)
    next(batches)
    batches.skip(3)
    assert ids(next(batches)) == [7, 8, 9]
    assert batches.state_dict()["skipped"] == 3
    batches = dataset.batches(4)
    batches.skip(100)
    assert list(batches) == []
    assert batches.position == 20


def test_live_iterator_keeps_its_table(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    batches = dataset.batches(4)
    dataset.update_metadata(dataset.get_metadata().reverse().head(3))
    assert [ids(batch) for batch in dataset.batches(4)] == [[9, 8, 7]]
    del dataset
    assert flat(ids(batch) for batch in batches) == list(range(10))


@pytest.mark.parametrize("count", [1, 3])
def test_batches_go_over_the_cycles_of_a_weighted_order(runtime, tmp_path, count: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, replacement=False)
    many = pl.concat([dataset.get_metadata()] * 50)  # an order of its own for each cycle
    dataset.update_metadata(many.with_columns(weight=1.0 + pl.int_range(pl.len()) % 7))
    dataset.set_epoch_len(4_000)
    order = planned(dataset, 4_000)
    for size in (1, 400, 5_000):
        views = [dataset.partition(index, count) for index in range(count)]
        parts = [flat(ids(batch) for batch in view.batches(size)) for view in views]
        assert parts == [order[index::count] for index in range(count)]
