"""Makes the tables of docs/scale.md: `page.py FILE` writes them between the page's own marks.

The text of the page is written by hand; each table stands between `<!-- table: name -->` and
`<!-- end -->`. Draws are those of the package, for a cache of empty payloads made on the spot.
"""

from __future__ import annotations

import re
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import dataset_rt as drt
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from model import Job, Layout, cache_hits, expected_distinct, of_node, of_rank, touched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SMALL = 20_000
EPOCHS = 4
MIB, GIB = 2**20, 2**30
WHOLE = Job(
    Layout(samples=10**10, payload_bytes=16 * 1024, max_shard_bytes=64 * MIB),
    ranks=1000,
    ranks_per_node=8,
    draws_per_second=500,
    store_bytes_per_second=10 * GIB,
)
"""The job that the page is about."""


class Empty:
    """So many samples of 0 bytes."""

    name = "empty"

    def __iter__(self) -> Iterator[drt.CacheInput]:
        """Yield them."""
        for _ in range(SMALL):
            yield drt.CacheInput(b"", {})


@lru_cache
def stream(replacement: bool, epochs: int = EPOCHS) -> NDArray[np.int64]:
    """The rows of some epochs, as the package draws them."""
    with tempfile.TemporaryDirectory() as folder:
        runtime = drt.DatasetRuntime(num_workers=1)
        quiet = drt.WriterConfig(show_progress=False)
        runtime.write_cache(Empty(), folder, writer_config=quiet)
        config = drt.ReaderConfig(seed=1, replacement=replacement)
        dataset = runtime.cached_dataset([Path(folder, "empty")], reader_config=config)
        return dataset.plan(SMALL * epochs)["row"].to_numpy().astype(np.int64)


def needs() -> Sequence[Sequence[str]]:
    """What the whole job asks for."""
    job = WHOLE
    layout = job.layout
    rate = job.node_bytes_per_second / MIB
    tenth = job.miss_bytes_per_second(0.1) / GIB
    return [
        ("", "figure", "how"),
        ("payload", f"{job.store_bytes / 2**40:.0f} TiB", "samples by bytes"),
        ("shards of 64 MiB", f"{layout.shards:,}", f"{layout.shard_samples:,} samples each"),
        ("index", f"{job.index_bytes / GIB:.0f} GiB", "32 B per sample"),
        ("sampling tables, per host", f"{job.table_bytes / GIB:.0f} GiB", "at most 16 B per row"),
        ("reads of a node", f"{rate:.1f} MiB/s", "8 ranks by 500 a second"),
        ("reads of all nodes", f"{job.wanted_bytes_per_second / GIB:.1f} GiB/s", "125 nodes"),
        ("the same, a tenth on each node", f"{tenth:.1f} GiB/s", "see below"),
        (
            "time of an epoch",
            f"{job.epoch_seconds / 3600:.1f} h",
            "10^10 draws at the pace of the ranks",
        ),
        ("shards a node touches in one", f"{job.shard_share_of_node():.0%}", "8e7 draws"),
        ("copies on all nodes pay after", f"{job.epochs_until_copies_pay()} epochs", "by traffic"),
    ]


def coverage() -> Sequence[Sequence[str]]:
    """How much of the samples epochs have come to."""
    lines = [("epochs", "with replacement", "expected", "each once")]
    for epochs in (1, 2, EPOCHS):
        shares = [len(np.unique(stream(kind)[: epochs * SMALL])) / SMALL for kind in (True, False)]
        expected = expected_distinct(epochs * SMALL, SMALL) / SMALL
        lines.append((str(epochs), f"{shares[0]:.1%}", f"{expected:.1%}", f"{shares[1]:.1%}"))
    return lines


def caching() -> Sequence[Sequence[str]]:
    """Hits of a node's cache of the samples used last, in all epochs but the first two."""
    lines = [("cache of a node", "nodes", "with replacement", "each once")]
    for share in (0.1, 0.5, 1.0):
        for nodes in (1, 10):
            hits = []
            for kind in (True, False):
                draws = of_node(stream(kind, 12), 0, nodes, 1)
                warm = len(draws) // 2
                capacity = int(share * SMALL)
                late = cache_hits(draws, capacity) - cache_hits(draws[:warm], capacity)
                hits.append(late / (len(draws) - warm))
            lines.append((f"{share:.0%}", str(nodes), f"{hits[0]:.0%}", f"{hits[1]:.0%}"))
    return lines


def shards() -> Sequence[Sequence[str]]:
    """Share of the shards that one node of ten touches in an epoch, and what it uses of them."""
    lines = [("samples of a shard", "shards touched", "expected", "used of what they hold")]
    for shard_samples in (1, 4, 20, 100):
        layout = Layout(SMALL, 1, shard_samples)
        seen = touched(of_rank(stream(True)[:SMALL], 0, 10), layout)
        expected = expected_distinct(SMALL / 10, layout.shards) / layout.shards
        used = seen.samples / (seen.shards * layout.shard_samples)
        share = seen.shards / layout.shards
        lines.append((str(shard_samples), f"{share:.1%}", f"{expected:.1%}", f"{used:.0%}"))
    return lines


TABLES = {"needs": needs, "coverage": coverage, "caching": caching, "shards": shards}


def with_tables(text: str) -> str:
    """The page with its tables made anew."""

    def made(match: re.Match[str]) -> str:
        head, *lines = TABLES[match[2]]()
        rows = [head, ["---"] * len(head), *lines]
        table = "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)
        return f"{match[1]}\n{table}\n{match[3]}"

    return MARKED.sub(made, text)


def main() -> None:
    """Write the tables into the page that is named."""
    page = Path(sys.argv[1])
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
