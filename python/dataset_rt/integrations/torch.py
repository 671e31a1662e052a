"""PyTorch: a DataLoader whose order is that of the draw stream, for any workers and ranks.

The main process claims a window when the loader is iterated and sends workers nothing but
(handle, start, stop); a worker opens the file-backed window and reads those draws. Which
draws there are, and how they split, is decided by the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.distributed
from torch.utils.data import DataLoader, Dataset, Sampler, default_collate

from dataset_rt import _native
from dataset_rt.integrations.torch_iterable import SizedTorchIterableDataset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SizedTorchIterableDataset", "WindowDataLoader", "make_dataloader"]

Unit = tuple[str, int, int]
"""(handle of a window, first draw, end): all that travels to a worker per batch."""

KEPT_WINDOWS = 2
"""Windows a process holds: that of the running iteration and the one before it."""


class WindowReader(Dataset[Any]):
    """Reads units of work; the map-style dataset that workers get a copy of."""

    def __init__(self, transform: Callable[..., Any] | None, with_seed: bool) -> None:
        self._transform = transform
        self._with_seed = with_seed
        self._windows: dict[str, _native.Window] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_windows": {}}

    def hold(self, handle: str, window: _native.Window) -> None:
        """Keep a window at hand, and with it its files."""
        self._windows[handle] = window
        while len(self._windows) > KEPT_WINDOWS:
            del self._windows[next(iter(self._windows))]

    def __getitems__(self, unit: Unit) -> list[Any]:
        handle, start, stop = unit
        if handle not in self._windows:
            self.hold(handle, _native.Runtime(1).open_window(handle))
        window = self._windows[handle]
        apply = self._transform
        if self._with_seed and apply is not None:
            return [apply(*pair) for pair in window.seeded_samples(start, stop)]
        samples = window.samples(start, stop)
        return samples if apply is None else [apply(sample) for sample in samples]


class WindowBatchSampler(Sampler[Unit]):  # type: ignore[type-arg,unused-ignore]
    """Claims one window per iteration and cuts this rank's part of it into batches."""

    def __init__(
        self,
        dataset: _native.Dataset,
        reader: WindowReader,
        *,
        batch_size: int,
        drop_last: bool,
        shared: bool,
        split: dict[str, Any],
    ) -> None:
        self.batch_size = batch_size
        self.drop_last = drop_last
        self._dataset = dataset
        self._reader = reader
        self._shared = shared
        self._split = split
        self._window: _native.Window | None = None
        self._delivered = 0

    def __len__(self) -> int:
        is_whole = self._split["count"] == 1
        draws = len(self._dataset if is_whole else self._dataset.partition(**self._split))
        return draws // self.batch_size if self.drop_last else -(-draws // self.batch_size)

    def __iter__(self) -> Iterator[Unit]:
        window = self._dataset.window(**self._split)
        handle = window.share() if self._shared else f"window {id(window)}"
        self._reader.hold(handle, window)
        self._window, self._delivered = window, 0
        return self._units(handle, len(window))

    def _units(self, handle: str, draws: int) -> Iterator[Unit]:
        for start in range(0, draws, self.batch_size):
            stop = min(start + self.batch_size, draws)
            if stop - start == self.batch_size or not self.drop_last:
                yield handle, start, stop

    def note_delivered(self) -> None:
        """Count a batch that reaches the training loop."""
        self._delivered += 1

    def state_dict(self) -> dict[str, int | str]:
        """Describe the position behind the batches delivered so far."""
        if self._window is None:
            return self._dataset.state_dict()
        draws = len(self._window)
        done = min(self._delivered * self.batch_size, draws)
        if self.drop_last and draws - done < self.batch_size:
            done = draws
        return self._window.state_dict(done)

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Go on behind a saved position with the next iteration."""
        self._dataset.load_state_dict(state)
        self._window = None


class _Collate:
    """The user's collate function, spared batches of which every sample was skipped."""

    def __init__(self, collate: Callable[[list[Any]], Any]) -> None:
        self._collate = collate

    def __call__(self, items: list[Any]) -> Any:
        return self._collate(items) if items else None


class WindowDataLoader(DataLoader[Any]):
    """A ``DataLoader`` with ``state_dict`` and ``load_state_dict``; see ``make_dataloader``."""

    batch_sampler: WindowBatchSampler  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Claim the next window now, and yield its batches."""
        return self._counted(super().__iter__())

    def _counted(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            self.batch_sampler.note_delivered()
            if batch is not None:
                yield batch

    def state_dict(self) -> dict[str, int | str]:
        """Describe the position behind the last batch the training loop received.

        Returns:
            A state of the dataset; equal on all ranks that are equally far, and good for
            another number of workers or ranks.
        """
        return self.batch_sampler.state_dict()

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Resume with the next iteration, which covers the rest of the saved window.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ.
        """
        self.batch_sampler.load_state_dict(state)


def make_dataloader(
    dataset: _native.Dataset,
    *,
    batch_size: int,
    num_workers: int,
    transform: Callable[..., Any] | None,
    with_seed: bool,
    collate_fn: Callable[[list[Any]], Any] | None,
    drop_last: bool,
    rank: int | None,
    world_size: int | None,
    drop_uneven: bool,
    pad: bool,
    **options: Any,
) -> WindowDataLoader:
    """Build the loader of ``CachedDataset.to_torch_dataloader``, which documents it."""
    if (rank is None) != (world_size is None):
        raise TypeError("rank and world_size are given together or not at all")
    index, count = _own_rank(dataset) if rank is None or world_size is None else (rank, world_size)
    reader = WindowReader(transform, with_seed)
    sampler = WindowBatchSampler(
        dataset,
        reader,
        batch_size=batch_size,
        drop_last=drop_last,
        shared=num_workers > 0,
        split={"index": index, "count": count, "drop_uneven": drop_uneven, "pad": pad},
    )
    return WindowDataLoader(
        reader,
        batch_sampler=sampler,  # type: ignore[arg-type]
        num_workers=num_workers,
        collate_fn=_Collate(collate_fn or default_collate),
        **options,
    )


def _own_rank(dataset: _native.Dataset) -> tuple[int, int]:
    """Rank and world size of this process; (0, 1) for a view that is one rank's already."""
    distributed = torch.distributed
    if dataset.rank[1] > 1 or not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()
