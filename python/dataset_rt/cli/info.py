"""``dataset-rt info``: what the manifests of caches say; reads no payload."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
from dataset_rt.cli.failures import Verdict
from dataset_rt.cli.places import find_caches
from dataset_rt.cli.screen import Column, Screen
from dataset_rt.units import count, counted, size

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["info"]

FILES_SHOWN = 8


def info(screen: Screen, paths: list[Path], *, all_files: bool) -> None:
    """Show one cache in full, several as a table."""
    verdict = Verdict()
    entries: list[dict[str, Any]] = []
    found: list[drt.CacheInspection] = []
    for path in find_caches(paths):
        with verdict.keeping_on(entries, str(path)):
            facts = drt.inspect(path)
            found.append(facts)
            entries.append(asdict(facts))
    if screen.as_json:
        screen.value({"caches": entries})
    elif len(found) == 1:
        _in_full(screen, found[0], all_files=all_files)
    elif found:
        _as_table(screen, found)
    verdict.leave()


def _in_full(screen: Screen, facts: drt.CacheInspection, *, all_files: bool) -> None:
    kind = "" if facts.format == "dataset_rt" else " of the original system"
    mean = facts.payload_bytes / facts.row_count if facts.row_count else 0
    screen.heading(str(facts.path))
    screen.facts(
        [
            ("format", f"version {facts.format_version}{kind}"),
            ("source", facts.source_name),
            ("source version", facts.source_version or "none"),
            ("samples", count(facts.row_count)),
            ("payload", f"{size(facts.payload_bytes)}, {size(mean)} per sample"),
            ("stored", f"{size(facts.stored_bytes)}, {_compression(facts)}"),
            ("created", facts.created_at or "not recorded"),
            ("writer", facts.writer_version or "not recorded"),
            ("digest", facts.content_digest),
        ]
    )
    screen.heading(counted(len(facts.metadata_schema), "metadata column"))
    if facts.metadata_schema:
        screen.table(
            [Column("column", may_shrink=True), Column("type", style="green")],
            facts.metadata_schema.items(),
        )
    screen.heading(counted(len(facts.files), "file"))
    shown = facts.files if all_files else facts.files[:FILES_SHOWN]
    screen.table(
        [
            Column("file", may_shrink=True),
            Column("size", right=True),
            Column("hash", style="dim", may_shrink=True),
        ],
        [(file.name, size(file.byte_count), file.digest) for file in shown],
    )
    if len(shown) < len(facts.files):
        hidden = facts.files[len(shown) :]
        rest = size(sum(file.byte_count for file in hidden))
        screen.line(f"and {count(len(hidden))} more with {rest}; --files shows all", "dim")


def _as_table(screen: Screen, found: list[drt.CacheInspection]) -> None:
    screen.heading(f"{count(len(found))} caches")
    screen.table(
        [
            Column("cache", may_shrink=True),
            Column("samples", right=True),
            Column("payload", right=True),
            Column("stored", right=True),
            Column("codec", style="green"),
            Column("version", may_shrink=True),
            Column("created", style="dim", may_shrink=True),
        ],
        [
            (
                facts.path.name,
                count(facts.row_count),
                size(facts.payload_bytes),
                size(facts.stored_bytes),
                facts.compression,
                facts.source_version or "-",
                facts.created_at or "-",
            )
            for facts in found
        ],
    )
    schemas = {tuple(facts.metadata_schema.items()) for facts in found}
    columns = ", ".join(f"{name}: {kind}" for name, kind in next(iter(schemas))) or "none"
    sum_of_rows = count(sum(facts.row_count for facts in found))
    payload = size(sum(facts.payload_bytes for facts in found))
    stored = size(sum(facts.stored_bytes for facts in found))
    screen.heading("together")
    screen.facts(
        [
            ("samples", sum_of_rows),
            ("payload", f"{payload}, stored as {stored}"),
            (
                "columns",
                columns
                if len(schemas) == 1
                else f"{len(schemas)} schemas: the caches do not open as one dataset",
            ),
        ]
    )


def _compression(facts: drt.CacheInspection) -> str:
    if facts.compression == "none" or not facts.payload_bytes:
        return "not compressed" if facts.compression == "none" else facts.compression
    return f"{facts.compression}, {facts.stored_bytes / facts.payload_bytes:.3g} of the payload"
