"""The active table: what an update accepts, refuses and changes."""

import dataset_rt as drt
import polars as pl
import pyarrow as pa
import pytest
from support import ids, numbered, open_numbers, planned, write_ok


@pytest.fixture
def dataset(runtime: drt.DatasetRuntime, tmp_path) -> drt.CachedDataset:
    return open_numbers(runtime, tmp_path, 10)


def refusal(dataset: drt.CachedDataset, frame: object) -> drt.InvalidMetadataError:
    """Update with a bad table, check that nothing changed, and give the error."""
    before = dataset.get_metadata()
    length, position = len(dataset), dataset.position
    stream = planned(dataset, 20)
    with pytest.raises(drt.InvalidMetadataError) as caught:
        dataset.update_metadata(frame)
    assert dataset.get_metadata().equals(before)
    assert (len(dataset), dataset.position) == (length, position)
    assert planned(dataset, 20) == stream
    return caught.value


def test_columns_and_types(dataset: drt.CachedDataset) -> None:
    assert dict(dataset.get_metadata().schema) == {
        "cache_id": pl.UInt64,
        "sample_id": pl.UInt64,
        "flag": pl.Boolean,
        "label": pl.Int64,
        "quality": pl.Float64,
        "split": pl.String,
        "weight": pl.Float64,
    }


def test_values_are_those_of_the_source(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    assert frame["sample_id"].to_list() == list(range(10))
    assert frame["weight"].to_list() == [1.0] * 10
    assert frame["quality"].to_list() == [i / 7 for i in range(10)]
    assert frame["split"].to_list() == [f"part-{i % 4}" for i in range(10)]
    assert frame["flag"].to_list() == [i % 2 == 0 for i in range(10)]


def test_editing_a_frame_changes_nothing_until_the_update(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    frame[0, "weight"] = 99.0
    assert dataset.get_metadata()["weight"].to_list() == [1.0] * 10
    dataset.update_metadata(frame)
    assert dataset.get_metadata()["weight"][0] == 99.0


def test_filter_repeat_reorder_and_extra_columns(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, shuffle=False)
    frame = dataset.get_metadata()
    table = pl.concat([frame[[7, 2]], frame[[2]]]).with_columns(note=pl.Series(["x", "y", None]))
    dataset.update_metadata(table)
    assert len(dataset) == 3
    assert ids(dataset) == [7, 2, 2]
    again = dataset.get_metadata()
    assert again.columns == [*frame.columns, "note"]
    assert again.equals(table)


def test_column_order_of_the_update_does_not_matter(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    dataset.update_metadata(frame.with_columns(extra=1).select(reversed([*frame.columns, "extra"])))
    assert dataset.get_metadata().columns == [*frame.columns, "extra"]


def test_values_of_stored_columns_are_for_filtering_only(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, shuffle=False)
    dataset.update_metadata(dataset.get_metadata().with_columns(label=pl.lit(77, pl.Int64)))
    assert dataset.get_metadata()["label"].to_list() == [77] * 10
    assert [sample.metadata["label"] for sample in dataset] == [i % 3 for i in range(10)]


def test_update_resets_cursor_and_epoch_length(dataset: drt.CachedDataset) -> None:
    dataset.set_epoch_len(4)
    list(dataset)
    assert dataset.position == 4
    dataset.update_metadata(dataset.get_metadata().head(6))
    assert (dataset.position, len(dataset)) == (0, 6)
    dataset.set_epoch_len(100)
    assert len(dataset) == 100


def test_update_with_its_own_table_keeps_the_draws(dataset: drt.CachedDataset) -> None:
    first = planned(dataset, 50, 0)
    dataset.update_metadata(dataset.get_metadata())
    assert planned(dataset, 50, 0) == first
    assert ids(dataset) == first[:10]


def test_live_iterator_keeps_table_and_window(dataset: drt.CachedDataset) -> None:
    expected = planned(dataset, 10)
    iterator = iter(dataset)
    next(iterator)
    dataset.update_metadata(dataset.get_metadata().head(1))
    assert ids(iterator) == expected[1:]


def test_snapshot_is_taken_at_creation_not_at_the_first_draw(dataset: drt.CachedDataset) -> None:
    expected = planned(dataset, 10)
    iterator = iter(dataset)
    dataset.update_metadata(dataset.get_metadata().head(1))
    dataset.set_epoch_len(3)
    assert ids(iterator) == expected


@pytest.mark.parametrize(
    "weight",
    [
        pl.UInt8, pl.Int8, pl.UInt16, pl.Int16, pl.UInt32, pl.Int32, pl.UInt64, pl.Int64,
        pl.Float32, pl.Float64, pl.Decimal(10, 2),
    ],
    ids=str,
)  # fmt: skip
def test_weight_dtype_never_matters(dataset: drt.CachedDataset, weight) -> None:
    frame = dataset.get_metadata().with_columns(weight=pl.col("sample_id") % 3 + 1)
    dataset.update_metadata(frame.with_columns(pl.col("weight").cast(pl.Float64)))
    expected = planned(dataset, 100)
    dataset.update_metadata(frame.with_columns(pl.col("weight").cast(weight)))
    assert planned(dataset, 100) == expected
    assert dataset.get_metadata()["weight"].to_list() == [float(i % 3 + 1) for i in range(10)]


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Int8, pl.UInt16, pl.Int16, pl.Int32, pl.Int64])
def test_ids_may_be_integers_of_any_width(dataset: drt.CachedDataset, dtype) -> None:
    expected = planned(dataset, 30)
    columns = [pl.col("cache_id", "sample_id").cast(dtype)]
    dataset.update_metadata(dataset.get_metadata().with_columns(columns))
    assert planned(dataset, 30) == expected
    assert dataset.get_metadata().schema["sample_id"] == pl.UInt64


def test_equal_weights_draw_like_no_weights(dataset: drt.CachedDataset) -> None:
    expected = planned(dataset, 100)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.lit(0.3)))
    assert planned(dataset, 100) == expected


@pytest.mark.parametrize(
    "bad", [0.0, -1.0, float("nan"), float("inf"), float("-inf"), None], ids=str
)
def test_bad_weights_are_counted_and_named(dataset: drt.CachedDataset, bad) -> None:
    weights = [bad if i in {1, 3, 4, 6, 7, 9} else 1.0 for i in range(10)]
    frame = dataset.get_metadata().with_columns(weight=pl.Series(weights, dtype=pl.Float64))
    error = refusal(dataset, frame)
    assert (error.column, error.count, error.rows) == ("weight", 6, (1, 3, 4, 6, 7))


def test_integer_zero_weight_is_refused(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata().with_columns(weight=pl.lit(1) // pl.col("sample_id"))
    error = refusal(dataset, frame)
    assert error.column == "weight"
    assert error.count == 9


def test_weights_whose_sum_overflows_are_refused(dataset: drt.CachedDataset) -> None:
    error = refusal(dataset, dataset.get_metadata().with_columns(weight=pl.lit(1.7e308)))
    assert error.column == "weight"


@pytest.mark.parametrize("column", ["cache_id", "sample_id", "label", "split", "weight"])
def test_missing_column_is_named(dataset: drt.CachedDataset, column: str) -> None:
    assert refusal(dataset, dataset.get_metadata().drop(column)).column == column


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ("cache_id", pl.Float64),
        ("sample_id", pl.String),
        ("label", pl.Int32),
        ("label", pl.Float64),
        ("quality", pl.Float32),
        ("flag", pl.Int64),
        ("weight", pl.String),
        ("weight", pl.Boolean),
    ],
    ids=str,
)
def test_wrong_type_names_column_wanted_and_given(dataset, column: str, dtype) -> None:
    error = refusal(dataset, dataset.get_metadata().with_columns(pl.col(column).cast(dtype)))
    assert error.column == column
    assert error.expected
    assert error.found


@pytest.mark.parametrize(
    ("column", "value"), [("cache_id", 1), ("sample_id", 10), ("sample_id", 2**63)]
)
def test_unknown_ids_are_refused(dataset: drt.CachedDataset, column: str, value: int) -> None:
    frame = dataset.get_metadata()
    changed = pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(value, pl.UInt64)).otherwise(column)
    error = refusal(dataset, frame.with_columns(changed.alias(column)))
    assert error.rows == (4,)
    assert error.count == 1


def test_negative_and_null_ids_are_refused(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata().with_columns(pl.col("sample_id").cast(pl.Int64))
    for value in (-1, None):
        changed = frame.with_columns(
            sample_id=pl.when(pl.col("sample_id") == 2).then(value).otherwise("sample_id")
        )
        error = refusal(dataset, changed)
        assert (error.column, error.rows) == ("sample_id", (2,))


def test_empty_table_is_refused(dataset: drt.CachedDataset) -> None:
    refusal(dataset, dataset.get_metadata().head(0))


def test_repeated_column_is_refused(dataset: drt.CachedDataset) -> None:
    table = dataset.get_metadata().to_arrow()
    assert refusal(dataset, table.append_column("label", table["label"])).column == "label"


@pytest.mark.parametrize(
    "wrong",
    [
        {"cache_id": [0]},
        None,
        [1, 2],
        "table",
        pl.LazyFrame({"cache_id": [0]}),
        pl.DataFrame,
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_objects_are_type_errors_that_say_what_is_wanted(dataset, wrong: object) -> None:
    with pytest.raises(TypeError, match="DataFrame"):
        dataset.update_metadata(wrong)


def test_weights_follow_rows_that_share_a_sample(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 2)
    frame = dataset.get_metadata()[[0, 1, 1]].with_columns(weight=pl.Series([1.0, 1.0, 2.0]))
    dataset.update_metadata(frame)
    drawn = dataset.plan(20_000)["row"].value_counts().sort("row")["count"].to_list()
    for got, share in zip(drawn, [1, 1, 2], strict=True):
        assert abs(got / 20_000 - share / 4) < 0.015


def test_schemas_of_one_dataset_must_be_equal(runtime, tmp_path) -> None:
    first = write_ok(runtime, numbered(2, "a"), tmp_path).path
    other = numbered(2, "b")
    other.rows = [(data, {"label": metadata["label"]}) for data, metadata in other.rows]
    second = write_ok(runtime, other, tmp_path).path
    with pytest.raises((drt.InvalidMetadataError, drt.InvalidConfigError)):
        runtime.cached_dataset([first, second], reader_config=drt.ReaderConfig(seed=1))


def test_one_cache_may_be_opened_twice(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(2), tmp_path).path
    config = drt.ReaderConfig(seed=1, shuffle=False)
    dataset = runtime.cached_dataset([path, path], reader_config=config)
    assert [(sample.cache_id, sample.sample_id) for sample in dataset] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    assert isinstance(pa.table(dataset._native.metadata()), pa.Table)
