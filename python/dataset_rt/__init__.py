"""Training samples cached once, drawn through a table that can be edited at run time.

``import dataset_rt as drt`` loads nothing but this file: a name is imported when it is first
used, and with it only what that name needs.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataset_rt._native import __version__
    from dataset_rt.api import (
        CacheDamage,
        CachedDataset,
        CachedSample,
        CacheExistsError,
        CacheFileInfo,
        CacheInput,
        CacheInspection,
        CacheSource,
        CacheSourcesDatasetError,
        CacheSourcesDatasetResult,
        CacheSourcesDatasetSuccess,
        CacheUpload,
        CacheVerification,
        CacheVersionError,
        CacheWriteError,
        CacheWriteResult,
        CacheWriteSuccess,
        CorruptCacheError,
        DatasetError,
        DatasetIOError,
        DatasetRuntime,
        InvalidConfigError,
        InvalidMetadataError,
        PayloadBuffer,
        ReaderConfig,
        ReadStats,
        RemoteReadError,
        SampleBatch,
        ShardCompression,
        SizedTorchIterableDataset,
        SourceProcessError,
        StateMismatchError,
        StoreConfig,
        UnknownSampleError,
        WriterConfig,
        WriterProfilerConfig,
        convert,
        inspect,
        upload,
        verify,
    )

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError(
        "dataset_rt has no build for free-threaded CPython: its native module uses the stable ABI "
        "of CPython 3.10, which that build does not have. Use the ordinary build of CPython."
    )

__all__ = [
    "CacheDamage",
    "CacheExistsError",
    "CacheFileInfo",
    "CacheInput",
    "CacheInspection",
    "CacheSource",
    "CacheSourcesDatasetError",
    "CacheSourcesDatasetResult",
    "CacheSourcesDatasetSuccess",
    "CacheUpload",
    "CacheVerification",
    "CacheVersionError",
    "CacheWriteError",
    "CacheWriteResult",
    "CacheWriteSuccess",
    "CachedDataset",
    "CachedSample",
    "CorruptCacheError",
    "DatasetError",
    "DatasetIOError",
    "DatasetRuntime",
    "InvalidConfigError",
    "InvalidMetadataError",
    "PayloadBuffer",
    "ReadStats",
    "ReaderConfig",
    "RemoteReadError",
    "SampleBatch",
    "ShardCompression",
    "SizedTorchIterableDataset",
    "SourceProcessError",
    "StateMismatchError",
    "StoreConfig",
    "UnknownSampleError",
    "WriterConfig",
    "WriterProfilerConfig",
    "__version__",
    "convert",
    "inspect",
    "upload",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "dataset_rt._native" if name == "__version__" else "dataset_rt.api"
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
