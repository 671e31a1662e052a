"""Cursor, windows, parts and states of a dataset in plain Python: slow, and as the texts say.

Imports nothing of ours. Texts: "Windows", "Partitions" and "State" of ``proto_format/DRAWS.md``
and ``docs/determinism.md``. A window is a list of positions; whatever is left of it is counted.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from draws import Stream, Table, part_positions

if TYPE_CHECKING:
    from collections.abc import Callable

END_OF_STREAM = 2**63
KEY = ["mode", "seed", "caches_digest", "table_digest"]

State = dict[str, "int | str"]


class BeyondError(Exception):
    """A position behind the last one was asked for."""


@dataclass
class Source:
    """What fixes the draws: a table, a mode and a seed; and the key that says so in a state."""

    table: Table
    mode: str
    seed: int
    caches_digest: str
    hexdigest: Callable[[bytes], str]

    def __post_init__(self) -> None:
        self.stream = Stream(self.table, self.mode, self.seed)
        digest = self.hexdigest(self.table.canonical())
        self.key: State = dict(
            zip(KEY, [self.mode, self.seed, self.caches_digest, digest], strict=True)
        )

    def mismatch(self, state: State) -> str | None:
        """The first part of a state's key that is another one."""
        return next((name for name in KEY if state[name] != self.key[name]), None)

    def with_table(self, table: Table) -> Source:
        return Source(table, self.mode, self.seed, self.caches_digest, self.hexdigest)


@dataclass
class Window:
    """Positions ``start..end`` that one iterator claims."""

    start: int
    end: int
    origin_length: int
    """Epoch length that the first position of the whole window is counted back with."""
    epoch_length: int
    skipped: int


@dataclass
class Cursor:
    """What a dataset keeps of its draws."""

    epoch_length: int
    position: int = 0
    skipped: int = 0
    interrupted: Window | None = None

    @property
    def window_end(self) -> int:
        return self.interrupted.end if self.interrupted else self.position

    def take(self) -> Window:
        window = self.interrupted or Window(
            self.position,
            within(self.position + self.epoch_length),
            self.epoch_length,
            self.epoch_length,
            self.skipped,
        )
        window.epoch_length, window.skipped = self.epoch_length, self.skipped
        self.position, self.interrupted = window.end, None
        return window

    def skip(self, draws: int) -> None:
        self.position = within(self.position + draws)
        self.skipped += draws
        if self.interrupted and self.position < self.interrupted.end:
            self.interrupted.start = self.position
        else:
            self.interrupted = None


def within(position: int) -> int:
    if position > END_OF_STREAM:
        raise BeyondError
    return position


def rest_of(state: State) -> Window:
    """What is left of the window that a state was saved in."""
    position, end, length, skipped = (
        int(state[name]) for name in ["position", "window_end", "epoch_length", "skipped"]
    )
    return Window(position, end, length, length, skipped)


@dataclass
class Iterator:
    """One part of one window, and how far it has come."""

    source: Source
    window: Window
    part: tuple[int, int]
    tail: str
    delivered: int = 0
    skipped: int = 0
    has_said_end: bool = False

    def __post_init__(self) -> None:
        span = self.window.start, self.window.end
        self.positions = part_positions(span, self.window.origin_length, self.part, self.tail)

    def next_position(self) -> int | None:
        """Position of the next draw, which counts as delivered; none at the end."""
        if self.delivered == len(self.positions):
            self.has_said_end = True
            return None
        self.delivered += 1
        return self.positions[self.delivered - 1]

    def next_batch(self, size: int, *, drop_last: bool) -> list[int]:
        """Positions of the next batch; one that is not full says that the window is over."""
        if drop_last and self.remaining < size:
            self.delivered = len(self.positions)
        start, self.delivered = self.delivered, min(self.delivered + size, len(self.positions))
        batch = self.positions[start : self.delivered]
        self.has_said_end = self.has_said_end or len(batch) < size
        return batch

    @property
    def remaining(self) -> int:
        return len(self.positions) - self.delivered

    @property
    def position(self) -> int:
        if self.has_said_end or (self.tail == "drop" and not self.remaining):
            return self.window.end
        return min(self.window.start + self.delivered * self.part[1], self.window.end)

    def skip(self, draws: int) -> None:
        before = self.position
        self.delivered += min(draws, self.remaining)
        self.skipped += self.position - before

    def state(self) -> State:
        return {
            "version": 1,
            **self.source.key,
            "epoch_length": self.window.epoch_length,
            "position": self.position,
            "window_end": self.window.end,
            "skipped": self.window.skipped + self.skipped,
        }

    def load(self, state: State) -> None:
        self.__init__(self.source, rest_of(state), self.part, self.tail)  # type: ignore[misc]


@dataclass
class Dataset:
    """A table, a cursor, and which part of the draws it has."""

    source: Source
    part: tuple[int, int] = (0, 1)
    tail: str = "uneven"
    cursor: Cursor = field(init=False)

    def __post_init__(self) -> None:
        self.cursor = Cursor(self.source.table.n)

    def __len__(self) -> int:
        length = self.cursor.epoch_length
        return len(part_positions((0, length), length, self.part, self.tail))

    def update(self, table: Table) -> None:
        self.source = self.source.with_table(table)
        self.cursor = Cursor(table.n)

    def iterate(self) -> Iterator:
        return Iterator(self.source, self.cursor.take(), self.part, self.tail)

    def partition(self, index: int, count: int, tail: str) -> Dataset:
        """Part ``index`` of ``count`` of this part."""
        view = copy.deepcopy(self)
        before, parts = self.part
        view.part, view.tail = (before + parts * index, parts * count), tail
        return view

    def handed_over(self) -> Dataset:
        """The same view in another process: table, part and cursor."""
        return copy.deepcopy(self)

    def state(self) -> State:
        cursor = self.cursor
        return {
            "version": 1,
            **self.source.key,
            "epoch_length": cursor.epoch_length,
            "position": cursor.position,
            "window_end": cursor.window_end,
            "skipped": cursor.skipped,
        }

    def load(self, state: State) -> None:
        rest = rest_of(state)
        self.cursor = Cursor(
            rest.epoch_length, rest.start, rest.skipped, rest if rest.start < rest.end else None
        )

    def rows(self, start: int, draws: int) -> list[int]:
        """Rows at the positions ``start..start + draws``."""
        within(start + draws)
        return [self.source.stream.row(position) for position in range(start, start + draws)]
