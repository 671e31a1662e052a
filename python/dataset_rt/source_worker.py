"""What runs in the process of one source, and how it talks to the one that started it.

The starter sends a job and the pickled source, and nothing more: when its end of the pipe is
closed, the process ends. Back come counts, again and again, and at last one outcome. Objects
are pickled between these two processes only, never read from a cache.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from dataset_rt import _native
from dataset_rt.errors import SourceProcessError
from dataset_rt.results import CacheWriteError
from dataset_rt.source_outcome import NamedSource, pack_raised, pack_result, unpickle

if TYPE_CHECKING:
    import socket

    from dataset_rt.config import WriterConfig
    from dataset_rt.results import CacheWriteResult

__all__ = ["COUNTS", "HEAD", "RAISED", "RESULT", "Job", "read_counts", "run_source"]

HEAD = struct.Struct("<cQ")
"""In front of each message: its kind, and how many bytes follow."""

COUNTS, RESULT, RAISED = b"c", b"v", b"r"
_JOB, _SOURCE = b"j", b"s"
_COUNTS = struct.Struct("<QQ")


class Job(NamedTuple):
    """What the process is to do with its source."""

    name: str
    base: str
    config: WriterConfig
    num_workers: int
    reuse: bool

    def messages(self, source: bytes) -> list[bytes]:
        """All that the process is sent, in parts; the pickled source is not copied."""
        return [_message(_JOB, pickle.dumps(self)), HEAD.pack(_SOURCE, len(source)), source]


def _message(kind: bytes, body: bytes) -> bytes:
    return HEAD.pack(kind, len(body)) + body


def read_counts(body: bytes) -> tuple[int, int]:
    """Samples and payload bytes of a message of counts."""
    samples, payload_bytes = _COUNTS.unpack(body)
    return samples, payload_bytes


def run_source(pipe: socket.socket) -> None:
    """Write the cache of the source that comes through the pipe; the body of the process."""
    pipe.set_inheritable(False)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    try:
        # Held back by the starter until here, where it is caught.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        outcome = _message(RESULT, pack_result(_write(pipe)))
    except BaseException as error:  # noqa: BLE001 - raised by the starter
        outcome = _message(RAISED, pack_raised(error))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.sendall(outcome)


def _interrupt_once(_signal: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _write(pipe: socket.socket) -> CacheWriteResult:
    def report(samples: int, payload_bytes: int) -> None:
        pipe.sendall(_message(COUNTS, _COUNTS.pack(samples, payload_bytes)))

    job: Job = unpickle(_receive(pipe))
    report(0, 0)
    pickled = _receive(pipe)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    try:
        source = NamedSource(job.name, unpickle(pickled))
    except Exception as error:  # noqa: BLE001 - whatever the user's class raises
        refusal = SourceProcessError(
            f"source {job.name!r} arrived in its process but could not be unpickled there; its "
            f"class has to be found in a module: {type(error).__name__}: {error}"
        )
        return CacheWriteError(job.name, str(refusal), refusal.with_traceback(error.__traceback__))
    del pickled
    (result,) = _native.Runtime(job.num_workers).write_caches(
        [source], job.base, job.config, reuse=job.reuse, report=report
    )
    return result


def _receive(pipe: socket.socket) -> bytearray:
    _, count = HEAD.unpack(_exactly(pipe, HEAD.size))
    return _exactly(pipe, count)


def _exactly(pipe: socket.socket, count: int) -> bytearray:
    body = bytearray(count)
    rest = memoryview(body)
    while rest:
        received = pipe.recv_into(rest)
        if not received:
            os._exit(1)  # the starter is gone
        rest = rest[received:]
    return body


def _end_with(pipe: socket.socket) -> NoReturn:
    """End this process when its starter has ended, however busy the source is."""
    try:
        while pipe.recv(1):
            pass
    finally:
        os._exit(1)
