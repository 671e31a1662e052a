"""Failures that people reported with reading: processes, signals, many small samples, rows.

====  =============================================================================================
case  held by
====  =============================================================================================
P2    test_torch_loader.py: test_two_workers_two_epochs_equal_one_process;
      test_torch_iterable.py: test_other_start_methods; test_processes.py:
      test_dump_is_read_by_other_processes; here: test_p2, for datasets that workers open
P3    test_lazy_imports.py: test_reading_samples_loads_neither_polars_nor_torch; here: test_p3
P4    test_torch_loader.py: test_length_agrees_with_what_arrives;
      test_torch_iterable.py: test_order_and_length_for_any_worker_count
P6    test_blocked_reads.py: test_interrupt_ends_a_waiting_process (a slow disk);
      test_interrupts.py: test_interrupted_write_leaves_nothing,
      test_interrupted_verification_ends_at_once_and_leaves_nothing; test_signals.py
P8    here: test_p8; docs/guide/pytorch.md says what torch's own workers need
V1    test_batches.py: test_batches_are_the_draws_of_single_reads; here: test_v1; its time:
      benchmarks/definitions/batches-64b.toml
V3    test_random_access.py: test_get_items_keeps_the_order_asked_for; here: test_v3
====  =============================================================================================
"""

from __future__ import annotations

import random
import sys
import warnings
from typing import TYPE_CHECKING

import dataset_rt as drt
import polars as pl
import pytest
from children import in_fork, run
from support import Rows, open_numbers, planned, write_ok
from torch.utils import data as torch_data

if TYPE_CHECKING:
    from pathlib import Path


class OpenedInWorkers(torch_data.Dataset):
    """A dataset of torch that opens caches where it is first asked for an item."""

    def __init__(self, path: Path) -> None:
        self.path, self.opened = path, None

    def __len__(self) -> int:
        return 20

    def __getitem__(self, number: int) -> tuple[int, bytes]:
        if self.opened is None:
            config = drt.ReaderConfig(seed=1, shuffle=False)
            self.opened = drt.DatasetRuntime(num_workers=1).cached_dataset(
                [self.path], reader_config=config
            )
        sample = self.opened.get_item(0, number)
        return sample.sample_id, sample.data


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_p2_workers_open_a_cache_that_their_parent_reads(runtime, tmp_path, method: str) -> None:
    dataset = open_numbers(runtime, tmp_path, 20, shuffle=False)
    expected = [(sample.sample_id, sample.data) for sample in dataset]
    loader = torch_data.DataLoader(
        OpenedInWorkers(tmp_path / "numbers-20"),
        batch_size=7,
        num_workers=2,
        multiprocessing_context=method,
        collate_fn=list,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")
        assert [item for batch in loader for item in batch] == expected
    assert [sample.data for sample in dataset] == [data for _, data in expected]


def modules_called(work) -> set[str]:
    """The top-level modules whose Python functions a piece of work calls."""
    called = set()

    def note(frame, event: str, _: object) -> None:
        if event == "call":
            called.add(str(frame.f_globals.get("__name__")).split(".")[0])

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called


def test_p3_forked_child_that_draws_never_calls_polars(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    frame = dataset.get_metadata().with_columns(weight=pl.col("sample_id") + 1.0)
    dataset.update_metadata(frame.group_by("label", maintain_order=True).head(5))

    def draw() -> None:
        list(dataset)
        for batch in dataset.batches(4):
            list(batch)
        dataset.get_items([(0, 1), (0, 2)])
        dataset.partition(0, 2).state_dict()

    assert "polars" in modules_called(dataset.get_metadata)
    assert "polars" not in in_fork(lambda: modules_called(draw))


SMALL_SHARED_MEMORY = """
from pathlib import Path
shared = Path("/dev/shm")
is_mounted = mounted(shared, 64 << 20) is not None
before = set(shared.iterdir())
runtime = drt.DatasetRuntime(num_workers=2)
rows = [(bytes([i % 251]) * 1_000_000, {"i": i}) for i in range(100)]
(built,) = runtime.write_cache(Rows("large", rows), sys.argv[1], writer_config=QUIET)
counts, left = [], set()
for mapped in (True, False):
    config = drt.ReaderConfig(seed=1, mapped=mapped, replacement=False)
    dataset = runtime.cached_dataset([built.path], reader_config=config)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=1.0 + (pl.col("i") % 3)))
    handle = dataset.dump_config(sys.argv[1])
    other = drt.CachedDataset.from_config(handle)
    for draws in (dataset, other):
        counts.append(sum(len(sample.data) for sample in draws))
        counts.append(sum(len(batch.data) for batch in draws.batches(30)))
    with open("/proc/self/maps") as maps:
        left |= {line.split()[-1] for line in maps if "/dev/shm" in line}
if is_mounted:
    left |= {str(path) for path in set(shared.iterdir()) - before}
say([counts, sorted(left)])
"""


def test_p8_reading_needs_no_shared_memory(tmp_path) -> None:
    counts, left = run("import polars as pl\n" + SMALL_SHARED_MEMORY, tmp_path)
    assert counts == [100_000_000] * 8
    assert left == []


def test_v1_batches_of_small_samples_are_their_single_reads(runtime, tmp_path) -> None:
    rows = [(number.to_bytes(8, "little") * 8, {"number": number}) for number in range(10_000)]
    path = write_ok(runtime, Rows("small", rows), tmp_path).path
    config = drt.ReaderConfig(seed=3)
    singles, batched = (runtime.cached_dataset([path], reader_config=config) for _ in range(2))
    expected = list(singles)
    got = list(batched.batches(256))
    assert b"".join(bytes(batch.data) for batch in got) == b"".join(s.data for s in expected)
    assert [number for batch in got for number in batch.sample_ids] == planned(singles, 10_000, 0)


BY_ROW = """
import random
path, count = sys.argv[1], 200
config = drt.ReaderConfig(seed=1, mapped=False, prefetch_size=1)
dataset = drt.DatasetRuntime(num_workers=1).cached_dataset([path], reader_config=config)
ids = [(0, number) for number in range(count)]
random.Random(5).shuffle(ids)

def counters():
    with open("/proc/self/io") as text:
        numbers = dict(line.split(": ") for line in text)
    return int(numbers["rchar"]), int(numbers["syscr"])

[dataset.get_item(*identity) for identity in ids]  # blocks of index and metadata are kept
counters()
empty = counters()
start = counters()
samples = [dataset.get_item(*identity) for identity in ids]
stop = counters()
own = [after - before for before, after in zip(empty, start)]
used = [after - before - less for before, after, less in zip(start, stop, own)]
say([used, sum(len(sample.data) for sample in samples),
     [sample.sample_id for sample in samples] == [number for _, number in ids]])
"""


def test_v3_row_access_reads_the_record_once_and_nothing_else(runtime, tmp_path) -> None:
    noise = random.Random(1).randbytes(4000)
    rows = [(noise[number:], {"number": number}) for number in range(200)]
    path = write_ok(runtime, Rows("rows", rows), tmp_path).path
    (read_bytes, reads), payload_bytes, in_order = run(BY_ROW, path)
    assert in_order
    assert reads == 200
    assert payload_bytes <= read_bytes <= payload_bytes + 200
