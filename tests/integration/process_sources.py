"""Sources that a process of their own can import; what they do there is seen from outside."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dataset_rt as drt

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclasses.dataclass
class Source:
    """A source with a name."""

    name: str

    def __iter__(self) -> Iterator[drt.CacheInput]:
        yield drt.CacheInput(self.name.encode(), {"process": os.getpid()})
        yield from self.more()

    def more(self) -> Iterator[drt.CacheInput]:
        """Rows after the first one."""
        return iter(())


@dataclasses.dataclass
class Failing(Source):
    """Raises after its first row."""

    error: BaseException

    def more(self) -> Iterator[drt.CacheInput]:
        raise self.error


@dataclasses.dataclass
class Dying(Source):
    """Ends its process, by exit code or, if that is negative, by signal."""

    code: int

    def more(self) -> Iterator[drt.CacheInput]:
        if self.code >= 0:
            os._exit(self.code)
        os.kill(os.getpid(), -self.code)
        return iter(())


@dataclasses.dataclass
class Blocked(Source):
    """Says its process on standard output, then waits for ever."""

    ignores_interrupts: bool = False

    def more(self) -> Iterator[drt.CacheInput]:
        if self.ignores_interrupts:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(1, b"%d\n" % os.getpid())
        reading, _writing = os.pipe()
        os.read(reading, 1)
        return iter(())


class Lingering(Source):
    """Leaves a thread that keeps its process from ending."""

    def more(self) -> Iterator[drt.CacheInput]:
        threading.Thread(target=threading.Event().wait).start()
        return iter(())


@dataclasses.dataclass
class Opening(Source):
    """Opens a named pipe, which goes on when someone else opens the other end."""

    pipe: str
    mode: str

    def more(self) -> Iterator[drt.CacheInput]:
        with Path(self.pipe).open(self.mode):
            return iter(())


@dataclasses.dataclass
class Logged(Source):
    """Notes its begin and its end in a file."""

    log: str

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for sign in "+-":
            with Path(self.log).open("a") as log:
                log.write(sign)
            yield drt.CacheInput(b"x", {"process": os.getpid()})


class UnpicklableError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Exit(SystemExit):
    """Does not survive a pickle."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one + two)


def _refuse() -> Any:
    raise RuntimeError("not in this process")


class Unloadable(Source):
    """Pickles, and can't be unpickled."""

    def __reduce__(self) -> Any:
        return _refuse, ()


def write(base: str, *sources: Source, **config: Any) -> list[drt.CacheWriteResult]:
    """Write with two processes, in a program that a test starts."""
    writer_config = drt.WriterConfig(show_progress=False, num_processes=2, **config)
    runtime = drt.DatasetRuntime(num_workers=1)
    return runtime.write_cache(sources, base, writer_config=writer_config)
