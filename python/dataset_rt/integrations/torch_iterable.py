"""``SizedTorchIterableDataset``: the draw stream for a plain ``DataLoader``."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset, get_worker_info

from dataset_rt import _native
from dataset_rt.errors import InvalidConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SizedTorchIterableDataset"]


class _Transformed:
    """Samples of a native iterator with a transform, and the state of that iterator."""

    def __init__(self, samples: _native.SampleIterator, transform: Callable[[Any], Any]) -> None:
        self._samples = samples
        self._transform = transform
        self.state_dict = samples.state_dict
        self.load_state_dict = samples.load_state_dict

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._transform(next(self._samples))


class SizedTorchIterableDataset(IterableDataset[Any]):
    """Sized iterable view of a dataset, as ``to_torch_iterable_dataset`` returns it.

    In a ``DataLoader(..., batch_size=None)`` the order is that of one process for any worker
    count: workers take the batches (or samples) of a window in turn. A plain DataLoader that
    batches by itself gets every draw, but neither its order nor its ``len`` is promised.

    Without workers each iteration claims the dataset's next window. Workers start from that
    window without claiming it: persistent ones go on window by window, others start there
    again unless ``set_epoch`` moves them.

    ``state_dict`` and ``load_state_dict`` are those that torchdata's ``StatefulDataLoader`` asks
    each worker for; its worker count has to stay. Elsewhere the state of the dataset or of
    ``to_torch_dataloader`` is the one to save.

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
        self._iterated: _native.Window | None = None
        self._rounds = 0
        self._next_draw: int | None = None
        self._is_resumed = False
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
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        window = self._iterated = self._next_window(is_worker=worker is not None)
        if worker is None and self._batch_size is None:
            self._next_draw = None  # the iterator has a state of its own
            samples = iter(window)
            return samples if self._transform is None else _Transformed(samples, self._transform)
        if self._next_draw is None or not self._is_resumed:
            self._next_draw = first * (self._batch_size or 1)
        self._is_resumed = False
        return self._read(window, self._next_draw, step)

    def state_dict(self) -> dict[str, Any]:
        """Describe how far the newest iteration is in this process.

        Returns:
            ``window``: the state at the start of its window; ``next_draw``: the first draw of
            that window that this process has not yielded, None where the iterator knows.
        """
        window = self._iterated
        if window is None:
            window = self._peek(self._dataset) if self._dataset is not None else self._base()
        return {"window": window.state_dict(0), "next_draw": self._next_draw}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with the next iteration where ``state_dict`` was taken, in an equal worker.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ.
        """
        window, next_draw = state.get("window"), state.get("next_draw")
        if not isinstance(window, dict) or not (next_draw is None or isinstance(next_draw, int)):
            raise InvalidConfigError("this is no state of a SizedTorchIterableDataset")
        if self._dataset is not None:
            self._dataset.load_state_dict(window)
        else:
            self._window, self._rounds = self._base().resumed(window), 0
        self._iterated = None
        self._is_resumed = True
        self._next_draw = next_draw

    def _next_window(self, *, is_worker: bool) -> _native.Window:
        """The window of this iteration; a worker counts them for itself."""
        if self._dataset is not None and not is_worker:
            if self._epoch is None:
                return self._dataset.window()
            return self._peek(self._dataset).following(self._epoch)
        self._rounds += 1
        return self._base().following(self._rounds - 1)

    def _base(self) -> _native.Window:
        """The window that a worker starts from."""
        if self._window is None:
            if self._dataset is not None:  # inherited through a fork
                self._window = self._peek(self._dataset).following(self._epoch or 0)
            elif self._handle is not None:
                self._window = _native.Runtime(1).open_window(self._handle)
            else:
                raise RuntimeError("neither a dataset nor a handle of one")
        return self._window

    def _read(self, window: _native.Window, first: int, step: int) -> Iterator[Any]:
        size = self._batch_size or 1
        draws = len(window)
        for start in range(first, draws, step * size):
            items: list[Any] = window.samples(start, min(start + size, draws))
            self._next_draw = start + step * size
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
        state = {
            **self.__dict__,
            "_dataset": None,
            "_window": None,
            "_iterated": None,
            "_kept": deque(maxlen=16),
        }
        if self._dataset is not None:
            window = self._peek(self._dataset).following(self._epoch or 0)
            self._kept.append(window)  # its files have to last until the worker opened them
            state["_handle"] = window.share()
            state["_draws"] = len(self._dataset)
        return state


SizedTorchIterableDataset.__module__ = "dataset_rt.api"
