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
    "CacheUpload",
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

    def _repr_html_(self) -> str:
        from dataset_rt.display import facts

        pairs = [("path", self.path), ("samples", f"{self.row_count:,}"), ("status", self.status)]
        return facts(self.source_name, [*pairs, ("created", self.created_at)])


@dataclass(frozen=True)
class CacheUpload:
    """A cache that is whole at a URL.

    Attributes:
        url: Where it is, for ``cached_dataset``.
        sent_files: Objects that were sent.
        sent_bytes: Their bytes.
        kept_files: Objects that were there already, whole.
        kept_bytes: Their bytes.
    """

    url: str
    sent_files: int
    sent_bytes: int
    kept_files: int
    kept_bytes: int


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

    def _repr_html_(self) -> str:
        from dataset_rt.display import facts

        kind = type(self.error).__name__ if self.error else "unknown"
        return facts(self.source_name, [("failed with", kind), ("because", self.message)])


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


@dataclass(frozen=True, repr=False)
class CacheSourcesDatasetSuccess:
    """A dataset over every cache that could be written or reused.

    Attributes:
        dataset: The dataset; its ``cache_id`` counts the loaded caches only.
        results: One outcome per source, in source order, failures included.
    """

    dataset: "CachedDataset"
    results: list[CacheWriteResult]

    def __repr__(self) -> str:
        return f"<CacheSourcesDatasetSuccess: {_told(self.results)}; {self.dataset!r}>"

    def _repr_html_(self) -> str:
        return _results_html(self.results) + self.dataset._repr_html_()


@dataclass(frozen=True, repr=False)
class CacheSourcesDatasetError:
    """No cache could be loaded.

    Attributes:
        results: One outcome per source, in source order.
        message: Summary, for people.
    """

    results: list[CacheWriteResult]
    message: str

    def __repr__(self) -> str:
        return f"<CacheSourcesDatasetError: {_told(self.results)}; {self.message}>"

    def _repr_html_(self) -> str:
        return _results_html(self.results)


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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        from dataset_rt.units import counted

        found = "intact"
        if self.damages:
            number = counted(len(self.damages) + self.omitted_count, "finding")
            found = f"{number}, first: {self.damages[0].error}"
        return f"<CacheVerification of {self.path}: {self.row_count:,} samples, {found}>"

    def _repr_html_(self) -> str:
        from dataset_rt.display import lines

        state = "intact" if self.is_intact else "DAMAGED"
        title = (
            f"{self.path}: {state}, {self.row_count:,} samples, {self.byte_count:,} bytes checked"
        )
        rows = [
            (damage.error.file, damage.error.sample_id, damage.error) for damage in self.damages
        ]
        return lines(title, ("file", "sample", "finding"), rows)


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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return (
            f"<CacheInspection of {self.path}: {self.row_count:,} samples, "
            f"{self.payload_bytes:,} bytes of payload, {self.format} {self.format_version}, "
            f"{self.compression}>"
        )

    def _repr_html_(self) -> str:
        from dataset_rt.display import facts
        from dataset_rt.units import count, size

        return facts(
            str(self.path),
            [
                ("format", f"{self.format} {self.format_version}"),
                ("source", self.source_name),
                ("source version", self.source_version or "none"),
                ("samples", count(self.row_count)),
                ("payload", size(self.payload_bytes)),
                ("stored", f"{size(self.stored_bytes)}, {self.compression}"),
                ("columns", ", ".join(f"{k}: {v}" for k, v in self.metadata_schema.items())),
                ("files", count(len(self.files))),
                ("created", self.created_at or "not recorded"),
                ("digest", self.content_digest),
            ],
        )


def _told(results: list[CacheWriteResult]) -> str:
    """Counts of outcomes in words."""
    from dataset_rt.units import counted

    failed = sum(isinstance(result, CacheWriteError) for result in results)
    return f"{counted(len(results), 'source')}, {failed} failed"


def _results_html(results: list[CacheWriteResult]) -> str:
    """A line for each source, the failed ones first."""
    from dataset_rt.display import lines

    failed = [r for r in results if isinstance(r, CacheWriteError)]
    done = [r for r in results if isinstance(r, CacheWriteSuccess)]
    rows = [(r.source_name, "failed", r.message) for r in failed]
    rows += [(r.source_name, r.status, f"{r.row_count:,} samples") for r in done]
    return lines(_told(results), ("source", "outcome", ""), rows)


for _class in (
    CacheDamage,
    CacheFileInfo,
    CacheInspection,
    CacheUpload,
    CacheVerification,
    CacheWriteSuccess,
    CacheWriteError,
    CacheSourcesDatasetSuccess,
    CacheSourcesDatasetError,
):
    _class.__module__ = "dataset_rt.api"  # the name that pickles carry
