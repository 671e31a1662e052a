"""Writes a cache directory. Not durable: it is for tests."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cache_format import arrow_file, hashes, lz4_block
from cache_format.json_text import encode_sealed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MAX_LZ4_RAW_BYTES = 0x7E000000


@dataclass(frozen=True)
class WriteOptions:
    """What a writer is told; the batch limits and `narrow_text` are for tests."""

    compression: str = "none"
    version: str | None = None
    max_shard_bytes: int = 2**30
    batch_rows: int = 65_536
    batch_string_bytes: int = 8 * 1024 * 1024
    narrow_text: bool = False
    created_at: str = "2026-01-02T03:04:05Z"
    writer_version: str = "0.1.0"


def write_cache(
    directory: Path,
    name: str,
    rows: Sequence[tuple[bytes, Mapping[str, Any]]],
    options: WriteOptions | None = None,
) -> None:
    """Writes a finished cache of payloads and metadata into a directory that does not exist."""
    for path, data in cache_files(name, rows, options or WriteOptions()).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(data)


def cache_files(
    name: str, rows: Sequence[tuple[bytes, Mapping[str, Any]]], options: WriteOptions
) -> dict[str, bytes]:
    """All files of a cache, the manifest last."""
    shards, index = encode_records([payload for payload, _ in rows], options)
    schema = arrow_file.infer_schema(rows[0][1])
    batches = arrow_file.split_batches(
        [metadata for _, metadata in rows], options.batch_rows, options.batch_string_bytes
    )
    metadata = arrow_file.encode(schema, batches, narrow_text=options.narrow_text)
    row_ends = [sum(len(batch) for batch in batches[: n + 1]) for n in range(len(batches))]
    files = {
        "blocks.bin": encode_blocks(index, metadata, row_ends),
        "index.bin": index,
        "metadata.arrow": metadata,
    }
    files |= {f"shards/{number:06d}.bin": bytes(shard) for number, shard in enumerate(shards)}
    manifest = encode_manifest(name, rows, schema, files, options)
    origin = {"created_at": options.created_at, "writer_version": options.writer_version}
    return files | {"origin.json": encode_sealed(origin), "manifest.json": manifest}


def encode_records(
    payloads: Sequence[bytes], options: WriteOptions
) -> tuple[list[bytearray], bytes]:
    """Shards and index rows, by the rule of rotation."""
    shards = [bytearray()]
    index = bytearray()
    for sample_id, payload in enumerate(payloads):
        codec, stored = 0, payload
        if options.compression == "lz4" and 1 <= len(payload) <= MAX_LZ4_RAW_BYTES:
            block = lz4_block.encode(payload)
            if len(block) < len(payload):
                codec, stored = 1, block
        if shards[-1] and len(shards[-1]) + len(stored) > options.max_shard_bytes:
            shards.append(bytearray())
        place = (len(shards) - 1, codec, len(shards[-1]), len(stored), len(payload))
        index += struct.pack("<IB3xQII", *place)
        index += struct.pack("<Q", hashes.record_checksum(sample_id, stored))
        shards[-1] += stored
    return shards, bytes(index)


def encode_blocks(index: bytes, metadata: bytes, row_ends: Sequence[int]) -> bytes:
    """The bytes of `blocks.bin`."""
    lengths = (len(index), len(metadata), len(row_ends))
    head = b"DRTBLKS1" + struct.pack("<IIQQQ", 1, hashes.BLOCK_BYTES, *lengths)
    numbers = [*row_ends, *hashes.block_checksums(index), *hashes.block_checksums(metadata)]
    head += struct.pack(f"<{len(numbers)}Q", *numbers)
    return head + struct.pack("<Q", hashes.block_checksum(head))


def encode_manifest(
    name: str,
    rows: Sequence[tuple[bytes, Mapping[str, Any]]],
    schema: Sequence[tuple[str, str]],
    files: Mapping[str, bytes],
    options: WriteOptions,
) -> bytes:
    """The bytes of `manifest.json`."""
    payload_bytes = sum(len(payload) for payload, _ in rows)
    stored_bytes = sum(len(data) for path, data in files.items() if path.startswith("shards/"))
    ratio = float(payload_bytes) / float(stored_bytes) if stored_bytes else 1.0
    listed = [(path, len(data), hashes.file_digest(data)) for path, data in sorted(files.items())]
    return encode_sealed(
        {
            "format": "dataset_rt",
            "format_version": 1,
            "features": {"compatible": 0, "read_only": 0, "incompatible": 0},
            "source": {"name": name, "version": options.version},
            "sample_count": len(rows),
            "payload_bytes": payload_bytes,
            "compression": {"algo": options.compression, "ratio": ratio},
            "metadata_schema": [{"name": column, "type": kind} for column, kind in schema],
            "files": [
                {"path": path, "bytes": length, "xxh3_128": digest}
                for path, length, digest in listed
            ],
            "content_digest": hashes.content_digest(len(rows), listed),
        }
    )
