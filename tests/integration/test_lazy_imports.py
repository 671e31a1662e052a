"""Importing the package loads nothing heavy, and a loader worker stays light."""

import json
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt
import pytest
from support import numbered, write_ok

HEAVY = ["torch", "pyarrow", "polars", "pydantic", "numpy", "typer", "rich", "matplotlib", "ray"]


def loaded_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and give the top-level modules it ended with."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import dataset_rt",
        "import dataset_rt.api",
        "import dataset_rt; dataset_rt.__all__; dir(dataset_rt)",
        "from dataset_rt import CachedSample, CacheInput, CacheWriteSuccess, CorruptCacheError",
        "import dataset_rt; dataset_rt.__version__",
        "from dataset_rt.cli import main",
    ],
)
def test_import_loads_nothing_heavy(code: str) -> None:
    assert loaded_after(code).isdisjoint(HEAVY)


def test_command_that_reads_no_table_loads_neither_polars_nor_plots(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    cache = write_ok(runtime, numbered(4), tmp_path).path
    for command in ("info", "head", "verify"):
        code = f"""
import sys
from dataset_rt.cli import main
sys.argv[1:] = [{command!r}, {str(cache)!r}]
assert main() == 0
"""
        loaded = loaded_after(code)
        assert "typer" in loaded
        assert loaded.isdisjoint(["torch", "pyarrow", "polars", "numpy", "matplotlib"])


def test_reading_samples_loads_neither_polars_nor_torch(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    cache = write_ok(runtime, numbered(4), tmp_path).path
    code = f"""
import dataset_rt as drt
dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
    [{str(cache)!r}], reader_config=drt.ReaderConfig(seed=1, shuffle=False))
assert len(list(dataset)) == 4
batches = list(dataset.batches(4))
assert (len(batches[0][0].metadata), batches[0].metadata.row_count) == (4, 4)
assert dataset.stats().payload_bytes == 2 * len(batches[0].data)
"""
    assert loaded_after(code).isdisjoint(["torch", "pyarrow", "polars", "numpy"])


def test_unpickling_a_sample_needs_no_config_library(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    code = """
import pickle
sample = pickle.loads(pickle.dumps(__import__("dataset_rt").CachedSample(b"x", {}, 0, 1)))
assert sample.sample_id == 1
"""
    assert loaded_after(code).isdisjoint(HEAVY)


def test_window_handle_is_read_by_the_native_module_alone(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    cache = write_ok(runtime, numbered(6), tmp_path).path
    dataset = runtime.cached_dataset([cache], reader_config=drt.ReaderConfig(seed=1, shuffle=False))
    window = dataset._native.window()
    code = f"""
from dataset_rt import _native
window = _native.Runtime(1).open_window({window.share()!r})
assert [s.sample_id for s in window.samples(2, 5)] == [2, 3, 4]
"""
    assert loaded_after(code).isdisjoint(HEAVY)


def test_no_module_but_those_of_ray_names_it(tmp_path: Path) -> None:
    """With Ray out of reach everything else works, writing in processes included."""
    code = f"""
import pkgutil, sys
from importlib import import_module
sys.modules["ray"] = None
import dataset_rt
names = [module.name for module in pkgutil.walk_packages(dataset_rt.__path__, "dataset_rt.")]
refused = []
for name in names:
    if name.endswith(".__main__"):
        continue
    try:
        import_module(name)
    except ImportError as error:
        if error.name == "ray":
            refused.append(name.rpartition(".")[2])
assert sorted(refused) == ["ray", "ray_calls", "ray_partitions", "ray_tasks"], refused
from support import QUIET, numbered
runtime = dataset_rt.DatasetRuntime(num_workers=1)
quiet = dataset_rt.WriterConfig(show_progress=False, num_processes=1)
(done,) = runtime.write_cache(numbered(3), {str(tmp_path)!r}, writer_config=quiet)
assert done.row_count == 3
"""
    loaded_after(code)


def test_version_is_that_of_the_core() -> None:
    from dataset_rt import _native

    assert drt.__version__ == _native.__version__


def test_everything_but_torch_works_without_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
from dataset_rt import *
assert CachedDataset and ReaderConfig(seed=1)
try:
    SizedTorchIterableDataset()
except ImportError as error:
    assert "pip install torch" in str(error)
else:
    raise AssertionError("made without torch")
"""
    loaded_after(code)
