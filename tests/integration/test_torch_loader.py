"""The torch DataLoader: one order for any workers, start methods and ranks; exact resume."""

import warnings
from itertools import islice

import dataset_rt as drt
import polars as pl
import pytest
from support import flat, ids, open_numbers, payload, planned

START_METHODS = ["spawn", "forkserver", "fork"]


def weighted(runtime, tmp_path, count: int = 30, **config) -> drt.CachedDataset:
    dataset = open_numbers(runtime, tmp_path, count, **config)
    frame = dataset.get_metadata()
    dataset.update_metadata(frame.with_columns(weight=pl.col("label") + 0.5))
    return dataset


def batches_of(loader) -> list[list[int]]:
    """Sample ids per batch of one pass over a loader."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="This DataLoader will create")
        warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")
        return [batch.sample_id.tolist() for batch in loader]


def cut(order: list[int], size: int) -> list[list[int]]:
    return [order[start : start + size] for start in range(0, len(order), size)]


def sample_and_seed(sample: drt.CachedSample, seed: int) -> tuple[int, int]:
    return sample.sample_id, seed


def keep(items: list) -> list:
    return items


def length_of(sample: drt.CachedSample) -> int:
    return len(sample.data)


@pytest.mark.parametrize("method", START_METHODS)
def test_two_workers_two_epochs_equal_one_process(runtime, tmp_path, method) -> None:
    reference = planned(weighted(runtime, tmp_path), 60)
    loader = weighted(runtime, tmp_path).to_torch_dataloader(
        batch_size=7, num_workers=2, multiprocessing_context=method
    )
    assert len(loader) == 5
    assert batches_of(loader) == cut(reference[:30], 7)
    assert batches_of(loader) == cut(reference[30:], 7)


@pytest.mark.parametrize("num_workers", [0, 1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 30, 64])
def test_length_agrees_with_what_arrives(runtime, tmp_path, num_workers, batch_size) -> None:
    for drop_last in (False, True):
        dataset = weighted(runtime, tmp_path)
        reference = cut(planned(dataset, 30), batch_size)
        if drop_last:
            reference = [batch for batch in reference if len(batch) == batch_size]
        loader = dataset.to_torch_dataloader(
            batch_size=batch_size,
            num_workers=num_workers,
            drop_last=drop_last,
            multiprocessing_context="fork" if num_workers else None,
        )
        assert len(loader) == len(reference)
        assert batches_of(loader) == reference


def test_persistent_workers_see_later_windows_and_tables(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    reference = planned(dataset, 60)
    loader = dataset.to_torch_dataloader(
        batch_size=10, num_workers=2, persistent_workers=True, multiprocessing_context="spawn"
    )
    assert batches_of(loader) == cut(reference[:30], 10)
    assert batches_of(loader) == cut(reference[30:], 10)
    dataset.update_metadata(dataset.get_metadata().filter(pl.col("label") == 1))
    assert len(loader) == 1
    assert batches_of(loader) == [planned(dataset, 10, 0)]


def test_window_is_claimed_when_the_loader_is_iterated(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    loader = dataset.to_torch_dataloader(batch_size=10)
    assert dataset.position == 0
    iterator = iter(loader)
    assert dataset.position == 30
    assert ids(dataset) == planned(weighted(runtime, tmp_path), 30, 30)
    assert len(list(iterator)) == 3


def test_batches_hold_payloads_and_tensors(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 4, shuffle=False)
    (batch,) = dataset.to_torch_dataloader(batch_size=4)
    assert isinstance(batch, drt.CachedSample)
    assert list(batch.data) == [payload(i) for i in range(4)]
    assert batch.metadata["label"].tolist() == [0, 1, 2, 0]
    assert batch.metadata["split"] == [f"part-{i}" for i in range(4)]


def test_transform_runs_per_sample_and_may_take_the_draw_seed(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    expected = [
        (sample_id, dataset.draw_seed(position))
        for position, sample_id in enumerate(planned(dataset, 30))
    ]
    loader = dataset.to_torch_dataloader(
        batch_size=8,
        num_workers=2,
        transform=sample_and_seed,
        with_seed=True,
        collate_fn=keep,
        multiprocessing_context="fork",
    )
    assert [pair for batch in loader for pair in batch] == expected
    lengths = open_numbers(runtime, tmp_path, 4, shuffle=False).to_torch_dataloader(
        batch_size=4, transform=length_of
    )
    assert [batch.tolist() for batch in lengths] == [[len(payload(i)) for i in range(4)]]


@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (2, 3)])
def test_resume_with_another_worker_count(runtime, tmp_path, before: int, after: int) -> None:
    reference = planned(weighted(runtime, tmp_path), 90)

    def loader_with(workers: int):
        return weighted(runtime, tmp_path).to_torch_dataloader(
            batch_size=7,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
        )

    loader = loader_with(before)
    batches_of(loader)
    iterator = iter(loader)
    delivered = [next(iterator).sample_id.tolist() for _ in range(2)]
    assert delivered == cut(reference[30:44], 7)
    state = loader.state_dict()
    assert state["position"] == 44

    resumed = loader_with(after)
    resumed.load_state_dict(state)
    assert len(resumed) == 5
    assert batches_of(resumed) == cut(reference[44:60], 7)
    assert batches_of(resumed) == cut(reference[60:90], 7)


def test_state_in_the_loop_body_counts_the_batch_in_hand(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    loader = dataset.to_torch_dataloader(batch_size=10)
    positions = [loader.state_dict()["position"] for _ in loader]
    assert positions == [10, 20, 30]
    short = weighted(runtime, tmp_path).to_torch_dataloader(batch_size=8, drop_last=True)
    assert [short.state_dict()["position"] for _ in short] == [8, 16, 30]


@pytest.mark.parametrize("world_size", [2, 4])
def test_ranks_together_are_the_window(runtime, tmp_path, world_size: int) -> None:
    reference = planned(weighted(runtime, tmp_path), 60)
    loaders = [
        weighted(runtime, tmp_path).to_torch_dataloader(
            batch_size=4, rank=rank, world_size=world_size
        )
        for rank in range(world_size)
    ]
    for epoch in range(2):
        window = reference[30 * epoch : 30 * epoch + 30]
        states = []
        for rank, loader in enumerate(loaders):
            share = window[rank::world_size]
            assert len(loader) == len(cut(share, 4))
            iterator = iter(loader)
            next(iterator)
            states.append(loader.state_dict())
            rest = [batch.sample_id.tolist() for batch in iterator]
            assert rest == cut(share, 4)[1:]
        assert all(state == states[0] for state in states)
        ends = [loader.state_dict() for loader in loaders]
        assert all(state == ends[0] for state in ends)
        assert ends[0]["position"] == 30 * epoch + 30


def test_rank_options(runtime, tmp_path) -> None:
    def orders(**options) -> list[list[int]]:
        loaders = [
            open_numbers(runtime, tmp_path, 10, shuffle=False).to_torch_dataloader(
                batch_size=8, rank=rank, world_size=4, **options
            )
            for rank in range(4)
        ]
        return [flat(batches_of(loader)) for loader in loaders]

    assert orders(pad=True) == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    assert orders(drop_uneven=True) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises(TypeError):
        dataset.to_torch_dataloader(rank=1)
    with pytest.raises(drt.InvalidConfigError):
        len(dataset.to_torch_dataloader(rank=4, world_size=4))


@pytest.mark.parametrize("option", ["batch_sampler", "sampler", "shuffle"])
def test_order_is_no_option_of_the_loader(runtime, tmp_path, option: str) -> None:
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises(TypeError, match=option):
        dataset.to_torch_dataloader(**{option: True})


def test_loader_of_a_partition(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    reference = planned(dataset, 60)
    loader = dataset.partition(1, 2).to_torch_dataloader(batch_size=4)
    assert batches_of(loader) == cut(reference[:30][1::2], 4)
    assert batches_of(loader) == cut(reference[30:][1::2], 4)


def test_error_in_a_worker_arrives_with_its_fields(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, shuffle=False)
    shard = tmp_path / "numbers-30" / "shards" / "000000.bin"
    data = bytearray(shard.read_bytes())
    data[len(payload(0))] ^= 1
    shard.write_bytes(bytes(data))
    for workers in (0, 1):
        loader = dataset.to_torch_dataloader(
            batch_size=4,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
        )
        iterator = iter(loader)
        with pytest.raises(drt.CorruptCacheError) as caught:
            next(iterator)
        assert next(iterator).sample_id.tolist() == [4, 5, 6, 7]
        assert (caught.value.cache_id, caught.value.sample_id) == (0, 1)
        assert caught.value.path == str(tmp_path / "numbers-30")


def test_state_before_the_first_batch_is_the_datasets(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    loader = dataset.to_torch_dataloader(batch_size=4)
    assert loader.state_dict() == dataset.state_dict()
    with pytest.raises(drt.StateMismatchError):
        loader.load_state_dict({**loader.state_dict(), "seed": 123})


def test_iterating_twice_at_once_keeps_both_windows(runtime, tmp_path) -> None:
    reference = planned(weighted(runtime, tmp_path), 60)
    loader = weighted(runtime, tmp_path).to_torch_dataloader(batch_size=10)
    first, second = iter(loader), iter(loader)
    pairs = list(islice(zip(first, second, strict=True), 3))
    assert flat(one.sample_id.tolist() for one, _ in pairs) == reference[:30]
    assert flat(two.sample_id.tolist() for _, two in pairs) == reference[30:]
