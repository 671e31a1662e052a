"""Programs that tests start beside themselves, and what a child can do to its own surroundings."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

HEAD = """
import json, os, sys, threading
import dataset_rt as drt
from children import drop_capabilities, limit_files, mounted, private_kib, say, told
from support import QUIET, Rows, numbered
"""

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_PRIVATE, MS_REC = 1, 32, 1 << 18, 1 << 14
CAPABILITY_VERSION = 0x20080522
PR_SET_SECUREBITS, SECBIT_NOROOT = 28, 1


def start(code: str, *arguments: object, errors: Any = subprocess.PIPE) -> subprocess.Popen[str]:
    """Start a program for which every warning is an error."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", HEAD + code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env={
            "PYTHONPATH": ":".join(sys.path),
            "PATH": os.defpath,
            "TMPDIR": tempfile.gettempdir(),
        },
    )


def ended(child: subprocess.Popen[str], word: str | None = None) -> tuple[str, str]:
    """What a program said, on both ways, until it ended by itself."""
    with child:
        try:
            return child.communicate(word, timeout=120)
        except subprocess.TimeoutExpired:
            child.kill()
            raise


def answer(child: subprocess.Popen[str]) -> Any:
    """What a program said as JSON; it must have said nothing else and ended well."""
    output, errors = ended(child)
    assert (child.returncode, errors) == (0, ""), errors
    return json.loads(output)


def run(code: str, *arguments: object) -> Any:
    """Run a program and give what it said."""
    return answer(start(code, *arguments))


def say(value: object) -> None:
    """Tell the parent, in one line."""
    os.write(1, (json.dumps(value) + "\n").encode())


def told(outcome: Any) -> dict[str, Any]:
    """An outcome of a source, as JSON can hold it."""
    error = getattr(outcome, "error", None)
    fields = {name: getattr(error, name) for name in getattr(error, "fields", ())}
    return {
        "status": getattr(outcome, "status", None),
        "class": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": str(error),
        **fields,
    }


def in_fork(work: Any) -> Any:
    """Run a function in a forked child and give what it returned, or fail with its traceback."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            outcome = (True, work())
        except BaseException:  # noqa: BLE001 - the parent reports it
            outcome = (False, traceback.format_exc())
        with os.fdopen(write_end, "wb") as pipe:
            pickle.dump(outcome, pipe)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        succeeded, value = pickle.load(pipe)
    os.waitpid(child, 0)
    assert succeeded, value
    return value


def private_kib() -> int:
    """Private memory of this process."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def mounted(path: Path, size_bytes: int) -> Any:
    """Mount a small file system of memory at `path`, seen by this process alone.

    Returns:
        What makes it read-only, or None where the kernel lets no ordinary process mount. Only a
        process of one thread can do this.
    """
    libc, user, group = _libc(), os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        return None
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    except PermissionError:
        return None
    options = f"size={size_bytes}".encode()
    target = os.fsencode(path)
    private = libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    if private != 0 or libc.mount(b"none", target, b"tmpfs", 0, options) != 0:
        return None

    def make_read_only() -> None:
        assert libc.mount(b"none", target, None, MS_REMOUNT | MS_RDONLY, options) == 0

    return make_read_only


def limit_files(size_bytes: int) -> None:
    """Let no file of this process become longer."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


def drop_capabilities() -> None:
    """Give up, with all processes to come, what lets the superuser pass over permissions."""
    if os.getuid() == 0:
        assert _libc().prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0) == 0
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    assert _libc().capset(header, nothing) == 0
