"""PyTorch: a DataLoader whose order is that of the draw stream, for any workers and ranks.

The main process claims a window when the loader is iterated and sends workers units of it,
see ``torch_units``. Which draws there are, and how they split, is decided by the core.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from torch.utils.data import DataLoader, default_collate

from dataset_rt.integrations.torch_batch import LoaderBatch, Packed, PayloadList
from dataset_rt.integrations.torch_iterable import SizedTorchIterableDataset
from dataset_rt.integrations.torch_ranks import compare_ranks, own_rank
from dataset_rt.integrations.torch_slots import SlotMemory, Slotted
from dataset_rt.integrations.torch_units import (
    EachSample,
    Failure,
    Progress,
    WholeBatch,
    WindowBatchSampler,
    WindowReader,
)
from dataset_rt.integrations.torch_workers import auto_workers, start_method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataset_rt import _native

__all__ = [
    "LoaderBatch",
    "PayloadList",
    "SizedTorchIterableDataset",
    "WindowDataLoader",
    "make_dataloader",
]


class _Collate:
    """The user's collate function, which sees neither failures nor whole batches."""

    def __init__(self, collate: Callable[[list[Any]], Any] | None) -> None:
        self._collate = collate

    def __call__(self, items: Any) -> Any:
        if self._collate is None or isinstance(items, Failure):
            return items
        return self._collate(items)


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
            if isinstance(batch, Slotted):
                batch = batch.taken()
            if isinstance(batch, Packed):
                return batch.unpacked()
            if not isinstance(batch, Failure):
                return batch
            if batch.error is not None:
                raise batch.error


class WindowDataLoader(DataLoader[Any]):
    """A ``DataLoader`` with an exact state, as ``CachedDataset.to_torch_dataloader`` makes it."""

    batch_sampler: WindowBatchSampler  # type: ignore[assignment]
    dataset: WindowReader
    has_slots = False

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Claim the next window now, and iterate over its batches.

        Ranks found through ``torch.distributed`` first make sure that they draw from one stream,
        which takes all of them: each rank iterates equally often.

        An error of the core takes the place of its batch and keeps its fields; the iterator
        can be asked for the next one. A batch of which every sample was skipped is left out.

        Raises:
            StateMismatchError: Ranks differ in caches, table, mode, seed, epoch length or
                position; all of them raise it.
        """
        self.batch_sampler.before_claim()
        with self.batch_sampler.claimed() as progress:
            if self.has_slots:
                progress.slots = self._slots_for(progress)
            return _Delivery(super().__iter__(), progress)

    def _slots_for(self, progress: Progress) -> SlotMemory | None:
        """Slots that the workers of this iteration know: persistent ones keep theirs."""
        reader = self.dataset
        if reader.slots is None or not self.persistent_workers:
            reader.slots = None  # those of workers that are gone
            first = min(progress.batch_size, len(progress.window))
            units = self.num_workers * (self.prefetch_factor or 1)
            progress.window.share()  # makes the order of a cycle, without which no draw has a size
            reader.slots = SlotMemory.made_for(progress.window.payload_bytes(0, first), units)
        return reader.slots

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
    num_workers: int | Literal["auto"],
    transform: Callable[..., Any] | None,
    transform_batch: Callable[..., Any] | None,
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
    if transform_batch is not None and not (transform is None and collate_fn is None):
        raise TypeError("transform_batch makes the whole batch: no transform, no collate_fn")
    if with_seed and transform is None and transform_batch is None:
        raise TypeError(
            "with_seed=True gives seeds to a transform or transform_batch: none is given"
        )
    if ordering := sorted({"batch_sampler", "sampler", "shuffle"} & options.keys()):
        raise TypeError(
            f"{ordering[0]} is no option here: the order is that of ReaderConfig(shuffle=, "
            "replacement=) and of the table"
        )
    workers = auto_workers() if num_workers == "auto" else num_workers
    given = None if rank is None or world_size is None else (rank, world_size)
    found = own_rank(dataset) if given is None else None
    index, count = given or found or (0, 1)
    sampler = WindowBatchSampler(
        dataset,
        batch_size=batch_size,
        drop_last=drop_last,
        is_shared=workers > 0,
        before_claim=partial(compare_ranks, dataset, found) if found else lambda: None,
        split={"index": index, "count": count, "drop_uneven": drop_uneven, "pad": pad},
    )
    if workers > 0 and any(dataset.cache_urls):
        options = {"multiprocessing_context": start_method(), **options}
    is_whole = transform is None and collate_fn is None
    read = WholeBatch(transform_batch, with_seed) if is_whole else EachSample(transform, with_seed)
    collate = None if is_whole else collate_fn or default_collate
    loader = WindowDataLoader(
        WindowReader(read),
        batch_sampler=sampler,  # type: ignore[arg-type]
        num_workers=workers,
        collate_fn=_Collate(collate),
        **options,
    )
    loader.has_slots = is_whole and transform_batch is None and workers > 0
    return loader
