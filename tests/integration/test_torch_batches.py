"""Whole batches through the torch loader: one buffer from the worker, and what is made of it."""

import pickle
import warnings

import dataset_rt as drt
import numpy as np
import polars as pl
import pytest
import torch
from dataset_rt.integrations.torch import LoaderBatch
from dataset_rt.integrations.torch_batch import Packed, pack
from dataset_rt.integrations.torch_units import WholeBatch, WindowReader
from support import Rows, flat, open_numbers, payload, planned, write_ok


def weighted(runtime, tmp_path, count: int = 30, **config) -> drt.CachedDataset:
    dataset = open_numbers(runtime, tmp_path, count, **config)
    frame = dataset.get_metadata()
    dataset.update_metadata(frame.with_columns(weight=pl.col("label") + 0.5))
    return dataset


def collected(loader) -> list:
    """One pass, with every warning about memory an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="This DataLoader will create")
        warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")
        warnings.filterwarnings("ignore", message="'pin_memory' argument is set as true")
        return list(loader)


def images(batch) -> tuple[torch.Tensor, torch.Tensor]:
    data = torch.frombuffer(batch.data, dtype=torch.uint8)
    return data, torch.frombuffer(batch.columns()["label"], dtype=torch.int64)


def numbers_and_seeds(batch, seeds) -> tuple[list[int], list[int], list[int]]:
    return batch.sample_ids.tolist(), batch.positions.tolist(), seeds.tolist()


def as_it_is(batch):
    return batch


def sizes(batch) -> torch.Tensor:
    return torch.tensor([len(batch), len(batch.data)])


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (1, "spawn")])
def test_default_batch_has_every_part_of_its_samples(runtime, tmp_path, workers, method) -> None:
    dataset = weighted(runtime, tmp_path)
    expected = list(weighted(runtime, tmp_path))
    loader = dataset.to_torch_dataloader(
        batch_size=7, num_workers=workers, multiprocessing_context=method
    )
    batches = collected(loader)
    assert flat([batch.sample(i) for i in range(len(batch.data))] for batch in batches) == expected
    assert flat(batch.positions.tolist() for batch in batches) == list(range(30))
    for number, batch in enumerate(batches):
        assert isinstance(batch, LoaderBatch)
        samples = expected[7 * number : 7 * number + 7]
        data, metadata, cache_id, sample_id = batch
        assert data == [sample.data for sample in samples]
        assert cache_id.tolist() == [sample.cache_id for sample in samples]
        assert sample_id.tolist() == [sample.sample_id for sample in samples]
        assert list(metadata) == sorted(samples[0].metadata)
        assert metadata["flag"].dtype == torch.bool
        assert metadata["label"].dtype == torch.int64
        assert metadata["quality"].dtype == torch.float64
        for name, values in metadata.items():
            column = values if isinstance(values, list) else values.tolist()
            assert column == [sample.metadata[name] for sample in samples]


def test_payloads_are_a_sequence_of_bytes(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    (batch,) = collected(dataset.to_torch_dataloader(batch_size=10))
    everything = [payload(i) for i in range(10)]
    assert batch.data[3] == everything[3]
    assert batch.data[-1] == everything[-1]
    assert batch.data[2:9:3] == everything[2:9:3]
    assert batch.data.index(everything[4]) == 4
    assert bytes(batch.payload(-2)) == everything[-2]
    assert bytes(batch.data.tensor.numpy()) == b"".join(everything)
    for read in (batch.data.__getitem__, batch.payload, batch.sample):
        with pytest.raises(IndexError):
            read(10)
    assert pickle.loads(pickle.dumps(batch)).data == everything


@pytest.mark.parametrize(("workers", "method"), [(0, None), (1, "fork")])
def test_memory_is_the_callers_own(runtime, tmp_path, workers, method) -> None:
    shards = tmp_path / "numbers-10" / "shards"
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    before = [file.read_bytes() for file in sorted(shards.iterdir())]
    loader = dataset.to_torch_dataloader(
        batch_size=5, num_workers=workers, multiprocessing_context=method
    )
    first, second = collected(loader)
    first.payload(0)[:] = b"X" * len(payload(0))
    first.data.tensor[len(payload(0)) :] = 0
    first.sample_id[:] = -1
    first.metadata["quality"] *= 0
    assert first.data[0] == b"X" * len(payload(0))
    assert second.data == [payload(i) for i in range(5, 10)]
    assert first.data.offsets.tolist()[:2] == [0, len(payload(0))]
    assert [file.read_bytes() for file in sorted(shards.iterdir())] == before
    assert [sample.data for sample in dataset] == [payload(i) for i in range(10)]


def test_equal_sizes_stack_without_a_copy(runtime, tmp_path) -> None:
    rows = [np.arange(6, dtype=np.float32) + 10 * i for i in range(8)]
    source = Rows("vectors", [(row.tobytes(), {}) for row in rows])
    cache = write_ok(runtime, source, tmp_path).path
    dataset = runtime.cached_dataset([cache], reader_config=drt.ReaderConfig(seed=1, shuffle=False))
    (batch,) = collected(dataset.to_torch_dataloader(batch_size=8))
    stacked = batch.stacked((2, 3), torch.float32)
    assert torch.equal(stacked, torch.from_numpy(np.stack(rows)).view(8, 2, 3))
    assert batch.stacked().shape == (8, 24)
    assert batch.metadata == {}
    stacked[1, 0, 0] = -1.0
    assert batch.data[1][:4] == np.float32(-1.0).tobytes()
    for shape, dtype in [((7,), torch.float32), ((5, 5), torch.uint8)]:
        with pytest.raises(ValueError, match="24"):
            batch.stacked(shape, dtype)
    (uneven,) = collected(open_numbers(runtime, tmp_path, 4).to_torch_dataloader(batch_size=4))
    with pytest.raises(ValueError, match="stacked"):
        uneven.stacked()


def test_payloads_of_no_bytes_travel_too(runtime, tmp_path) -> None:
    cache = write_ok(runtime, Rows("empty", [(b"", {"n": i}) for i in range(3)]), tmp_path).path
    dataset = runtime.cached_dataset([cache], reader_config=drt.ReaderConfig(seed=1, shuffle=False))
    loader = dataset.to_torch_dataloader(
        batch_size=2, num_workers=1, multiprocessing_context="fork"
    )
    assert [list(batch.data) for batch in collected(loader)] == [[b"", b""], [b""]]
    assert flat(batch.metadata["n"].tolist() for batch in collected(loader)) == [0, 1, 2]


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (1, "spawn")])
def test_transform_batch_returns_what_arrives(runtime, tmp_path, workers, method) -> None:
    dataset = weighted(runtime, tmp_path)
    samples = list(weighted(runtime, tmp_path))
    loader = dataset.to_torch_dataloader(
        batch_size=8, num_workers=workers, multiprocessing_context=method, transform_batch=images
    )
    batches = collected(loader)
    assert len(batches) == len(loader) == 4
    assert b"".join(bytes(data.numpy()) for data, _ in batches) == b"".join(
        sample.data for sample in samples
    )
    assert flat(labels.tolist() for _, labels in batches) == [
        sample.metadata["label"] for sample in samples
    ]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("rank", [None, 1])
def test_transform_batch_may_take_the_draw_seeds(runtime, tmp_path, workers, rank) -> None:
    dataset = weighted(runtime, tmp_path)
    reference = planned(dataset, 60)
    ranks = {} if rank is None else {"rank": rank, "world_size": 3}
    loader = dataset.to_torch_dataloader(
        batch_size=8,
        num_workers=workers,
        transform_batch=numbers_and_seeds,
        with_seed=True,
        multiprocessing_context="fork" if workers else None,
        **ranks,
    )
    for epoch in range(2):
        positions = list(range(30 * epoch, 30 * epoch + 30))[rank or 0 :: 1 if rank is None else 3]
        batches = collected(loader)
        assert flat(ids for ids, _, _ in batches) == [reference[at] for at in positions]
        assert flat(found for _, found, _ in batches) == positions
        assert flat(seeds for _, _, seeds in batches) == [dataset.draw_seed(at) for at in positions]


def test_batch_that_is_returned_unchanged_arrives_as_the_default(runtime, tmp_path) -> None:
    dataset = weighted(runtime, tmp_path)
    reference = planned(dataset, 30)
    loader = dataset.to_torch_dataloader(
        batch_size=8, num_workers=1, transform_batch=as_it_is, multiprocessing_context="fork"
    )
    batches = collected(loader)
    assert all(isinstance(batch, LoaderBatch) for batch in batches)
    assert flat(batch.sample_id.tolist() for batch in batches) == reference


def test_resume_counts_whole_batches(runtime, tmp_path) -> None:
    reference = planned(weighted(runtime, tmp_path), 30)
    options = {"batch_size": 7, "transform_batch": numbers_and_seeds, "with_seed": True}
    loader = weighted(runtime, tmp_path).to_torch_dataloader(**options)
    iterator = iter(loader)
    next(iterator)
    resumed = weighted(runtime, tmp_path).to_torch_dataloader(**options)
    resumed.load_state_dict(loader.state_dict())
    assert flat(ids for ids, _, _ in resumed) == reference[7:]


def test_what_excludes_each_other_is_refused(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    for other in ({"transform": len}, {"collate_fn": list}):
        with pytest.raises(TypeError, match="transform_batch"):
            dataset.to_torch_dataloader(transform_batch=sizes, **other)
    for other in ({}, {"collate_fn": list}):
        with pytest.raises(TypeError, match="with_seed"):
            dataset.to_torch_dataloader(with_seed=True, **other)


def outcome_of(iterator):
    """The next batch, the sample that is damaged, or None at the end."""
    try:
        batch = next(iterator, None)
    except drt.CorruptCacheError as error:
        return error.sample_id
    return None if batch is None else batch.tolist()


@pytest.mark.parametrize("on_corrupt", ["raise", "skip"])
def test_damaged_draw_takes_its_batch_or_is_left_out(runtime, tmp_path, on_corrupt) -> None:
    dataset = open_numbers(runtime, tmp_path, 12, shuffle=False, on_corrupt=on_corrupt)
    shard = tmp_path / "numbers-12" / "shards" / "000000.bin"
    data = bytearray(shard.read_bytes())
    place = 0
    for number in range(12):
        if number in (1, 8, 9, 10, 11):
            data[place] ^= 1
        place += len(payload(number))
    shard.write_bytes(bytes(data))
    loader = dataset.to_torch_dataloader(
        batch_size=4, num_workers=1, multiprocessing_context="fork", transform_batch=sizes
    )
    iterator = iter(loader)
    outcomes = list(iter(lambda: outcome_of(iterator), None))
    lengths = [len(payload(i)) for i in range(12)]
    middle = [4, sum(lengths[4:8])]
    skipped = [3, lengths[0] + lengths[2] + lengths[3]]
    assert outcomes == ([1, middle, 8] if on_corrupt == "raise" else [skipped, middle])


def test_pinning_keeps_the_batch(runtime, tmp_path, monkeypatch) -> None:
    dataset = open_numbers(runtime, tmp_path, 10, shuffle=False)
    for workers in (0, 1):
        loader = dataset.to_torch_dataloader(
            batch_size=4,
            num_workers=workers,
            pin_memory=True,
            multiprocessing_context="fork" if workers else None,
        )
        assert flat(batch.data for batch in collected(loader)) == [payload(i) for i in range(10)]
    # Without an accelerator torch pins nothing: what it would do is done by hand.
    pinned = []
    monkeypatch.setattr(
        torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self.clone()
    )
    packed = WindowReader(WholeBatch(None, False)).__getitems__(
        (dataset._native.window(), 0, 4, None)
    )
    again = torch.utils.data._utils.pin_memory.pin_memory(packed)
    assert isinstance(again, Packed)
    assert again.unpacked().data == [payload(i) for i in range(4)]
    assert len(pinned) == 1


def test_one_tensor_crosses_the_process_boundary(runtime, tmp_path) -> None:
    window = open_numbers(runtime, tmp_path, 10)._native.window()
    packed = pack(window.batch(0, 10))
    batch = packed.unpacked()
    parts = [batch.data.tensor, batch.data.offsets, batch.positions, batch.cache_id]
    parts += [batch.sample_id, *(batch.metadata[name] for name in ("flag", "label", "quality"))]
    storage = packed.buffer.untyped_storage().data_ptr()
    assert {part.untyped_storage().data_ptr() for part in parts} == {storage}
