"""Failures that people reported with other loaders, as tests.

====  =============================================================================================
case  held by
====  =============================================================================================
R1    test_resume.py: test_resume_in_a_new_process
R2    test_resume.py: test_position_counts_before_and_after_a_draw
R3    test_resume.py: test_third_epoch_with_repeated_rows_and_another_length
R4    test_windows.py: test_dropping_an_iterator_changes_nothing_for_the_next
R7    test_resume.py: test_state_counts_delivered_draws_not_prefetched_ones; here: test_r7;
      its time: benchmarks/definitions/growth.toml, resume_far
R8    test_resume.py: test_state_is_small_plain_and_jsonable; its time: growth.toml, save
R9    here: test_r9
R10   here: test_r10
R12   here: test_r12
D1    here: test_d1
D2    test_windows.py: test_shuffled_epochs_differ_and_repeat_for_the_same_seed;
      test_torch_loader.py: test_two_workers_two_epochs_equal_one_process
D3    here: test_d3
D4    here: test_d4
D5    test_draw_statistics.py: test_shuffle_does_not_drift_within_a_cycle
D7    test_draw_statistics.py: test_uniform_draws_hold_as_many_distinct_rows_as_chance_gives,
      test_each_once_holds_them_all
D8    rust/sampler, statistics: upper_half_of_many_rows_keeps_its_share
D10   rust/sampler, cycle_order (the order of a cycle); test_shared_orders.py; its time:
      growth.toml, once
D12   test_partitions.py: test_ranks_of_weighted_and_repeated_rows_are_the_window
D13   test_partitions.py: test_ten_rows_on_four_ranks
D14   here: test_d14
D15   test_table.py: test_bad_weights_are_counted_and_named, test_integer_zero_weight_is_refused
M1    test_table_exchange.py: test_categorical_text_is_accepted_as_text,
      test_categorical_in_place_of_another_type_is_named,
      test_extra_columns_of_any_type_stay_or_are_named
M3    test_table_exchange.py: test_int128_is_accepted_or_named, test_object_column_is_named
M5    test_draw_statistics.py: test_balance_recipe_keeps_order_whatever_helper_tables_do
M7    here: test_m7; test_shared_orders.py: test_workers_map_the_order_that_the_main_process_made
M8    here: test_m8
M10   its time: growth.toml, subset and subset_first
====  =============================================================================================

Those of storage stand in test_field_cases_storage.py, of processes and the read path in
test_field_cases_reading.py.
"""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from support import Rows, ids, numbered, open_numbers, payload, planned, write_ok

OPEN = """
import json, sys
import dataset_rt as drt

def private_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

def open_cache(path, **config):
    config = drt.ReaderConfig(seed=7, **config)
    return drt.DatasetRuntime(num_workers=2).cached_dataset([path], reader_config=config)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program for which every warning is an error."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", OPEN + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )


def answer(child: subprocess.Popen[str]) -> object:
    """What a program printed as JSON; it must have said nothing else."""
    with child:
        output, errors = child.communicate(timeout=120)
    assert (child.returncode, errors) == (0, "")
    return json.loads(output)


def test_r7_resume_far_out_reads_no_payload_before_it(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(40), tmp_path, shard_compression={"algo": "none"}).path
    dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=7))
    dataset.set_epoch_len(20)
    dataset.skip(10**7)
    state, order = dataset.state_dict(), planned(dataset, 20)
    unread = sorted({*range(40)} - {*order})
    (shard,) = (path / "shards").iterdir()
    data = shard.read_bytes()
    for sample_id in unread:
        data = data.replace(b"sample %d;" % sample_id, b"SAMPLE %d;" % sample_id)
    shard.write_bytes(data)

    config = drt.ReaderConfig(seed=7, prefetch_size=64)
    resumed = runtime.cached_dataset([path], reader_config=config)
    resumed.load_state_dict(state)
    assert [sample.data for sample in resumed] == [payload(sample_id) for sample_id in order]
    with pytest.raises(drt.CorruptCacheError):
        resumed.get_item(0, unread[0])


def test_r9_shuffled_resume_is_silent_and_exact(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    reference = planned(dataset, 20)
    iterator = iter(dataset)
    list(islice(iterator, 4))
    code = """
dataset = open_cache(sys.argv[1])
dataset.load_state_dict(json.loads(sys.argv[2]))
print(json.dumps([[sample.sample_id for sample in dataset] for _ in range(2)]))
"""
    state = json.dumps(iterator.state_dict())
    resumed = answer(start(code, tmp_path / "numbers-10", state))
    assert resumed == [reference[4:10], reference[10:]]


def test_r10_new_process_starts_at_the_epoch_it_is_told(runtime, tmp_path) -> None:
    reference = planned(open_numbers(runtime, tmp_path, 30), 180)
    code = """
dataset = open_cache(sys.argv[1])
dataset.skip(5 * len(dataset))
print(json.dumps([sample.sample_id for sample in dataset]))
"""
    fifth = answer(start(code, tmp_path / "numbers-30"))
    assert fifth == reference[150:]
    assert fifth != reference[:30]


def test_r12_skipped_draws_are_left_out_and_recorded(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    dataset.set_epoch_len(5000)
    reference = planned(dataset, 5000)
    iterator = iter(dataset)
    assert ids(islice(iterator, 1000)) == reference[:1000]
    iterator.skip(1000)
    state = iterator.state_dict()
    assert (state["position"], state["skipped"]) == (2000, 1000)
    assert next(iterator).sample_id == reference[2000]
    resumed = open_numbers(runtime, tmp_path)
    resumed.load_state_dict(state)
    assert ids(islice(iter(resumed), 10)) == reference[2000:2010]
    assert resumed.state_dict()["skipped"] == 1000


GOLDEN = {
    "uniform": [4, 8, 7, 8, 0, 2, 4, 7, 0, 4, 7, 6, 0, 6, 4, 4, 3, 8, 8, 2],
    "weighted": [4, 8, 7, 8, 1, 2, 4, 7, 0, 5, 7, 7, 1, 6, 4, 5, 4, 8, 8, 2],
    "once": [5, 3, 9, 8, 7, 4, 0, 2, 6, 1, 6, 3, 0, 7, 2, 4, 1, 5, 8, 9],
    "once weighted": [5, 2, 8, 9, 0, 4, 1, 7, 3, 6, 1, 8, 2, 6, 3, 4, 9, 5, 0, 7],
}


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("prefetch", [1, 64])
def test_d1_one_list_of_ids_for_every_machine(tmp_path, name, workers, prefetch) -> None:
    pool = drt.DatasetRuntime(num_workers=workers)
    replacement = not name.startswith("once")
    dataset = open_numbers(pool, tmp_path, prefetch_size=prefetch, replacement=replacement)
    if name.endswith("weighted"):
        dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.col("label") + 1))
    assert ids(dataset) + ids(dataset) == GOLDEN[name]


def seed_of(_: drt.CachedSample, seed: int) -> int:
    return seed


def as_list(seeds: list[int]) -> list[int]:
    return seeds


def test_d3_every_draw_of_four_workers_has_a_seed_of_its_own(runtime, tmp_path) -> None:
    def loader_with(workers: int):
        dataset = open_numbers(runtime, tmp_path)
        dataset.set_epoch_len(5000)
        return dataset.to_torch_dataloader(
            batch_size=50,
            num_workers=workers,
            transform=seed_of,
            with_seed=True,
            collate_fn=as_list,
            multiprocessing_context="fork" if workers else None,
        )

    loader = loader_with(4)
    first = [seed for batch in loader for seed in batch]
    iterator = iter(loader)
    second = [seed for batch in islice(iterator, 40) for seed in batch]
    state = loader.state_dict()
    second += [seed for batch in iterator for seed in batch]
    assert len({*first, *second}) == 10_000
    resumed = loader_with(0)
    resumed.load_state_dict(state)
    assert [seed for batch in resumed for seed in batch] == second[2000:]


def test_d4_class_sorted_rows_come_from_sixteen_classes(runtime, tmp_path) -> None:
    rows = [(b"", {"label": number // 20}) for number in range(20_000)]
    path = write_ok(runtime, Rows("sorted", rows), tmp_path).path
    for replacement in (True, False):
        config = drt.ReaderConfig(seed=7, replacement=replacement)
        dataset = runtime.cached_dataset([path], reader_config=config)
        labels = dataset.plan(16_000)["row"] // 20
        distinct = [labels[first : first + 16].n_unique() for first in range(0, 16_000, 16)]
        assert abs(sum(distinct) / 1000 - 15.88) < 0.05


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_d14_ordered_pass_holds_each_row_once_wherever_it_starts(tmp_path, workers) -> None:
    dataset = open_numbers(drt.DatasetRuntime(num_workers=workers), tmp_path, shuffle=False)
    assert ids(dataset) == list(range(10))
    partial = iter(dataset)
    assert ids(islice(partial, 3)) == [0, 1, 2]
    assert ids(dataset) == list(range(10))
    dataset.skip(4)
    assert sorted(ids(dataset)) == list(range(10))
    assert ids(partial) == list(range(3, 10))


def test_m7_processes_share_the_sampling_tables(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    table = dataset.get_metadata()
    rows = 1 << 20
    many = table[[row % 10 for row in range(10)] * (rows // 10)]
    dataset.update_metadata(many.with_columns(weight=1.0 + pl.int_range(pl.len()) % 7))
    order = planned(dataset, 500)
    file = dataset.dump_config(tmp_path / "dump")
    code = """
opened = drt.CachedDataset.from_config
before = private_kib()
dataset = opened(sys.argv[1])
dataset.set_epoch_len(500)
drawn = [sample.sample_id for sample in dataset]
print(json.dumps([drawn, private_kib() - before, "polars" in sys.modules]))
"""
    children = [start(code, file) for _ in range(4)]
    tables_kib = (tmp_path / "dump" / "tables.bin").stat().st_size // 1024
    assert tables_kib > 12_000
    for drawn, grown_kib, has_polars in map(answer, children):
        assert drawn == order
        assert grown_kib < tables_kib // 4
        assert not has_polars


def test_m8_pages_of_a_cache_are_no_private_memory(runtime, tmp_path) -> None:
    large = Rows("large", [(bytes([number]) * (1 << 20), {}) for number in range(64)])
    path = write_ok(runtime, large, tmp_path, shard_compression={"algo": "none"}).path
    code = """
dataset = open_cache(sys.argv[1], shuffle=False, prefetch_size=4)
next(iter(dataset))
before = most = private_kib()
for sample in dataset:
    most = max(most, private_kib())
print(json.dumps(most - before))
"""
    grown_kib = answer(start(code, path))
    assert isinstance(grown_kib, int)
    assert grown_kib < 16 * 1024
    guide = Path(__file__).parents[2] / "docs" / "guide" / "operations.md"
    assert "RssAnon" in guide.read_text(encoding="utf-8")
