"""Opens a cache directory, reads its samples and verifies all of it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cache_format import arrow_file, hashes, lz4_block
from cache_format.manifest import decode_manifest, decode_origin
from cache_format.refusal import FormatError, expect, require

if TYPE_CHECKING:
    from pathlib import Path

MAX_LZ4_RAW_BYTES = 0x7E000000


class Sample(NamedTuple):
    """One payload and its metadata."""

    payload: bytes
    metadata: dict[str, Any]


class IndexRow(NamedTuple):
    """One row of `index.bin`."""

    shard: int
    codec: int
    offset: int
    stored_bytes: int
    raw_bytes: int
    checksum: int


@dataclass
class Cache:
    """An opened cache: every file in memory, checked as far as a reader checks at open."""

    manifest: dict[str, Any]
    origin: dict[str, Any] | None
    files: dict[str, bytes]
    row_ends: list[int]
    rows: list[dict[str, Any]]

    @classmethod
    def open(cls, directory: Path) -> Cache:
        """Reads and checks all but the records."""
        manifest = decode_manifest((directory / "manifest.json").read_bytes())
        files = {}
        for entry in manifest["files"]:
            path = directory / entry["path"]
            require(path.is_file(), entry["path"], "file is there")
            files[entry["path"]] = path.read_bytes()
            expect(entry["path"], "length", entry["bytes"], len(files[entry["path"]]))
        origin_path = directory / "origin.json"
        origin = decode_origin(origin_path.read_bytes()) if origin_path.exists() else None
        row_ends = check_blocks(files, manifest["sample_count"])
        schema = [(column["name"], column["type"]) for column in manifest["metadata_schema"]]
        rows = arrow_file.decode(schema, row_ends, files["metadata.arrow"])
        return cls(manifest, origin, files, row_ends, rows)

    def __len__(self) -> int:
        return self.manifest["sample_count"]

    def index_row(self, sample_id: int) -> IndexRow:
        """A row of the index, checked against codec, lengths and shard."""
        data = self.files["index.bin"][32 * sample_id :][:32]
        shard, codec, zeros, offset, stored, raw, checksum = struct.unpack("<IB3sQIIQ", data)
        require(codec in {0, 1} and zeros == b"\0\0\0", "index.bin", "codec", (codec, zeros))
        if codec == 0:
            expect("index.bin", "raw length", stored, raw)
        else:
            most = min(255 * stored, MAX_LZ4_RAW_BYTES)
            require(stored < raw <= most, "index.bin", "lengths", (stored, raw))
        path = f"shards/{shard:06d}.bin"
        require(path in self.files, "index.bin", "shard", shard)
        require(offset + stored <= len(self.files[path]), "index.bin", "record end", offset)
        return IndexRow(shard, codec, offset, stored, raw, checksum)

    def sample(self, sample_id: int) -> Sample:
        """Payload and metadata of a sample."""
        row = self.index_row(sample_id)
        path = f"shards/{row.shard:06d}.bin"
        stored = self.files[path][row.offset :][: row.stored_bytes]
        expect(path, "record", row.checksum, hashes.record_checksum(sample_id, stored))
        if row.codec == 0:
            return Sample(stored, self.rows[sample_id])
        try:
            return Sample(lz4_block.decode(stored, row.raw_bytes), self.rows[sample_id])
        except lz4_block.BlockError as error:
            raise FormatError(path, "LZ4 block", found=str(error)) from error

    def samples(self) -> list[Sample]:
        """All samples, in order."""
        return [self.sample(sample_id) for sample_id in range(len(self))]

    def shard_bytes(self, shard: int) -> int:
        """Length of a shard."""
        return len(self.files[f"shards/{shard:06d}.bin"])

    def verify(self) -> None:
        """Everything that can be checked about a cache."""
        for entry in self.manifest["files"]:
            digest = hashes.file_digest(self.files[entry["path"]])
            expect(entry["path"], "xxh3_128", entry["xxh3_128"], digest)
        shard = end = payload_bytes = 0
        expect("index.bin", "first shard", 0, self.index_row(0).shard)
        for sample_id in range(len(self)):
            row = self.index_row(sample_id)
            if row.shard != shard:
                expect("index.bin", "end of a shard", self.shard_bytes(shard), end)
                expect("index.bin", "next shard", shard + 1, row.shard)
                shard, end = row.shard, 0
            expect("index.bin", "offset", end, row.offset)
            end += row.stored_bytes
            payload_bytes += len(self.sample(sample_id).payload)
        expect("index.bin", "end of a shard", self.shard_bytes(shard), end)
        expect("index.bin", "shards", len(self.files) - 3, shard + 1)
        expect("manifest.json", "payload_bytes", self.manifest["payload_bytes"], payload_bytes)


def check_blocks(files: dict[str, bytes], sample_count: int) -> list[int]:
    """Checks `blocks.bin` and the two files it is about; gives the row ends of batches."""
    data, index, metadata = (files[name] for name in ("blocks.bin", "index.bin", "metadata.arrow"))
    file = "blocks.bin"
    require(len(data) >= 48, file, "length", len(data))
    header = struct.unpack("<8sIIQQQ", data[:40])
    magic, version, block, index_bytes, metadata_bytes, batches = header
    expect(file, "magic", b"DRTBLKS1", magic)
    expect(file, "version", 1, version)
    expect(file, "block size", hashes.BLOCK_BYTES, block)
    blocks = [-(-length // hashes.BLOCK_BYTES) for length in (index_bytes, metadata_bytes)]
    expect(file, "length", 48 + 8 * (batches + sum(blocks)), len(data))
    expect(file, "checksum", struct.pack("<Q", hashes.block_checksum(data[:-8])), data[-8:])
    expect(file, "length of index.bin", len(index), index_bytes)
    expect(file, "length of metadata.arrow", len(metadata), metadata_bytes)
    numbers = list(struct.unpack(f"<{batches + sum(blocks)}Q", data[40:-8]))
    row_ends = numbers[:batches]
    expect(file, "rising row ends", sorted(set(row_ends)), row_ends)
    expect(file, "last row end", [sample_count], row_ends[-1:])
    require(row_ends[0] > 0, file, "first row end", row_ends[0])
    expect("index.bin", "blocks", numbers[batches:][: blocks[0]], hashes.block_checksums(index))
    found = hashes.block_checksums(metadata)
    expect("metadata.arrow", "blocks", numbers[batches + blocks[0] :], found)
    return row_ends
