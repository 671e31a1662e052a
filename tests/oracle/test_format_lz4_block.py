"""The hand-written LZ4 codec against blocks worked out by hand, and against itself."""

import pytest
from cache_format import lz4_block
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("block", "raw"),
    [
        ("00", b""),
        ("3061626 3".replace(" ", ""), b"abc"),
        # Literal "a", then 4 + 8 bytes from one back, then five literals.
        ("18610100506263646566", b"a" * 13 + b"bcdef"),
        # Both lengths need further bytes: 15 + 1 literals, a match of 4 + 15 + 255 + 2.
        ("ff01" + "00" * 16 + "1000" + "ff02" + "00", bytes(16 + 276)),
    ],
)
def test_known_blocks_decode(block: str, raw: bytes) -> None:
    assert lz4_block.decode(bytes.fromhex(block), len(raw)) == raw


@pytest.mark.parametrize(
    ("block", "raw_bytes"),
    [
        ("", 0),
        ("30616263", 2),
        ("30616263", 4),
        ("306162", 3),
        ("f0", 15),
        ("f0ff", 300),
        ("10610000", 5),
        ("10610200", 5),
        ("106101", 5),
        ("10610100", 5),
        ("3061626300", 3),
    ],
)
def test_other_bytes_are_refused(block: str, raw_bytes: int) -> None:
    with pytest.raises(lz4_block.BlockError):
        lz4_block.decode(bytes.fromhex(block), raw_bytes)


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(1, 90)), max_size=12))
def test_encoded_blocks_decode(parts: list[tuple[bytes, int]]) -> None:
    raw = b"".join(part * times for part, times in parts)
    block = lz4_block.encode(raw)
    assert lz4_block.decode(block, len(raw)) == raw
    assert len(raw) <= 255 * len(block)


@pytest.mark.parametrize("distance", [65_534, 65_535, 65_536, 65_537])
def test_far_matches_are_used_up_to_the_largest_offset(distance: int) -> None:
    filler = b"".join(number.to_bytes(3, "big") for number in range(distance // 3 + 1))
    raw = b"\xff" * 8 + filler[: distance - 8] + b"\xff" * 8 + bytes(range(100, 120))
    assert lz4_block.decode(lz4_block.encode(raw), len(raw)) == raw
