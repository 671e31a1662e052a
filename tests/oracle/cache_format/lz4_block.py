"""FORMAT.md, "Records": LZ4 blocks, decoded and encoded by hand."""

from __future__ import annotations

MIN_MATCH = 4
# Rules of the encoder, so that any decoder takes its blocks: where the last match starts and ends.
LAST_MATCH_START = 12
LAST_LITERALS = 5
MAX_OFFSET = 65_535


class BlockError(ValueError):
    """The bytes are no LZ4 block of the wanted length."""


def decode(block: bytes, raw_bytes: int) -> bytes:
    """The `raw_bytes` bytes of a block, which must end where they do."""
    out = bytearray()
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        if at + count > len(block):
            raise BlockError("the block ends early")
        at += count
        return block[at - count : at]

    def length(field: int) -> int:
        total = field
        if field == 15:
            more = 255
            while more == 255:
                more = take(1)[0]
                total += more
        return total

    while True:
        token = take(1)[0]
        out += take(length(token >> 4))
        if len(out) > raw_bytes:
            raise BlockError("too many bytes")
        if at == len(block):
            break
        offset = int.from_bytes(take(2), "little")
        if not 1 <= offset <= len(out):
            raise BlockError("offset outside of the output")
        match = length(token & 15) + MIN_MATCH
        if len(out) + match > raw_bytes:
            raise BlockError("too many bytes")
        for _ in range(match):
            out.append(out[-offset])
    if len(out) != raw_bytes:
        raise BlockError("too few bytes")
    return bytes(out)


def encode(raw: bytes) -> bytes:
    """A block of `raw`, by the plainest greedy search."""
    block = bytearray()
    seen: dict[bytes, int] = {}
    literals_from = at = 0
    while at < len(raw) - LAST_MATCH_START:
        word = raw[at : at + MIN_MATCH]
        candidate = seen.get(word)
        seen[word] = at
        if candidate is None or at - candidate > MAX_OFFSET:
            at += 1
            continue
        match = MIN_MATCH
        while at + match < len(raw) - LAST_LITERALS and raw[candidate + match] == raw[at + match]:
            match += 1
        _sequence(block, raw[literals_from:at], at - candidate, match)
        at += match
        literals_from = at
    _sequence(block, raw[literals_from:], None, MIN_MATCH)
    return bytes(block)


def _sequence(block: bytearray, literals: bytes, offset: int | None, match: int) -> None:
    short_match = match - MIN_MATCH
    block.append(min(len(literals), 15) << 4 | min(short_match, 15))
    _more(block, len(literals))
    block += literals
    if offset is not None:
        block += offset.to_bytes(2, "little")
        _more(block, short_match)


def _more(block: bytearray, length: int) -> None:
    if length >= 15:
        full, rest = divmod(length - 15, 255)
        block += b"\xff" * full + bytes([rest])
