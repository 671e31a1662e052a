"""Ctrl-C while the core works: raised at once, nothing left behind, the next run works."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt
import pytest
from original_format import write_cache
from support import leftovers, numbered, write_ok

WRITE = """
import itertools, sys
import dataset_rt as drt

class Endless:
    name = "numbers"

    def __iter__(self):
        for i in itertools.count():
            if i == 500:
                print("ready", flush=True)
            yield drt.CacheInput(b"x" * 100, {"i": i})

config = drt.WriterConfig(show_progress=False)
drt.DatasetRuntime(num_workers=2).write_cache(Endless(), sys.argv[1], writer_config=config)
"""

WAIT = """
import sys, threading
import dataset_rt as drt

class Blocked:
    name = "numbers"

    def __iter__(self):
        yield drt.CacheInput(b"x", {"i": 1})
        print("ready", flush=True)
        threading.Event().wait()

config = drt.WriterConfig(show_progress=False)
drt.DatasetRuntime(num_workers=2).write_cache(Blocked(), sys.argv[1], writer_config=config)
"""

READ = """
import sys
import dataset_rt as drt

config = drt.ReaderConfig(seed=1)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([sys.argv[1]], reader_config=config)
dataset.set_epoch_len(2**62)
for i, sample in enumerate(dataset):
    if i == 500:
        print("ready", flush=True)
"""

BATCHES = """
import sys
import dataset_rt as drt

config = drt.ReaderConfig(seed=1, mapped=False, prefetch_size=2)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([sys.argv[1]], reader_config=config)
dataset.set_epoch_len(2**62)
print("ready", flush=True)
for batch in dataset.batches(1_000_000):
    pass
"""

REPORT = """
import sys
import dataset_rt as drt

config = drt.ReaderConfig(seed=1)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([sys.argv[1]], reader_config=config)
print("ready", flush=True)
dataset.sampling_report(0, 2**63)
"""


LONG = """
import sys
import dataset_rt as drt

def show(done, total):
    print("ready", flush=True)

"""

VERIFY = (
    LONG
    + """
drt.verify(sys.argv[1], num_workers=2, progress=show)
"""
)

CONVERT = (
    LONG
    + """
drt.convert(sys.argv[1], sys.argv[1] + "-out", num_workers=2, progress=show)
"""
)


def interrupted(code: str, argument: Path) -> str:
    """Start a program, interrupt it once it says that it is ready, and give its errors."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(argument)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert child.returncode != 0
    return errors


@pytest.mark.parametrize("code", [WRITE, WAIT], ids=["busy", "waiting"])
def test_interrupted_write_leaves_nothing(runtime, tmp_path, code: str) -> None:
    assert "KeyboardInterrupt" in interrupted(code, tmp_path)
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "numbers").exists()
    assert write_ok(runtime, numbered(3), tmp_path).status == "built"


def endless_cache(path: Path) -> Path:
    """A cache of the original system whose shard takes long to hash; most of it is a hole."""
    write_cache(path, "c", [(b"x", {"i": 1})])
    shard = path / "shards" / "000000.bin"
    text = (path / "manifest.json").read_text(encoding="utf-8")
    length = f'"byte_len": {shard.stat().st_size},'
    assert length in text
    (path / "manifest.json").write_text(text.replace(length, f'"byte_len": {2**40},'))
    os.truncate(shard, 2**40)
    return path


@pytest.mark.parametrize("code", [VERIFY, CONVERT], ids=["verify", "convert"])
def test_interrupted_verification_ends_at_once_and_leaves_nothing(tmp_path, code: str) -> None:
    assert "KeyboardInterrupt" in interrupted(code, endless_cache(tmp_path / "c"))
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("code", [READ, BATCHES], ids=["single", "batches"])
def test_interrupted_reading_ends_with_the_exception(runtime, tmp_path, code: str) -> None:
    path = write_ok(runtime, numbered(50), tmp_path).path
    assert "KeyboardInterrupt" in interrupted(code, path)
    config = drt.ReaderConfig(seed=1)
    assert len(list(runtime.cached_dataset([path], reader_config=config))) == 50


def test_interrupted_report_ends_with_the_exception(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(50), tmp_path).path
    assert "KeyboardInterrupt" in interrupted(REPORT, path)


def test_killed_writer_blocks_nobody(runtime, tmp_path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WAIT, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.kill()
        child.wait(timeout=60)
    assert not (tmp_path / "numbers").exists()
    assert write_ok(runtime, numbered(3), tmp_path).status == "built"
    assert leftovers(tmp_path) == []
