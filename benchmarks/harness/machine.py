"""What a figure was measured on: facts that a result line repeats."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def repository() -> Path:
    """The checkout: where ``bazel run`` was called, or the folder above this package."""
    called_from = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    return Path(called_from) if called_from else Path(__file__).resolve().parents[2]


def _git(*arguments: str) -> str:
    result = subprocess.run(
        ["git", "-C", str(repository()), *arguments], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() if result.returncode == 0 else ""


def commit() -> str:
    """The commit, with ``+`` behind it when tracked files differ; "unknown" outside git."""
    found = _git("rev-parse", "HEAD")
    if not found:
        return "unknown"
    return found + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def _filesystem(folder: Path) -> str:
    """Type of the file system that holds a folder."""
    best, found = "", "unknown"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, kind, *_ = line.split()
        inside = str(folder) == mount or str(folder).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) > len(best):
            best, found = mount, kind
    return found


def machine_facts(stores: Path) -> dict[str, Any]:
    """Processor, cores this process may use, memory, kernel, file system of the stores."""
    memory = _field("/proc/meminfo", "MemTotal").split()[0]
    return {
        "processor": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory) / 2**20) if memory.isdecimal() else 0,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "file_system": _filesystem(stores.resolve()),
        "virtual": "hypervisor" in _field("/proc/cpuinfo", "flags").split(),
    }
