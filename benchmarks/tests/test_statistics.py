"""Spreads and paired ratios."""

import pytest

from benchmarks.harness.statistics import (
    Spread,
    best_of,
    paired_differences,
    paired_ratios,
    spread,
)


def test_spread_of_odd_and_even_counts():
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    assert spread([4.0, 1.0]) == Spread(2.5, 1.0, 4.0, 2)


def test_spread_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no values"):
        spread([])


def test_ratios_pair_rounds_and_pass_over_missing_and_zero():
    above = {0: 10.0, 1: 30.0, 2: 5.0, 4: 1.0}
    below = {0: 5.0, 1: 10.0, 2: 0.0, 3: 7.0}
    assert paired_ratios(above, below) == [2.0, 3.0]


def test_differences_pair_rounds():
    assert paired_differences({0: 5.0, 1: 9.0}, {1: 4.0, 2: 1.0}) == [5.0]


def test_ratio_of_medians_is_not_the_median_of_ratios():
    slow = {0: 100.0, 1: 10.0, 2: 1.0}
    assert spread(paired_ratios(slow, {0: 10.0, 1: 1.0, 2: 0.1})).median == pytest.approx(10.0)


def test_best_of_takes_the_least_of_each_round():
    assert best_of([{0: 3.0, 1: 5.0}, {0: 4.0, 1: 2.0, 2: 9.0}]) == {0: 3.0, 1: 2.0, 2: 9.0}
    assert best_of([]) == {}
