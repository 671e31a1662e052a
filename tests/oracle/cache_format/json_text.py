"""FORMAT.md, "JSON files"."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from cache_format.hashes import file_digest
from cache_format.refusal import FormatError, expect

BEFORE_DIGITS = b'  "checksum": "'
AFTER_DIGITS = b'"\n}\n'
MAX_INTEGER = 2**64 - 1


def encode_sealed(fields: dict[str, Any]) -> bytes:
    """The text of an object, its checksum filled in as the last key."""
    zeros = json.dumps({**fields, "checksum": "0" * 32}, indent=2, ensure_ascii=False) + "\n"
    text = zeros.encode()
    head = text[: -len(AFTER_DIGITS) - 32]
    return head + file_digest(text).encode() + AFTER_DIGITS


def decode_strict(file: str, text: bytes) -> Any:
    """JSON without repeated keys, lone surrogates or numbers beyond a double."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(items)
        if len(fields) != len(items):
            raise FormatError(file, "repeated key")
        return fields

    def number(literal: str) -> float:
        value = float(literal)
        if math.isinf(value):
            raise FormatError(file, "number beyond a double", found=literal)
        return value

    def integer(literal: str) -> int | float:
        value = int(literal)
        if value.bit_length() > 64 or literal == "-0":
            return number(literal)
        return value

    def constant(literal: str) -> NoReturn:
        raise FormatError(file, "not JSON", found=literal)

    try:
        decoded = text.decode()
        if decoded.startswith("\ufeff"):
            raise FormatError(file, "byte order mark")
        value = json.loads(
            decoded,
            object_pairs_hook=pairs,
            parse_float=number,
            parse_int=integer,
            parse_constant=constant,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError(file, "not JSON", found=str(error)) from error
    return value


def check_checksum(file: str, text: bytes) -> None:
    """Compares the digits at their fixed place with the rest of the file."""
    digits_at = len(text) - len(AFTER_DIGITS) - 32
    head, digits = text[: max(digits_at, 0)], text[max(digits_at, 0) :][:32]
    expect(file, "text before the checksum", BEFORE_DIGITS, head[-len(BEFORE_DIGITS) :])
    expect(file, "text after the checksum", AFTER_DIGITS, text[-len(AFTER_DIGITS) :])
    expect(file, "checksum", file_digest(head + b"0" * 32 + AFTER_DIGITS).encode(), digits)


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INTEGER


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 32 and set(value) <= set("0123456789abcdef")
