"""Writing sources in processes: which is started when, and what becomes of each.

Loaded when ``WriterConfig.num_processes`` asks for it. Which cache is reused, which name is
refused and what a profile holds is asked of the core, in this process; what a source yields is
judged by the core in the process of that source.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from dataset_rt import _native
from dataset_rt.errors import DatasetError, SourceProcessError
from dataset_rt.results import CacheWriteError
from dataset_rt.source_outcome import outcome_text, outcome_word, unpack_raised, unpack_result
from dataset_rt.source_process import SourceProcess, end_all, exchange, interrupts_held
from dataset_rt.source_worker import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataset_rt.config import WriterConfig
    from dataset_rt.results import CacheWriteResult
    from dataset_rt.source import CacheSource

__all__ = ["write_in_processes"]

_LATE_SECONDS = 0.2
"""A row is told of this much later at most, so a silence may seem that much longer."""

_EXIT_SECONDS = 10.0
"""How long a process may take to end after its outcome, for what the user's code does at exit."""


def write_in_processes(
    runtime: _native.Runtime,
    sources: Sequence[CacheSource],
    base: str,
    config: WriterConfig,
    *,
    reuse: bool,
    progress: Callable[[str, int, int], None] | None,
) -> list[CacheWriteResult]:
    """Write like ``Runtime.write_caches``, each source in a process of its own.

    Args:
        runtime: Looks for finished caches; each process has as many workers.
        sources: The sources; those that have to be written are pickled.
        base: Base directory of the caches.
        config: How to write, in how many processes at once.
        reuse: Whether a finished cache is a success.
        progress: Screen of a notebook.

    Returns:
        One outcome per source, in source order.

    Raises:
        InvalidConfigError: Two sources share a name; nothing has been written.
        BaseException: What a source raised, if it is not an ``Exception``.
    """
    found = runtime.find_caches(sources, base, config, reuse=reuse)
    base = os.path.join(os.getcwd(), base)  # noqa: PTH109, PTH118 - the core resolves the rest
    job = Job("", base, config, runtime.num_workers, reuse)
    screen = _native.WriteProgress(config.show_progress, len(sources), progress)
    write = _Write(job, sources, [name for name, _ in found], screen)
    outcome = "interrupted"
    try:
        for number, (_, result) in enumerate(found):
            write.note_found(number, result)
        while write.has_work():
            write.step()
        outcome = "finished"
    finally:
        write.close(outcome)
    return write.ordered_results()


class _Write:
    """One call: the sources that wait, the processes that run, the outcomes so far."""

    def __init__(
        self,
        job: Job,
        sources: Sequence[CacheSource],
        names: list[str],
        screen: _native.WriteProgress,
    ) -> None:
        self._job = job
        self._sources = sources
        self._names = names
        self._screen = screen
        self._waiting: deque[int] = deque()
        self._running: list[SourceProcess] = []
        self._results: dict[int, CacheWriteResult] = {}
        self._interrupted: set[int] = set()
        self._started = self._looked = time.monotonic()
        self._profiles = (
            tempfile.TemporaryDirectory(prefix="dataset_rt-", ignore_cleanup_errors=True)
            if job.config.profiler.enabled
            else None
        )

    def note_found(self, number: int, result: CacheWriteResult | None) -> None:
        """Take what the core knows of a source: its outcome, or that it is to be written."""
        if result is None:
            self._waiting.append(number)
        else:
            self._screen.begin(self._names[number])
            self._end(number, result)

    def has_work(self) -> bool:
        return bool(self._waiting or self._running)

    def ordered_results(self) -> list[CacheWriteResult]:
        return [self._results[number] for number in range(len(self._names))]

    def step(self) -> None:
        """Start what there is room for, listen for a moment, and judge what was heard."""
        while self._waiting and len(self._running) < self._job.config.num_processes:
            self._start(self._waiting.popleft())
        exchange(self._running)
        now = time.monotonic()
        # Time in which this process stood still itself is no silence of the others.
        passed = min(now - self._looked, 1.0)
        self._looked = now
        for process in list(self._running):
            process.silent_seconds += passed
            self._judge(process)

    def close(self, outcome: str) -> None:
        """End what still runs, remove what it left, and write the profile."""
        with interrupts_held():
            self._interrupted.update(process.number for process in self._running)
            try:
                if self._running:
                    end_all(self._running)
                    _native.sweep_temporaries(self._job.base)
                self._screen.finish()
                self._write_profile(outcome)
            finally:
                if self._profiles is not None:
                    self._profiles.cleanup()

    def _start(self, number: int) -> None:
        name = self._names[number]
        self._screen.begin(name)
        try:
            pickled = pickle.dumps(self._sources[number])
        except Exception as error:  # noqa: BLE001 - whatever the user's class raises
            message = (
                f"source {name!r} cannot be pickled, and has to be for a process of its own: "
                f"{type(error).__name__}: {error}"
            )
            self._fail(number, SourceProcessError(message), error)
            return
        config = self._config_of(number)
        messages = self._job._replace(name=name, config=config).messages(pickled)
        process = SourceProcess(number, name, messages)
        self._running.append(process)
        try:
            process.start()
        except OSError as error:
            self._running.remove(process)
            process.close()
            message = f"source {name!r} got no process: {error}"
            self._fail(number, SourceProcessError(message), error)

    def _config_of(self, number: int) -> WriterConfig:
        """The config for one source, whose profile goes where it is gathered."""
        config = self._job.config
        path = self._profile_of(number)
        if path is None:
            return config
        return config.model_copy(
            update={"profiler": config.profiler.model_copy(update={"path": path})}
        )

    def _profile_of(self, number: int) -> Path | None:
        return Path(self._profiles.name, f"{number}.json") if self._profiles else None

    def _judge(self, process: SourceProcess) -> None:
        """Show how far a process is; end it if it is late; take its outcome when it has ended."""
        exit_code = process.exit_code()
        if exit_code is not None:
            process.exchange()  # its last words
        self._screen.count(process.name, *process.counts)
        if process.raised is not None:
            self._screen.end(process.name, "interrupted", *process.counts)
            raise unpack_raised(process.name, process.raised)
        if exit_code is not None:
            self._running.remove(process)
            process.close()
            self._take_outcome(process, exit_code)
            return
        limit = self._job.config.process_timeout_seconds + _LATE_SECONDS
        if process.result is not None:
            limit = min(limit, _EXIT_SECONDS)
        if process.silent_seconds > limit:
            process.kill()

    def _take_outcome(self, process: SourceProcess, exit_code: int) -> None:
        if process.result is None:
            _native.sweep_temporaries(self._job.base)
            self._fail(process.number, self._reason_of(process, exit_code), counts=process.counts)
            return
        result = unpack_result(process.name, process.result)
        self._end(process.number, result, process.counts)

    def _reason_of(self, process: SourceProcess, exit_code: int) -> SourceProcessError:
        """Why a process gave no outcome."""
        whose = f"the process of source {process.name!r}"
        if process.was_killed:
            seconds = self._job.config.process_timeout_seconds
            message = f"{whose} was silent for {seconds:g} seconds and was ended"
            return SourceProcessError(message, timeout_seconds=seconds)
        if exit_code < 0:
            name = _signal_name(-exit_code)
            return SourceProcessError(f"{whose} was ended by {name}", signal=name)
        message = f"{whose} ended with exit code {exit_code} before it gave an outcome"
        if not process.is_up:
            message += (
                ", before it came to the source; its words are on standard error "
                '(a script has to keep what it runs under `if __name__ == "__main__":`)'
            )
        return SourceProcessError(message, exit_code=exit_code)

    def _fail(
        self,
        number: int,
        error: SourceProcessError,
        cause: Exception | None = None,
        counts: tuple[int, int] = (0, 0),
    ) -> None:
        error.__cause__ = cause
        self._end(number, CacheWriteError(self._names[number], str(error), error), counts)

    def _end(self, number: int, result: CacheWriteResult, counts: tuple[int, int] = (0, 0)) -> None:
        self._results[number] = result
        self._screen.end(self._names[number], outcome_text(result), *counts)

    def _write_profile(self, outcome: str) -> None:
        if self._profiles is None:
            return
        entries = []
        for number, name in enumerate(self._names):
            result = self._results.get(number)
            if result is None and number not in self._interrupted:
                continue
            file = self._profile_of(number)
            text = file.read_text(encoding="utf-8") if file and file.exists() else None
            entries.append((name, "interrupted" if result is None else outcome_word(result), text))
        seconds = time.monotonic() - self._started
        path = os.fspath(self._job.config.profiler.path)
        try:
            _native.write_profile(path, entries, outcome=outcome, seconds=seconds)
        except DatasetError:
            if outcome == "finished":
                raise


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
