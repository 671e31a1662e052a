"""Reading where memory is short, or files are cut meanwhile: an exception each time."""

from __future__ import annotations

import json
import os

import dataset_rt as drt
import pytest
from children import ended, run, start
from support import Rows, ids, numbered, open_numbers, planned, write_ok

MIB = 1 << 20


@pytest.mark.parametrize("draws", [2**40, 2**62])
def test_batch_beyond_any_memory_uses_up_nothing(runtime, tmp_path, draws: int) -> None:
    dataset = open_numbers(runtime, tmp_path)
    order = planned(dataset, 10)
    dataset.set_epoch_len(draws)
    batches = dataset.batches(draws)
    with pytest.raises(MemoryError):
        next(batches)
    assert batches.position == 0
    with pytest.raises(MemoryError):
        dataset.plan(draws, 0)
    single = iter(open_numbers(runtime, tmp_path))
    single.load_state_dict(batches.state_dict())
    assert [next(single).sample_id for _ in range(10)] == order


@pytest.mark.parametrize("size", [10, 11, 2**63, 2**64 - 1])
def test_batch_larger_than_the_window_holds_the_window(runtime, tmp_path, size: int) -> None:
    dataset = open_numbers(runtime, tmp_path)
    order = planned(dataset, 10)
    assert [ids(batch) for batch in dataset.batches(size)] == [order]
    dataset.set_epoch_len(1)
    assert [len(batch) for batch in dataset.batches(size)] == [1]
    assert list(dataset.batches(size, drop_last=True)) == []


SHORT = """
import resource
path, mapped = sys.argv[1], sys.argv[2] == "mapped"
config = drt.ReaderConfig(seed=1, shuffle=False, mapped=mapped)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([path], reader_config=config)
list(dataset.batches(3))
first = iter(dataset), dataset.batches(3)
for iterator in first:
    iterator.skip(3)
with open("/proc/self/statm") as pages:
    taken = int(pages.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (48 << 20), resource.RLIM_INFINITY))
uses = {
    "samples": lambda: next(first[0]),
    "batches": lambda: next(first[1]),
    "items": lambda: dataset.get_item(0, 3),
    "plan": lambda: dataset.plan(10**7),
}
refused = {}
for name, use in uses.items():
    try:
        use()
    except MemoryError as error:
        refused[name] = type(error).__name__
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
sizes = [len(next(first[1]).data), len(dataset.get_item(0, 3).data), len(next(first[0]).data)]
say([refused, sizes])
"""


@pytest.mark.parametrize("mapped", ["mapped", "positioned"])
@pytest.mark.parametrize("algo", ["none", "lz4"])
def test_short_memory_is_a_memory_error(runtime, tmp_path, mapped: str, algo: str) -> None:
    large = bytes(range(256)) * (256 * 1024)
    rows = [(b"x", {"i": 0})] * 3 + [(large, {"i": 1}), (b"last", {"i": 2})]
    lz4 = drt.ShardCompression(algo=algo, ratio=1.0)
    path = write_ok(runtime, Rows("large", rows), tmp_path, shard_compression=lz4).path
    refused, sizes = run(SHORT, path, mapped)
    assert refused == dict.fromkeys(["samples", "batches", "items", "plan"], "MemoryError")
    # A batch is read again whole; a single draw that failed is used up, like any other.
    assert sizes == [64 * MIB + 4, 64 * MIB, 4]


CUT = """
mapped, how = sys.argv[2] == "mapped", sys.argv[3]
config = drt.ReaderConfig(seed=1, mapped=mapped, prefetch_size=4)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([sys.argv[1]], reader_config=config)
batches = dataset.batches(50)
first = next(batches)
everything = [(0, number) for number in range(500)]
singles = lambda: [dataset.get_item(*identity) for identity in everything]
singles()
dataset.get_items(everything)
say("open")
sys.stdin.readline()
# A look at the lengths of files is trusted for a millisecond; this is about what comes later.
threading.Event().wait(0.05)
uses = {
    "batches": lambda: [batch[0] for batch in batches],
    "items": lambda: dataset.get_items(everything),
    "singles": singles,
    "metadata": lambda: first.metadata,
}
try:
    uses[how]()
except drt.CorruptCacheError as error:
    say([error.path, error.cache_id, error.file])
    raise
"""


@pytest.mark.parametrize("mapped", ["mapped", "positioned"])
@pytest.mark.parametrize("name", ["index.bin", "metadata.arrow", "shards/000000.bin"])
@pytest.mark.parametrize("how", ["batches", "items", "singles"])
def test_cut_file_ends_a_reader_by_exception(runtime, tmp_path, mapped, name, how) -> None:
    path = write_ok(runtime, numbered(500), tmp_path).path
    child = start(CUT, path, mapped, how)
    assert child.stdout.readline() == '"open"\n'
    os.truncate(path / name, 0)
    output, errors = ended(child, "go on\n")
    assert child.returncode == 1, (child.returncode, errors)
    assert json.loads(output) == [str(path), 0, name]
    assert "CorruptCacheError" in errors
