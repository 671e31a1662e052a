"""The wheel, installed into a fresh virtual environment without network."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dataset_rt as drt
import polars as pl


class Numbers:
    """Ten payloads that hold their own number."""

    name = "numbers"

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for number in range(10):
            yield drt.CacheInput(str(number).encode(), {"number": number})


def test_import_finds_the_installed_package() -> None:
    assert drt.__file__.startswith(sys.prefix)


def test_version_agrees_with_the_metadata() -> None:
    assert drt.__version__ == importlib.metadata.version("dataset_rt")


def test_free_threaded_interpreters_are_told_that_there_is_no_build_for_them() -> None:
    code = "import sys; sys.abiflags = 't'; import dataset_rt"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: dataset_rt has no build for free-threaded CPython" in done.stderr


def test_command_says_in_one_line_which_extra_it_wants() -> None:
    """The environment of this test has none of the extra's packages."""
    command = Path(sys.prefix, "bin", "dataset-rt")
    done = subprocess.run([command, "info", "."], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install typer rich matplotlib" in done.stderr


def test_samples_written_are_drawn_by_the_edited_table(tmp_path: Path) -> None:
    runtime = drt.DatasetRuntime(num_workers=2)
    (result,) = runtime.write_cache(
        Numbers(), tmp_path, writer_config=drt.WriterConfig(show_progress=False)
    )
    assert isinstance(result, drt.CacheWriteSuccess)
    assert result.writer_version == drt.__version__
    dataset = runtime.cached_dataset([result.path], reader_config=drt.ReaderConfig(seed=1))
    dataset.update_metadata(dataset.get_metadata().filter(pl.col("number") % 2 == 0))
    assert {sample.data for sample in dataset} <= {b"0", b"2", b"4", b"6", b"8"}
    assert len(list(dataset)) == 5
