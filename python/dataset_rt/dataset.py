"""``CachedDataset``: the Python face of the core's dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dataset_rt.metadata import as_stream, to_frame

if TYPE_CHECKING:
    import polars as pl
    from torch.utils.data import DataLoader

    from dataset_rt import _native
    from dataset_rt.config import ReaderConfig
    from dataset_rt.integrations.torch import SizedTorchIterableDataset
    from dataset_rt.runtime import DatasetRuntime
    from dataset_rt.sample import CachedSample

__all__ = ["CachedDataset"]


class CachedDataset:
    """Caches opened as one dataset: an active table, a draw stream and a cursor.

    ``DatasetRuntime`` makes it. ``for sample in dataset`` claims the next window of the
    stream, ``len(dataset)`` draws from the cursor, and moves the cursor past it at once: two
    live iterators never overlap. An iterator is a frozen view; edits of the table concern
    later ones. It does not pickle; see ``dump_config``.
    """

    _native: _native.Dataset

    def __init__(self) -> None:
        raise TypeError(
            "a CachedDataset comes from DatasetRuntime.cached_dataset or .from_cache_sources"
        )

    @classmethod
    def _wrap(cls, native: _native.Dataset) -> CachedDataset:
        dataset = cls.__new__(cls)
        dataset._native = native
        return dataset

    def __reduce__(self) -> NoReturn:
        raise TypeError("a CachedDataset does not pickle; hand dump_config's file to the process")

    def __repr__(self) -> str:
        return (
            f"<CachedDataset of {len(self._native.cache_paths)} caches, "
            f"epoch length {len(self)}, position {self.position}>"
        )

    @classmethod
    def from_config(
        cls, file: str | Path, runtime: DatasetRuntime | None = None
    ) -> CachedDataset:
        """Open the handle written by ``dump_config``, in this process or another one.

        Args:
            file: The file that ``dump_config`` returned.
            runtime: Whose threads to use; a runtime of one thread is made if left out.

        Returns:
            A dataset with the table, config and cursor of the one that was dumped.

        Raises:
            CorruptCacheError: The handle or a cache is damaged.
            DatasetIOError: A file cannot be read.
        """
        from dataset_rt import _native

        native = _native.Runtime(1) if runtime is None else runtime._native
        return cls._wrap(native.open_dump(os.fsdecode(file)))

    def dump_config(self, directory: str | Path) -> Path:
        """Write a small file-backed handle of this dataset.

        Args:
            directory: Where to; made if it is missing. The handle holds paths, config, table
                and sampling tables, and is mapped by every process that opens it.

        Returns:
            The file for ``from_config``.

        Raises:
            DatasetIOError: A file cannot be written.
        """
        return Path(self._native.dump(os.fsdecode(directory)))

    @property
    def cache_paths(self) -> list[Path]:
        """Absolute cache directories in ``cache_id`` order."""
        return [Path(path) for path in self._native.cache_paths]

    @property
    def reader_config(self) -> ReaderConfig:
        """The config the dataset was opened with."""
        from dataset_rt.config import ReaderConfig

        return ReaderConfig.model_validate(self._native.reader_config)

    def __iter__(self) -> _native.SampleIterator:
        """Claim the next window and iterate over its samples.

        Returns:
            An iterator of ``CachedSample`` with ``position``, ``skip``, ``state_dict`` and
            ``load_state_dict`` of its own. After an error in place of a draw it can be asked
            for the next one.
        """
        return iter(self._native)

    def __len__(self) -> int:
        """Epoch length: draws of each later window, of this rank in a partition."""
        return len(self._native)

    def set_epoch_len(self, epoch_len: int) -> None:
        """Set how many draws each later window has.

        Args:
            epoch_len: At least 1; may differ from the number of rows. ``update_metadata``
                sets it to the new row count.

        Raises:
            InvalidConfigError: It is out of range.
        """
        self._native.set_epoch_len(epoch_len)

    def get_metadata(self) -> pl.DataFrame:
        """Copy the active table.

        Returns:
            A frame of ``cache_id``, ``sample_id`` (UInt64), the stored columns, ``weight``
            (Float64) and extra columns, one line per row. Editing it changes nothing until
            it is passed to ``update_metadata``.
        """
        return to_frame(self._native.metadata())

    def update_metadata(self, metadata: pl.DataFrame | _native.ArrowStreamExportable) -> None:
        """Replace the active table: filter, repeat, reorder and weight rows.

        The whole table is validated and then swapped in, or nothing changes. The cursor goes
        to 0 and the epoch length becomes the row count. Row order is part of the population:
        use order-keeping forms such as ``.over(...)``. Live iterators keep their table.

        Args:
            metadata: A Polars frame or any object with the Arrow PyCapsule stream interface.
                At least one row; ids that exist, non-null integers of any width; every
                stored column with its type; ``weight`` positive and finite, of any numeric
                type, its sum finite. Other columns are kept.

        Raises:
            TypeError: A LazyFrame, dict, None or other object without that interface.
            InvalidMetadataError: A rule is broken; column, expected, found, count and the
                first five row numbers are its fields.
        """
        self._native.update_metadata(as_stream(metadata))

    def samples_metadata(self) -> pl.DataFrame:
        """Alias of ``get_metadata``."""
        return self.get_metadata()

    def set_samples_metadata(self, metadata: pl.DataFrame) -> None:
        """Alias of ``update_metadata``."""
        self.update_metadata(metadata)

    @property
    def position(self) -> int:
        """The cursor: number of the draw with which the next window starts."""
        return self._native.position

    def skip(self, n: int) -> None:
        """Move the cursor ``n`` draws on; the state records it.

        Raises:
            InvalidConfigError: ``n`` is negative or the stream would overflow.
        """
        self._native.skip(n)

    def state_dict(self) -> dict[str, int | str]:
        """Describe the cursor, for an exact resume.

        In mid-window use the iterator's, which counts what was delivered.

        Returns:
            A plain dict under 1 KiB that JSON can hold.
        """
        return self._native.state_dict()

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Resume: the next iterator covers the rest of the saved window.

        Args:
            state: From ``state_dict`` of a dataset, an iterator or a loader, whatever the
                number of threads, processes or ranks was.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ; nothing changes.
        """
        self._native.load_state_dict(state)

    def plan(self, n: int, start: int | None = None) -> pl.DataFrame:
        """Look at draws to come; reads no payload and moves nothing.

        Args:
            n: Number of draws.
            start: First position; the cursor if left out.

        Returns:
            A frame of ``position``, ``row``, ``cache_id`` and ``sample_id``.
        """
        return to_frame(self._native.plan(n, start))

    def draw_seed(self, position: int) -> int:
        """Give the seed for augmentation of one draw, a function of seed and position."""
        return self._native.draw_seed(position)

    def partition(
        self, index: int, count: int, *, drop_uneven: bool = False, pad: bool = False
    ) -> CachedDataset:
        """Make the view of one rank, with a cursor of its own that starts at this one's.

        The view holds the draws whose index in the window is ``index`` modulo ``count``; all
        views together are the window.

        Args:
            index: This rank, in 0..count-1.
            count: Number of ranks.
            drop_uneven: Leave out the last draws that not every rank has.
            pad: Repeat the window's first draws, so that every rank has equally many.

        Raises:
            InvalidConfigError: Out of range, both forms at once, or ``on_corrupt="skip"``
                with more than one rank.
        """
        return self._wrap(
            self._native.partition(index, count, drop_uneven=drop_uneven, pad=pad)
        )

    def get_item(self, cache_id: int, sample_id: int) -> CachedSample:
        """Read one sample by identity; ignores the active table and moves no cursor.

        Raises:
            UnknownSampleError: No loaded cache holds it (also a ``LookupError``).
        """
        return self._native.get_items([(cache_id, sample_id)])[0]

    def get_items(self, ids: Iterable[tuple[int, int]]) -> list[CachedSample]:
        """Read samples by (cache_id, sample_id), in the order asked for, see ``get_item``."""
        return self._native.get_items(list(ids))

    def to_torch_iterable_dataset(
        self,
        batch_size: int | None = None,
        transform: Callable[[CachedSample], Any] | None = None,
    ) -> SizedTorchIterableDataset:
        """Make a sized ``torch.utils.data.IterableDataset`` of this dataset.

        Args:
            batch_size: Yield lists of this many items; single items if left out.
            transform: Applied to each sample, in the worker.

        Raises:
            ImportError: PyTorch is not installed.
        """
        from dataset_rt.integrations.torch import SizedTorchIterableDataset

        return SizedTorchIterableDataset(self, batch_size=batch_size, transform=transform)

    def to_torch_dataloader(self, **options: Any) -> DataLoader[Any]:
        """Make a torch DataLoader whose order does not depend on its workers.

        Args:
            **options: See ``dataset_rt.integrations.torch.make_dataloader``.

        Raises:
            ImportError: PyTorch is not installed.
        """
        from dataset_rt.integrations.torch import make_dataloader

        return make_dataloader(self, **options)


CachedDataset.__module__ = "dataset_rt.api"
