"""ORIGINAL.md, from the files of a cache to its rows."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from cache_format import lz4_block
from cache_format.refusal import expect, require

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Cache:
    """An opened cache: its manifest and its rows, with the metadata that each envelope holds."""

    manifest: dict[str, Any]
    rows: list[tuple[bytes, dict[str, Any]]]
    envelopes: list[dict[str, Any]]


def read_cache(directory: Path) -> Cache:
    """Reads and checks a whole cache; metadata is that of `metadata.arrow`, with exact floats."""
    manifest = json.loads((directory / "manifest.json").read_bytes())
    require(manifest["format_version"] in {2, 3}, "manifest.json", "format_version")
    metadata = (directory / "metadata.arrow").read_bytes()
    expect("metadata.arrow", "sha256", manifest["metadata_sha256"], sha256(metadata))
    table = pa.ipc.open_file(pa.BufferReader(metadata)).read_all()
    names = [column["name"] for column in manifest["metadata_schema"]]
    expect("metadata.arrow", "columns", names, table.column_names)
    index = (directory / "index.bin").read_bytes()
    expect("index.bin", "sha256", manifest["index_sha256"], sha256(index))
    expect("index.bin", "length", 24 * manifest["sample_count"], len(index))
    shards = []
    for number, entry in enumerate(manifest["shards"]):
        path = f"shards/{number:06d}.bin"
        expect("manifest.json", "shard name", path, f"shards/{entry['name']}")
        shards.append((directory / path).read_bytes())
        expect(path, "length", entry["byte_len"], len(shards[-1]))
        expect(path, "sha256", entry["sha256"], sha256(shards[-1]))
    rows, envelopes = [], []
    for row, place in enumerate(struct.iter_unpack("<QQQ", index)):
        shard, offset, length = place
        record = shards[shard][offset : offset + length]
        expect("index.bin", "record length", length, len(record))
        (json_bytes,) = struct.unpack("<Q", record[:8])
        envelopes.append(json.loads(record[8 : 8 + json_bytes]))
        payload = record[8 + json_bytes :]
        if manifest["shards"][shard]["compression"]["algo"] == "lz4":
            (raw_bytes,) = struct.unpack("<I", payload[:4])
            payload = lz4_block.decode(payload[4:], raw_bytes)
        rows.append((payload, {name: table[name][row].as_py() for name in names}))
    return Cache(manifest, rows, envelopes)


def sha256(data: bytes) -> str:
    """As manifests spell it."""
    return hashlib.sha256(data).hexdigest()
