"""``SizedTorchIterableDataset``: the draw stream for a plain ``DataLoader``."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset, get_worker_info

from dataset_rt import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SizedTorchIterableDataset"]


class SizedTorchIterableDataset(IterableDataset[Any]):
    """Sized iterable view of a dataset, as ``to_torch_iterable_dataset`` returns it.

    In a ``DataLoader(..., batch_size=None)`` the order is that of one process for any worker
    count: workers take the batches (or samples) of a window in turn. A plain DataLoader that
    batches by itself gets every draw, but neither its order nor its ``len`` is promised.

    Without workers each iteration claims the dataset's next window. Workers start from that
    window without claiming it: persistent ones go on window by window, others start there
    again unless ``set_epoch`` moves them.

    Args:
        dataset: The core's half of a dataset, or of a partition of one.
        batch_size: Yield lists of this many items; single items if None.
        transform: Applied to each sample.
    """

    def __init__(
        self,
        dataset: _native.Dataset,
        *,
        batch_size: int | None = None,
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size wants at least 1, {batch_size} was given")
        self._dataset: _native.Dataset | None = dataset
        self._batch_size = batch_size
        self._transform = transform
        self._epoch: int | None = None
        self._draws = 0
        self._handle: str | None = None
        self._window: _native.Window | None = None
        self._rounds = 0
        self._kept: deque[_native.Window] = deque(maxlen=16)

    def set_epoch(self, epoch: int) -> None:
        """Let later iterations start that many windows after the dataset's next one.

        Args:
            epoch: 0 for the next window itself. Nothing is claimed from then on.
        """
        self._epoch = epoch

    def __len__(self) -> int:
        """Epoch length of this rank: in batches where there is a batch size."""
        draws = self._draws if self._dataset is None else len(self._dataset)
        return draws if self._batch_size is None else -(-draws // self._batch_size)

    def __iter__(self) -> Iterator[Any]:
        """Yield ``CachedSample`` objects, or what the transform makes of them, or lists."""
        worker = get_worker_info()
        if worker is not None:
            return self._read(self._next_window(), worker.id, worker.num_workers)
        if self._dataset is None:
            return self._read(self._next_window(), 0, 1)
        if self._epoch is not None:
            window = self._peek(self._dataset).following(self._epoch)
        else:
            window = self._dataset.window()
        return self._read(window, 0, 1) if self._batch_size else self._single(window)

    def _next_window(self) -> _native.Window:
        """The window of this iteration in a worker, which counts them for itself."""
        if self._window is None:
            if self._dataset is not None:  # inherited through a fork
                self._window = self._peek(self._dataset).following(self._epoch or 0)
            elif self._handle is not None:
                self._window = _native.Runtime(1).open_window(self._handle)
            else:
                raise RuntimeError("neither a dataset nor a handle of one")
        self._rounds += 1
        return self._window.following(self._rounds - 1)

    def _single(self, window: _native.Window) -> Iterator[Any]:
        return iter(window) if self._transform is None else map(self._transform, iter(window))

    def _read(self, window: _native.Window, first: int, step: int) -> Iterator[Any]:
        size = self._batch_size or 1
        draws = len(window)
        for start in range(first * size, draws, step * size):
            items: list[Any] = window.samples(start, min(start + size, draws))
            if self._transform is not None:
                items = [self._transform(item) for item in items]
            if self._batch_size is None:
                yield from items
            elif items:
                yield items

    @staticmethod
    def _peek(dataset: _native.Dataset) -> _native.Window:
        return dataset.window(claim=False)

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_dataset": None, "_window": None, "_kept": deque(maxlen=16)}
        if self._dataset is not None:
            window = self._peek(self._dataset).following(self._epoch or 0)
            self._kept.append(window)  # its files have to last until the worker opened them
            state["_handle"] = window.share()
            state["_draws"] = len(self._dataset)
        return state


SizedTorchIterableDataset.__module__ = "dataset_rt.api"
