"""``DatasetRuntime``: the owner of the worker threads and the way to everything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn, TypeVar

from dataset_rt import _native
from dataset_rt.config import DEFAULT_WRITER_CONFIG, ReaderConfig, StoreConfig, WriterConfig
from dataset_rt.dataset import CachedDataset
from dataset_rt.progress import notebook_sink
from dataset_rt.results import (
    CacheSourcesDatasetError,
    CacheSourcesDatasetResult,
    CacheSourcesDatasetSuccess,
    CacheWriteError,
    CacheWriteResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dataset_rt.source import CacheSource

__all__ = ["DatasetRuntime"]

_Config = TypeVar("_Config", WriterConfig, ReaderConfig, StoreConfig)


class DatasetRuntime:
    """Exactly ``num_workers`` native threads, shared by writing, opening and reading.

    Make one per process or training job. Datasets made by it keep its threads alive. It
    does not pickle: another process makes its own.

    Args:
        num_workers: Number of threads, at least 1; never inferred from the machine.

    Raises:
        InvalidConfigError: The number is out of range.
        TypeError: It is not an integer.
    """

    def __init__(self, *, num_workers: int) -> None:
        if isinstance(num_workers, bool):
            raise TypeError("num_workers wants an integer, a bool was given")
        self._native = _native.Runtime(num_workers)

    @property
    def num_workers(self) -> int:
        """Number of threads, as chosen at creation."""
        return self._native.num_workers

    def __repr__(self) -> str:
        return f"DatasetRuntime(num_workers={self.num_workers})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DatasetRuntime does not pickle; make one in each process")

    def write_cache(
        self,
        sources: CacheSource | Sequence[CacheSource],
        path: str | Path,
        *,
        writer_config: WriterConfig = DEFAULT_WRITER_CONFIG,
    ) -> list[CacheWriteResult]:
        """Write one immutable cache per source, under ``path / source.name``.

        A cache appears complete or not at all. One failing source never stops the others.

        Args:
            sources: A source, or a list of them.
            path: Base directory of the caches; made if it is missing.
            writer_config: How to write.

        Returns:
            One ``CacheWriteSuccess`` or ``CacheWriteError`` per source, in source order. A
            finished cache of that name gives a ``CacheExistsError`` as an error value.

        Raises:
            InvalidConfigError: Two sources share a name; nothing has been written.
            TypeError: A config or path of a wrong type.
            KeyboardInterrupt: On Ctrl-C, and likewise whatever else a source raises that
                is not an ``Exception``; no temporaries are left.
        """
        config = _require(writer_config, WriterConfig, "writer_config")
        return self._write(source_list(sources), _text_path(path, "path"), config, reuse=False)

    def cached_dataset(
        self,
        paths: Sequence[str | Path],
        *,
        reader_config: ReaderConfig,
        store_config: StoreConfig | None = None,
    ) -> CachedDataset:
        """Open finished caches as one dataset.

        Manifests, existence and length of every file, index shape and schemas are checked;
        nothing is hashed unless ``reader_config.validate_cache`` asks for it.

        Args:
            paths: Cache directories, or URLs of caches (``s3://``, ``gs://``, ``az://``,
                ``file://``); the position in this list is the ``cache_id``. Their metadata
                schemas must be equal.
            reader_config: How to draw and read.
            store_config: The local store through which caches at URLs are read.

        Returns:
            The dataset, with every sample once in its table and weight 1.0.

        Raises:
            TypeError: ``paths`` is a single path, or not a sequence of paths.
            InvalidConfigError: ``paths`` is empty, or holds a URL and there is no store.
            CorruptCacheError: A cache is damaged.
            RemoteReadError: A cache at a URL cannot be opened.
            ImportError: A path is a URL, and obstore is not installed.
            CacheVersionError: A cache asks for another version of dataset_rt.
            InvalidMetadataError: Two caches have different schemas.
            DatasetIOError: A file cannot be read (also the fitting ``OSError``).
        """
        if isinstance(paths, str | bytes | os.PathLike):
            raise TypeError(f"paths wants a list of cache directories, not one path: {paths!r}")
        texts = [_text_path(path, f"paths[{i}]") for i, path in enumerate(paths)]
        config = _require(reader_config, ReaderConfig, "reader_config")
        if store_config is not None:
            _require(store_config, StoreConfig, "store_config")
        return CachedDataset(self._native.open_dataset(texts, config, store_config))

    def from_cache_sources(
        self,
        sources: CacheSource | Sequence[CacheSource],
        path: str | Path,
        *,
        reader_config: ReaderConfig,
        writer_config: WriterConfig = DEFAULT_WRITER_CONFIG,
    ) -> CacheSourcesDatasetResult:
        """Write what is missing, reuse what is finished, and open all that succeeded.

        Reuse goes by the name and, where the source has one, its version text. A damaged
        cache is the error value of its source; it is never rebuilt behind your back and
        never hides the others.

        Args:
            sources: A source, or a list of them.
            path: Base directory of the caches.
            reader_config: How to draw and read.
            writer_config: How to write.

        Returns:
            ``CacheSourcesDatasetSuccess`` when at least one cache was loaded, otherwise
            ``CacheSourcesDatasetError``; both with one outcome per source.

        Raises:
            InvalidConfigError: Two sources share a name; nothing has been written.
            TypeError: A config or path of a wrong type.
            KeyboardInterrupt: As for ``write_cache``.
        """
        config = _require(writer_config, WriterConfig, "writer_config")
        reader = _require(reader_config, ReaderConfig, "reader_config")
        _native.check_reader_config(reader)
        written = self._write(source_list(sources), _text_path(path, "path"), config, reuse=True)
        native, results = self._native.open_written(written, reader)
        if native is None:
            return CacheSourcesDatasetError(results, _summary(results))
        return CacheSourcesDatasetSuccess(CachedDataset(native), results)

    def _write(
        self, sources: list[CacheSource], base: str, config: WriterConfig, *, reuse: bool
    ) -> list[CacheWriteResult]:
        screen = notebook_sink() if config.show_progress else None
        if not config.num_processes:
            return self._native.write_caches(sources, base, config, reuse=reuse, progress=screen)
        from dataset_rt.processes import write_in_processes

        return write_in_processes(self._native, sources, base, config, reuse=reuse, progress=screen)


def source_list(sources: CacheSource | Sequence[CacheSource]) -> list[CacheSource]:
    """Tell a list of sources from one source, which may itself be a kind of list."""
    if isinstance(sources, list | tuple) and not hasattr(type(sources), "name"):
        return list(sources)
    return [sources]  # type: ignore[list-item]


def _text_path(path: object, argument: str) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument} wants a str or Path, a {type(path).__name__} was given")
    return os.fsdecode(path)


def _require(config: object, wanted: type[_Config], argument: str) -> _Config:
    if not isinstance(config, wanted):
        raise TypeError(
            f"{argument} wants a {wanted.__name__}, a {type(config).__name__} was given"
        )
    return config


def _summary(results: list[CacheWriteResult]) -> str:
    failures = [result for result in results if isinstance(result, CacheWriteError)]
    if not failures:
        return "no cache could be loaded: no source was given"
    first = failures[0]
    return (
        f"no cache could be loaded: {len(failures)} of {len(results)} sources failed, "
        f"first {first.source_name!r}: {first.message}"
    )


DatasetRuntime.__module__ = "dataset_rt.api"
