"""What is done with one cache beside reading it: ``verify``, ``inspect``, ``convert``, ``upload``.

The rules are the core's; these functions describe the arguments.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dataset_rt import _native

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dataset_rt.config import CompressionAlgo
    from dataset_rt.results import (
        CacheInspection,
        CacheUpload,
        CacheVerification,
        CacheWriteSuccess,
    )

__all__ = ["convert", "inspect", "upload", "verify"]


def verify(
    path: str | Path,
    *,
    num_workers: int = 4,
    progress: Callable[[int, int], object] | None = None,
) -> CacheVerification:
    """Check every byte of a cache, and that its parts fit each other.

    Each file is hashed, in parallel; records, index rows and metadata values that are damaged
    are named. Damage is not raised: it is in the result, all of it.

    Args:
        path: The cache directory; of dataset_rt or of the original system.
        num_workers: Number of threads, at least 1.
        progress: Called now and then with the bytes hashed and the bytes to hash.

    Returns:
        The findings; ``is_intact`` when there are none.

    Raises:
        DatasetError: There is no cache at ``path``: no ``manifest.json``.
        CorruptCacheError: The manifest itself is damaged.
        CacheVersionError: The cache asks for another version of dataset_rt.
        DatasetIOError: A file cannot be read.
        KeyboardInterrupt: On Ctrl-C, within half a second.
    """
    return _native.verify(os.fspath(path), num_workers=num_workers, progress=progress)


def inspect(path: str | Path) -> CacheInspection:
    """Tell what the manifest of a cache says; reads no payload and checks no other file.

    Args:
        path: The cache directory; of dataset_rt or of the original system.

    Returns:
        Format, source, counts, schema, files and digest.

    Raises:
        DatasetError: There is no cache at ``path``: no ``manifest.json``.
        CorruptCacheError: The manifest is damaged.
        CacheVersionError: The cache asks for another version of dataset_rt.
        DatasetIOError: A file cannot be read.
    """
    return _native.inspect(os.fspath(path))


def convert(
    path: str | Path,
    out: str | Path,
    *,
    compression: CompressionAlgo | None = None,
    max_shard_bytes: int = 64 * 1024 * 1024,
    num_workers: int = 4,
    progress: Callable[[int, int], object] | None = None,
) -> CacheWriteSuccess:
    """Rewrite a cache as one of format 1, which it may be already.

    Samples, metadata with its types, source name and source version stay. Each record is
    verified as it is read; a cache of the original system, whose records have no checksums,
    is verified as a whole before. The new cache appears complete or not at all.

    Args:
        path: The cache to read; it stays as it is.
        out: Directory of the new cache; must not exist.
        compression: How the new records are stored; None keeps what the cache has.
        max_shard_bytes: A shard is closed before it grows beyond this many bytes.
        num_workers: Number of threads, at least 1.
        progress: Called now and then with the samples done and the samples to do.

    Returns:
        The new cache.

    Raises:
        CacheExistsError: ``out`` exists.
        CorruptCacheError: The cache is damaged; the first finding.
        CacheVersionError: The cache asks for another version of dataset_rt.
        InvalidConfigError: An argument, or a source name that no cache can have.
        DatasetIOError: A file cannot be read or written.
        KeyboardInterrupt: On Ctrl-C, within half a second; nothing is left at ``out``.
    """
    from dataset_rt.config import WriterConfig

    config = WriterConfig(max_shard_bytes=max_shard_bytes, show_progress=False)
    return _native.convert(
        os.fspath(path),
        os.fspath(out),
        config,
        compression=compression,
        num_workers=num_workers,
        progress=progress,
    )


def upload(
    path: str | Path,
    url: str,
    *,
    attempts: int = 5,
    request_timeout_seconds: float = 30.0,
    num_workers: int = 4,
    progress: Callable[[int, int], object] | None = None,
) -> CacheUpload:
    """Send a finished cache to object storage.

    Data first, the manifest last: a cache at a URL can be opened when it is whole. Every object
    is read back and compared. What is there already, whole, is not sent again, so an upload
    that ended anywhere goes on where it was.

    Args:
        path: The cache directory, of format 1.
        url: Where to: ``s3://``, ``gs://``, ``az://`` or ``file://``. Credentials are those that
            obstore finds.
        attempts: How often a request is made before its error is raised.
        request_timeout_seconds: Longest time of one request.
        num_workers: Objects sent at once.
        progress: Called now and then with the bytes that arrived and the bytes to send.

    Returns:
        What was sent and what was there.

    Raises:
        RemoteReadError: The object store did not take something, or give it back.
        CacheExistsError: Another cache is at the URL; nothing was sent.
        CorruptCacheError: A file of the cache is not what its manifest says; there is no manifest
            at the URL then, unless an earlier upload left one.
        InvalidConfigError: An argument, or a cache of the original system: convert it first.
        DatasetIOError: A file cannot be read.
        ImportError: obstore is not installed.
        KeyboardInterrupt: On Ctrl-C.
    """
    from dataset_rt.results import CacheUpload

    sent = _native.upload(
        os.fspath(path),
        url,
        attempts=attempts,
        request_timeout_seconds=request_timeout_seconds,
        num_workers=num_workers,
        progress=progress,
    )
    return CacheUpload(**sent)


for _function in (convert, inspect, upload, verify):
    _function.__module__ = "dataset_rt.api"  # where code finds them
