"""``dataset-rt convert``: a cache rewritten as one of format 1."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import dataset_rt as drt
from dataset_rt.units import count, rate, size

if TYPE_CHECKING:
    from pathlib import Path

    from dataset_rt.cli.screen import Screen
    from dataset_rt.config import CompressionAlgo

__all__ = ["convert"]


def convert(
    screen: Screen,
    path: Path,
    out: Path,
    *,
    compression: CompressionAlgo | None,
    max_shard_bytes: int,
    workers: int,
) -> None:
    """Convert, and compare the sizes."""
    before = drt.inspect(path)
    began = time.perf_counter()
    with screen.progress(f"convert {path.name}") as update:
        made = drt.convert(
            path,
            out,
            compression=compression,
            max_shard_bytes=max_shard_bytes,
            num_workers=workers,
            progress=update,
        )
    seconds = time.perf_counter() - began
    after = drt.inspect(made.path)
    if screen.as_json:
        screen.value({"before": asdict(before), "after": asdict(after), "seconds": seconds})
        return
    speed = rate(before.payload_bytes / seconds)
    screen.heading(str(made.path))
    screen.facts(
        [
            ("samples", f"{count(made.row_count)} in {seconds:.2f} s, {speed} of payload"),
            ("stored before", f"{size(before.stored_bytes)}, compression {before.compression}"),
            ("stored now", f"{size(after.stored_bytes)}, compression {after.compression}"),
            ("digest", after.content_digest),
        ]
    )
