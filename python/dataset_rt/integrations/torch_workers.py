"""How many loader processes ``num_workers="auto"`` means on this machine, and how they start.

Sizes and starts processes only: the order of draws is the same for any number of them.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

__all__ = ["auto_workers", "cpu_quota", "start_method"]

_MOST_WORKERS = 16
"""Copying bytes saturates memory well before this; more processes only cost start-up."""


def auto_workers() -> int:
    """Choose a number of loader processes for one rank.

    Returns:
        The processors that this process may use, by affinity and by the quota of its control
        group, shared by the ranks of the host (``LOCAL_WORLD_SIZE``, which torchrun sets), less
        one for the training loop; from 0 to 16.
    """
    processors = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0)
    processors = processors or float(os.cpu_count() or 1)
    quota = cpu_quota(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))
    if quota is not None:
        processors = min(processors, quota)
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    processors /= int(ranks) if ranks.isdecimal() and int(ranks) else 1
    return max(0, min(int(processors) - 1, _MOST_WORKERS))


def start_method() -> str:
    """Choose how processes are started that fetch from object storage: never by fork.

    Returns:
        The method in use, or ``"forkserver"`` in the place of ``"fork"``: the threads of the
        library that fetches are not there in a forked process.
    """
    # Asking for the default itself would fix it for the whole process.
    chosen = multiprocessing.get_start_method(allow_none=True)
    method = chosen or multiprocessing.get_all_start_methods()[0]
    return "forkserver" if method == "fork" else method


def cpu_quota(root: Path, membership: Path) -> float | None:
    """Read the processor quota of a process's control group and of those above it.

    Args:
        root: Where control groups are mounted.
        membership: The process's ``/proc/…/cgroup``.

    Returns:
        Processors, fractions included; None where nothing limits them.
    """
    quotas = []
    for line in _text(membership).splitlines():
        _, controllers, group = line.split(":", 2)
        folder = root / "cpu" if "cpu" in controllers.split(",") else root
        if controllers and folder == root:
            continue
        inner = folder / group.lstrip("/")
        for place in [inner, *inner.parents]:
            if not place.is_relative_to(folder):
                break
            quotas.append(_quota_of(place))
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota_of(group: Path) -> float | None:
    """The quota of one group: ``cpu.max`` of version 2, or the two files of version 1."""
    words = _text(group / "cpu.max").split() or [
        _text(group / "cpu.cfs_quota_us").strip(),
        _text(group / "cpu.cfs_period_us").strip(),
    ]
    try:
        quota, period = (int(word) for word in words)
    except ValueError:  # "max", or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
