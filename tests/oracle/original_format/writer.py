"""ORIGINAL.md, from rows to the files of a cache."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from cache_format import lz4_block

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

KINDS = {bool: "bool", int: "int", float: "float", str: "string"}
ARROW_TYPES = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
}


@dataclass(frozen=True)
class OriginalOptions:
    """How a cache is written; `batch_rows` 0 makes one record batch."""

    version: int = 3
    compression: str = "none"
    ratio: float = 1.0
    max_shard_bytes: int = 64 * 1024 * 1024
    batch_rows: int = 0


def write_cache(
    directory: Path,
    name: str,
    rows: Sequence[tuple[bytes, Mapping[str, Any]]],
    options: OriginalOptions = OriginalOptions(),
) -> None:
    """Writes a cache directory."""
    for path, data in cache_files(name, rows, options).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def cache_files(
    name: str, rows: Sequence[tuple[bytes, Mapping[str, Any]]], options: OriginalOptions
) -> dict[str, bytes]:
    """The files of a cache by path."""
    schema = sorted((key, KINDS[type(value)]) for key, value in rows[0][1].items())
    metadata = encode_metadata(schema, [row for _, row in rows], options.batch_rows)
    shards, payload_bytes, index = encode_records(rows, options)
    manifest = {
        "format_version": options.version,
        "cache_id": cache_id(name),
        "source_name": name,
        "sample_count": len(rows),
        "metadata_schema": [{"name": key, "kind": kind} for key, kind in schema],
        "metadata_sha256": hashlib.sha256(metadata).hexdigest(),
        "index_sha256": hashlib.sha256(index).hexdigest(),
        "shards": [
            {
                "name": f"{number:06d}.bin",
                "uncompressed_byte_len": payload_bytes[number],
                "byte_len": len(shard),
                "compression": {"algo": options.compression, "ratio": options.ratio},
                "sha256": hashlib.sha256(shard).hexdigest(),
            }
            for number, shard in enumerate(shards)
        ],
    }
    if options.version == 2:
        del manifest["cache_id"]
    text = json.dumps(manifest, indent=2, ensure_ascii=False).encode()
    names = {f"shards/{number:06d}.bin": shard for number, shard in enumerate(shards)}
    return {"metadata.arrow": metadata, "index.bin": index, **names, "manifest.json": text}


def cache_id(name: str) -> int:
    """The identity that a version 3 manifest stores: 63 bits of the name's SHA-256."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") & (2**63 - 1)


def encode_records(
    rows: Sequence[tuple[bytes, Mapping[str, Any]]], options: OriginalOptions
) -> tuple[list[bytes], list[int], bytes]:
    """Shards, the payload bytes of each, and the bytes of `index.bin`."""
    shards, payload_bytes, index = [b""], [0], b""
    for payload, metadata in rows:
        stored = payload
        if options.compression == "lz4":
            stored = struct.pack("<I", len(payload)) + lz4_block.encode(payload)
        text = json_text(metadata).encode()
        record = struct.pack("<Q", len(text)) + text + stored
        if shards[-1] and len(shards[-1]) + len(record) > options.max_shard_bytes:
            shards.append(b"")
            payload_bytes.append(0)
        index += struct.pack("<QQQ", len(shards) - 1, len(shards[-1]), len(record))
        shards[-1] += record
        payload_bytes[-1] += len(payload)
    return shards, payload_bytes, index


def json_text(metadata: Mapping[str, Any]) -> str:
    """The JSON of an envelope: sorted keys, no spaces, what JSON can't say as null."""
    fields = [
        f"{json.dumps(key, ensure_ascii=False)}:{value_text(metadata[key])}"
        for key in sorted(metadata)
    ]
    return "{" + ",".join(fields) + "}"


def value_text(value: object) -> str:
    """One value; the shortest text of a float, with its exponent in as few digits as it needs."""
    if not isinstance(value, float):
        return json.dumps(value, ensure_ascii=False)
    if not math.isfinite(value):
        return "null"
    digits, _, exponent = repr(value).partition("e")
    if exponent == "-05":
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e{int(exponent):+d}" if exponent else digits


def encode_metadata(
    schema: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]], batch_rows: int
) -> bytes:
    """The bytes of `metadata.arrow`."""
    fields = [pa.field(name, ARROW_TYPES[kind], nullable=False) for name, kind in schema]
    arrow_schema = pa.schema(fields)
    sink = pa.BufferOutputStream()
    step = batch_rows or len(rows)
    with pa.ipc.new_file(sink, arrow_schema) as file:
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            columns = [pa.array([row[field.name] for row in part], field.type) for field in fields]
            file.write_batch(pa.RecordBatch.from_arrays(columns, schema=arrow_schema))
    return sink.getvalue().to_pybytes()
