"""Sources that between them use everything the format has."""

from __future__ import annotations

import math
import struct
from typing import Any

Row = tuple[bytes, dict[str, Any]]

# A signalling and a negative quiet NaN with payloads, both zeros, smallest and largest doubles.
ODD_FLOATS = [
    math.nan,
    struct.unpack("<d", struct.pack("<Q", 0x7FF4_0000_DEAD_BEEF))[0],
    struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0],
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    0.1,
    1e-7,
]
TEXTS = ["", "plain", "naïve", "日本語", "🧪\u200d🔬", 'quote " \\ \n \x00 end', "\U0010ffff"]


def typed_rows(count: int = 40) -> list[Row]:
    """All four types, odd floats and texts, payloads that compress and payloads that do not."""
    rows = []
    for number in range(count):
        noise = bytes((number * 73 + k * k * 31 + k // 7) % 251 for k in range(number * 3 % 64))
        payload = b"" if number % 11 == 5 else noise + b"abcd" * (number % 9) * (number % 5)
        metadata = {
            "text": TEXTS[number % len(TEXTS)],
            "flag": number % 3 == 0,
            "score": ODD_FLOATS[number % len(ODD_FLOATS)],
            "count": (number - 7) * 0x0102_0304_0506_0708 % 2**64 - 2**63,
            "Ünïcode ключ": str(number),
        }
        rows.append((payload, metadata))
    return rows


def plain_rows(count: int) -> list[Row]:
    """Small rows without metadata."""
    return [(number.to_bytes(4, "big"), {}) for number in range(count)]


def bits(value: object) -> object:
    """A value that can be compared bit by bit."""
    return struct.pack("<d", value) if isinstance(value, float) else value


def comparable(rows: list[Any]) -> list[Any]:
    """Rows whose floats are their bits."""
    return [
        (payload, {name: bits(value) for name, value in metadata.items()})
        for payload, metadata in rows
    ]
