"""Slots that a loader's workers fill: used again, never twice at once, and never needed."""

import gc
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
import torch
from dataset_rt.integrations.torch_batch import Layout, Packed
from dataset_rt.integrations.torch_slots import SlotMemory
from support import Rows, flat, open_numbers, payload, planned, write_ok


@pytest.fixture
def copies(monkeypatch) -> list[int]:
    """Lengths of batches that were copied out of a slot in this process."""
    lengths: list[int] = []
    copied_out = SlotMemory.copied_out

    def counted(self, slot: int, count: int):
        lengths.append(count)
        return copied_out(self, slot, count)

    monkeypatch.setattr(SlotMemory, "copied_out", counted)
    return lengths


def loader_of(dataset, batch_size: int, workers: int = 1, method: str = "fork", **options):
    return dataset.to_torch_dataloader(
        batch_size=batch_size, num_workers=workers, multiprocessing_context=method, **options
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_batch_comes_through_a_slot(runtime, tmp_path, copies, method) -> None:
    dataset = open_numbers(runtime, tmp_path, 40)
    reference = planned(dataset, 80)
    loader = loader_of(dataset, 2, method=method, persistent_workers=True)
    for epoch in range(2):
        batches = list(loader)
        order = reference[40 * epoch : 40 * epoch + 40]
        assert flat(batch.sample_id.tolist() for batch in batches) == order
        assert flat(batch.data for batch in batches) == [payload(number) for number in order]
    assert len(copies) == 40


def test_order_of_a_cycle_is_known_before_slots_are_made(runtime, tmp_path, copies) -> None:
    rows = [(bytes([number]) * 40_000, {"label": number}) for number in range(8)]
    cache = write_ok(runtime, Rows("large", rows), tmp_path).path
    config = drt.ReaderConfig(seed=3, replacement=False)
    dataset = runtime.cached_dataset([cache], reader_config=config)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.col("label") + 1.0))
    assert len(list(loader_of(dataset, 4))) == 2
    assert len(copies) == 2


def test_batch_that_fits_no_slot_arrives_all_the_same(runtime, tmp_path, copies) -> None:
    sizes = [1, 1, 200_000, 3, 90_000, 1]
    rows = [(bytes([number]) * size, {}) for number, size in enumerate(sizes)]
    cache = write_ok(runtime, Rows("uneven", rows), tmp_path).path
    config = drt.ReaderConfig(seed=3, shuffle=False)
    dataset = runtime.cached_dataset([cache], reader_config=config)
    batches = list(loader_of(dataset, 1))
    assert [batch.data[0] for batch in batches] == [payload for payload, _ in rows]
    assert len(copies) == 4


def test_iterators_at_once_have_slots_of_their_own(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    reference = planned(dataset, 60)
    loader = loader_of(dataset, 4, workers=2)
    first, second = iter(loader), iter(loader)
    pairs = list(zip(first, second, strict=True))
    assert flat(one.data for one, _ in pairs) == [payload(i) for i in reference[:30]]
    assert flat(two.data for _, two in pairs) == [payload(i) for i in reference[30:]]


def test_iterations_that_were_left_early_take_no_slots_along(runtime, tmp_path, copies) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    reference = planned(dataset, 30 * 6)
    loader = loader_of(dataset, 3, workers=2, persistent_workers=True)
    for epoch in range(6):
        got = list(islice(loader, 2 + epoch % 3))
        order = reference[30 * epoch : 30 * epoch + 3 * len(got)]
        assert flat(batch.data for batch in got) == [payload(number) for number in order]
    assert len(copies) >= sum(2 + epoch % 3 for epoch in range(6))


def test_delivered_batches_are_not_overwritten(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 64)
    reference = planned(dataset, 64)
    kept = list(loader_of(dataset, 1))
    assert flat(batch.data for batch in kept) == [payload(number) for number in reference]


def open_slots() -> int:
    """Slots' memories that this process has open; pipes of torch close when its threads end."""
    count = 0
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # another thread closed it since it was listed
            count += str(file.readlink()).startswith("/memfd:dataset_rt")
    return count


def test_memory_is_given_back(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    loader = loader_of(dataset, 5)
    before = open_slots()
    list(loader)
    of_newest_workers = open_slots()
    assert of_newest_workers > before
    for _ in range(4):
        list(loader)
        assert open_slots() == of_newest_workers
    del loader
    gc.collect()
    assert open_slots() == before


def test_without_such_memory_batches_travel_as_tensors(runtime, tmp_path, monkeypatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    dataset = open_numbers(runtime, tmp_path, 10)
    reference = planned(dataset, 10)
    batches = list(loader_of(dataset, 3))
    assert flat(batch.data for batch in batches) == [payload(number) for number in reference]


def test_pinning_takes_a_batch_out_of_its_slot(monkeypatch) -> None:
    pinned = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self)
    slots = SlotMemory.made_for(10, 1)
    packed = Packed(torch.arange(16, dtype=torch.uint8), Layout(1, 16, ()))
    taken = [slots.take() for _ in range(3)]
    assert None not in taken
    assert slots.take() is None
    slotted = slots.filled(taken[0], packed)
    assert slotted.pin_memory().buffer.tolist() == list(range(16))
    assert len(pinned) == 1
    assert slots.filled(taken[1], "a failure").pin_memory() == "a failure"
    assert {slots.take(), slots.take()} == {taken[0], taken[1]}
