"""From the paths of a command line to caches and a dataset over them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import dataset_rt as drt
from dataset_rt.cli.failures import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["find_caches", "open_dataset"]


def find_caches(paths: Iterable[Path]) -> list[Path]:
    """The caches that paths name: a cache itself, or those directly below it, by name.

    A path that is neither stays, so that the core says what is wrong with it.
    """
    return [cache for path in paths for cache in _caches_of(path)]


def _caches_of(path: Path) -> list[Path]:
    if _is_cache(path):
        return [path]
    try:
        below = sorted(inner for inner in path.iterdir() if _is_cache(inner))
    except OSError:
        below = []
    return below or [path]


def _is_cache(path: Path) -> bool:
    return os.path.isfile(path / "manifest.json")  # noqa: PTH113 - Path raises where access is denied


def open_dataset(
    paths: Iterable[Path],
    *,
    workers: int,
    seed: int = 0,
    ordered: bool = False,
    each_once: bool = False,
) -> drt.CachedDataset:
    """Open all caches that paths name as one dataset.

    Raises:
        DatasetError: One of them cannot be opened.
        UsageError: The modes do not fit each other.
    """
    if ordered and each_once:
        raise UsageError("--ordered and --each-once exclude each other: table order is each once")
    config = drt.ReaderConfig(seed=seed, shuffle=not ordered, replacement=not each_once)
    runtime = drt.DatasetRuntime(num_workers=workers)
    return runtime.cached_dataset(find_caches(paths), reader_config=config)
