"""A second Python thread that never waits: it shows what a GIL policy costs."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Spinner:
    """Runs a pure Python loop in a thread of its own while the context is open.

    Attributes:
        turns: Rounds of the loop so far.
    """

    def __init__(self) -> None:
        self.turns = 0
        self._stopped = False
        self._ready = threading.Event()
        self._clock = 0
        self._thread = threading.Thread(target=self._spin, name="spinner", daemon=True)

    def _spin(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._ready.set()
        while not self._stopped:
            for _ in range(100):
                pass
            self.turns += 1

    def cpu_ns(self) -> int:
        """CPU time of the spinning thread."""
        return time.clock_gettime_ns(self._clock)

    def __enter__(self) -> Spinner:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped = True
        self._thread.join()
