"""What a loader worker loads, and how much memory it keeps for itself."""

from children import run
from support import open_numbers

LIGHT = """
import gc
probe, cache, argument = sys.argv[1:]
sys.path.insert(0, probe)
from worker_probe import modules
dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
    [cache], reader_config=drt.ReaderConfig(seed=1)
)
loader = dataset.to_torch_dataloader(
    batch_size=4, num_workers=1, multiprocessing_context="spawn", **{argument: modules}
)
# To the end, and collected: workers and semaphores are gone before this process and its tracker go.
batches = list(loader)
del loader
gc.collect()
say(batches[0])
"""

PROBE = """
import sys


def modules(given):
    return sorted({name.split(".")[0] for name in sys.modules})
"""

MEMORY = """
import gc
import multiprocessing
from pathlib import Path
import polars as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


def dirty_kib(loader):
    before = set(multiprocessing.active_children())
    batches = sum(1 for _ in loader)
    (worker,) = set(multiprocessing.active_children()) - before
    lines = Path(f"/proc/{worker.pid}/smaps_rollup").read_text().splitlines()
    return batches, sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))


folder, rows = sys.argv[1], int(sys.argv[2])
runtime = drt.DatasetRuntime(num_workers=2)
source = Rows("rows", [])
source.rows = (drt.CacheInput(bytes(64), {"label": i % 9, "score": i / 7}) for i in range(rows))
(written,) = runtime.write_cache(source, folder, writer_config=QUIET)
options = {"num_workers": 1, "multiprocessing_context": "spawn", "persistent_workers": True}
torch_alone = dirty_kib(DataLoader(TensorDataset(torch.zeros(64)), batch_size=8, **options))
found = {"torch": torch_alone}
for mode, replacement in [("weighted", True), ("once", False)]:
    config = drt.ReaderConfig(seed=1, replacement=replacement)
    dataset = runtime.cached_dataset([written.path], reader_config=config)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.col("label") + 1.0))
    dataset.set_epoch_len(min(rows, 100_000))
    found[mode] = dirty_kib(dataset.to_torch_dataloader(batch_size=500, **options))
gc.collect()
say(found)
"""


def test_worker_that_only_draws_loads_torch_and_the_native_module(runtime, tmp_path) -> None:
    (tmp_path / "worker_probe.py").write_text(PROBE)
    (cache,) = open_numbers(runtime, tmp_path).cache_paths
    for argument in ("transform_batch", "collate_fn"):
        loaded = set(run(LIGHT, tmp_path, cache, argument))
        assert {"torch", "dataset_rt"} <= loaded
        assert loaded.isdisjoint(["polars", "pyarrow", "pydantic"])


def test_worker_keeps_little_memory_beside_torchs_own(tmp_path) -> None:
    found = run(MEMORY, tmp_path, 100_000)
    (_, torch_alone) = found.pop("torch")
    for batches, dirty in found.values():
        assert batches == 200
        assert dirty - torch_alone < 15 * 1024, found
