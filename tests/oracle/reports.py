"""Reports on draws in plain Python, from "Reports" of ``proto_format/DRAWS.md``.

Imports nothing of ours. Chances come from adding up every order of draws that matters, or, for
many rows, from halving an interval.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from draws import EACH_ONCE, ORDERED, WITH_REPLACEMENT, Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

EXACT_ROWS = 16


@dataclass(frozen=True)
class Report:
    """Three numbers per row."""

    weight_share: list[float]
    expected: list[float]
    drawn: list[int]


def report(stream: Stream, start: int, stop: int) -> Report:
    """Counts of the positions ``start..stop``."""
    n = stream.table.n
    counted = Counter(stream.row(position) for position in range(start, stop))
    drawn = [counted[row] for row in range(n)]
    shares = weight_shares(stream)
    if stream.mode == WITH_REPLACEMENT:
        return Report(shares, [share * (stop - start) for share in shares], drawn)
    if stream.mode == ORDERED:
        return Report(shares, [float(count) for count in drawn], drawn)
    assert stream.mode == EACH_ONCE
    expected = [0.0] * n
    for cycle in range(start // n, stop // n + 1):
        first, last = max(start, cycle * n) - cycle * n, min(stop, (cycle + 1) * n) - cycle * n
        before, until = among_first(stream, shares, first), among_first(stream, shares, last)
        expected = [e + u - b for e, u, b in zip(expected, until, before, strict=True)]
    return Report(shares, expected, drawn)


def weight_shares(stream: Stream) -> list[float]:
    if stream.units is None:
        return [1 / stream.table.n] * stream.table.n
    return [units / stream.sums[-1] for units in stream.units]


def among_first(stream: Stream, shares: Sequence[float], draws: int) -> list[float]:
    """The chance of each row to be among the first draws of a cycle."""
    n = len(shares)
    if stream.units is None or draws in (0, n):
        return [draws / n] * n
    return exact(shares, draws) if n <= EXACT_ROWS else asymptotic(shares, draws)


def exact(shares: Sequence[float], draws: int) -> list[float]:
    chances = {frozenset[int](): 1.0}
    for _ in range(draws):
        larger: dict[frozenset[int], float] = {}
        for rows, chance in chances.items():
            missing = [row for row in range(len(shares)) if row not in rows]
            left = fsum(shares[row] for row in missing)
            for row in missing:
                key = rows | {row}
                larger[key] = larger.get(key, 0.0) + chance * shares[row] / left
        chances = larger
    return [
        fsum(chance for rows, chance in chances.items() if row in rows)
        for row in range(len(shares))
    ]


def asymptotic(shares: Sequence[float], draws: int) -> list[float]:
    def come(time: float) -> list[float]:
        return [1 - 2.0 ** -(share * time) for share in shares]

    low, high = 0.0, 1.0
    while fsum(come(high)) < draws:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if fsum(come(middle)) < draws else (low, middle)
    return come(high)
