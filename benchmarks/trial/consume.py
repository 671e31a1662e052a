"""What the consumer does with samples: count them, or also hash each payload.

One loop for everything that has ``.data``; contenders with other shapes have loops of the
same form in their engines, so that no contender pays for an adapter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Tally(NamedTuple):
    """What one action delivered."""

    samples: int
    payload_bytes: int
    checksum: int = 0

    def plus(self, other: Tally) -> Tally:
        """Sum of two tallies."""
        return Tally(
            self.samples + other.samples,
            self.payload_bytes + other.payload_bytes,
            self.checksum ^ other.checksum,
        )


class HasData(Protocol):
    """A sample whose payload is its attribute ``data``."""

    @property
    def data(self) -> bytes:
        """The payload."""


def drain_samples(samples: Iterable[HasData], *, hashed: bool) -> Tally:
    """Consume samples and count them; ``hashed`` takes the CRC-32 of every payload."""
    count = size = checksum = 0
    if hashed:
        for sample in samples:
            data = sample.data
            count += 1
            size += len(data)
            checksum ^= crc32(data)
    else:
        for sample in samples:
            count += 1
            size += len(sample.data)
    return Tally(count, size, checksum)


def drain_payloads(payloads: Iterable[bytes | bytearray], *, hashed: bool) -> Tally:
    """The same for contenders that hand out bare payloads."""
    count = size = checksum = 0
    if hashed:
        for data in payloads:
            count += 1
            size += len(data)
            checksum ^= crc32(data)
    else:
        for data in payloads:
            count += 1
            size += len(data)
    return Tally(count, size, checksum)


def drain_lists(batches: Iterable[Sequence[HasData]], *, hashed: bool) -> Tally:
    """The same for loaders that hand out lists of samples."""
    total = Tally(0, 0)
    for batch in batches:
        total = total.plus(drain_samples(batch, hashed=hashed))
    return total
