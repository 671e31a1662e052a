"""Outcomes as values: what a write gave per source, and what opening them gave.

The core makes the per-source values. All of them unpack by position in ``match``.
"""

import copy
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dataset_rt.errors import CorruptCacheError, DatasetError

if TYPE_CHECKING:
    from dataset_rt.dataset import CachedDataset

__all__ = [
    "CacheDamage",
    "CacheFileInfo",
    "CacheInspection",
    "CacheSourcesDatasetError",
    "CacheSourcesDatasetResult",
    "CacheSourcesDatasetSuccess",
    "CacheVerification",
    "CacheWriteError",
    "CacheWriteResult",
    "CacheWriteSuccess",
]

CacheStatus = Literal["built", "reused"]


@dataclass(frozen=True)
class CacheWriteSuccess:
    """A cache that is finished on disk.

    Attributes:
        source_name: Name of the source.
        path: The cache directory, absolute.
        status: ``"built"`` by this call or ``"reused"`` as it was found. Reuse goes by name
            and version text alone; it does not say that the cache is fresh.
        row_count: Samples in the cache.
        created_at: When the cache was written, RFC 3339 in UTC; empty if not recorded.
        writer_version: Version of dataset_rt that wrote it; empty if not recorded.
    """

    source_name: str
    path: Path
    status: CacheStatus = "built"
    row_count: int = 0
    created_at: str = ""
    writer_version: str = ""


@dataclass(frozen=True)
class CacheWriteError:
    """A source whose cache was not written, or cannot be used.

    Attributes:
        source_name: Name of the source, or ``source[i]`` if that could not be read.
        message: The reason, for people.
        error: The exception behind it: one of ``dataset_rt.errors``, or what the source
            itself raised, with its traceback. Two values compare without it.
    """

    source_name: str
    message: str
    error: Exception | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the exception, or with its text where it cannot travel itself."""
        error = self.error
        if error is not None and not travels(error):
            error = DatasetError(f"{type(error).__name__}: {error}", kind="SourceFailed")
        return type(self), (self.source_name, self.message, error)


def travels(error: BaseException) -> bool:
    """Whether an exception of the user's survives a pickle."""
    try:
        pickle.dumps(error)
        copy.copy(error)  # finds constructors that refuse the stored arguments
    except Exception:  # noqa: BLE001 - whatever the user's class raises, it stays behind
        return False
    return True


CacheWriteResult = CacheWriteSuccess | CacheWriteError
"""Outcome of one source."""


@dataclass(frozen=True)
class CacheSourcesDatasetSuccess:
    """A dataset over every cache that could be written or reused.

    Attributes:
        dataset: The dataset; its ``cache_id`` counts the loaded caches only.
        results: One outcome per source, in source order, failures included.
    """

    dataset: "CachedDataset"
    results: list[CacheWriteResult]


@dataclass(frozen=True)
class CacheSourcesDatasetError:
    """No cache could be loaded.

    Attributes:
        results: One outcome per source, in source order.
        message: Summary, for people.
    """

    results: list[CacheWriteResult]
    message: str


CacheSourcesDatasetResult = CacheSourcesDatasetSuccess | CacheSourcesDatasetError
"""Outcome of ``DatasetRuntime.from_cache_sources``."""


@dataclass(frozen=True)
class CacheDamage:
    """One finding of ``dataset_rt.verify``.

    Attributes:
        error: The finding: path, file, shard, byte range, expected and found, as far as they
            are known. Of neighbouring samples it is the first one's.
        sample_ids: The samples concerned; None when that cannot be told or there are none.
    """

    error: CorruptCacheError
    sample_ids: range | None = None


@dataclass(frozen=True)
class CacheVerification:
    """What ``dataset_rt.verify`` found.

    Attributes:
        path: The cache directory, absolute.
        row_count: Samples in the cache.
        file_count: Files hashed.
        byte_count: Bytes hashed.
        damages: The findings, by file and then by sample.
        omitted_count: Findings beyond those listed.
    """

    path: Path
    row_count: int
    file_count: int
    byte_count: int
    damages: tuple[CacheDamage, ...] = ()
    omitted_count: int = 0

    @property
    def is_intact(self) -> bool:
        """Whether nothing was found."""
        return not self.damages

    @property
    def damaged_sample_ids(self) -> list[int]:
        """Every sample that a listed finding names, in ascending order."""
        named = {i for damage in self.damages for i in damage.sample_ids or ()}
        return sorted(named)


@dataclass(frozen=True)
class CacheFileInfo:
    """One file as the manifest lists it.

    Attributes:
        name: Path relative to the cache.
        byte_count: Length in bytes.
        digest: Hash with the name of its kind, such as ``"xxh3_128:…"`` or ``"sha256:…"``.
    """

    name: str
    byte_count: int
    digest: str


@dataclass(frozen=True)
class CacheInspection:
    """What the manifest of a cache says, see ``dataset_rt.inspect``.

    Attributes:
        path: The cache directory, absolute.
        format: ``"dataset_rt"``, or ``"original"`` for a cache of the original system.
        format_version: Version of that format.
        source_name: Name of the source.
        source_version: Version of the source, if it had one.
        row_count: Samples in the cache.
        payload_bytes: Sum of the payload lengths.
        stored_bytes: Sum of the shard lengths.
        compression: ``"none"`` or ``"lz4"``, as asked for when it was written.
        metadata_schema: Type of each metadata column: ``"bool"``, ``"int64"``, ``"float64"``
            or ``"string"``.
        files: Every data file.
        created_at: When it was written, RFC 3339 in UTC; empty if not recorded.
        writer_version: Version of dataset_rt that wrote it; empty if not recorded.
        content_digest: Digest of the data; moving or copying the cache does not change it.
    """

    path: Path
    format: Literal["dataset_rt", "original"]
    format_version: int
    source_name: str
    source_version: str | None
    row_count: int
    payload_bytes: int
    stored_bytes: int
    compression: Literal["none", "lz4"]
    metadata_schema: dict[str, str]
    files: tuple[CacheFileInfo, ...]
    created_at: str
    writer_version: str
    content_digest: str


for _class in (
    CacheDamage,
    CacheFileInfo,
    CacheInspection,
    CacheVerification,
    CacheWriteSuccess,
    CacheWriteError,
    CacheSourcesDatasetSuccess,
    CacheSourcesDatasetError,
):
    _class.__module__ = "dataset_rt.api"  # the name that pickles carry
