"""Sources for tasks; what they do there is seen from outside."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dataset_rt as drt

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIET = drt.WriterConfig(show_progress=False)


@dataclasses.dataclass
class Numbers:
    """Rows that tell their number."""

    name: str
    count: int = 20

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for number in range(self.count):
            self.before(number)
            yield drt.CacheInput(
                f"{self.name} {number};".encode() * (number % 5 + 1),
                {"label": number % 3, "share": number / 7, "text": f"t{number % 4}"},
            )

    def before(self, number: int) -> None:
        """What happens before a row is yielded."""


@dataclasses.dataclass
class Versioned(Numbers):
    version: str | None = None


@dataclasses.dataclass
class Raising(Numbers):
    error: BaseException = dataclasses.field(default_factory=lambda: KeyError("missing"))

    def before(self, number: int) -> None:
        if number == 1:
            raise self.error


@dataclasses.dataclass
class Dying(Numbers):
    """Kills its process in the middle, the first times it is iterated."""

    log: str = ""
    deaths: int = 1

    def before(self, number: int) -> None:
        if number == self.count // 2:
            with Path(self.log).open("a") as log:
                log.write("x")
            if len(Path(self.log).read_text()) <= self.deaths:
                os.kill(os.getpid(), signal.SIGKILL)


class DyingLate(Numbers):
    """Kills its task once, when the cache is published and nobody knows yet."""

    def __init__(self, name: str, base: Path, log: Path) -> None:
        super().__init__(name)
        self._driver = os.getpid()
        self._manifest, self._log = base / name / "manifest.json", log

    def __del__(self) -> None:
        if os.getpid() != self._driver and self._manifest.exists() and not self._log.exists():
            self._log.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Blocked(Numbers):
    """Waits for ever after its first row, when it has said so through a named pipe."""

    def __init__(self, name: str, pipe: str) -> None:
        super().__init__(name)
        self._pipe = pipe

    def before(self, number: int) -> None:
        if number == 1:
            with Path(self._pipe).open("w") as pipe:
                pipe.write("begun")
            reading, _writing = os.pipe()
            os.read(reading, 1)


class Unpicklable(Numbers):
    def __reduce__(self) -> Any:
        raise TypeError("stays here")


def _refuse() -> Any:
    raise RuntimeError("not in a task")


class Unloadable(Numbers):
    """Pickles, and can't be unpickled."""

    def __reduce__(self) -> Any:
        return _refuse, ()


class Nameless:
    @property
    def name(self) -> str:
        raise RuntimeError("no name")

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class NotIterable:
    name = "not iterable"
    __iter__ = None


def tree(base: Path) -> dict[str, bytes]:
    """All files of all caches but those that tell the time."""
    return {
        str(file.relative_to(base)): file.read_bytes()
        for file in sorted(base.rglob("*"))
        if file.is_file() and file.name != "origin.json"
    }


def told(result: drt.CacheWriteResult, base: Path) -> object:
    """What a result says, apart from place and time."""
    if isinstance(result, drt.CacheWriteSuccess):
        return dataclasses.replace(result, path=result.path.relative_to(base), created_at="")
    error = result.error
    fields = {name: getattr(error, name) for name in getattr(error, "fields", ())}
    text = repr((result.message, type(error), str(error), getattr(error, "args", ()), fields))
    return result.source_name, text.replace(str(base), "BASE")
