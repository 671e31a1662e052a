"""Locked environments of contenders, each made once and kept in the user's cache folder.

``peers/<name>/requirements.txt`` locks one with hashes. ``floor`` also compiles the
benchmark's own extension, ``ours`` also installs the wheel that is to be measured.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.machine import repository

_MARK = "complete"


def cache_folder() -> Path:
    """Where environments and stores are kept: ``DRT_BENCHMARK_CACHE`` or the user's cache."""
    chosen = os.environ.get("DRT_BENCHMARK_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dataset_rt_benchmarks"


def peers_folder() -> Path:
    """Where the locks are."""
    return repository() / "benchmarks" / "peers"


@dataclass(frozen=True)
class Environment:
    """A Python with one contender in it.

    Attributes:
        python: The interpreter to start.
        digest: Changes with the lock, the interpreter, and what was compiled or installed.
    """

    name: str
    python: Path
    digest: str


class EnvironmentMaker:
    """Makes the environments that are asked for and finds those made before.

    Args:
        wheel: The wheel that ``ours`` measures; None if it does not take part.
    """

    def __init__(self, wheel: Path | None) -> None:
        self._wheel = wheel
        self._made: dict[str, Environment] = {}

    def environment(self, name: str) -> Environment:
        """Make an environment, or find it."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Environment:
        lock = peers_folder() / name / "requirements.txt"
        parts = [lock.read_bytes(), sys.version.encode()]
        parts.extend(path.read_bytes() for path in self._extras(name))
        digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
        folder = cache_folder() / "environments" / f"{name}-{digest}"
        python = folder / "bin" / "python"
        if not (folder / _MARK).exists():
            shutil.rmtree(folder, ignore_errors=True)
            print(f"making the environment of {name}", file=sys.stderr)
            run_uv("venv", "--quiet", "--python", sys.executable, str(folder))
            install = ("pip", "install", "--quiet", "--python", str(python))
            if lock.read_text(encoding="utf-8").strip():
                run_uv(*install, "--require-hashes", "--requirements", str(lock))
            if name == "floor":
                _compile_floor(folder)
            if name == "ours":
                run_uv(*install, "--no-deps", *map(str, self._extras(name)))
            (folder / _MARK).touch()
        return Environment(name, python, digest)

    def _extras(self, name: str) -> list[Path]:
        """Files besides the lock that make the environment what it is."""
        if name == "floor":
            return _floor_sources()
        if name == "ours":
            if self._wheel is None:
                raise FileNotFoundError("ours takes part: say which wheel with --wheel")
            return [self._wheel]
        return []


def _floor_sources() -> list[Path]:
    return sorted((repository() / "benchmarks" / "floor").glob("*.[ch]"))


def _compile_floor(folder: Path) -> None:
    """Compile the floor's extension into the environment, optimised, with the local compiler."""
    site = next(folder.glob("lib/python*/site-packages"))
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    command = [compiler, "-O3", "-DNDEBUG", "-Wall", "-Wextra", "-shared", "-fPIC"]
    command += [f"-I{sysconfig.get_path('include')}", "-o", str(site / "drt_floor.so")]
    command += [str(path) for path in _floor_sources() if path.suffix == ".c"]
    subprocess.run(command, check=True)


def run_uv(*arguments: str) -> None:
    """Call uv: the one on the path, or one that is installed beside the environments."""
    found = shutil.which("uv")
    if found is None:
        folder = cache_folder() / "environments" / "uv"
        found = str(folder / "bin" / "uv")
        if not Path(found).exists():
            venv.create(folder, with_pip=True, clear=True)
            lock = peers_folder() / "uv" / "requirements.txt"
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, "--require-hashes", "-r", str(lock)], check=True)
    subprocess.run([found, *arguments], check=True)


def lock_peers(names: list[str]) -> None:
    """Write ``requirements.txt`` from ``requirements.in``, with the hashes of every file."""
    for source in sorted(peers_folder().glob("*/requirements.in")):
        if names and source.parent.name not in names:
            continue
        run_uv(
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--python-version=3.11",
            "--generate-hashes",
            "--no-annotate",
            "--custom-compile-command=python -m benchmarks lock",
            f"--output-file={source.with_suffix('.txt')}",
            str(source),
        )
