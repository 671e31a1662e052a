"""What readers announce to the store: coming draws, as far ahead as they may, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dataset_rt as drt
import pytest
from object_server import store_config
from store_format import leases
from support import planned

if TYPE_CHECKING:
    from pathlib import Path

BATCH = 16


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def dataset(
    runtime: drt.DatasetRuntime, train_cache: Path, tmp_path: Path, store: Path
) -> drt.CachedDataset:
    """One that looks ahead by 100 KB of about 1 MB."""
    url = f"file://{tmp_path}/objects"
    drt.upload(train_cache, url)
    return runtime.cached_dataset(
        [url],
        reader_config=drt.ReaderConfig(seed=8, replacement=False),
        store_config=store_config(store, look_ahead_bytes=100_000),
    )


def leased(store: Path) -> set[int]:
    """Samples that any lease names."""
    return {sample for lease in leases(store) for samples in lease.values() for sample in samples}


def test_iterator_announces_as_far_ahead_as_it_may_and_gives_up_what_was_delivered(
    dataset: drt.CachedDataset, store: Path
) -> None:
    order = planned(dataset, 1000)
    iterator = iter(dataset)
    next(iterator)
    first = leased(store)
    assert first == set(order[: len(first)])
    assert BATCH < len(first) < 300
    for _ in range(500):
        next(iterator)
    later = leased(store)
    assert later <= set(order[300:800])
    assert set(order[501:520]) <= later
    del iterator
    assert leased(store) == set()


@pytest.mark.parametrize("readers", [1, 3])
def test_reader_of_units_announces_its_own_alone(
    dataset: drt.CachedDataset, store: Path, readers: int
) -> None:
    order = planned(dataset, 1000)
    window = dataset._native.window(claim=False)
    assert window.fetches
    window.expect_units(BATCH, BATCH, readers * BATCH)
    units = [set(order[start : start + BATCH]) for start in range(0, 1000, BATCH)]
    own, found = units[1::readers], leased(store)
    assert found == set().union(*own[: len(found) // BATCH])
    assert 2 * BATCH <= len(found) < 800
    moved = 1 + readers
    window.expect_units(moved * BATCH, BATCH, readers * BATCH)
    assert not units[1] & leased(store)
    assert units[moved] <= leased(store)
    del window
    assert leased(store) == set()


def test_loader_in_this_process_reads_the_window_once_through_its_units(
    runtime: drt.DatasetRuntime, dataset: drt.CachedDataset, train_cache: Path, store: Path
) -> None:
    before = dataset.stats().fetched_bytes
    loader = dataset.to_torch_dataloader(batch_size=BATCH)
    seen = [int(sample) for batch in loader for sample in batch.sample_id]
    assert sorted(seen) == list(range(1000))
    shards = sum(file.stat().st_size for file in (train_cache / "shards").iterdir())
    assert dataset.stats().fetched_bytes - before == shards
