"""PyTorch: a DataLoader whose order is that of the draw stream, for any workers and ranks.

The main process claims a window when the loader is iterated and sends workers units of it,
see ``torch_units``. Which draws there are, and how they split, is decided by the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.distributed
from torch.utils.data import DataLoader, default_collate

from dataset_rt.integrations.torch_iterable import SizedTorchIterableDataset
from dataset_rt.integrations.torch_units import (
    Failure,
    Progress,
    WindowBatchSampler,
    WindowReader,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataset_rt import _native

__all__ = ["SizedTorchIterableDataset", "WindowDataLoader", "make_dataloader"]


class _Collate:
    """The user's collate function, which never sees a failure."""

    def __init__(self, collate: Callable[[list[Any]], Any]) -> None:
        self._collate = collate

    def __call__(self, items: list[Any] | Failure) -> Any:
        return items if isinstance(items, Failure) else self._collate(items)


class _Delivery:
    """Hands batches to the training loop and counts them; after an error it goes on."""

    def __init__(self, batches: Iterator[Any], progress: Progress) -> None:
        self._batches = batches
        self._progress = progress

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while True:
            try:
                batch = next(self._batches)
            except StopIteration:
                self._progress.is_over = True
                raise
            self._progress.delivered_batches += 1
            if not isinstance(batch, Failure):
                return batch
            if batch.error is not None:
                raise batch.error


class WindowDataLoader(DataLoader[Any]):
    """A ``DataLoader`` with an exact state, as ``CachedDataset.to_torch_dataloader`` makes it."""

    batch_sampler: WindowBatchSampler  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Claim the next window now, and iterate over its batches.

        An error of the core takes the place of its batch and keeps its fields; the iterator
        can be asked for the next one. A batch of which every sample was skipped is left out.
        """
        with self.batch_sampler.claimed() as progress:
            return _Delivery(super().__iter__(), progress)

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
    sampler = WindowBatchSampler(
        dataset,
        batch_size=batch_size,
        drop_last=drop_last,
        is_shared=num_workers > 0,
        split={"index": index, "count": count, "drop_uneven": drop_uneven, "pad": pad},
    )
    return WindowDataLoader(
        WindowReader(transform, with_seed),
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
