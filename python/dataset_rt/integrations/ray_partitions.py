"""The rows of a Ray Data pipeline, cut into partitions that are sources.

Owns where one cache ends and the next begins: by row numbers in the pipeline's order, never by
blocks, whose sizes depend on the cluster. Rows are looked at in the task that writes them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import ray

from dataset_rt.source import CacheInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ray.data import Dataset

    from dataset_rt.source import BytesLike, Metadata

__all__ = ["Partition", "RowParts", "ordered_blocks", "partitions"]


class RowBlock(NamedTuple):
    """A run of rows in the object store: the rows ``start..stop`` of a block."""

    reference: Any
    start: int
    stop: int


class RowParts:
    """Where partitions end.

    Args:
        rows: Rows of each partition, or None.
        count: Number of partitions, or None.
    """

    def __init__(self, rows: int | None, count: int | None) -> None:
        if (rows is None) == (count is None):
            raise TypeError("give rows_per_cache or num_caches, one of them")
        for name, number in (("rows_per_cache", rows), ("num_caches", count)):
            if number is not None and number < 1:
                raise ValueError(f"{name} wants at least 1, {number} was given")
        self._rows = rows
        self._count = count

    def ends(self, total: int | None) -> Iterator[int]:
        """Row numbers at which partitions end, in order; without end if the total is unknown."""
        number = 1
        while True:
            if self._rows is not None:
                yield number * self._rows
            elif self._count is not None and total is not None:
                yield number * total // min(self._count, max(total, 1))
            number += 1


@dataclass
class Partition:
    """A source of the rows of some blocks, which arrive after it.

    Attributes:
        name: Name of the cache.
        ranges: First row and end in each block.
        payload: Column, or what makes a payload of a row.
        metadata: Columns, or what makes metadata of a row.
        version: Version text.
        blocks: References to the blocks.
    """

    name: str
    ranges: list[tuple[int, int]]
    payload: str | Callable[[dict[str, Any]], BytesLike]
    metadata: Sequence[str] | Callable[[dict[str, Any]], Metadata]
    version: str | None
    blocks: list[Any] = field(default_factory=list)

    def __iter__(self) -> Iterator[CacheInput]:
        """Yield the rows; one block is in memory at a time."""
        from ray.data.block import BlockAccessor

        for reference, (start, stop) in zip(self.blocks, self.ranges, strict=True):
            block = BlockAccessor.for_block(ray.get(reference)).slice(start, stop)
            for row in BlockAccessor.for_block(block).iter_rows(public_row_format=True):
                yield CacheInput(self._payload_of(row), self._metadata_of(row))

    def _payload_of(self, row: dict[str, Any]) -> BytesLike:
        made: BytesLike = row[self.payload] if isinstance(self.payload, str) else self.payload(row)
        return made

    def _metadata_of(self, row: dict[str, Any]) -> Metadata:
        if callable(self.metadata):
            made = self.metadata(row)
        else:
            made = {column: row[column] for column in self.metadata}
        return {name: _plain(value) for name, value in made.items()}


def _plain(value: Any) -> Any:
    """The Python value of a NumPy scalar, which blocks of pandas hold."""
    return value.item() if type(value).__module__ == "numpy" and value.ndim == 0 else value


@contextmanager
def ordered_blocks(dataset: Dataset, *, is_whole: bool) -> Iterator[_Blocks]:
    """Run a pipeline with its order kept, which is otherwise as it was.

    Args:
        dataset: The pipeline.
        is_whole: Run it to the end first, to learn how many rows there are.
    """
    options = dataset.context.execution_options
    was_ordered = options.preserve_order
    options.preserve_order = True
    try:
        if is_whole:
            whole = dataset.materialize()
            yield _Blocks(whole, whole.count())
        else:
            yield _Blocks(dataset, None)
    finally:
        options.preserve_order = was_ordered


class _Blocks:
    """The blocks of a pipeline in order, and the number of rows if that is known."""

    def __init__(self, dataset: Dataset, total: int | None) -> None:
        self.total = total
        self._dataset = dataset

    def __iter__(self) -> Iterator[RowBlock]:
        for bundle in self._dataset.iter_internal_ref_bundles():
            slices = bundle.slices or [None] * len(bundle.blocks)
            for entry, part in zip(bundle.blocks, slices, strict=True):
                rows = entry.metadata.num_rows
                start, stop = (part.start_offset, part.end_offset) if part else (0, rows)
                if stop > start:
                    yield RowBlock(entry.ref, start, stop)


def partitions(
    blocks: _Blocks, parts: RowParts, name: str, template: dict[str, Any]
) -> Iterator[tuple[Partition, list[Any]]]:
    """Cut blocks into partitions, each with the references that it wants to get.

    A block in which one partition ends and the next begins belongs to both.
    """
    ends = parts.ends(blocks.total)
    end = next(ends)
    number = position = 0
    taken: list[RowBlock] = []

    def cut() -> tuple[Partition, list[Any]]:
        ranges = [(block.start, block.stop) for block in taken]
        return Partition(f"{name}-{number:05}", ranges, **template), [b.reference for b in taken]

    for whole in blocks:
        block = whole
        while block.start < block.stop:
            count = min(block.stop - block.start, end - position)
            taken.append(block._replace(stop=block.start + count))
            block = block._replace(start=block.start + count)
            position += count
            if position == end:
                yield cut()
                taken, number, end = [], number + 1, next(ends)
    if taken:
        yield cut()
