"""What runs in Ray: the task that writes the cache of one source, and the ledger of a call.

A task is run again when its worker or node dies. It then finds nothing, or a finished cache.
Whose that is, the ledger tells: an attempt notes that its source came to the end, at which
time it holds the lock of the name.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ray

from dataset_rt import _native
from dataset_rt.errors import SourceProcessError
from dataset_rt.results import CacheWriteError, CacheWriteSuccess
from dataset_rt.source_outcome import NamedSource, pack_raised, pack_result, unpickle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataset_rt.config import WriterConfig
    from dataset_rt.results import CacheWriteResult

__all__ = ["Ledger", "SourceJob", "TaskOutcome", "write_source"]

_TELL_SECONDS = 0.5
"""How often a task tells how far it is."""


class SourceJob(NamedTuple):
    """What a task is to do with its source."""

    number: int
    name: str
    base: str
    config: WriterConfig
    num_workers: int
    reuse: bool


class TaskOutcome(NamedTuple):
    """What comes back from a task.

    Attributes:
        result: The outcome of the source, packed; None if something is to be raised.
        raised: What is to be raised, packed.
        counts: Samples and payload bytes that were committed.
        profile: Text of the profile, if one was asked for.
    """

    result: bytes | None
    raised: bytes | None
    counts: tuple[int, int]
    profile: str | None


class Ledger:
    """The notes of one call: how far its tasks are, and whose sources came to their end."""

    def __init__(self) -> None:
        self._news: dict[int, tuple[int, int]] = {}
        self._ended: set[int] = set()

    def begin(self, number: int) -> bool:
        """Note an attempt at a source.

        Returns:
            Whether an earlier attempt came to the end of that source.
        """
        self._news[number] = (0, 0)
        return number in self._ended

    def count(self, number: int, samples: int, payload_bytes: int) -> None:
        """Note how much of a source is committed."""
        self._news[number] = (samples, payload_bytes)

    def end(self, number: int) -> None:
        """Note that a source came to its end; its cache may be published from now on."""
        self._ended.add(number)

    def news(self) -> dict[int, tuple[int, int]]:
        """Samples and payload bytes of the sources that were noted since this was last asked."""
        news, self._news = self._news, {}
        return news


class _UntilEnd:
    """The rows of a source, and a call when there are no more."""

    def __init__(self, rows: Iterator[Any], at_end: Callable[[], object]) -> None:
        self._rows = rows
        self._at_end = at_end

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._rows)
        except StopIteration:
            self._at_end()
            raise


class _NotedSource(NamedSource):
    """A source that says when it came to its end."""

    def __init__(self, name: str, source: Any, at_end: Callable[[], object]) -> None:
        super().__init__(name, source)
        self._at_end = at_end

    def __iter__(self) -> Iterator[Any]:
        return _UntilEnd(super().__iter__(), self._at_end)


def write_source(job: SourceJob, pickled: bytes, blocks: list[Any], ledger: Any) -> TaskOutcome:
    """Write the cache of one source; the body of a task.

    Args:
        job: What to do.
        pickled: The source.
        blocks: References to blocks of a dataset, for a source that wants them; they travel
            by themselves, so that Ray knows who holds them.
        ledger: The actor that runs ``Ledger``.
    """
    with contextlib.ExitStack() as stack:
        config, profile = job.config, None
        if config.profiler.enabled:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dataset_rt-"))
            profile = Path(folder, "profile.json")
            profiler = config.profiler.model_copy(update={"path": profile})
            config = config.model_copy(update={"profiler": profiler})
        result = raised = None
        teller = _Teller(job.number, ledger)
        try:
            result = pack_result(_write(job._replace(config=config), pickled, blocks, teller))
        except BaseException as error:  # noqa: BLE001 - raised by who called
            raised = pack_raised(error)
        text = profile.read_text(encoding="utf-8") if profile and profile.exists() else None
        return TaskOutcome(result, raised, teller.counts, text)


class _Teller:
    """What a task tells the ledger of its source."""

    def __init__(self, number: int, ledger: Any) -> None:
        self.counts = (0, 0)
        self._number = number
        self._ledger = ledger
        self._told = time.monotonic()

    def begin(self) -> bool:
        """Say that an attempt begins; whether an earlier one came to the end."""
        return bool(ray.get(self._ledger.begin.remote(self._number)))

    def count(self, samples: int, payload_bytes: int) -> None:
        """Say how much is committed, now and then."""
        self.counts = (samples, payload_bytes)
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            self._ledger.count.remote(self._number, samples, payload_bytes)

    def end(self) -> None:
        """Say that the source came to its end, and go on when that is noted."""
        ray.get(self._ledger.end.remote(self._number))


def _write(job: SourceJob, pickled: bytes, blocks: list[Any], teller: _Teller) -> CacheWriteResult:
    was_ended = teller.begin()
    try:
        source = unpickle(pickled)
    except Exception as error:  # noqa: BLE001 - whatever the user's class raises
        refusal = SourceProcessError(
            f"source {job.name!r} arrived in its task but could not be unpickled there: "
            f"{type(error).__name__}: {error}"
        )
        return CacheWriteError(job.name, str(refusal), refusal.with_traceback(error.__traceback__))
    if blocks:
        source.blocks = blocks
    noted = _NotedSource(job.name, source, teller.end)
    (result,) = _native.Runtime(job.num_workers).write_caches(
        [noted],
        job.base,
        job.config,
        reuse=job.reuse or was_ended,
        report=teller.count,
    )
    if was_ended and isinstance(result, CacheWriteSuccess):
        # Found or built again, it is the work of this call.
        return replace(result, status="built")
    return result
