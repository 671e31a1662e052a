"""What a reader answers to bytes it must refuse."""

from __future__ import annotations


class FormatError(Exception):
    """Stored bytes are not what a writer of this format writes."""

    def __init__(self, file: str, what: str, expected: object = None, found: object = None) -> None:
        super().__init__(f"{file}: {what}: expected {expected!r}, found {found!r}")
        self.file = file
        self.what = what
        self.expected = expected
        self.found = found


class UnsupportedError(FormatError):
    """The cache is of a later version or uses unknown features."""


class OriginalFormatError(FormatError):
    """The manifest has no key `format`."""


def expect(file: str, what: str, expected: object, found: object) -> None:
    """Refuses a value that is not the only legal one."""
    if expected != found:
        raise FormatError(file, what, expected, found)


def require(condition: bool, file: str, what: str, found: object = None) -> None:
    """Refuses unless a condition holds."""
    if not condition:
        raise FormatError(file, what, True, found)
