"""Outcomes of sources that are written elsewhere, as they travel from there to here.

Objects are pickled between processes of one call only, never read from a cache. What a user's
class does when it is pickled must not cost an outcome: its text is left then.
"""

from __future__ import annotations

import pickle
import traceback
from typing import TYPE_CHECKING, Any

from dataset_rt.errors import DatasetError
from dataset_rt.results import CacheWriteError, travels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataset_rt.results import CacheWriteResult

__all__ = [
    "NamedSource",
    "outcome_text",
    "outcome_word",
    "pack_raised",
    "pack_result",
    "unpack_raised",
    "unpack_result",
    "unpickle",
]


class NamedSource:
    """A source under the name that its starter read; read once more, it might differ."""

    def __init__(self, name: str, source: Any) -> None:
        self.name = name
        self._source = source

    def __iter__(self) -> Iterator[Any]:
        return iter(self._source)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


def unpickle(body: bytes | bytearray) -> Any:
    """Take an object from a message of the other process, which is as trusted as this one."""
    return pickle.loads(body)  # noqa: S301


def outcome_word(result: CacheWriteResult) -> str:
    """An outcome in a word, for the profile."""
    return "failed" if isinstance(result, CacheWriteError) else result.status


def outcome_text(result: CacheWriteResult) -> str:
    """The same, and why a source failed, for the screen."""
    if isinstance(result, CacheWriteError):
        return f"{outcome_word(result)}: {result.message}"
    return outcome_word(result)


def pack_result(result: CacheWriteResult) -> bytes:
    """Make a message of an outcome."""
    error = result.error if isinstance(result, CacheWriteError) else None
    message = result.message if isinstance(result, CacheWriteError) else ""
    # By itself, because the starter may find that it can't be unpickled there.
    return pickle.dumps((message, _traceback_text(error), pickle.dumps(result)))


def unpack_result(name: str, body: bytes) -> CacheWriteResult:
    """Take an outcome from a message; the text of its traceback becomes a note."""
    message, trace, pickled = unpickle(body)
    result: CacheWriteResult
    try:
        result = unpickle(pickled)
    except Exception:  # noqa: BLE001 - the user's class is known in the other process alone
        error = DatasetError(message, kind="SourceFailed")
        result = CacheWriteError(name, message, error)
    if isinstance(result, CacheWriteError) and result.error is not None:
        _with_traceback(result.error, name, trace)
    return result


def pack_raised(error: BaseException) -> bytes:
    """Make a message of what is to be raised, and is no outcome."""
    raised = error
    if not travels(raised):
        kind = next(base for base in type(error).__mro__ if base.__module__ == "builtins")
        raised = kind(str(error))
    return pickle.dumps((raised, _traceback_text(error)))


def unpack_raised(name: str, body: bytes) -> BaseException:
    """Take from a message what is to be raised."""
    raised, trace = unpickle(body)
    return _with_traceback(raised, name, trace)


def _traceback_text(error: BaseException | None) -> str:
    if error is None or error.__traceback__ is None:
        return ""
    return "".join(traceback.format_exception(error))


def _with_traceback(error: BaseException, name: str, trace: str) -> BaseException:
    """Add the traceback of another process to an exception, as Python 3.11 shows notes."""
    if trace:
        note = f"In the process of source {name!r}:\n{trace.rstrip()}"
        error.__dict__.setdefault("__notes__", []).append(note)
    return error
