"""A line for each column of the table: type, distinct values, range or most frequent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataset_rt.cli.screen import Column
from dataset_rt.units import count, counted, short

if TYPE_CHECKING:
    import polars as pl

    from dataset_rt.cli.screen import Screen

__all__ = ["column_entries", "show_columns"]

OWN = ("cache_id", "sample_id", "weight")
FREQUENT = 3
TEXT_CHARACTERS = 20


def column_entries(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Summaries of the stored columns, in table order."""
    return [_entry(table[name]) for name in table.columns if name not in OWN]


def _entry(column: pl.Series) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "column": column.name,
        "type": _type_name(column.dtype),
        "distinct": column.n_unique(),
    }
    if column.dtype.is_numeric():
        return entry | {"min": column.min(), "mean": column.mean(), "max": column.max()}
    counts = column.rename("value").value_counts(name="rows")
    most = counts.sort("rows", "value", descending=[True, False]).head(FREQUENT)
    return entry | {"most_frequent": most.to_dicts()}


def _type_name(dtype: pl.DataType) -> str:
    """As manifests call it."""
    return {"Boolean": "bool"}.get(str(dtype), str(dtype).lower())


def show_columns(screen: Screen, entries: list[dict[str, Any]]) -> None:
    """Write the summaries as a table."""
    if not entries:
        return
    screen.heading(counted(len(entries), "column"))
    screen.table(
        [
            Column("column", may_shrink=True),
            Column("type", style="green"),
            Column("distinct", right=True),
            Column("values", may_shrink=True),
        ],
        [
            (entry["column"], entry["type"], count(entry["distinct"]), _values(entry))
            for entry in entries
        ],
    )


def _values(entry: dict[str, Any]) -> str:
    if "min" in entry:
        least, mean, most = (short(entry[key]) for key in ("min", "mean", "max"))
        return f"{least} to {most}, mean {mean}"
    return ", ".join(
        f"{_cut(str(value['value']))} ({value['rows']:,})" for value in entry["most_frequent"]
    )


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS else f"{text[: TEXT_CHARACTERS - 1]}…"
