"""Every public name under one module, the one that pickles and user code refer to.

Lazy like the package itself: ``api.CachedSample`` does not load what ``api.ReaderConfig``
needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataset_rt._native import SampleBatch
    from dataset_rt.batch import PayloadBuffer
    from dataset_rt.config import (
        DEFAULT_WRITER_CONFIG,
        CompressionAlgo,
        ReaderConfig,
        ShardCompression,
        StoreConfig,
        WriterConfig,
        WriterProfilerConfig,
    )
    from dataset_rt.dataset import CachedDataset
    from dataset_rt.errors import (
        CacheExistsError,
        CacheVersionError,
        CorruptCacheError,
        DatasetError,
        DatasetIOError,
        InvalidConfigError,
        InvalidMetadataError,
        RemoteReadError,
        SourceProcessError,
        StateMismatchError,
        UnknownSampleError,
    )
    from dataset_rt.integrations.torch import SizedTorchIterableDataset
    from dataset_rt.results import (
        CacheDamage,
        CacheFileInfo,
        CacheInspection,
        CacheSourcesDatasetError,
        CacheSourcesDatasetResult,
        CacheSourcesDatasetSuccess,
        CacheUpload,
        CacheVerification,
        CacheWriteError,
        CacheWriteResult,
        CacheWriteSuccess,
    )
    from dataset_rt.runtime import DatasetRuntime
    from dataset_rt.sample import CachedSample, MetadataValue
    from dataset_rt.source import BytesLike, CacheInput, CacheSource, Metadata
    from dataset_rt.stats import ReadStats
    from dataset_rt.tools import convert, inspect, upload, verify

__all__ = [
    "DEFAULT_WRITER_CONFIG",
    "BytesLike",
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
    "CompressionAlgo",
    "CorruptCacheError",
    "DatasetError",
    "DatasetIOError",
    "DatasetRuntime",
    "InvalidConfigError",
    "InvalidMetadataError",
    "Metadata",
    "MetadataValue",
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
    "convert",
    "inspect",
    "upload",
    "verify",
]

_HOMES = {
    "BytesLike": "source",
    "CacheDamage": "results",
    "CacheExistsError": "errors",
    "CacheFileInfo": "results",
    "CacheInput": "source",
    "CacheInspection": "results",
    "CacheSource": "source",
    "CacheSourcesDatasetError": "results",
    "CacheSourcesDatasetResult": "results",
    "CacheSourcesDatasetSuccess": "results",
    "CacheUpload": "results",
    "CacheVerification": "results",
    "CacheVersionError": "errors",
    "CacheWriteError": "results",
    "CacheWriteResult": "results",
    "CacheWriteSuccess": "results",
    "CachedDataset": "dataset",
    "CachedSample": "sample",
    "CompressionAlgo": "config",
    "CorruptCacheError": "errors",
    "DEFAULT_WRITER_CONFIG": "config",
    "DatasetError": "errors",
    "DatasetIOError": "errors",
    "DatasetRuntime": "runtime",
    "InvalidConfigError": "errors",
    "InvalidMetadataError": "errors",
    "Metadata": "source",
    "MetadataValue": "sample",
    "PayloadBuffer": "batch",
    "ReadStats": "stats",
    "ReaderConfig": "config",
    "RemoteReadError": "errors",
    "SampleBatch": "_native",
    "ShardCompression": "config",
    "SizedTorchIterableDataset": "integrations.torch",
    "SourceProcessError": "errors",
    "StateMismatchError": "errors",
    "StoreConfig": "config",
    "UnknownSampleError": "errors",
    "WriterConfig": "config",
    "WriterProfilerConfig": "config",
    "convert": "tools",
    "inspect": "tools",
    "upload": "tools",
    "verify": "tools",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"dataset_rt.{home}"), name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        value = getattr(import_module("dataset_rt.integrations.without_torch"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
