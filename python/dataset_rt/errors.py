"""The exceptions of dataset_rt: a type first, fields second, the sentence last.

Every class keeps what it knows as attributes, so that code never has to read a message,
and survives pickling with all of them. The core raises these classes; this module decides
nothing.
"""

from __future__ import annotations

import errno as _errno
from typing import Any, ClassVar

__all__ = [
    "CacheExistsError",
    "CacheVersionError",
    "CorruptCacheError",
    "DatasetError",
    "DatasetIOError",
    "InvalidConfigError",
    "InvalidMetadataError",
    "RemoteReadError",
    "SourceProcessError",
    "StateMismatchError",
    "UnknownSampleError",
    "io_error",
]


class DatasetError(Exception):
    """Base of everything dataset_rt raises on its own account.

    Args:
        message: The sentence, for people.
        **fields: Values of the attributes below; one left out has its default, None mostly.

    Attributes:
        message: The sentence.
        kind: The core's word for the kind of fault, such as ``"Corrupt"`` or ``"Internal"``.
        path: The cache or file concerned.
    """

    fields: ClassVar[tuple[str, ...]] = ("kind", "path")
    """Names of all attributes beside ``message``."""

    message: str
    kind: str = "Internal"
    path: str | None = None

    def __init_subclass__(cls, fields: tuple[str, ...] = (), **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.fields = (*fields, *cls.fields)

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        for name, value in fields.items():
            if name not in self.fields:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
            setattr(self, name, value)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in self.fields}
        return _rebuild, (type(self), self.message, fields)


def _rebuild(cls: type[DatasetError], message: str, fields: dict[str, Any]) -> DatasetError:
    """Make the exception again on the other side of a pickle."""
    return cls(message, **fields)


class InvalidConfigError(DatasetError, ValueError, fields=("field", "value")):
    """A setting or argument that cannot be honoured.

    Attributes:
        field: Name of the setting.
        value: What was given, as text.
    """

    kind = "InvalidInput"
    field: str | None = None
    value: str | None = None


class InvalidMetadataError(
    DatasetError, ValueError, fields=("column", "expected", "found", "count", "rows")
):
    """Metadata of a source, or a table, that the rules do not allow.

    Attributes:
        column: Column or metadata key, if one is at fault.
        expected: Wanted type or rule.
        found: Given type or value, as text.
        count: How many rows break the rule.
        rows: The first of those row numbers, at most five.
    """

    kind = "InvalidInput"
    column: str | None = None
    expected: str | None = None
    found: str | None = None
    count: int | None = None
    rows: tuple[int, ...] = ()


class CorruptCacheError(
    DatasetError,
    fields=("file", "cache_id", "sample_id", "shard", "byte_range", "expected", "found", "url"),
):
    """A cache whose files are not what its writer published.

    Attributes:
        path: The cache directory.
        file: The damaged file, relative to ``path``.
        cache_id: Position of the cache in the dataset.
        sample_id: The sample that was asked for.
        shard: Number of the shard that holds it.
        byte_range: First byte and end of the damaged part of ``file``.
        expected: What the cache says should be there.
        found: What is there.
        url: The object that the bytes came from, if they came from object storage; ``byte_range``
            is then the range that was asked for.
    """

    kind = "Corrupt"
    file: str | None = None
    cache_id: int | None = None
    sample_id: int | None = None
    shard: int | None = None
    byte_range: tuple[int, int] | None = None
    expected: str | None = None
    found: str | None = None
    url: str | None = None


class CacheVersionError(DatasetError, fields=("expected", "found")):
    """A cache of another version: of a format or feature unknown here, or of its source.

    Attributes:
        path: The cache directory.
        expected: The versions or features known here, or the version text of the source.
        found: What the cache asks for, or the version text recorded in it.
    """

    kind = "UnsupportedVersion"
    expected: str | None = None
    found: str | None = None


class CacheExistsError(DatasetError, fields=("expected", "found")):
    """A finished cache is in the way.

    Attributes:
        path: The cache directory.
        expected: What the write would have needed in its place, if the core says so.
        found: What is there, if the core says so.
    """

    kind = "AlreadyExists"
    expected: str | None = None
    found: str | None = None


class StateMismatchError(DatasetError, fields=("field", "expected", "found")):
    """A saved state that belongs to other caches, another table, mode or seed.

    Attributes:
        field: The part of the state that differs.
        expected: Its value in the dataset.
        found: Its value in the state.
    """

    kind = "InvalidInput"
    field: str | None = None
    expected: str | None = None
    found: str | None = None


class UnknownSampleError(DatasetError, LookupError, fields=("cache_id", "sample_id")):
    """A (cache_id, sample_id) that no loaded cache holds.

    Attributes:
        cache_id: Cache asked for.
        sample_id: Sample asked for.
    """

    kind = "NotFound"
    cache_id: int | None = None
    sample_id: int | None = None


class SourceProcessError(DatasetError, fields=("exit_code", "signal", "timeout_seconds")):
    """A source that was to be written by a process of its own, and was not.

    None of the fields is set when the source could not be brought into a process.

    Attributes:
        exit_code: What the process exited with, without having given an outcome.
        signal: Name of the signal that ended it, such as ``"SIGKILL"``.
        timeout_seconds: The limit of ``WriterConfig.process_timeout_seconds``, if it was
            silent for longer.
    """

    kind = "SourceFailed"
    exit_code: int | None = None
    signal: str | None = None
    timeout_seconds: float | None = None


class DatasetIOError(
    DatasetError, OSError, fields=("errno", "filename", "operation", "needed_bytes")
):
    """A call of the operating system that failed; an ``OSError`` with the usual attributes.

    Attributes:
        errno: Error number of the system, or None.
        filename: The file or directory of the call.
        operation: What was being done, such as ``"open"`` or ``"sync"``.
        needed_bytes: For a write that found no room: how many bytes it still had to write.
    """

    kind = "Io"
    operation: str | None = None
    needed_bytes: int | None = None


class RemoteReadError(DatasetError, OSError, fields=("url", "byte_range", "attempts", "cause")):
    """An object store that did not give, or did not take, what was asked of it.

    Attributes:
        url: The object.
        byte_range: First byte asked for and end; None for a whole object.
        attempts: How often it was asked for.
        cause: What kind of failure the last attempt was, and what was said.
    """

    kind = "Remote"
    url: str | None = None
    byte_range: tuple[int, int] | None = None
    attempts: int | None = None
    cause: str | None = None


class DatasetFileNotFoundError(DatasetIOError, FileNotFoundError):
    """What is not there; caught as either of its bases."""


class DatasetFileExistsError(DatasetIOError, FileExistsError):
    """What is there already; caught as either of its bases."""


class DatasetPermissionError(DatasetIOError, PermissionError):
    """What this user must not do; caught as either of its bases."""


_BY_ERRNO: dict[int | None, type[DatasetIOError]] = {
    _errno.ENOENT: DatasetFileNotFoundError,
    _errno.EEXIST: DatasetFileExistsError,
    _errno.EACCES: DatasetPermissionError,
    _errno.EPERM: DatasetPermissionError,
}


def io_error(message: str, *, errno: int | None = None, **fields: Any) -> DatasetIOError:
    """Make the ``DatasetIOError`` that is also the built-in class of ``errno``.

    Args:
        message: The sentence.
        errno: Error number of the system.
        **fields: The other fields of ``DatasetIOError``.

    Returns:
        For ENOENT one that ``except FileNotFoundError`` catches, and so on.
    """
    return _BY_ERRNO.get(errno, DatasetIOError)(message, errno=errno, **fields)
