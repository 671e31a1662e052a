"""What a contender must be able to do. A kind of trial calls only the methods it times.

An engine keeps to the fast path its project recommends and says in its module text which one
that is and what it hands out. Methods a contender has nothing for raise ``NotOfferedError``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.trial.records import Delivered, Record, RecordSpec

if TYPE_CHECKING:
    from array import array
    from pathlib import Path

    from benchmarks.trial.consume import Tally

Input = Callable[[bytes, Any], Any]
"""Makes what a contender's writer takes for one record; called before the clock starts."""


class NotOfferedError(Exception):
    """The contender has no such operation."""


class Loader(ABC):
    """A DataLoader of one contender, started once and drained pass by pass."""

    @abstractmethod
    def drain(self, *, hashed: bool) -> Tally:
        """Consume one pass."""

    @abstractmethod
    def delivered(self) -> Iterator[Delivered]:
        """One pass, with identities, for checking."""


class Engine(ABC):
    """One contender working on one set of records.

    Attributes:
        spec: The records.
        store: Directory of the written records.
        options: From ``contenders.toml``, such as the number of native workers.
        make_input: See ``Input``.
    """

    make_input: Input = Record

    def __init__(self, spec: RecordSpec, store: Path, options: dict[str, Any]) -> None:
        self.spec = spec
        self.store = store
        self.options = options

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Versions of what is measured, by package name."""

    def build_profile(self) -> str:
        """``"release"``, ``"debug"``, or ``"wheel"`` for what was installed as published."""
        return "wheel"

    def preload(self) -> None:
        """Import what the contender imports on first use, where opening is timed."""

    @abstractmethod
    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        """Store inputs, one iterable per cache, under an empty or missing directory."""

    @abstractmethod
    def open(self) -> None:
        """Open ``store`` for reading."""

    def open_remote(self, url: str, local: Path) -> None:
        """Open what lies in an object store as it lies in ``store``, to draw each sample once.

        Args:
            url: Where the files of ``store`` are.
            local: Empty or missing folder for what is fetched.
        """
        raise NotOfferedError("remote")

    @abstractmethod
    def close(self) -> None:
        """Let go of everything ``open`` took, mappings included."""

    @abstractmethod
    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        """Samples as the timed path of this kind of trial hands them out, with identities."""

    def read(self, draws: int, *, hashed: bool) -> Tally:
        """Consume the next ``draws`` samples one by one."""
        raise NotOfferedError("read")

    def read_batches(self, draws: int, batch_size: int, *, hashed: bool) -> Tally:
        """Consume the next ``draws`` samples in batches of one buffer each."""
        raise NotOfferedError("batches")

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        """Read samples by identity, one call for each."""
        raise NotOfferedError("get_item")

    def verify_store(self) -> None:
        """Hash every stored byte and compare."""
        raise NotOfferedError("verify")

    def table(self) -> int:
        """Get the metadata table as a data frame; returns its rows."""
        raise NotOfferedError("table")

    def weighted(self, weights: array[float]) -> Any:
        """Make what ``update`` takes; not timed. More weights than rows repeat the rows."""
        raise NotOfferedError("update")

    def update(self, weighted: Any) -> None:
        """Make these weights the ones to draw by."""
        raise NotOfferedError("update")

    def first(self) -> Tally:
        """Make an iterator and take one sample from it."""
        return self.read(1, hashed=False)

    def draw(self, draws: int) -> None:
        """Compute the next draws without reading payloads."""
        raise NotOfferedError("draw")

    def resume(self, position: int) -> Tally:
        """Continue the draw stream at a position and take one sample."""
        raise NotOfferedError("resume")

    def save(self, draws: int) -> Tally:
        """Take samples from an iterator and save its state after each of them."""
        raise NotOfferedError("save")

    def subset(self, rows: int) -> Any:
        """Make what ``update`` takes for that many rows of the active table; not timed."""
        raise NotOfferedError("subset")

    def once(self, weighted: Any) -> None:
        """Open anew, to draw each row once by these weights; not timed."""
        raise NotOfferedError("once")

    def loader(self, batch_size: int, workers: int) -> Loader:
        """Make a torch DataLoader; workers are spawned and persistent."""
        raise NotOfferedError("loader")


def engine_class(name: str) -> type[Engine]:
    """Find the engine in ``benchmarks.engines``; its module imports the contender."""
    from importlib import import_module

    module = import_module(f"benchmarks.engines.{name}")
    found = module.ENGINE
    if not (isinstance(found, type) and issubclass(found, Engine)):
        raise TypeError(f"benchmarks.engines.{name}.ENGINE is not an Engine")
    return found
