"""What a writer reads from: ``CacheInput`` and the ``CacheSource`` protocol."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from dataset_rt.sample import MetadataValue

__all__ = ["BytesLike", "CacheInput", "CacheSource", "Metadata"]

BytesLike = bytes | bytearray | memoryview
"""A payload. Any object with the buffer protocol works, NumPy arrays in C order included."""

Metadata = Mapping[str, MetadataValue]
"""Metadata of one sample."""


class CacheInput(NamedTuple):
    """One sample as yielded by a source.

    Attributes:
        data: The payload, already serialized; 0 bytes are fine.
        metadata: Values to filter and weight by. Every sample of a source has the keys and
            types of the first one: bool, int (64 bits), float or str, never None. The keys
            ``cache_id``, ``sample_id`` and ``weight`` are taken.
    """

    data: BytesLike
    metadata: Metadata


@runtime_checkable
class CacheSource(Protocol):
    """A named iterable of samples, read once, one sample at a time, in one thread.

    A source may also have ``version: str | None``, a text of its own choosing that is
    recorded in the cache. When a finished cache is reused, an unequal version is refused or
    rebuilt (``WriterConfig.on_version_change``); a source without one reuses anything.

    Attributes:
        name: Name of the cache directory: one plain path segment, not ``tmp``.
    """

    name: str

    def __iter__(self) -> Iterator[CacheInput]:
        """Yield the samples in order. What it raises becomes that source's error value."""
        ...


CacheInput.__module__ = "dataset_rt.api"  # the name that pickles carry
