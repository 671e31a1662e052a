"""How results look in a notebook: small HTML tables; every text in them is escaped.

Nothing is imported by this module but when a notebook asks.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["facts", "lines"]

MOST_LINES = 20
MOST_CHARACTERS = 300


def facts(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """Names and values below each other."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{_cell(name)}</th>"
        f"<td style='text-align:left'>{_cell(value)}</td></tr>"
        for name, value in pairs
    )
    return f"<div><b>{_cell(title)}</b><table>{rows}</table></div>"


def lines(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; of many lines the first."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in names)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left'>{_cell(value)}</td>" for value in row)
        + "</tr>"
        for row in rows[:MOST_LINES]
    )
    hidden = len(rows) - MOST_LINES
    more = f"<div>and {hidden:,} more</div>" if hidden > 0 else ""
    return (
        f"<div><b>{_cell(title)}</b><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}</div>"
    )


def _cell(value: object) -> str:
    text = str(value)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 1]}…"
    return escape(text)
