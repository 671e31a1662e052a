"""``CachedSample``: what iteration hands out. Light, because loader workers import it."""

from typing import NamedTuple

__all__ = ["CachedSample", "MetadataValue"]

MetadataValue = bool | int | float | str
"""A value of a stored metadata column."""


class CachedSample(NamedTuple):
    """One sample as drawn from a dataset.

    Attributes:
        data: The payload, byte for byte what the source yielded.
        metadata: The stored metadata of the sample, a dict of the caller's own. It comes
            from the cache: edits of the active table never show here.
        cache_id: Position of the sample's cache in ``CachedDataset.cache_paths``.
        sample_id: Number of the sample within its cache.
    """

    data: bytes
    metadata: dict[str, MetadataValue]
    cache_id: int
    sample_id: int


CachedSample.__module__ = "dataset_rt.api"  # the name that pickles carry
