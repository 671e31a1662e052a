"""Meters: CPU time, context switches and private memory of a process and its children.

CPU time comes first: on a shared machine wall time says as much about the neighbours.
"""

from __future__ import annotations

import resource
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.trial.consume import Tally


@dataclass(frozen=True)
class Step:
    """What one timed step cost.

    CPU and switches include child processes: those given, and those that ended within it.

    Attributes:
        samples: Samples delivered, or operations done; costs are reported per sample.
        payload_bytes: Payload bytes delivered or written.
        wall_ns: Elapsed time.
        cpu_ns: CPU time of all threads.
        system_ns: The part of it spent in the kernel, as far as the kernel tells.
        voluntary_switches: Times a thread gave its core away to wait.
        involuntary_switches: Times a core was taken from a thread.
        major_faults: Pages this process waited for, because they were not in memory.
        private_growth_bytes: Private memory after the step minus before it.
        child_private_bytes: Largest private memory of a child process after the step.
        spinner_turns: What a second, spinning Python thread got done meanwhile.
        fetched_bytes: Bytes that an object store sent meanwhile.
    """

    samples: int
    payload_bytes: int
    wall_ns: int
    cpu_ns: int
    system_ns: int
    voluntary_switches: int
    involuntary_switches: int
    major_faults: int
    private_growth_bytes: int
    child_private_bytes: int = 0
    spinner_turns: int = 0
    fetched_bytes: int = 0

    def message(self) -> dict[str, int]:
        """The fields as sent to the harness."""
        return asdict(self)


@dataclass(frozen=True)
class _Reading:
    wall_ns: int
    cpu_ns: int
    system_ns: int
    voluntary: int
    involuntary: int
    major_faults: int


def _child_reading(pid: int) -> tuple[int, int, int]:
    """CPU nanoseconds, voluntary and involuntary switches of all threads of a process."""
    cpu_ns = voluntary = involuntary = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        cpu_ns += int((task / "schedstat").read_text().split()[0])
        for line in (task / "status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "voluntary_ctxt_switches":
                voluntary += int(value)
            elif name == "nonvoluntary_ctxt_switches":
                involuntary += int(value)
    return cpu_ns, voluntary, involuntary


def _read_all(children: Sequence[int]) -> _Reading:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_ns = time.process_time_ns() + int((ended.ru_utime + ended.ru_stime) * 1e9)
    voluntary = usage.ru_nvcsw + ended.ru_nvcsw
    involuntary = usage.ru_nivcsw + ended.ru_nivcsw
    for pid in children:
        more = _child_reading(pid)
        cpu_ns += more[0]
        voluntary += more[1]
        involuntary += more[2]
    return _Reading(
        wall_ns=time.perf_counter_ns(),
        cpu_ns=cpu_ns,
        system_ns=int((usage.ru_stime + ended.ru_stime) * 1e9),
        voluntary=voluntary,
        involuntary=involuntary,
        major_faults=usage.ru_majflt,
    )


def private_bytes(pid: int | str = "self") -> int:
    """Memory that only this process holds and that no file backs up.

    Clean pages of mapped files are left out: the kernel may drop them at any time.
    """
    total = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Private_Dirty":
            total += int(value.split()[0]) * 1024
    return total


def child_pids() -> list[int]:
    """Processes started by this one that are still alive, numbered as ``/proc`` numbers them."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        found.extend(int(pid) for pid in (task / "children").read_text().split())
    return found


def measure(action: Callable[[], Tally], *, children: Sequence[int] = ()) -> Step:
    """Run an action once and say what it cost.

    Args:
        action: Returns what was delivered.
        children: Processes whose costs belong to the action, as :func:`child_pids` numbers them.
            They must live throughout.
    """
    memory = private_bytes()
    before = _read_all(children)
    tally = action()
    after = _read_all(children)
    return Step(
        samples=tally.samples,
        payload_bytes=tally.payload_bytes,
        wall_ns=after.wall_ns - before.wall_ns,
        cpu_ns=after.cpu_ns - before.cpu_ns,
        system_ns=after.system_ns - before.system_ns,
        voluntary_switches=after.voluntary - before.voluntary,
        involuntary_switches=after.involuntary - before.involuntary,
        major_faults=after.major_faults - before.major_faults,
        private_growth_bytes=private_bytes() - memory,
        child_private_bytes=max((private_bytes(pid) for pid in children), default=0),
    )
