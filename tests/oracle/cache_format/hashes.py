"""FORMAT.md, "Hashes" and "Content digest"."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable

BLOCK_BYTES = 65_536


def record_checksum(sample_id: int, stored: bytes) -> int:
    return xxhash.xxh3_64_intdigest(stored, seed=sample_id)


def block_checksum(block: bytes) -> int:
    return xxhash.xxh3_64_intdigest(block)


def file_digest(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)


def block_checksums(data: bytes) -> list[int]:
    return [
        block_checksum(data[start : start + BLOCK_BYTES])
        for start in range(0, len(data), BLOCK_BYTES)
    ]


def content_digest(sample_count: int, files: Iterable[tuple[str, int, str]]) -> str:
    parts = [b"dataset_rt content 1\n", struct.pack("<Q", sample_count)]
    for path, length, digest in files:
        name = path.encode()
        parts += [struct.pack("<I", len(name)), name]
        parts += [struct.pack("<Q", length), bytes.fromhex(digest)]
    return file_digest(b"".join(parts))
