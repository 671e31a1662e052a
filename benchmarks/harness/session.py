"""A contender's process as seen from the harness: messages out, answers in, stopped between.

While one contender is measured all others are stopped, threads and loader workers included,
so that nobody's background work is charged to another.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from benchmarks.harness.environments import Environment

HERE = "here"
"""Name of the environment that is this process's own, import path included."""

_GRACE_SECONDS = 20
"""A process that has not ended by then, after its input closed, is killed."""


def python_path(environment: Environment, root: Path) -> str:
    """Where a process of an environment imports from, besides its own packages."""
    paths = [str(root)]
    if environment.name == HERE:
        paths += [entry for entry in sys.path if entry]
    return os.pathsep.join(paths)


class ContenderError(Exception):
    """A contender failed; the text is its traceback."""


class Session:
    """One process of one contender, in a process group of its own.

    Args:
        environment: Whose interpreter runs it.
        root: Folder that holds the package ``benchmarks``.
        log: File that receives what the contender prints.
        variables: Further variables of its environment.
    """

    def __init__(
        self, environment: Environment, root: Path, log: Path, variables: dict[str, str]
    ) -> None:
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [str(environment.python), "-m", "benchmarks.trial"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **variables, "PYTHONPATH": python_path(environment, root)},
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Process id, which is also the group's."""
        return self._process.pid

    def ask(self, action: str, **values: Any) -> dict[str, Any]:
        """Send one message and wait for the answer.

        Raises:
            ContenderError: The contender raised, or its process ended.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise ContenderError("the process has no pipes")
        self._process.stdin.write(json.dumps({"do": action, **values}).encode() + b"\n")
        self._process.stdin.flush()
        text = self._process.stdout.readline()
        if not text:
            raise ContenderError(f"the process ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            raise ContenderError(answer["error"])
        return answer

    def stop(self) -> None:
        """Halt the process and what it started."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it run again."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.resume()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_GRACE_SECONDS)
        self._signal(signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
