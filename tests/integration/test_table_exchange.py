"""Tables from any producer: chunks, slices, views, categoricals, private types; never a panic."""

import datetime as dt

import dataset_rt as drt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support import open_numbers, planned


@pytest.fixture
def dataset(runtime: drt.DatasetRuntime, tmp_path) -> drt.CachedDataset:
    return open_numbers(runtime, tmp_path, 40)


class OnlyStream:
    """An object that offers nothing but the capsule."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def same_after(dataset: drt.CachedDataset, table: object, expected: pl.DataFrame) -> None:
    dataset.update_metadata(table)
    got = dataset.get_metadata()
    assert got.equals(expected)
    assert len(planned(dataset, 5)) == 5


def test_chunked_frames_in_any_cut(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    parts = [frame[0:1], frame[1:1], frame[1:18], frame[18:40]]
    same_after(dataset, pl.concat(parts, rechunk=False), frame)


@pytest.mark.parametrize("start", [1, 3, 7, 8, 9, 31])
def test_slices_with_unaligned_offsets(dataset: drt.CachedDataset, start: int) -> None:
    frame = dataset.get_metadata()
    same_after(dataset, frame.slice(start, 9), frame[start : start + 9])
    arrow = frame.to_arrow()
    same_after(dataset, arrow.slice(start, 9), frame[start : start + 9])


def test_pyarrow_tables_readers_and_bare_streams(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    table = frame.to_arrow()
    same_after(dataset, table, frame)
    same_after(dataset, pa.RecordBatchReader.from_batches(table.schema, table.to_batches(7)), frame)
    same_after(dataset, OnlyStream(table), frame)


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_every_layout_of_text_is_text(dataset: drt.CachedDataset, text: pa.DataType) -> None:
    frame = dataset.get_metadata()
    table = frame.to_arrow()
    column = table.schema.get_field_index("split")
    same_after(dataset, table.set_column(column, "split", table["split"].cast(text)), frame)


def test_pyarrow_dictionary_column_is_accepted_as_text(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata()
    table = frame.to_arrow()
    column = table.schema.get_field_index("split")
    coded = pc.dictionary_encode(table["split"].cast(pa.string()))
    same_after(dataset, table.set_column(column, "split", coded), frame)


@pytest.mark.parametrize(
    "dtype", [pl.Categorical, pl.Enum([f"part-{i}" for i in range(4)])], ids=["categorical", "enum"]
)
def test_categorical_text_is_accepted_as_text(dataset: drt.CachedDataset, dtype) -> None:
    frame = dataset.get_metadata()
    same_after(dataset, frame.with_columns(pl.col("split").cast(dtype)), frame)


def test_categorical_in_place_of_another_type_is_named(dataset: drt.CachedDataset) -> None:
    frame = dataset.get_metadata().with_columns(
        pl.col("label").cast(pl.String).cast(pl.Categorical)
    )
    with pytest.raises(drt.InvalidMetadataError) as caught:
        dataset.update_metadata(frame)
    assert caught.value.column == "label"
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize("column", ["weight", "sample_id", "extra"])
def test_int128_is_accepted_or_named(dataset: drt.CachedDataset, column: str) -> None:
    frame = dataset.get_metadata().with_columns(extra=1)
    changed = frame.with_columns(pl.col(column).cast(pl.Int128))
    with pytest.raises(drt.InvalidMetadataError) as caught:
        dataset.update_metadata(changed)
    assert caught.value.column == column


@pytest.mark.parametrize("column", ["label", "weight", "extra"])
def test_object_column_is_named(dataset: drt.CachedDataset, column: str) -> None:
    things = pl.Series(column, [object() for _ in range(40)], dtype=pl.Object)
    with pytest.raises(drt.InvalidMetadataError) as caught:
        dataset.update_metadata(dataset.get_metadata().with_columns(things))
    assert caught.value.column == column
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize("dtype", [pl.Decimal(20, 3), pl.Categorical, pl.Enum(["0", "1", "2"])])
def test_weight_of_another_kind_is_a_number_or_named(dataset, dtype) -> None:
    labels = dataset.get_metadata().with_columns(weight=pl.col("label") % 2 + 1)
    texts = pl.col("weight").cast(pl.String) if dtype != pl.Decimal(20, 3) else pl.col("weight")
    frame = labels.with_columns(weight=texts.cast(dtype))
    if dtype == pl.Decimal(20, 3):
        same_after(dataset, frame, frame.with_columns(pl.col("weight").cast(pl.Float64)))
        return
    error = update_error(dataset, frame)
    assert error is not None
    assert error.column == "weight"
    assert error.expected
    assert error.found


def update_error(dataset: drt.CachedDataset, table: object) -> drt.InvalidMetadataError | None:
    try:
        dataset.update_metadata(table)
    except drt.InvalidMetadataError as error:
        return error
    return None


@pytest.mark.parametrize(
    "extra",
    [
        pl.Series([None] * 40, dtype=pl.Null),
        pl.Series([[1, 2], None] * 20),
        pl.Series([{"a": 1, "b": "x"}] * 40),
        pl.Series([dt.date(2024, 1, 1)] * 40),
        pl.Series([dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)] * 40),
        pl.Series([dt.timedelta(seconds=1)] * 40),
        pl.Series([b"bytes"] * 40),
        pl.Series(["a", None] * 20, dtype=pl.Categorical),
        pl.Series([1.5] * 40, dtype=pl.Float32),
        pl.Series([1] * 40, dtype=pl.Int8),
        pl.Series(["1.50"] * 40).cast(pl.Decimal(10, 2)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_extra_columns_of_any_type_stay_or_are_named(dataset, extra: pl.Series) -> None:
    frame = dataset.get_metadata().with_columns(extra=extra)
    error = update_error(dataset, frame)
    if error is None:
        assert dataset.get_metadata()["extra"].to_list() == extra.to_list()
    else:
        assert error.column == "extra"
        assert error.found
        assert "extra" not in dataset.get_metadata().columns


def test_stored_columns_may_hold_nulls_only_where_nothing_is_lost(dataset) -> None:
    frame = dataset.get_metadata().with_columns(split=pl.lit(None, pl.String))
    dataset.update_metadata(frame)
    assert dataset.get_metadata()["split"].null_count() == 40
    assert next(iter(dataset)).metadata["split"].startswith("part-")


@pytest.mark.parametrize("broken", ["raises", "wrong capsule", "series"])
def test_broken_producers_give_python_errors(dataset: drt.CachedDataset, broken: str) -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            if broken == "raises":
                raise RuntimeError("no table today")
            if broken == "series":
                return pl.Series([1, 2]).__arrow_c_stream__()
            return object()

    before = dataset.get_metadata()
    with pytest.raises((RuntimeError, TypeError, drt.InvalidMetadataError)):
        dataset.update_metadata(Broken())
    assert dataset.get_metadata().equals(before)


def test_table_goes_to_pyarrow_without_polars(dataset: drt.CachedDataset) -> None:
    table = pa.table(dataset._native.metadata())
    assert table.num_rows == 40
    assert table.column_names[:2] == ["cache_id", "sample_id"]
    table.validate(full=True)
