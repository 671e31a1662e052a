"""Reports on draws: weight shares, expected and drawn counts, per row and by a column."""

import math

import dataset_rt as drt
import polars as pl
import pytest
from support import ids, open_numbers

COUNTS = ["weight_share", "expected", "drawn"]


@pytest.fixture
def dataset(runtime: drt.DatasetRuntime, tmp_path) -> drt.CachedDataset:
    """Ten rows, one of them twice, weighted by label, with an extra column."""
    dataset = open_numbers(runtime, tmp_path)
    table = dataset.get_metadata()
    table = pl.concat([table[[4]], table]).with_columns(
        weight=pl.col("label") + 1, note=pl.Series([None, "x", None, "y"] + [None] * 7)
    )
    dataset.update_metadata(table)
    return dataset


def test_report_has_one_line_per_row_of_the_table(dataset: drt.CachedDataset) -> None:
    report = dataset.sampling_report(0, 1000)
    assert dict(report.schema) == {
        "row": pl.UInt64,
        "cache_id": pl.UInt64,
        "sample_id": pl.UInt64,
        "weight_share": pl.Float64,
        "expected": pl.Float64,
        "drawn": pl.UInt64,
    }
    table = dataset.get_metadata()
    assert report["row"].to_list() == list(range(11))
    assert report["sample_id"].equals(table["sample_id"])
    shares = (table["weight"] / table["weight"].sum()).to_list()
    assert report["weight_share"].to_list() == pytest.approx(shares, rel=1e-15)
    assert report["expected"].to_list() == pytest.approx([1000 * share for share in shares])


@pytest.mark.parametrize("mode", [{"shuffle": False}, {}, {"replacement": False}], ids=str)
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (3, 40), (10**9, 10**9 + 77)])
def test_drawn_counts_are_those_of_the_plan(runtime, tmp_path, mode, start: int, stop: int) -> None:
    dataset = open_numbers(runtime, tmp_path, **mode)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.col("label") + 1))
    report = dataset.sampling_report(start, stop)
    rows = dataset.plan(stop - start, start)["row"].to_list()
    assert report["drawn"].to_list() == [rows.count(row) for row in range(10)]
    assert report["expected"].sum() == pytest.approx(stop - start, abs=1e-9)


@pytest.mark.parametrize("by", ["label", "note", "weight", "cache_id", "flag", "split"])
def test_report_by_a_column_adds_up_its_rows(dataset: drt.CachedDataset, by: str) -> None:
    report = dataset.sampling_report(5, 505, by=by)
    table = dataset.get_metadata()
    assert report.columns == [by, "rows", *COUNTS]
    assert report.schema[by] == table.schema[by]
    assert report[by].to_list() == table[by].unique(maintain_order=True).to_list()
    per_row = dataset.sampling_report(5, 505)
    for line in report.iter_rows(named=True):
        members = per_row.filter(table[by].eq_missing(pl.lit(line[by], table.schema[by])))
        assert line["rows"] == members.height
        assert line["drawn"] == members["drawn"].sum()
        assert line["expected"] == pytest.approx(members["expected"].sum())
        assert line["weight_share"] == pytest.approx(members["weight_share"].sum())
    assert report["drawn"].sum() == 500


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        (pl.Series([math.nan, None, 1.5, math.nan, None] * 2), 3),
        (pl.Series(["a", "b", "a", "c", None] * 2, dtype=pl.Categorical), 4),
        (pl.Series([[1], [1, 2], [1], [], None] * 2), 4),
        (pl.Series(["1.50", "2.00"] * 5).cast(pl.Decimal(10, 2)), 2),
        (pl.Series([b"x", b"y"] * 5), 2),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_columns_of_any_type_make_groups(runtime, tmp_path, values: pl.Series, groups: int) -> None:
    dataset = open_numbers(runtime, tmp_path)
    parts = dataset.get_metadata().with_columns(values.alias("^group.*$"))
    dataset.update_metadata(pl.concat([parts[:3], parts[3:3], parts[3:]], rechunk=False))
    report = dataset.sampling_report(0, 100, by="^group.*$")
    assert report.height == groups
    assert report.columns[0] == "^group.*$"
    assert (report["rows"].sum(), report["drawn"].sum()) == (10, 100)


def test_report_moves_nothing_and_is_the_same_for_every_view(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path)
    iterator = iter(dataset)
    next(iterator)
    state = dataset.state_dict(), iterator.state_dict()
    report = dataset.sampling_report(0, 100, by="label")
    assert (dataset.state_dict(), iterator.state_dict()) == state
    assert dataset.partition(1, 3).sampling_report(0, 100, by="label").equals(report)
    file = dataset.dump_config(tmp_path / "dump")
    assert drt.CachedDataset.from_config(file).sampling_report(0, 100, by="label").equals(report)


def test_report_on_a_window_counts_what_it_delivered(dataset: drt.CachedDataset) -> None:
    start = dataset.position
    drawn = ids(dataset)
    report = dataset.sampling_report(start, dataset.position, by="sample_id")
    counted = dict(report.select("sample_id", "drawn").iter_rows())
    assert counted == {
        sample_id: drawn.count(sample_id) for sample_id in [4, *range(4), *range(5, 10)]
    }


def test_whole_cycles_cost_no_draws(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, replacement=False)
    report = dataset.sampling_report(10, 10 + 10**18)
    assert report["drawn"].to_list() == [10**17] * 10
    assert report["expected"].to_list() == [1e17] * 10


@pytest.mark.parametrize(("start", "stop"), [(5, 4), (0, 2**63 + 1), (-1, 3), (0, 2**64)])
def test_ranges_that_are_none_are_refused(dataset: drt.CachedDataset, start, stop) -> None:
    with pytest.raises(drt.InvalidConfigError):
        dataset.sampling_report(start, stop)


@pytest.mark.parametrize(
    "arguments", [(0, 1.5), ("0", 1), (True, 2), (0, None), (0, 5, 3), (0, 5, ["label"])]
)
def test_wrong_types_are_type_errors(dataset: drt.CachedDataset, arguments: tuple) -> None:
    with pytest.raises(TypeError):
        dataset.sampling_report(*arguments)


@pytest.mark.parametrize("by", ["absent", "", "rows", "weight_share", "expected", "drawn"])
def test_columns_that_cannot_make_groups_are_named(dataset: drt.CachedDataset, by: str) -> None:
    table = dataset.get_metadata().with_columns(rows=1, weight_share=1, expected=1, drawn=1)
    dataset.update_metadata(table)
    with pytest.raises(drt.InvalidConfigError) as caught:
        dataset.sampling_report(0, 5, by=by)
    assert caught.value.field == "by"
    assert by in caught.value.value
