"""Payload sizes: sum and mean from the manifests, the rest from samples that are read."""

from __future__ import annotations

import bisect
import itertools
import random
import statistics
from typing import TYPE_CHECKING, Any

from dataset_rt.cli.screen import Column
from dataset_rt.units import count, counted, share, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataset_rt import CachedDataset, CacheInspection
    from dataset_rt.cli.screen import Screen

__all__ = ["edge_labels", "entry", "show"]

MOST_SAMPLES = 10_000
MOST_BYTES = 512 * 1024 * 1024
BYTES_AT_ONCE = 32 * 1024 * 1024
BINS = 10
WIDE = 20
"""From this ratio of largest to smallest on, bins grow by a factor, not by a difference."""


def entry(
    dataset: CachedDataset, caches: Sequence[CacheInspection], *, all_of_them: bool
) -> dict[str, Any]:
    """Sizes of all payloads, or of a random choice that is read in a second or so."""
    rows = sum(facts.row_count for facts in caches)
    total = sum(facts.payload_bytes for facts in caches)
    mean = total / rows
    most = rows if all_of_them else min(rows, MOST_SAMPLES, max(100, int(MOST_BYTES / (mean + 1))))
    chosen = range(rows) if most == rows else _some(rows, most)
    sizes = _sizes(dataset, _identities(caches, chosen), int(BYTES_AT_ONCE / (mean + 1)) + 1)
    return {
        "total": total,
        "mean": mean,
        "rows_read": most,
        "min": min(sizes),
        "median": statistics.median(sizes),
        "max": max(sizes),
        "histogram": _histogram(sizes),
    }


def _some(rows: int, most: int) -> list[int]:
    """A random choice of rows, the same every time."""
    return sorted(random.Random(0).sample(range(rows), most))  # noqa: S311 - no secret


def _identities(caches: Sequence[CacheInspection], rows: Sequence[int]) -> list[tuple[int, int]]:
    starts = [0, *itertools.accumulate(facts.row_count for facts in caches)]
    found = []
    for row in rows:
        cache_id = bisect.bisect_right(starts, row) - 1
        found.append((cache_id, row - starts[cache_id]))
    return found


def _sizes(dataset: CachedDataset, ids: list[tuple[int, int]], at_once: int) -> list[int]:
    at_once = min(at_once, 1024)
    return [
        len(sample.data)
        for start in range(0, len(ids), at_once)
        for sample in dataset.get_items(ids[start : start + at_once])
    ]


def _histogram(sizes: list[int]) -> list[dict[str, int]]:
    """Counts of sizes in ``from <= size < to``."""
    least, most = min(sizes), max(sizes)
    if most - least < BINS:
        edges = list(range(least, most + 2))
    elif most > WIDE * max(least, 1):
        low = max(least, 1)
        factor = ((most + 1) / low) ** (1 / BINS)
        edges = [least, *(round(low * factor**i) for i in range(1, BINS)), most + 1]
    else:
        edges = [least + round((most + 1 - least) * i / BINS) for i in range(BINS + 1)]
    edges = sorted(set(edges))
    counts = [0] * (len(edges) - 1)
    for value in sizes:
        counts[bisect.bisect_right(edges, value) - 1] += 1
    return [
        {"from": low, "to": high, "rows": number}
        for (low, high), number in zip(itertools.pairwise(edges), counts, strict=True)
    ]


def edge_labels(bins: list[dict[str, int]]) -> list[str]:
    """The edges in words that differ: in bytes where rounded ones would not."""
    edges = [part["from"] for part in bins] + [bins[-1]["to"]]
    labels = [size(edge) for edge in edges]
    return labels if len(set(labels)) == len(labels) else [f"{count(edge)} B" for edge in edges]


def show(screen: Screen, sizes: dict[str, Any]) -> None:
    """Write the sizes as text with bars."""
    read = sizes["rows_read"]
    screen.heading(f"payload sizes of {counted(read, 'row')}")
    screen.facts(
        [
            ("mean", f"{size(sizes['mean'])} (of all rows)"),
            ("least", size(sizes["min"])),
            ("median", size(sizes["median"])),
            ("most", size(sizes["max"])),
        ]
    )
    bins = sizes["histogram"]
    highest = max(part["rows"] for part in bins)
    screen.line("")
    screen.table(
        [
            Column("from", right=True),
            Column("rows", right=True),
            Column("", style="cyan", may_shrink=True),
            Column("share", right=True),
        ],
        [
            (
                label,
                count(part["rows"]),
                part["rows"] / highest,
                share(part["rows"] / read),
            )
            for label, part in zip(edge_labels(bins), bins, strict=False)
        ],
    )
