"""Medians, extremes and paired ratios. No files, no clocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

ByRound = Mapping[int, float]
"""One value per round."""


@dataclass(frozen=True)
class Spread:
    """Median and extremes of a few values."""

    median: float
    least: float
    most: float
    count: int


def spread(values: Iterable[float]) -> Spread:
    """Sum up values.

    Raises:
        ValueError: There are none.
    """
    seen = sorted(values)
    if not seen:
        raise ValueError("no values")
    return Spread(median(seen), seen[0], seen[-1], len(seen))


def paired_ratios(above: ByRound, below: ByRound) -> list[float]:
    """Ratio in each round that both took part in, in round order.

    Rounds in which the lower value is 0 have no ratio and are left out.
    """
    shared = sorted(above.keys() & below.keys())
    return [above[number] / below[number] for number in shared if below[number]]


def paired_differences(above: ByRound, below: ByRound) -> list[float]:
    """Difference in each round that both took part in, in round order."""
    return [above[number] - below[number] for number in sorted(above.keys() & below.keys())]


def best_of(members: Iterable[ByRound]) -> dict[int, float]:
    """The least value of each round over several contenders."""
    best: dict[int, float] = {}
    for values in members:
        for number, value in values.items():
            best[number] = min(value, best.get(number, value))
    return best
