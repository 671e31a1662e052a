"""FORMAT.md, "metadata.arrow", by way of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cache_format.refusal import FormatError, expect, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FILE = "metadata.arrow"
WRITTEN_TYPES = {
    "bool": pa.bool_(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.large_string(),
}
READ_TYPES = {name: {kind} for name, kind in WRITTEN_TYPES.items()} | {
    "string": {pa.large_string(), pa.string()}
}
RESERVED = {"cache_id", "sample_id", "weight"}


def type_name(value: object) -> str:
    """The metadata type of a Python value."""
    for kind, name in ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "string")):
        if isinstance(value, kind):
            return name
    raise TypeError(f"no metadata type for {value!r}")


def infer_schema(row: Mapping[str, object]) -> list[tuple[str, str]]:
    """Columns of the first row, sorted by code points."""
    assert not RESERVED & set(row)
    return sorted((name, type_name(value)) for name, value in row.items())


def split_batches(
    rows: Sequence[Mapping[str, Any]], max_rows: int, max_string_bytes: int
) -> list[Sequence[Mapping[str, Any]]]:
    """Rows of each batch by the closing rule."""
    batches, start, text = [], 0, 0
    for end, row in enumerate(rows, start=1):
        text += sum(len(value.encode()) for value in row.values() if isinstance(value, str))
        if end - start >= max_rows or text >= max_string_bytes:
            batches.append(rows[start:end])
            start, text = end, 0
    if start < len(rows):
        batches.append(rows[start:])
    return batches


def encode(
    schema: Sequence[tuple[str, str]],
    batches: Iterable[Sequence[Mapping[str, Any]]],
    *,
    narrow_text: bool = False,
) -> bytes:
    """The bytes of `metadata.arrow`; `narrow_text` writes 32-bit text offsets."""
    types = WRITTEN_TYPES | ({"string": pa.string()} if narrow_text else {})
    fields = [pa.field(name, types[kind], nullable=False) for name, kind in schema]
    arrow_schema = pa.schema(fields)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, arrow_schema) as file:
        for rows in batches:
            columns = [pa.array([row[field.name] for row in rows], field.type) for field in fields]
            # A batch without columns keeps its row count when its columns are taken away.
            numbers = pa.record_batch({"row": pa.array(range(len(rows)))})
            batch = (
                pa.RecordBatch.from_arrays(columns, schema=arrow_schema)
                if columns
                else numbers.select([])
            )
            file.write_batch(batch)
    return sink.getvalue().to_pybytes()


def decode(
    schema: Sequence[tuple[str, str]], row_ends: Sequence[int], data: bytes
) -> list[dict[str, Any]]:
    """All rows, after everything that pyarrow lets one see was checked."""
    require(data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1", FILE, "magic")
    try:
        file = pa.ipc.open_file(pa.BufferReader(data))
        batches = [file.get_batch(number) for number in range(file.num_record_batches)]
        for batch in batches:
            batch.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(FILE, "not an Arrow file", found=str(error)) from error
    expect(FILE, "columns", [name for name, _ in schema], file.schema.names)
    for (name, kind), field in zip(schema, file.schema, strict=True):
        require(field.type in READ_TYPES[kind] and not field.nullable, FILE, name, str(field))
    expect(FILE, "batches", len(row_ends), len(batches))
    starts = [0, *row_ends]
    for number, batch in enumerate(batches):
        expect(FILE, "rows of a batch", row_ends[number] - starts[number], batch.num_rows)
        require(all(column.null_count == 0 for column in batch.columns), FILE, "nulls")
    return [
        {name: batch.column(name)[row].as_py() for name, _ in schema}
        for batch in batches
        for row in range(batch.num_rows)
    ]
