"""Samples by identity: no cursor, no table."""

import gc
import sys

import dataset_rt as drt
import pytest
from support import numbered, open_numbers, payload, write_ok


def test_get_item_gives_the_sample(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    sample = dataset.get_item(0, 7)
    assert isinstance(sample, drt.CachedSample)
    assert (sample.data, sample.cache_id, sample.sample_id) == (payload(7), 0, 7)
    assert sample.metadata == {"flag": False, "label": 1, "quality": 1.0, "split": "part-3"}


def test_get_items_keeps_the_order_asked_for(runtime, tmp_path) -> None:
    paths = [write_ok(runtime, numbered(20, name), tmp_path).path for name in "ab"]
    dataset = runtime.cached_dataset(paths, reader_config=drt.ReaderConfig(seed=1))
    wanted = [(1, 19), (0, 0), (1, 0), (0, 7), (1, 19)]
    samples = dataset.get_items(wanted)
    assert [(sample.cache_id, sample.sample_id) for sample in samples] == wanted
    assert [sample.data for sample in samples] == [payload(sample_id) for _, sample_id in wanted]
    assert dataset.get_items(iter(wanted)) == samples
    assert dataset.get_items([]) == []


def test_random_access_ignores_table_and_cursor(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    dataset.update_metadata(dataset.get_metadata().head(1))
    assert dataset.get_item(0, 9).data == payload(9)
    assert dataset.position == 0


@pytest.mark.parametrize("identity", [(0, 10), (1, 0), (0, 2**63)])
def test_unknown_identity_is_a_lookup_error_with_fields(runtime, tmp_path, identity) -> None:
    dataset = open_numbers(runtime, tmp_path)
    with pytest.raises(drt.UnknownSampleError) as caught:
        dataset.get_item(*identity)
    assert (caught.value.cache_id, caught.value.sample_id) == identity
    with pytest.raises(LookupError):
        dataset.get_items([(0, 0), identity])


@pytest.mark.parametrize("identity", [(0, -1), (-1, 0), (0, "1"), (0, 1.0), (0, None)])
def test_identities_are_counts(runtime, tmp_path, identity) -> None:
    with pytest.raises((TypeError, drt.InvalidConfigError, drt.UnknownSampleError)):
        open_numbers(runtime, tmp_path).get_item(*identity)


def test_samples_that_are_gone_leave_nothing(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    kind = type(dataset.get_item(0, 0))
    references = sys.getrefcount(kind)
    samples = [dataset.get_item(0, number % 10) for number in range(1000)]
    assert sys.getrefcount(kind) == references + 1000
    assert all(map(gc.is_tracked, samples))
    del samples
    assert sys.getrefcount(kind) == references


def test_damage_is_found_however_many_samples_were_sound(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(10), tmp_path).path
    dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1))
    assert [dataset.get_item(0, 3).data for _ in range(500)] == 500 * [payload(3)]
    shard = path / "shards" / "000000.bin"
    damaged = bytearray(shard.read_bytes())
    place = damaged.index(payload(3))
    damaged[place] ^= 1
    with shard.open("r+b") as file:
        file.write(damaged)
    with pytest.raises(drt.CorruptCacheError) as caught:
        dataset.get_item(0, 3)
    assert (caught.value.cache_id, caught.value.sample_id) == (0, 3)
    assert dataset.get_item(0, 4).data == payload(4)
