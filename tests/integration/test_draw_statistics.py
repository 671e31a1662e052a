"""What draws look like: shuffle quality, shares of weights, the recipe of the guide.

Seeds are fixed, so that a bound is met or missed for ever.
"""

import dataset_rt as drt
import polars as pl
import pytest
from support import Rows, open_numbers, planned, write_ok

DRAWS = 16_000


@pytest.fixture(scope="module")
def many(runtime: drt.DatasetRuntime, tmp_path_factory) -> drt.CachedDataset:
    """4096 rows, sorted by class."""
    rows = [(b"", {"label": i // 64}) for i in range(4096)]
    path = write_ok(runtime, Rows("many", rows), tmp_path_factory.mktemp("many")).path
    return runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=11))


def test_uniform_draws_hold_as_many_distinct_rows_as_chance_gives(many) -> None:
    assert abs(many.plan(4096)["row"].n_unique() - 2589) < 100


def test_each_once_holds_them_all(runtime, many) -> None:
    config = drt.ReaderConfig(seed=11, replacement=False)
    dataset = runtime.cached_dataset(many.cache_paths, reader_config=config)
    for cycle in range(3):
        assert dataset.plan(4096, 4096 * cycle)["row"].n_unique() == 4096


@pytest.mark.parametrize("replacement", [True, False])
def test_class_sorted_caches_come_well_mixed(runtime, many, replacement: bool) -> None:
    config = drt.ReaderConfig(seed=3, replacement=replacement)
    dataset = runtime.cached_dataset(many.cache_paths, reader_config=config)
    labels = dataset.plan(DRAWS)["row"] // 64
    distinct = [labels[start : start + 16].n_unique() for start in range(0, DRAWS, 16)]
    expected = 64 * (1 - (1 - 1 / 64) ** 16)
    assert abs(sum(distinct) / len(distinct) - expected) < 0.15


@pytest.mark.parametrize("part", [slice(0, 205), slice(1945, 2150), slice(3891, 4096)])
def test_shuffle_does_not_drift_within_a_cycle(runtime, many, part: slice) -> None:
    config = drt.ReaderConfig(seed=5, replacement=False)
    dataset = runtime.cached_dataset(many.cache_paths, reader_config=config)
    rows = dataset.plan(4096)["row"][part]
    standard_error = 4096 / 12**0.5 / len(rows) ** 0.5
    assert abs(rows.mean() - 2047.5) < 4 * standard_error


def test_weights_give_their_shares(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    weights = [1, 2, 3, 4, 10, 1, 1, 1, 1, 26]
    frame = dataset.get_metadata().with_columns(weight=pl.Series(weights))
    dataset.update_metadata(frame)
    drawn = dataset.plan(DRAWS)["row"]
    chi_square = 0.0
    for row, weight in enumerate(weights):
        expected = DRAWS * weight / sum(weights)
        chi_square += ((drawn == row).sum() - expected) ** 2 / expected
    assert chi_square < 27.9  # 0.1 % of 9 degrees of freedom


def test_tiny_weight_beside_a_huge_one_is_legal(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    weights = [1e-300] * 9 + [1e300]
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.Series(weights)))
    assert planned(dataset, 1000) == [9] * 1000


def test_balance_recipe_keeps_order_whatever_helper_tables_do(many) -> None:
    table = many.get_metadata().filter(pl.col("sample_id") % 3 > 0)
    streams = []
    for seed in (1, 2):
        shuffled = table.sample(fraction=1.0, shuffle=True, seed=seed).sort("cache_id", "sample_id")
        many.update_metadata(shuffled.with_columns(weight=1.0 / pl.len().over("label")))
        streams.append(planned(many, 500))
    assert streams[0] == streams[1]


def test_row_order_is_part_of_the_population(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    first = planned(dataset, 100)
    dataset.update_metadata(dataset.get_metadata().reverse())
    assert planned(dataset, 100) == [9 - sample_id for sample_id in first]
