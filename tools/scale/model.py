"""What a job on many ranks reads, from its draws: samples, shards, bytes, hits of a node's cache.

Arithmetic over arrays of row numbers; it reads no cache. Draws come from ``CachedDataset.plan``,
so the streams are those of the package. Where a job is too large to be drawn, its expectation
stands beside what smaller ones gave.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE_BYTES_PER_ROW = 16
"""At most, for weighted rows: row to sample, and sums."""

INDEX_BYTES_PER_SAMPLE = 32


@dataclass(frozen=True)
class Layout:
    """Samples of one size in the shards of one cache, in order, uncompressed."""

    samples: int
    payload_bytes: int
    max_shard_bytes: int

    @property
    def shard_samples(self) -> int:
        """Samples of a full shard."""
        return max(1, self.max_shard_bytes // self.payload_bytes)

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.samples // self.shard_samples)


@dataclass(frozen=True)
class Touched:
    """What some draws touch, each thing counted once but for the draws."""

    draws: int
    samples: int
    shards: int
    payload_bytes: int


def of_rank(rows: NDArray[np.int64], rank: int, ranks: int) -> NDArray[np.int64]:
    """The draws of one rank: those whose index in the window is its own modulo their number."""
    return rows[rank::ranks]


def of_node(
    rows: NDArray[np.int64], node: int, ranks: int, ranks_per_node: int
) -> NDArray[np.int64]:
    """The draws of neighbouring ranks, in the order in which they come."""
    index = np.arange(len(rows)) % ranks // ranks_per_node
    return rows[index == node]


def touched(rows: NDArray[np.int64], layout: Layout) -> Touched:
    """Count what draws touch."""
    samples = np.unique(rows)
    shards = np.unique(samples // layout.shard_samples)
    return Touched(len(rows), len(samples), len(shards), len(samples) * layout.payload_bytes)


def cache_hits(rows: NDArray[np.int64], capacity: int) -> int:
    """Draws that find their sample in a cache of the last so many samples."""
    held: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for row in rows.tolist():
        if row in held:
            hits += 1
            held.move_to_end(row)
        else:
            held[row] = None
            if len(held) > capacity:
                held.popitem(last=False)
    return hits


def expected_distinct(draws: float, things: float) -> float:
    """Different things among so many even draws with replacement."""
    return -things * math.expm1(draws * math.log1p(-1 / things)) if things > 1 else min(draws, 1)


@dataclass(frozen=True)
class Job:
    """A training on many ranks, with draws of equal weight.

    Attributes:
        layout: The samples.
        ranks: Number of ranks.
        ranks_per_node: How many of them share a node and its cache.
        draws_per_second: Of each rank.
        store_bytes_per_second: What the store gives to all nodes together.
    """

    layout: Layout
    ranks: int
    ranks_per_node: int
    draws_per_second: float
    store_bytes_per_second: float

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.ranks // self.ranks_per_node

    @property
    def store_bytes(self) -> int:
        """Payload of all samples."""
        return self.layout.samples * self.layout.payload_bytes

    @property
    def node_bytes_per_second(self) -> float:
        """What the ranks of a node read."""
        return self.ranks_per_node * self.draws_per_second * self.layout.payload_bytes

    @property
    def wanted_bytes_per_second(self) -> float:
        """What all ranks read, with nothing cached."""
        return self.nodes * self.node_bytes_per_second

    @property
    def epoch_seconds(self) -> float:
        """As many draws as there are samples, at the speed of ranks or of the store."""
        wanted = self.layout.samples / (self.ranks * self.draws_per_second)
        return max(wanted, self.store_bytes / self.store_bytes_per_second)

    @property
    def table_bytes(self) -> int:
        """Sampling tables of each host, at most."""
        return TABLE_BYTES_PER_ROW * self.layout.samples

    @property
    def index_bytes(self) -> int:
        """All ``index.bin`` files."""
        return INDEX_BYTES_PER_SAMPLE * self.layout.samples

    def shard_share_of_node(self) -> float:
        """Share of all shards that the draws of one node touch in an epoch."""
        draws = self.layout.samples / self.nodes
        return expected_distinct(draws, self.layout.shards) / self.layout.shards

    def miss_bytes_per_second(self, cached_share: float) -> float:
        """What the store has to give when each node caches that share of the samples."""
        return self.wanted_bytes_per_second * (1 - cached_share)

    def epochs_until_copies_pay(self) -> int:
        """After how many epochs whole copies on all nodes have moved less than the draws.

        A node's draws move a part of the store per epoch, one by the number of nodes; a copy
        moves all of it, once.
        """
        return self.nodes
