"""What copying costs on this machine right now: a yardstick beside every round.

On a shared machine the memory's speed changes by several times within minutes, and with it
everything that copies payloads.
"""

from __future__ import annotations

import random
import time

_ARENA_BYTES = 128 << 20
_COPY_BYTES = 16 << 10
_COPIES = 2_000


class CopyProbe:
    """Copies 16 KiB pieces at random out of memory that no cache holds."""

    def __init__(self) -> None:
        self._arena = memoryview(bytearray(_ARENA_BYTES))
        numbers = random.Random(3).choices(range(_ARENA_BYTES // _COPY_BYTES), k=_COPIES)  # noqa: S311 - an order, no secret
        self._starts = [number * _COPY_BYTES for number in numbers]

    def copy_us(self) -> float:
        """CPU microseconds of one copy, mean of some thousand."""
        arena = self._arena
        before = time.process_time_ns()
        for start in self._starts:
            bytes(arena[start : start + _COPY_BYTES])
        return (time.process_time_ns() - before) / 1e3 / _COPIES
