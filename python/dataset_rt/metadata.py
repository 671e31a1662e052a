"""Hand-over of tables between the core and Polars, by the Arrow PyCapsule interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from dataset_rt.errors import InvalidMetadataError

if TYPE_CHECKING:
    import polars as pl

    from dataset_rt._native import ArrowTable

__all__ = ["ArrowStreamExportable", "add_up", "as_stream", "to_frame"]

_WANTED = (
    "update_metadata wants a Polars DataFrame, or another object with __arrow_c_stream__ "
    "(a PyArrow table, for example)"
)


class ArrowStreamExportable(Protocol):
    """Anything that hands out an Arrow C stream capsule: Polars, PyArrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the capsule."""
        ...


def to_frame(table: ArrowTable) -> pl.DataFrame:
    """Make a Polars frame of a table of the core."""
    import polars as pl

    return pl.DataFrame(table)


def add_up(counts: pl.DataFrame) -> pl.DataFrame:
    """Add up the lines with one value in the first column, in order of their first line."""
    import polars as pl

    by, *names = counts.columns
    counts.columns = ["by", *names]  # Polars takes some names for patterns
    groups = counts.group_by("by", maintain_order=True)
    added = groups.agg(pl.len().cast(pl.UInt64).alias("rows"), pl.col(names).sum())
    added.columns = [by, "rows", *names]
    return added


def as_stream(metadata: object) -> ArrowStreamExportable:
    """Check that an object can hand its columns over as an Arrow stream.

    Args:
        metadata: What the user passed.

    Returns:
        The same object.

    Raises:
        TypeError: It cannot; the text says what is wanted instead.
        InvalidMetadataError: A column holds Python objects. Polars hands out their addresses
            as bytes, which nothing behind the stream could tell from bytes.
    """
    kind = type(metadata).__name__
    if kind == "LazyFrame":
        raise TypeError(f"{_WANTED}; a LazyFrame holds no rows yet: pass frame.collect()")
    if not hasattr(type(metadata), "__arrow_c_stream__"):
        hint = "; wrap it: polars.DataFrame(data)" if isinstance(metadata, dict | list) else ""
        raise TypeError(f"{_WANTED}; a {kind} was given{hint}")
    schema = getattr(metadata, "schema", None)
    for column, dtype in schema.items() if isinstance(schema, Mapping) else ():
        if str(dtype) == "Object":
            raise InvalidMetadataError(
                f"column {column!r}: a type that Arrow has is wanted, Object was given",
                column=column,
                expected="a type that Arrow has",
                found="Object",
            )
    stream: ArrowStreamExportable = metadata  # type: ignore[assignment]
    return stream
