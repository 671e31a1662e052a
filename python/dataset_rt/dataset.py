"""``CachedDataset``: the Python face of the core's dataset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from dataset_rt import _native
from dataset_rt.metadata import ArrowStreamExportable, as_stream, to_frame
from dataset_rt.sample import CachedSample  # noqa: TC001 - or the first sample would load it
from dataset_rt.stream import DrawStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from dataset_rt.config import ReaderConfig
    from dataset_rt.integrations.torch import SizedTorchIterableDataset, WindowDataLoader
    from dataset_rt.runtime import DatasetRuntime
    from dataset_rt.stats import ReadStats

__all__ = ["CachedDataset"]


class CachedDataset(DrawStream):
    """Caches opened as one dataset: an active table, a draw stream and a cursor.

    ``DatasetRuntime`` makes it. ``for sample in dataset`` claims the next window of the
    stream, ``len(dataset)`` draws from the cursor, and moves the cursor past it at once: two
    live iterators never overlap. An iterator is a frozen view; edits of the table concern
    later ones. It does not pickle; see ``dump_config``.
    """

    def __init__(self, native: _native.Dataset | None = None) -> None:
        if not isinstance(native, _native.Dataset):
            raise TypeError(
                "a CachedDataset comes from DatasetRuntime.cached_dataset or .from_cache_sources"
            )
        self._native = native

    def __reduce__(self) -> NoReturn:
        raise TypeError("a CachedDataset does not pickle; hand dump_config's file to the process")

    def __repr__(self) -> str:
        from dataset_rt.units import counted

        told = ", ".join(f"{name} {value}" for name, value in self._facts())
        return f"<CachedDataset of {counted(len(self._native.cache_paths), 'cache')}, {told}>"

    def _repr_html_(self) -> str:
        from dataset_rt.display import facts, lines
        from dataset_rt.units import counted

        paths = list(enumerate(self._native.cache_paths))
        caches = lines(counted(len(paths), "cache"), ("cache_id", "path"), paths)
        return facts("CachedDataset", self._facts()) + caches

    def _facts(self) -> list[tuple[str, object]]:
        config = self._native.reader_config
        drawn = "with replacement" if config["replacement"] else "each row once per cycle"
        mode = drawn if config["shuffle"] else "in table order"
        index, count = self._native.rank
        told: list[tuple[str, object]] = [
            ("epoch length", len(self)),
            ("position", self.position),
            ("drawn", mode),
            ("seed", config["seed"]),
        ]
        return told if count == 1 else [*told, ("rank", f"{index} of {count}")]

    @classmethod
    def from_config(cls, file: str | Path, runtime: DatasetRuntime | None = None) -> CachedDataset:
        """Open the handle written by ``dump_config``, in this process or another one.

        Args:
            file: The file that ``dump_config`` returned.
            runtime: Whose threads to use; a runtime of one thread is made if left out.

        Returns:
            A dataset with the table, config and cursor of the one that was dumped; the view
            of a rank if that was one.

        Raises:
            CorruptCacheError: The handle or a cache is damaged.
            DatasetIOError: A file cannot be read.
        """
        native = _native.Runtime(1) if runtime is None else runtime._native  # noqa: SLF001 - ours
        return cls(native.open_dump(os.fsdecode(file)))

    def dump_config(self, directory: str | Path) -> Path:
        """Write a small file-backed handle of this dataset, or of this rank's view of it.

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
        """Absolute cache directories in ``cache_id`` order; for a URL, its folder in the store."""
        return [Path(path) for path in self._native.cache_paths]

    @property
    def cache_urls(self) -> list[str | None]:
        """Where each cache comes from, in ``cache_id`` order; None for a directory."""
        return self._native.cache_urls

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

    def update_metadata(self, metadata: pl.DataFrame | ArrowStreamExportable) -> None:
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
        return CachedDataset(self._native.partition(index, count, drop_uneven=drop_uneven, pad=pad))

    def batches(self, batch_size: int, drop_last: bool = False) -> _native.BatchIterator:
        """Claim the next window and iterate over it in batches, each read into one buffer.

        The draws are those of ``iter(dataset)``. For small samples this costs a fraction of
        reading them one by one.

        Args:
            batch_size: Draws of a batch, at least 1.
            drop_last: Leave out the draws that make no full batch at the window's end.

        Returns:
            An iterator of ``SampleBatch`` with ``position``, ``skip``, ``state_dict`` and
            ``load_state_dict`` of its own, all of which count draws. A batch ends before a
            draw that fails: the error is raised by the next call, and the one after that
            goes on behind it. With ``on_corrupt="skip"`` batches are filled up.

        Raises:
            InvalidConfigError: ``batch_size`` is 0; no window is claimed.
        """
        return self._native.batches(batch_size, drop_last)

    def get_item(self, cache_id: int, sample_id: int) -> CachedSample:
        """Read one sample by identity; ignores the active table and moves no cursor.

        Raises:
            UnknownSampleError: No loaded cache holds it (also a ``LookupError``).
        """
        return self._native.get_item(cache_id, sample_id)

    def get_items(self, ids: Iterable[tuple[int, int]]) -> list[CachedSample]:
        """Read samples by (cache_id, sample_id), in the order asked for, see ``get_item``."""
        return self._native.get_items(list(ids))

    def stats(self) -> ReadStats:
        """Tell what was read since the dataset was opened, in this process, and how."""
        from dataset_rt.stats import ReadStats

        return ReadStats(**self._native.stats())

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

        return SizedTorchIterableDataset(self._native, batch_size=batch_size, transform=transform)

    def to_torch_dataloader(
        self,
        *,
        batch_size: int = 1,
        num_workers: int | Literal["auto"] = 0,
        transform: Callable[..., Any] | None = None,
        transform_batch: Callable[..., Any] | None = None,
        with_seed: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        drop_last: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
        drop_uneven: bool = False,
        pad: bool = False,
        **options: Any,
    ) -> WindowDataLoader:
        """Make a torch ``DataLoader`` whose order does not depend on its workers.

        Each iteration claims the next window of this dataset. Every draw arrives exactly
        once, in the order of the stream, for any worker count and start method.

        Without ``transform`` and ``collate_fn`` a batch crosses over as one buffer and arrives
        as a ``LoaderBatch``: the fields of ``CachedSample``, with a sequence of payloads,
        tensors of ids and of numeric columns, and lists of texts.

        Args:
            batch_size: Samples per batch.
            num_workers: Loader processes; 0 reads in the calling process. ``"auto"`` takes the
                processors this rank may use (affinity, control group, ``LOCAL_WORLD_SIZE``),
                less one for the training loop.
            transform: Applied to each sample, in the worker; must pickle for spawn.
            transform_batch: Given a ``SampleBatch`` in the worker, returns what is sent: tensors
                and what pickles. Not together with ``transform`` or ``collate_fn``.
            with_seed: Call ``transform(sample, seed)`` with the ``draw_seed`` of the draw, or
                ``transform_batch(batch, seeds)`` with a memoryview of uint64, one per draw. One
                of the two is given then.
            collate_fn: Makes a batch of a list of samples, or of what ``transform`` returned;
                torch's own if left out.
            drop_last: Leave out a last batch that is not full.
            rank: This process. If left out, it is that of ``torch.distributed``, or, before that
                is initialised, of the variables ``RANK`` and ``WORLD_SIZE`` of torchrun. Ranks
                found that way compare their states before each window, by ``torch.distributed``.
            world_size: Number of ranks; given together with ``rank``.
            drop_uneven: See ``partition``.
            pad: See ``partition``.
            **options: Further arguments of ``DataLoader``, such as ``persistent_workers``. Workers
                of a dataset with caches at URLs are started by ``forkserver`` where ``fork`` is
                the default.

        Returns:
            A ``DataLoader``; ``len`` counts the batches of this rank, ``state_dict`` and
            ``load_state_dict`` those delivered to the training loop.

        Raises:
            ImportError: PyTorch is not installed.
            InvalidConfigError: The rank is out of range. Iterating raises it when a rank was found
                in variables and ``torch.distributed`` is not initialised even then.
            TypeError: Arguments that exclude each other.
        """
        from dataset_rt.integrations.torch import make_dataloader

        return make_dataloader(
            self._native,
            batch_size=batch_size,
            num_workers=num_workers,
            transform=transform,
            transform_batch=transform_batch,
            with_seed=with_seed,
            collate_fn=collate_fn,
            drop_last=drop_last,
            rank=rank,
            world_size=world_size,
            drop_uneven=drop_uneven,
            pad=pad,
            **options,
        )


CachedDataset.__module__ = "dataset_rt.api"
