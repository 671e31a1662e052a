"""Standard output: tables with colours on a terminal, plain columns in a pipe, or one JSON value.

Invariant: what comes out of a cache is cleaned of control characters before it is shown.
"""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Row = Sequence[str | float]

__all__ = ["Column", "Screen", "clean"]

BAR_CELLS = 24
LEAST = 8
GAP = 2
SHOW_CURSOR = "\x1b[?25h"
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its head.
        right: Whether it is numbers, which stand at the right.
        style: Colour on a terminal.
        may_shrink: Whether it may be cut where a screen is narrow.
    """

    name: str
    right: bool = False
    style: str = ""
    may_shrink: bool = False


class Screen:
    """Where a command writes its answer.

    Args:
        as_json: One JSON value instead of text.
    """

    def __init__(self, *, as_json: bool) -> None:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        self.as_json = as_json
        self._console = Console(highlight=False)
        self._is_terminal = self._console.is_terminal
        self._lines = 0

    def value(self, value: object) -> None:
        """Write the JSON value."""
        sys.stdout.write(json.dumps(_plain(value), indent=2) + "\n")
        sys.stdout.flush()

    def heading(self, text: str) -> None:
        """Begin a part, apart from the last one."""
        if self._lines:
            self.line("")
        self.line(text, "bold cyan")

    def line(self, text: str, style: str = "") -> None:
        """Write one line."""
        self._lines += 1
        if self._is_terminal:
            self._console.print(Text(clean(text), style))
        else:
            sys.stdout.write(f"{clean(text)}\n")

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Write names and values below each other."""
        pairs = list(pairs)
        width = max(len(name) for name, _ in pairs)
        if not self._is_terminal:
            for name, value in pairs:
                self.line(f"{name:{width}}  {value}")
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in pairs:
            grid.add_row(Text(clean(name)), Text(clean(value)))
        self._console.print(grid)

    def fits(self, columns: Sequence[Column], rows: Sequence[Row]) -> bool:
        """Whether a table can be shown without cutting anything; in a pipe any can."""
        if not self._is_terminal:
            return True
        return sum(_widths(columns, rows)) + GAP * (len(columns) - 1) <= self._console.width

    def table(self, columns: Sequence[Column], rows: Iterable[Row]) -> None:
        """Write a table; numbers are never cut, and in a pipe nothing is.

        A cell that is a float is a bar as long as that part of 1.
        """
        lines = list(rows)
        self._lines += 1
        widths = _widths(columns, lines)
        if self._is_terminal:
            widths = _squeezed(columns, widths, self._console.width)
        cells = [
            [
                self._bar(cell, width) if isinstance(cell, float) else clean(cell)
                for cell, width in zip(row, widths, strict=True)
            ]
            for row in lines
        ]
        if self._is_terminal:
            self._console.print(_rich_table(columns, widths, cells))
            return
        for line in _aligned(columns, widths, cells):
            sys.stdout.write(line + "\n")

    def _bar(self, part: float, cells: int) -> str:
        eighths = round(max(0.0, min(1.0, part)) * cells * 8)
        if not self._is_terminal or self._console.options.ascii_only:
            return "#" * math.ceil(eighths / 8)
        whole, rest = divmod(eighths, 8)
        return EIGHTHS[8] * whole + (EIGHTHS[rest] if rest else "")

    @staticmethod
    @contextmanager
    def progress(text: str) -> Iterator[Callable[[int, int], None]]:
        """A bar on standard error while something goes on; nothing if that is no terminal."""
        console = Console(stderr=True)
        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        task = progress.add_task(clean(text), total=None)

        def update(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        try:
            progress.start()  # within the try: a Ctrl-C while it starts must show the cursor again
            yield update
        finally:
            try:
                with suppress(IndexError):  # rich's, when a Ctrl-C came before it was registered
                    progress.stop()
            finally:
                if console.is_terminal and not console.is_dumb_terminal:
                    # Past the console: a Ctrl-C within it leaves it buffering for ever.
                    console.file.write(SHOW_CURSOR)
                    console.file.flush()


def clean(text: str) -> str:
    """A text on one line in which nothing steers a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _widths(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    """Cells that each column takes by itself."""
    return [
        max(
            [cell_len(clean(column.name))]
            + [
                BAR_CELLS if isinstance(row[i], float) else cell_len(clean(str(row[i])))
                for row in rows
            ]
        )
        for i, column in enumerate(columns)
    ]


def _squeezed(columns: Sequence[Column], widths: list[int], available: int) -> list[int]:
    """Widths that fit a screen: the widest column that may be cut gives way first."""
    widths = list(widths)
    room = available - GAP * (len(columns) - 1)
    while sum(widths) > room:
        ways = [i for i, column in enumerate(columns) if column.may_shrink and widths[i] > LEAST]
        if not ways:
            break
        widths[max(ways, key=widths.__getitem__)] -= 1
    return widths


def _rich_table(columns: Sequence[Column], widths: list[int], cells: list[list[str]]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False
    )
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(clean(column.name)),
            justify="right" if column.right else "left",
            style=column.style or None,
            width=width,
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _aligned(columns: Sequence[Column], widths: list[int], cells: list[list[str]]) -> Iterable[str]:
    for line in [[clean(column.name) for column in columns], *cells]:
        padded = []
        for column, width, cell in zip(columns, widths, line, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if column.right else cell + space)
        yield (" " * GAP).join(padded).rstrip()


def _plain(value: Any) -> Any:
    """A value as JSON holds it: numbers that JSON lacks become their names."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
