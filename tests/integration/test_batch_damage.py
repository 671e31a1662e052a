"""Damage in batches: no other draw is lost, and nothing wrong is handed out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import dataset_rt as drt
import pytest
from support import ids, numbered, payload, write_ok

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(runtime: drt.DatasetRuntime, tmp_path: Path) -> Path:
    return write_ok(runtime, numbered(20), tmp_path).path


def spoil(cache: Path, sample_id: int) -> None:
    """Change a byte of a record; records stand in sample order in one shard."""
    file = cache / "shards" / "000000.bin"
    data = bytearray(file.read_bytes())
    data[sum(len(payload(number)) for number in range(sample_id))] ^= 1
    file.write_bytes(bytes(data))


def open_cache(runtime, path: Path, **config) -> drt.CachedDataset:
    return runtime.cached_dataset(
        [path], reader_config=drt.ReaderConfig(seed=1, **{"shuffle": False, **config})
    )


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("prefetch", [1, 64])
def test_batch_ends_before_a_damaged_draw_and_goes_on_behind_it(
    runtime, cache, mapped, prefetch
) -> None:
    for sample_id in (0, 6, 19):
        spoil(cache, sample_id)
    dataset = open_cache(runtime, cache, mapped=mapped, prefetch_size=prefetch)
    batches = dataset.batches(8)
    seen: list[list[int] | int | None] = []
    positions = []
    while True:
        try:
            seen.append(ids(next(batches)))
        except StopIteration:
            break
        except drt.CorruptCacheError as error:
            seen.append(error.sample_id)
        positions.append(batches.position)
    assert seen == [0, [1, 2, 3, 4, 5], 6, list(range(7, 15)), [15, 16, 17, 18], 19]
    assert positions == [1, 6, 7, 15, 19, 20]


def test_state_saved_before_a_damaged_draw_meets_it_again(runtime, cache) -> None:
    spoil(cache, 6)
    batches = open_cache(runtime, cache).batches(8)
    next(batches)
    resumed = open_cache(runtime, cache)
    resumed.load_state_dict(batches.state_dict())
    again = resumed.batches(8)
    with pytest.raises(drt.CorruptCacheError):
        next(again)
    assert [ids(batch) for batch in again] == [list(range(7, 15)), list(range(15, 20))]


@pytest.mark.parametrize("mapped", [True, False])
def test_skipped_draws_are_made_up_for(runtime, cache, mapped: bool) -> None:
    for sample_id in (0, 6, 19):
        spoil(cache, sample_id)
    dataset = open_cache(runtime, cache, mapped=mapped, on_corrupt="skip")
    sizes = [[1, 2, 3, 4, 5, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17], [18]]
    assert [ids(batch) for batch in dataset.batches(8)] == sizes
    assert [ids(batch) for batch in dataset.batches(8, drop_last=True)] == sizes[:2]
    assert dataset.position == 40
    for batch in dataset.batches(17):
        assert bytes(batch.data) == b"".join(payload(sample_id) for sample_id in ids(batch))


def test_unchecked_records_are_the_users_choice(runtime, cache) -> None:
    spoil(cache, 6)
    (batch,) = open_cache(runtime, cache, verify_records=False).batches(20)
    assert bytes(batch.payload(6)) != payload(6)
    assert len(batch.payload(6)) == len(payload(6))


def test_damaged_metadata_is_found_when_it_is_asked_for(runtime, cache) -> None:
    source = numbered(0, "wordy")
    source.rows = [(payload(i), {"text": f"word {i} " * 9_000}) for i in range(3)]
    path = write_ok(runtime, source, cache.parent).path
    file = path / "metadata.arrow"
    data = bytearray(file.read_bytes())
    data[data.rindex(b"word 1 word 1")] ^= 1  # in a block that opening does not touch
    file.write_bytes(bytes(data))
    (batch,) = open_cache(runtime, path).batches(20)
    assert bytes(batch.payload(1)) == payload(1)
    for use in (lambda: batch.metadata, lambda: batch[1]):
        with pytest.raises(drt.CorruptCacheError) as caught:
            use()
        assert caught.value.file == "metadata.arrow"


@pytest.mark.parametrize("mapped", [True, False])
def test_file_that_is_cut_behind_our_back_is_an_error(runtime, cache, mapped: bool) -> None:
    dataset = open_cache(runtime, cache, mapped=mapped)
    batches = dataset.batches(20)
    os.truncate(cache / "shards" / "000000.bin", 10)
    with pytest.raises(drt.CorruptCacheError):
        list(batches)


def test_metadata_that_is_cut_behind_our_back_is_an_error(runtime, cache) -> None:
    (batch,) = open_cache(runtime, cache).batches(20)
    os.truncate(cache / "metadata.arrow", 0)
    with pytest.raises(drt.CorruptCacheError):
        _ = batch.metadata
