"""Frozen configs: their shape. Rules that span fields are the core's and asked for there.

Numbers, flags and words are taken as they are: no text for a number, no number for a flag.
"""

import operator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = [
    "DEFAULT_WRITER_CONFIG",
    "CompressionAlgo",
    "ReaderConfig",
    "ShardCompression",
    "StoreConfig",
    "WriterConfig",
    "WriterProfilerConfig",
]

CompressionAlgo = Literal["none", "lz4"]


def _whole(value: Any) -> int:
    """Accept integers of every make (NumPy's too), but neither flags nor texts."""
    if isinstance(value, bool):
        raise ValueError("wanted an integer, a bool was given")  # noqa: TRY004 - pydantic's rule
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"wanted an integer, a {type(value).__name__} was given") from None


_Count = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=2**63 - 1)]
_Seed = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=2**64 - 1)]
_Flag = Annotated[bool, Field(strict=True)]


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ShardCompression(_Config):
    """How payloads are compressed, each record by itself.

    Attributes:
        algo: ``"none"`` or ``"lz4"``. An LZ4 record that would not shrink is stored raw.
        ratio: Expected raw size divided by stored size, recorded in the manifest and
            otherwise advisory. Finite and positive; exactly 1.0 for ``"none"``.
    """

    algo: CompressionAlgo = "none"
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class WriterProfilerConfig(_Config):
    """Where the time of a write goes, as a JSON file.

    Attributes:
        enabled: Whether stage times are measured and written.
        path: The JSON file; written after success, a handled failure and Ctrl-C.
    """

    enabled: _Flag = False
    path: Path = Path("dataset_rt_profile.json")


class WriterConfig(_Config):
    """How caches are written.

    Attributes:
        prefetch_size: Upper bound of tasks in flight, over all sources of a call; the number of
            workers is another. A task encodes 256 KiB of payloads, or completes a cache.
        max_shard_bytes: A shard is closed before it grows beyond this many bytes. A larger
            payload gets a shard of its own.
        shard_compression: Compression of new caches.
        show_progress: Whether samples/s and MB/s are shown on standard error.
        validate_cache: Whether a cache found finished is hashed in full before its reuse.
        profiler: Stage times as JSON.
        on_version_change: What a source with a version does to a finished cache of another
            version: ``"refuse"`` gives that source an error, ``"rebuild"`` replaces it.
        num_processes: Spawned processes that iterate the sources, one source each and at most
            so many at once; 0 iterates them in the calling thread. For preprocessing that
            holds the GIL. A source is pickled to get there; results, order and bytes are
            those of 0.
        process_timeout_seconds: Longest silence of such a process, in seconds: neither a row
            nor anything the core did for it. It is then ended, and its source failed.
    """

    prefetch_size: _Count = 64
    max_shard_bytes: _Count = 64 * 1024 * 1024
    shard_compression: ShardCompression = ShardCompression()
    show_progress: _Flag = True
    validate_cache: _Flag = False
    profiler: WriterProfilerConfig = WriterProfilerConfig()
    on_version_change: Literal["refuse", "rebuild"] = "refuse"
    num_processes: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=1024)] = 0
    process_timeout_seconds: Annotated[float, Field(gt=0)] = 3600.0

    @model_validator(mode="after")
    def _ask_core(self) -> "WriterConfig":
        from dataset_rt import _native

        _native.check_writer_config(self)
        return self


class ReaderConfig(_Config):
    """How a dataset draws and reads.

    Attributes:
        seed: Seed of the draw stream, any integer in 0..2**64-1.
        prefetch_size: Upper bound of samples read ahead of the caller.
        shuffle: Whether rows are drawn at random, by weight; otherwise in table order,
            cyclically.
        validate_cache: Whether all files are hashed in full when the dataset is made.
        replacement: Whether a shuffled stream may repeat a row before all were drawn. False
            draws each row exactly once per cycle; weights then order the cycle.
        verify_records: Whether the checksum of each record is checked as it is read; records
            of caches of the original system have none.
        on_corrupt: ``"raise"`` an error in place of a damaged sample, or ``"skip"`` and
            count it; the order of the others stays.
        mapped: Whether files are mapped. False uses positioned reads, which suits network
            and user-space file systems.
    """

    seed: _Seed
    prefetch_size: _Count = 64
    shuffle: _Flag = True
    validate_cache: _Flag = False
    replacement: _Flag = True
    verify_records: _Flag = True
    on_corrupt: Literal["raise", "skip"] = "raise"
    mapped: _Flag = True

    @model_validator(mode="after")
    def _ask_core(self) -> "ReaderConfig":
        from dataset_rt import _native

        _native.check_reader_config(self)
        return self


class StoreConfig(_Config):
    """How the local store is kept through which caches at URLs are read.

    Attributes:
        path: Directory of the store; made if it is missing. Any number of datasets and
            processes may share it.
        limit_bytes: Bytes that the store may take on the disk, all processes together; None
            for as many as there are. Records that a live window needs soon stay whatever the
            limit says; index and metadata of a cache stay too.
        look_ahead_bytes: Payload bytes of coming draws that are fetched ahead of each reader; no
            more than a quarter of the limit.
        max_requests: Requests in flight, at most, of each dataset.
        attempts: How often bytes are asked for before their error is raised.
        retry_wait_seconds: Wait before the second attempt; each later one waits twice as long.
        request_timeout_seconds: Longest time of one request.
    """

    path: str | Path
    limit_bytes: _Count | None = None
    look_ahead_bytes: _Count = 64 * 1024 * 1024
    max_requests: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=1024)] = 16
    attempts: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=2**32 - 1)] = 5
    retry_wait_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.1
    request_timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0

    @model_validator(mode="after")
    def _ask_core(self) -> "StoreConfig":
        from dataset_rt import _native

        _native.check_store_config(self)
        return self


DEFAULT_WRITER_CONFIG = WriterConfig()

for _class in (ShardCompression, WriterProfilerConfig, WriterConfig, ReaderConfig, StoreConfig):
    _class.__module__ = "dataset_rt.api"  # the name that pickles carry
