"""The command ``dataset-rt`` as tests run it: in a pipe, or on a terminal of a given width."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import Any

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment(**others: str) -> dict[str, str]:
    """Variables of the child: nothing of the surroundings steers colours or widths."""
    return {"PYTHONPATH": ":".join(sys.path), "PATH": os.defpath, **others}


def run(*arguments: object, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command with pipes; no end of it may show a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "dataset_rt", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env=environment(LC_ALL="C.UTF-8"),
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == expect, done.stdout + done.stderr
    assert "\x1b" not in done.stdout
    return done


def answer(*arguments: object, expect: int = 0) -> Any:
    """The JSON value that the command gives."""
    return json.loads(run(*arguments, "--json", expect=expect).stdout)


def problem(*arguments: object, expect: int) -> str:
    """What the command says about what it cannot do, in two lines at most."""
    done = run(*arguments, expect=expect)
    assert done.stdout == ""
    assert done.stderr.count("\n") <= 2, done.stderr
    return done.stderr


def on_terminal(*arguments: object, columns: int = 80) -> tuple[int, str]:
    """Exit code and everything that a terminal of that width was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "dataset_rt", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm-256color", LC_ALL="C.UTF-8"),
    ) as child:
        os.close(theirs)
        shown = read_all(ours)
    os.close(ours)
    return child.returncode, shown


def plain(shown: str) -> str:
    """The text of a terminal without what steers it."""
    return CONTROL.sub("", shown).replace("\r", "")


def read_all(terminal: int) -> str:
    """What is written to a terminal until its last user ends."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the last process that had the terminal has ended
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
