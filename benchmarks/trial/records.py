"""The records every contender stores: a function of seed, cache and sample.

Any single record can be made again without the others, so delivered payloads are checked
against the generator and not against a copy.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Metadata = dict[str, bool | int | float | str]

_MASK = 2**64 - 1
_WORD_COUNT = 64
_SLOT_COUNT = 256


class Record(NamedTuple):
    """One payload and its four metadata values."""

    data: bytes
    metadata: Metadata


class Delivered(NamedTuple):
    """A record as a contender handed it out, with what it says about its identity.

    ``metadata`` is None for contenders that store payloads only.
    """

    cache_id: int
    sample_id: int
    payload: bytes
    metadata: Metadata | None


def mix(value: int) -> int:
    """Scatter an integer over 64 bits (the finalizer of SplitMix64)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def _word_slots() -> list[bytes]:
    """Words in 256 slots, frequent ones in several, so that one byte picks a word."""
    words = []
    for number in range(_WORD_COUNT):
        digest = hashlib.shake_128(b"word%d" % number).digest(12)
        length = 2 + digest[11] % 9
        words.append(bytes(97 + byte % 26 for byte in digest[:length]))
    shares = [1.0 / (rank + 2) for rank in range(_WORD_COUNT)]
    scale = (_SLOT_COUNT - _WORD_COUNT) / sum(shares)
    slots: list[bytes] = []
    for word, share in zip(words, shares, strict=True):
        slots.extend([word] * (1 + int(share * scale)))
    return slots + words[: _SLOT_COUNT - len(slots)]


_SLOTS = _word_slots()


@dataclass(frozen=True)
class RecordSpec:
    """Size and kind of a set of records.

    Attributes:
        caches: Number of sources the rows are divided among.
        rows: Rows of all caches together.
        least_bytes: Smallest payload.
        most_bytes: Largest payload; lengths are uniform between the two.
        content: ``"random"`` does not compress; ``"text"`` is made of words.
        codec: What contenders with compression are asked for: ``"none"`` or ``"lz4"``.
        seed: Another seed, other bytes.
    """

    caches: int
    rows: int
    least_bytes: int
    most_bytes: int
    content: str
    codec: str
    seed: int

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> RecordSpec:
        """Take the fields as the harness sends them."""
        return cls(**message)

    def cache_rows(self, cache_id: int) -> int:
        """Rows of one cache; the first ones take the remainder."""
        return self.rows // self.caches + (cache_id < self.rows % self.caches)

    def cache_starts(self) -> list[int]:
        """Number of rows before each cache, and at the end of all rows."""
        starts = [0]
        for cache_id in range(self.caches):
            starts.append(starts[-1] + self.cache_rows(cache_id))
        return starts

    def identity(self, row: int) -> tuple[int, int]:
        """(cache_id, sample_id) of a row counted over all caches."""
        for cache_id in range(self.caches):
            count = self.cache_rows(cache_id)
            if row < count:
                return cache_id, row
            row -= count
        raise IndexError(row)

    def payload(self, cache_id: int, sample_id: int) -> bytes:
        """Make one payload again."""
        length = self.least_bytes
        if self.most_bytes > self.least_bytes:
            spread = self.most_bytes - self.least_bytes + 1
            length += mix(self.seed ^ mix(cache_id ^ mix(sample_id))) % spread
        stream = hashlib.shake_128(struct.pack("<QQQ", self.seed, cache_id, sample_id))
        if self.content == "random":
            return stream.digest(length)
        choices = stream.digest(length // 3 + 1)  # a word and its blank are 3 bytes at least
        return b" ".join(map(_SLOTS.__getitem__, choices))[:length]

    def metadata(self, cache_id: int, sample_id: int) -> Metadata:
        """Make the metadata of one sample again: one value of each type."""
        scattered = mix(sample_id * self.caches + cache_id)
        return {
            "flag": scattered % 3 == 0,
            "label": scattered % 100,
            "name": f"sample-{cache_id}-{sample_id:08d}",
            "score": (scattered >> 20) % 4096 / 4096,
        }

    def records(self, cache_id: int) -> Iterator[Record]:
        """All records of one cache in sample order."""
        for sample_id in range(self.cache_rows(cache_id)):
            yield Record(self.payload(cache_id, sample_id), self.metadata(cache_id, sample_id))


class DeliveryError(Exception):
    """A contender handed out something that was not stored under that identity."""


def check_delivered(spec: RecordSpec, delivered: Delivered) -> None:
    """Compare one delivered record with the generator.

    Raises:
        DeliveryError: Payload or metadata differ.
    """
    cache_id, sample_id, payload, metadata = delivered
    where = f"cache {cache_id}, sample {sample_id}"
    if payload != spec.payload(cache_id, sample_id):
        raise DeliveryError(f"{where}: payload of {len(payload)} bytes is not the stored one")
    if metadata is not None:
        wanted = spec.metadata(cache_id, sample_id)
        if metadata != wanted:
            raise DeliveryError(f"{where}: metadata {metadata} is not {wanted}")
