"""Snapshots in plain Python, from proto_format/SNAPSHOT.md alone."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from cache_format.hashes import file_digest
from cache_format.json_text import check_checksum, decode_strict, encode_sealed
from cache_format.refusal import FormatError, UnsupportedError, expect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HANDLE, TABLES, TABLE = "snapshot.json", "tables.bin", "table.arrow"
FORMAT, VERSION = "dataset_rt snapshot", 1
ALIGNMENT = 64
WIDTHS = {"identity": None, "u32": "<u4", "u64": "<u8"}
TAILS = ("uneven", "drop", "pad")


@dataclasses.dataclass
class Tables:
    """The sections of tables.bin; None for those that are absent."""

    row_samples: np.ndarray | None = None
    sums: np.ndarray | None = None
    guide: np.ndarray | None = None

    def encode(self) -> bytes:
        parts = [part for part in (self.row_samples, self.sums, self.guide) if part is not None]
        out = b""
        for part in parts:
            out += bytes(-len(out) % ALIGNMENT) + part.tobytes()
        return out


def guide_of(sums: Sequence[int]) -> np.ndarray:
    """DRAWS.md, "Tables": the row of every multiple of the bucket's width."""
    total, shift = sums[-1], 0
    while ((total - 1) >> shift) + 1 > len(sums):
        shift += 1
    starts = [bucket << shift for bucket in range(((total - 1) >> shift) + 1)]
    return np.array([bisect_right(sums, start) for start in starts], "<u4")


def encode_order(rows: Sequence[int], run_ends: Sequence[int]) -> bytes:
    """The order of one cycle."""
    out = np.array(rows, "<u4").tobytes()
    return out + bytes(-len(out) % ALIGNMENT) + np.array(run_ends, "<u4").tobytes()


def decode_order(file: str, rows: int, data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Rows and run ends of an order of `rows` rows."""
    start = 4 * rows + -4 * rows % ALIGNMENT
    if len(data) < start + 4 or len(data) % 4:
        raise FormatError(file, "length", found=len(data))
    run_ends = np.frombuffer(data, "<u4", -1, start)
    expect(file, "end of the last run", rows, int(run_ends[-1]))
    return np.frombuffer(data, "<u4", rows), run_ends


def decode_tables(handle: dict[str, Any], data: bytes) -> Tables:
    """Cut tables.bin into its sections."""
    rows, width, at = handle["rows"], WIDTHS[handle["row_samples"]], 0
    tables = Tables()
    if width is not None:
        tables.row_samples = np.frombuffer(data, width, rows)
        at = rows * np.dtype(width).itemsize
    if handle["weighted"]:
        at += -at % ALIGNMENT
        tables.sums = np.frombuffer(data, "<u8", rows, at)
        at += 8 * rows
        at += -at % ALIGNMENT
        tables.guide = np.frombuffer(data, "<u4", -1, at)
        at += 4 * len(tables.guide)
    expect(TABLES, "length", at, len(data))
    return tables


def read_snapshot(directory: Path) -> tuple[dict[str, Any], Tables]:
    """The handle of a snapshot and its tables, checked in full."""
    text = (directory / HANDLE).read_bytes()
    handle = decode_strict(HANDLE, text)
    expect(HANDLE, "format", FORMAT, handle.get("format"))
    if handle["format_version"] > VERSION:
        raise UnsupportedError(HANDLE, "format_version", found=handle["format_version"])
    check_checksum(HANDLE, text)
    if handle["rows"] < 1:
        raise FormatError(HANDLE, "no rows")
    part = handle["part"]
    if part["index"] >= part["count"] or part["tail"] not in TAILS:
        raise FormatError(HANDLE, f"no such part: {part}")
    names = [entry["path"] for entry in handle["files"]]
    expect(HANDLE, "order of files", sorted(names), names)
    for entry in handle["files"]:
        data = (directory / entry["path"]).read_bytes()
        expect(entry["path"], "length", entry["bytes"], len(data))
        expect(entry["path"], "digest", entry["xxh3_128"], file_digest(data))
    data = (directory / TABLES).read_bytes() if TABLES in names else b""
    return handle, decode_tables(handle, data)


def write_snapshot(
    directory: Path, fields: dict[str, Any], tables: Tables, table: bytes = b""
) -> Path:
    """Write a snapshot; `fields` lacks what follows from the rest."""
    directory.mkdir()
    data = tables.encode()
    files = []
    if table:
        (directory / TABLE).write_bytes(table)
        files.append({"path": TABLE, "bytes": len(table), "xxh3_128": file_digest(table)})
    if data:
        (directory / TABLES).write_bytes(data)
        files.append({"path": TABLES, "bytes": len(data), "xxh3_128": file_digest(data)})
    head = {"format": FORMAT, "format_version": VERSION, "writer_version": "oracle"}
    (directory / HANDLE).write_bytes(encode_sealed({**head, **fields, "files": files}))
    return directory / HANDLE
