"""The process of one source, as its starter holds it: started, listened to, ended.

Nothing here blocks for longer than a moment, whatever the process does, and a process that
was started is ended and reaped before its handle is given up.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import socket
import threading
import time
from collections import deque
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from dataset_rt.source_worker import COUNTS, HEAD, RAISED, RESULT, read_counts, run_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.context import SpawnProcess

__all__ = ["SourceProcess", "end_all", "exchange", "interrupts_held"]

_LISTEN_SECONDS = 0.1
"""How long to wait for messages; also how late an end without a closed pipe is seen."""

_ENDING_SECONDS = 0.005
"""The same while a process is about to end, which no message tells."""

_INTERRUPT_SECONDS = 0.2
"""Time for sources to clean up after an interrupt, before their processes are killed."""

_KILL_SECONDS = 1.0
"""Time for the system to end killed processes; one that it can't end is left to it."""

_READ_BYTES = 1 << 16


class SourceProcess:
    """A process that writes the cache of one source.

    Args:
        number: Number of the source.
        name: Its name.
        messages: What the process is sent, see ``Job.messages``.

    Attributes:
        counts: Samples and payload bytes that it has told of.
        is_up: Whether it has told of anything.
        result: Its outcome, still pickled.
        raised: What it wants raised, still pickled.
        silent_seconds: How long nothing has come from it.
        is_ending: Whether it has closed its end of the pipe or was killed.
        was_killed: Whether it was killed.
    """

    def __init__(self, number: int, name: str, messages: list[bytes]) -> None:
        self.number = number
        self.name = name
        self.counts = (0, 0)
        self.is_up = False
        self.result: bytes | None = None
        self.raised: bytes | None = None
        self.silent_seconds = 0.0
        self.is_ending = False
        self.was_killed = False
        self._unsent = deque(memoryview(message) for message in messages)
        self._unread = bytearray()
        self._pipe, self._other_end = socket.socketpair()
        self._pipe.setblocking(False)
        self._process: SpawnProcess = multiprocessing.get_context("spawn").Process(
            target=run_source, args=(self._other_end,), name=f"dataset_rt source {name}"
        )

    def start(self) -> None:
        """Start the process.

        Raises:
            OSError: The system has no room for it.
        """
        resource_tracker.ensure_running()  # by itself: it lets interrupts through when it starts
        with interrupts_held():
            self._process.start()
        self._other_end.close()

    def wanted_events(self) -> int:
        """What its pipe is to be watched for; 0 if for nothing."""
        if self.is_ending:
            return 0
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)

    def fileno(self) -> int:
        """The pipe, for a selector."""
        return self._pipe.fileno()

    def exchange(self) -> None:
        """Send what the pipe takes and read what it has."""
        try:
            while self._unsent:
                part = self._unsent[0]
                sent = self._pipe.send(part)
                self.silent_seconds = 0.0
                self._unsent[0] = part[sent:]
                if sent == len(part):
                    self._unsent.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()  # it has ended; what it said before is read below
        try:
            while read := self._pipe.recv(_READ_BYTES):
                self._unread += read
                self.silent_seconds = 0.0
                self.is_up = True
            self.is_ending = True
        except BlockingIOError:
            pass
        except OSError:
            self.is_ending = True
        self._take_messages()

    def _take_messages(self) -> None:
        unread = self._unread
        while len(unread) >= HEAD.size:
            kind, count = HEAD.unpack_from(unread)
            end = HEAD.size + count
            if len(unread) < end:
                break
            body = bytes(unread[HEAD.size : end])
            del unread[:end]
            if kind == COUNTS:
                self.counts = read_counts(body)
            elif kind == RESULT:
                self.result = body
            elif kind == RAISED:
                self.raised = body

    def exit_code(self) -> int | None:
        """Its exit code, minus the number of a signal; None while it runs."""
        return self._process.exitcode

    def is_gone(self) -> bool:
        """Whether there is no process, no longer or not yet."""
        return self._process.pid is None or self._process.exitcode is not None

    def interrupt(self) -> None:
        """Ask it to stop as Ctrl-C does."""
        if self._process.pid is not None and not self.is_gone():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Have the system end it."""
        self.is_ending = self.was_killed = True
        if self._process.pid is not None:
            self._process.kill()

    def close(self) -> None:
        """Give up the handle of a process that has ended, or was never started."""
        self._pipe.close()
        self._other_end.close()
        if self._process.exitcode is not None:
            self._process.close()


def exchange(processes: Sequence[SourceProcess]) -> None:
    """Wait a moment for messages and exchange what there is with each process."""
    if not processes:
        return
    is_ending = any(process.is_ending for process in processes)
    with selectors.DefaultSelector() as selector:
        for process in processes:
            if events := process.wanted_events():
                selector.register(process, events)
        for key, _ in selector.select(_ENDING_SECONDS if is_ending else _LISTEN_SECONDS):
            key.fileobj.exchange()  # type: ignore[union-attr]


def end_all(processes: Sequence[SourceProcess]) -> None:
    """End processes, first as Ctrl-C does, and reap them; takes less than half a second."""
    for process in processes:
        process.interrupt()
    _wait_for_end(processes, _INTERRUPT_SECONDS)
    for process in processes:
        process.kill()
    _wait_for_end(processes, _KILL_SECONDS)
    for process in processes:
        process.close()


def _wait_for_end(processes: Sequence[SourceProcess], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not all(process.is_gone() for process in processes):
        time.sleep(_ENDING_SECONDS)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Put Ctrl-C off until the end of the block, here and in a process started in it."""
    arrived: list[Any] = []
    handler = signal.getsignal(signal.SIGINT)
    # Python runs handlers in the main thread; another thread is not interrupted.
    is_ours = callable(handler) and threading.current_thread() is threading.main_thread()
    if is_ours:
        signal.signal(signal.SIGINT, lambda *signalled: arrived.append(signalled))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_ours:
            signal.signal(signal.SIGINT, handler)
            if arrived:
                signal.raise_signal(signal.SIGINT)
