"""Units of work between a loader's main process and its workers: (window, start, stop).

The main process claims windows and cuts them into units; a worker reads a unit. Nothing
else travels but the place for what is read, and neither side decides which draws there are.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.utils.data import Dataset, Sampler, get_worker_info

from dataset_rt import _native
from dataset_rt.errors import DatasetError
from dataset_rt.integrations.torch_batch import pack
from dataset_rt.integrations.torch_slots import SlotMemory  # noqa: TC001 - units carry its slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "EachSample",
    "Failure",
    "Progress",
    "Unit",
    "WholeBatch",
    "WindowBatchSampler",
    "WindowReader",
]

Unit = tuple["str | _native.Window", int, int, "int | None"]
"""(window or its handle, first draw, end, slot for what is read or None)."""

KEPT_WINDOWS = 8
"""Windows whose files outlive their iteration, for workers that are slow to open them."""


@dataclass(frozen=True)
class Failure:
    """In place of a batch: an error of the core with its fields, or None if all was skipped."""

    error: DatasetError | None


@dataclass(frozen=True)
class EachSample:
    """Reads a unit as a list of samples, or of what the user makes of each."""

    transform: Callable[..., Any] | None
    with_seed: bool

    def __call__(self, window: _native.Window, start: int, stop: int) -> list[Any] | Failure:
        """Read the draws ``start..stop``."""
        apply = self.transform
        items: list[Any]
        if apply is None:
            items = list(window.samples(start, stop))
        elif self.with_seed:
            items = [apply(*pair) for pair in window.seeded_samples(start, stop)]
        else:
            items = [apply(sample) for sample in window.samples(start, stop)]
        return items or Failure(None)


@dataclass(frozen=True)
class WholeBatch:
    """Reads a unit into one buffer, and sends it or what the user makes of it."""

    transform: Callable[..., Any] | None
    with_seed: bool

    def __call__(self, window: _native.Window, start: int, stop: int) -> Any:
        """Read the draws ``start..stop``."""
        batch = window.batch(start, stop)
        if batch is None:
            return Failure(None)
        made: Any = batch
        if self.transform is not None:
            seeds = (window.seeds_of(batch),) if self.with_seed else ()
            made = self.transform(batch, *seeds)
        return pack(made) if isinstance(made, _native.SampleBatch) else made


class WindowReader(Dataset[Any]):
    """Reads units; the map-style dataset that workers get a copy of."""

    def __init__(self, read: EachSample | WholeBatch) -> None:
        self.slots: SlotMemory | None = None
        self._read = read
        self._open: tuple[str, _native.Window] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": None}

    def __getitems__(self, unit: Unit) -> Any:
        window, start, stop, slot = unit
        try:
            opened = self._window(window)
            if opened.fetches:
                opened.expect_units(start, stop - start, _readers() * (stop - start))
            made = self._read(opened, start, stop)
        except DatasetError as error:
            made = Failure(error)
        return made if slot is None or self.slots is None else self.slots.filled(slot, made)

    def _window(self, window: str | _native.Window) -> _native.Window:
        if not isinstance(window, str):
            return window
        if self._open is None or self._open[0] != window:
            self._open = window, _native.Runtime(1).open_window(window)
        return self._open[1]


def _readers() -> int:
    """How many processes read units in turn."""
    worker = get_worker_info()
    return 1 if worker is None else worker.num_workers


@dataclass
class Progress:
    """How far the training loop is in one iteration."""

    window: _native.Window
    batch_size: int
    drop_last: bool
    slots: SlotMemory | None = None
    delivered_batches: int = 0
    is_over: bool = False

    def state_dict(self) -> dict[str, int | str]:
        """Describe the position behind the delivered batches; a dropped rest is behind it."""
        draws = len(self.window)
        done = min(self.delivered_batches * self.batch_size, draws)
        if self.is_over or (self.drop_last and draws - done < self.batch_size):
            return self.window.state_dict(None)
        return self.window.state_dict(done)


class WindowBatchSampler(Sampler[Unit]):
    """Claims one window per iteration and cuts this rank's part of it into batches."""

    def __init__(
        self,
        dataset: _native.Dataset,
        *,
        batch_size: int,
        drop_last: bool,
        is_shared: bool,
        before_claim: Callable[[], None],
        split: dict[str, Any],
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size wants at least 1, {batch_size} was given")
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.before_claim = before_claim
        self.progress: Progress | None = None
        self._given: Progress | None = None
        self._dataset = dataset
        self._is_shared = is_shared
        self._split = split
        self._kept: deque[_native.Window] = deque(maxlen=KEPT_WINDOWS)

    def __len__(self) -> int:
        is_whole = self._split["count"] == 1
        draws = len(self._dataset if is_whole else self._dataset.partition(**self._split))
        return draws // self.batch_size if self.drop_last else -(-draws // self.batch_size)

    def _claim(self) -> Progress:
        window = self._dataset.window(**self._split)
        self._kept.append(window)
        self.progress = Progress(window, self.batch_size, self.drop_last)
        return self.progress

    @contextmanager
    def claimed(self) -> Iterator[Progress]:
        """Claim the next window for every iterator made inside the ``with`` block.

        torch makes more iterators of a sampler than it uses. One made elsewhere claims a
        window of its own when it is first asked.
        """
        self._given = self._claim()
        try:
            yield self._given
        finally:
            self._given = None

    def __iter__(self) -> Iterator[Unit]:
        return self._units(self._given)

    def _units(self, given: Progress | None) -> Iterator[Unit]:
        progress = given or self._claim()
        window, slots = progress.window, progress.slots
        if slots is not None:
            slots.release_all()  # persistent workers have ended what an earlier iteration sent them
        handle = window.share() if self._is_shared else window
        draws = len(window)
        for start in range(0, draws, self.batch_size):
            stop = min(start + self.batch_size, draws)
            if stop - start == self.batch_size or not self.drop_last:
                yield handle, start, stop, None if slots is None else slots.take()

    def state_dict(self) -> dict[str, int | str]:
        """Describe the newest iteration, or the dataset's cursor before the first one."""
        return self._dataset.state_dict() if self.progress is None else self.progress.state_dict()

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Go on behind a saved position with the next iteration."""
        self._dataset.load_state_dict(state)
        self.progress = None
