"""Writes the golden snapshots that are not there yet: `... FOLDER`.

All of them come from the oracle alone. One that exists is never written again; a test builds them
anew and compares the bytes, but for `table.arrow`, which is another writer's business.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "oracle"))
from draws import EACH_ONCE, Stream, Table, accumulate
from snapshot_format import Tables, encode_order, guide_of, write_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 2**64 - 1
OPTIONS = {
    "seed": "7",
    "prefetch_size": 64,
    "shuffle": True,
    "replacement": True,
    "validate_cache": False,
    "verify_records": True,
    "on_corrupt": "raise",
    "mapped": True,
}
WHOLE = {"index": 0, "count": 1, "tail": "uneven"}
ORDERED_CYCLE = 5
"""The cycle whose order the snapshot `each-once` has."""


def weights(rows: int) -> list[float]:
    return [1.0 + row % 7 + (1e12 if row == rows // 2 else 0.0) for row in range(rows)]


TABLES = {
    "untouched": Table(range(12)),
    "weighted": Table([11, 0, 4, 4, 7], [0.5, 1.0, 3.0, 1e-300, 2.0]),
    "each-once": Table(range(150), weights(150)),
    "wide": Table([2**40 - 1, 0, 2**33, 5]),
}


def fields(name: str, **changes: Any) -> dict[str, Any]:
    """What the handle of a case says beyond its files."""
    table = TABLES[name]
    samples = [int(sample) for sample in table.samples]
    is_identity = samples == list(range(table.n))
    caches = [{"path": f"/caches/{name} ✓", "content_digest": "0123456789abcdef" * 2}]
    rest = {
        "caches": caches,
        "options": {**OPTIONS, **changes.pop("options", {})},
        "num_workers": 1,
        "rows": table.n,
        "samples": changes.pop("samples", max(samples) + 1),
        "row_samples": "identity" if is_identity else changes.pop("row_samples", "u32"),
        "weighted": not table.has_equal_weights(),
        "table_digest": xxhash.xxh3_128_hexdigest(table.canonical()),
        "epoch_length": table.n,
        "position": 0,
        "window_end": 0,
        "skipped": 0,
        "part": WHOLE,
    }
    assert changes.keys() <= rest.keys(), changes
    return {**rest, **changes}


def tables(name: str, width: str | None = None) -> Tables:
    """The sections of a case."""
    table = TABLES[name]
    sections = Tables()
    if width:
        sections.row_samples = np.array(table.samples, width)
    if not table.has_equal_weights():
        sums = list(accumulate(table.units()))
        sections.sums, sections.guide = np.array(sums, "<u8"), guide_of(sums)
    return sections


def edited_table() -> bytes:
    """The active table behind `weighted`, with a column of the user's."""
    import pyarrow as pa

    table = TABLES["weighted"]
    columns = {
        "cache_id": pa.array([0] * table.n, pa.uint64()),
        "sample_id": pa.array(table.samples, pa.uint64()),
        "weight": pa.array(table.weights, pa.float64()),
        "note": pa.array(["ä", None, "", "c", "d"]),
    }
    sink = pa.BufferOutputStream()
    batch = pa.table(columns)
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_table(batch)
    return sink.getvalue().to_pybytes()


def untouched(folder: Path) -> None:
    write_snapshot(folder, fields("untouched"), Tables())


def weighted(folder: Path) -> None:
    options = {"seed": str(LARGEST), "on_corrupt": "skip", "prefetch_size": 3}
    cursor = {"position": 104, "window_end": 110, "epoch_length": 10, "skipped": 2}
    handle = fields("weighted", samples=12, options=options, num_workers=8, **cursor)
    write_snapshot(folder, handle, tables("weighted", "<u4"), edited_table())


def each_once(folder: Path) -> None:
    options = {"replacement": False, "mapped": False, "validate_cache": True}
    part = {"index": 2, "count": 3, "tail": "drop"}
    write_snapshot(
        folder, fields("each-once", options=options, part=part, samples=150), tables("each-once")
    )
    stream = Stream(TABLES["each-once"], EACH_ONCE, int(OPTIONS["seed"]))
    order = [stream.row(ORDERED_CYCLE * 150 + index) for index in range(150)]
    # Runs need no order within them: the second one is turned round.
    rows = order[:40] + order[:39:-1]
    (folder / f"order-{ORDERED_CYCLE}.bin").write_bytes(encode_order(rows, [40, 150]))


def wide(folder: Path) -> None:
    handle = fields(
        "wide",
        samples=2**40,
        row_samples="u64",
        options={"shuffle": False, "verify_records": False},
        part={"index": 1, "count": 2, "tail": "pad"},
        position=2**63,
        window_end=2**63,
        epoch_length=LARGEST,
        skipped=LARGEST,
    )
    write_snapshot(folder, handle, tables("wide", "<u8"))


CASES: dict[str, Callable[[Path], None]] = {
    "untouched": untouched,
    "weighted": weighted,
    "each-once": each_once,
    "wide": wide,
}


def build(folder: Path) -> None:
    """Write the cases that `folder` lacks."""
    for name, write in CASES.items():
        if not (folder / name).exists():
            write(folder / name)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
