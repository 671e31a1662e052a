"""Outcomes as values: what a write gave per source, and what opening them gave.

The core makes the per-source values. All of them unpack by position in ``match``.
"""

import copy
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dataset_rt.errors import DatasetError

if TYPE_CHECKING:
    from dataset_rt.dataset import CachedDataset

__all__ = [
    "CacheSourcesDatasetError",
    "CacheSourcesDatasetResult",
    "CacheSourcesDatasetSuccess",
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

for _class in (
    CacheWriteSuccess,
    CacheWriteError,
    CacheSourcesDatasetSuccess,
    CacheSourcesDatasetError,
):
    _class.__module__ = "dataset_rt.api"  # the name that pickles carry
