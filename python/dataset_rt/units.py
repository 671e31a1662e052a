"""Numbers as people read them: sizes, rates, counts, shares. Decimal units, three digits."""

from __future__ import annotations

import math

__all__ = ["count", "counted", "rate", "share", "short", "size"]

STEP = 1000


def size(byte_count: float) -> str:
    """Bytes, such as ``25.2 MB``."""
    return _scaled(byte_count, ("B", "kB", "MB", "GB", "TB", "PB", "EB"))


def rate(per_second: float) -> str:
    """Bytes per second, such as ``8.31 GB/s``."""
    return f"{size(per_second)}/s"


def count(number: float) -> str:
    """A whole number with its thousands set apart."""
    return f"{number:,.0f}"


def counted(number: int, noun: str) -> str:
    """A number and what is counted, with an s unless it is one."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def share(part: float) -> str:
    """A part of 1 in per cent."""
    return f"{100 * part:.2f} %"


def short(value: object) -> str:
    """A value of a table in few characters."""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    return str(value)


def _scaled(number: float, units: tuple[str, ...]) -> str:
    if number < STEP:
        return f"{number:.0f} {units[0]}"
    for unit in units[1:]:
        number /= STEP
        if number < STEP - 0.5:
            return f"{number:.3g} {unit}"
    return f"{number:,.0f} {units[-1]}"
