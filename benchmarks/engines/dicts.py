"""Consuming samples that are dicts with the payload under ``data``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from benchmarks.trial.consume import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable


def as_list(samples: list[Any]) -> list[Any]:
    """Collate by leaving the list as it is."""
    return samples


def drain_dicts(samples: Iterable[dict[str, Any]], *, hashed: bool, owned: bool = False) -> Tally:
    """Consume dicts; ``owned`` makes bytes of a payload that is a view of something mapped."""
    count = size = checksum = 0
    for sample in samples:
        data = bytes(sample["data"]) if owned else sample["data"]
        count += 1
        size += len(data)
        if hashed:
            checksum ^= crc32(data)
    return Tally(count, size, checksum)
