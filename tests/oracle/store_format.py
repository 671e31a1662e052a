"""Stores in plain Python, from proto_format/STORE.md alone."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from cache_format.hashes import record_checksum
from cache_format.reader import Cache

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = 0
STATES = {0, 1, 2}


class StoredRecord(NamedTuple):
    """A record that is marked as there, and whether its bytes are right, or gone."""

    sample_id: int
    is_right: bool
    is_hole: bool


class StoredCache:
    """The folder of one cache in a store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = Cache.open(folder)
        self.states = (folder / "resident.bin").read_bytes()
        assert len(self.states) == len(self.cache)
        assert set(self.states) <= STATES

    def marked(self) -> list[StoredRecord]:
        """Every record that is marked as there."""
        records = []
        for sample_id, state in enumerate(self.states):
            if state == ABSENT:
                continue
            row = self.cache.index_row(sample_id)
            shard = (self.folder / f"shards/{row.shard:06}.bin").read_bytes()
            stored = shard[row.offset : row.offset + row.stored_bytes]
            is_right = record_checksum(sample_id, stored) == row.checksum
            records.append(StoredRecord(sample_id, is_right, not any(stored)))
        return records


def stored_caches(store: Path) -> dict[str, StoredCache]:
    """Every cache of a store by its content digest."""
    names = [path.name for path in store.iterdir() if re.fullmatch(r"[0-9a-f]{32}", path.name)]
    return {name: StoredCache(store / name) for name in names}


def used_bytes(store: Path) -> int:
    """Room that the folders of a store take on the disk."""
    files = [path for name in stored_caches(store) for path in (store / name).rglob("*")]
    return sum(path.stat().st_blocks * 512 for path in files if path.is_file())


def leases(store: Path) -> list[dict[str, list[int]]]:
    """Sample numbers by content digest, of every lease of every process."""
    found = []
    for path in sorted((store / "leases").glob("reader.*/need-*")):
        text = path.read_bytes()
        (caches,) = struct.unpack_from("<Q", text)
        place, lease = 8, {}
        for _ in range(caches):
            digest = text[place : place + 16].hex()
            (count,) = struct.unpack_from("<Q", text, place + 16)
            lease[digest] = list(struct.unpack_from(f"<{count}Q", text, place + 24))
            place += 24 + 8 * count
        assert place == len(text)
        found.append(lease)
    return found
