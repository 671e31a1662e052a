"""A call that writes sources in Ray, as its driver holds it: submit, watch, collect.

Ray decides where and when a task runs; this side bounds how many are submitted, and turns
what comes back into values. Nothing is left running when a call ends early.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from dataset_rt import _native
from dataset_rt.errors import DatasetError, SourceProcessError
from dataset_rt.integrations.ray_tasks import Ledger, SourceJob, write_source
from dataset_rt.progress import notebook_sink
from dataset_rt.results import CacheWriteError
from dataset_rt.source_outcome import outcome_text, outcome_word, unpack_raised, unpack_result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from typing_extensions import Self

    from dataset_rt.config import WriterConfig
    from dataset_rt.results import CacheWriteResult
    from dataset_rt.source import CacheSource

__all__ = ["RayWrite"]

_LOOK_SECONDS = 0.5
"""How long to wait for outcomes before progress is shown again."""

_CANCEL_SECONDS = 2.0
"""Time for sources to clean up after an interrupt, before their workers are killed."""

_KILL_SECONDS = 5.0
"""Time for Ray to end killed workers."""


class RayWrite:
    """One call: the tasks that run, and the outcomes so far.

    Args:
        base: Base directory of the caches, which all nodes reach under this path.
        config: How to write.
        reuse: Whether a finished cache is a success.
        num_workers: Native threads of each task.
        max_retries: How often a task is run again when its worker or node dies.
        task_options: Options of the tasks, as ``ray.remote`` takes them.
        most_tasks: Bound of tasks that are submitted and not done.
        total: Number of sources if it is known, for progress.
    """

    def __init__(
        self,
        base: str,
        config: WriterConfig,
        *,
        reuse: bool,
        num_workers: int,
        max_retries: int,
        task_options: Mapping[str, Any],
        most_tasks: int,
        total: int | None,
    ) -> None:
        self._job = SourceJob(0, "", _absolute(base), config, num_workers, reuse)
        self._native = _native.Runtime(num_workers)
        self._most_tasks = most_tasks
        self._task: Any = ray.remote(write_source)
        self._options = {"num_cpus": num_workers, "max_retries": max_retries, **task_options}
        self._ledger: Any = None
        screen = notebook_sink() if config.show_progress else None
        self._screen = _native.WriteProgress(config.show_progress, total or 1, screen)
        self._names: list[str] = []
        self._running: dict[Any, int] = {}
        self._begun: set[int] = set()
        self._counts: dict[int, tuple[int, int]] = {}
        self._results: dict[int, CacheWriteResult] = {}
        self._profiles: dict[int, str] = {}
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._end_tasks()
            self._screen.finish()
            self._write_profile("interrupted" if kind else "finished")
        finally:
            if self._ledger is not None:
                ray.kill(self._ledger)

    def find(self, sources: list[CacheSource]) -> list[tuple[str, CacheWriteResult | None]]:
        """Name of each source, and its outcome if it is known without iterating it.

        Raises:
            InvalidConfigError: Two sources share a name.
        """
        job = self._job
        return self._native.find_caches(sources, job.base, job.config, reuse=job.reuse)

    def add(
        self,
        name: str,
        found: CacheWriteResult | None,
        source: CacheSource,
        blocks: list[Any] | None = None,
    ) -> None:
        """Take the next source: note what was found, or submit its task when there is room."""
        number = len(self._names)
        self._names.append(name)
        if found is not None:
            self._begin(number)
            self._end(number, found)
            return
        try:
            pickled = ray.cloudpickle.dumps(source)
        except Exception as error:  # noqa: BLE001 - whatever the user's class raises
            message = (
                f"source {name!r} cannot be pickled, and has to be for a task: "
                f"{type(error).__name__}: {error}"
            )
            self._fail(number, message, error)
            return
        while len(self._running) >= self._most_tasks:
            self._step()
        if self._ledger is None:
            self._ledger = _start_ledger()
        job = self._job._replace(number=number, name=name)
        task = self._task.options(**{"name": f"dataset_rt {name}", **self._options})
        self._running[task.remote(job, pickled, blocks or [], self._ledger)] = number

    def results(self) -> list[CacheWriteResult]:
        """Wait for all tasks; the outcomes in source order."""
        while self._running:
            self._step()
        return [self._results[number] for number in range(len(self._names))]

    def _step(self) -> None:
        """Wait a moment, show how far the tasks are, and take the outcomes there are."""
        done, _ = ray.wait(list(self._running), timeout=_LOOK_SECONDS)
        if self._job.config.show_progress:
            for number, counts in ray.get(self._ledger.news.remote()).items():
                if number not in self._results:
                    self._begin(number)
                    self._counts[number] = counts
                    self._screen.count(self._names[number], *counts)
        for reference in done:
            self._take(self._running.pop(reference), reference)

    def _take(self, number: int, reference: Any) -> None:
        name = self._names[number]
        try:
            outcome = ray.get(reference)
        except ray.exceptions.RayError as error:
            # A worker that died left its temporaries.
            _native.sweep_temporaries(self._job.base)
            cause = getattr(error, "cause", None) or error
            reason = str(cause).strip().partition("\n")[0]
            message = f"the task of source {name!r} gave no outcome: {reason}"
            self._fail(number, message, cause if isinstance(cause, Exception) else error)
            return
        if outcome.profile is not None:
            self._profiles[number] = outcome.profile
        if outcome.raised is not None:
            raise unpack_raised(name, outcome.raised)
        self._counts[number] = outcome.counts
        self._begin(number)
        self._end(number, unpack_result(name, outcome.result))

    def _begin(self, number: int) -> None:
        if number not in self._begun:
            self._begun.add(number)
            self._screen.begin(self._names[number])

    def _fail(self, number: int, message: str, cause: Exception) -> None:
        error = SourceProcessError(message)
        error.__cause__ = cause
        self._begin(number)
        self._end(number, CacheWriteError(self._names[number], message, error))

    def _end(self, number: int, result: CacheWriteResult) -> None:
        self._results[number] = result
        counts = self._counts.pop(number, (0, 0))
        self._screen.end(self._names[number], outcome_text(result), *counts)

    def _end_tasks(self) -> None:
        """Cancel what still runs, first as Ctrl-C does, and remove what it left."""
        left = list(self._running)
        for force, seconds in ((False, _CANCEL_SECONDS), (True, _KILL_SECONDS)):
            if not left:
                break
            for reference in left:
                with contextlib.suppress(Exception):  # it has ended meanwhile
                    ray.cancel(reference, force=force)
            _, left = ray.wait(left, num_returns=len(left), timeout=seconds)
        if self._running:
            self._running.clear()
            with contextlib.suppress(DatasetError):
                _native.sweep_temporaries(self._job.base)

    def _write_profile(self, outcome: str) -> None:
        profiler = self._job.config.profiler
        if not profiler.enabled:
            return
        entries = []
        for number, name in enumerate(self._names):
            result = self._results.get(number)
            word = outcome_word(result) if result else "interrupted"
            entries.append((name, word, self._profiles.get(number)))
        seconds = time.monotonic() - self._started
        try:
            _native.write_profile(
                os.fspath(profiler.path), entries, outcome=outcome, seconds=seconds
            )
        except DatasetError:
            if outcome == "finished":
                raise


def _absolute(base: str) -> str:
    return os.path.join(os.getcwd(), base)  # noqa: PTH109, PTH118 - the core resolves the rest


def _start_ledger() -> Any:
    """An actor beside the driver, which ends with it."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    options = {"num_cpus": 0, "scheduling_strategy": here}
    return ray.remote(Ledger).options(**options).remote()
