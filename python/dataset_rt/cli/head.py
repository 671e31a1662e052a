"""``dataset-rt head``: the first samples, their metadata and the first bytes of their payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataset_rt as drt
from dataset_rt.cli import FAILED
from dataset_rt.cli.failures import Verdict, say
from dataset_rt.cli.places import find_caches, open_dataset
from dataset_rt.cli.screen import Column, Screen
from dataset_rt.units import short, size

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["head"]

BYTES_SHOWN = 16
NUMBERS = ("int64", "float64")
VALUE_CHARACTERS = 24


def head(screen: Screen, paths: list[Path], *, rows: int, workers: int) -> None:
    """Show samples from the start of each cache on, until there are ``rows`` of them."""
    dataset = open_dataset(paths, workers=workers, ordered=True)
    schema = drt.inspect(dataset.cache_paths[0]).metadata_schema
    verdict = Verdict()
    entries: list[dict[str, Any]] = []
    for cache_id, sample_id in _first_ids(find_caches(paths), rows):
        entry: dict[str, Any] = {"cache_id": cache_id, "sample_id": sample_id}
        try:
            sample = dataset.get_item(cache_id, sample_id)
        except drt.CorruptCacheError as error:
            verdict.code = FAILED
            say(error)
            entry["error"] = str(error)
        else:
            entry["metadata"] = sample.metadata
            entry["payload_bytes"] = len(sample.data)
            entry["first_bytes"] = sample.data[:BYTES_SHOWN].hex()
        entries.append(entry)
    if screen.as_json:
        screen.value({"rows": entries})
    else:
        _show(screen, schema, entries)
    verdict.leave()


def _first_ids(caches: list[Path], rows: int) -> list[tuple[int, int]]:
    ids: list[tuple[int, int]] = []
    for cache_id, path in enumerate(caches):
        wanted = min(rows - len(ids), drt.inspect(path).row_count)
        ids += [(cache_id, sample_id) for sample_id in range(wanted)]
    return ids


def _show(screen: Screen, schema: dict[str, str], entries: list[dict[str, Any]]) -> None:
    """As a table, or sample by sample where a table is wider than the screen."""
    columns = [
        Column("cache", right=True, style="dim"),
        Column("sample", right=True, style="dim"),
        *(Column(name, right=kind in NUMBERS) for name, kind in schema.items()),
        Column("payload", right=True, style="cyan"),
        Column("first bytes", style="green"),
    ]
    rows = [_cells(list(schema), entry) for entry in entries]
    if screen.fits(columns, rows):
        screen.table(columns, rows)
        return
    for row in rows:
        screen.heading(f"cache {row[0]}, sample {row[1]}")
        names = [column.name for column in columns]
        screen.facts(list(zip(names, row, strict=True))[2:])


def _cells(names: list[str], entry: dict[str, Any]) -> list[str]:
    ids = [str(entry["cache_id"]), str(entry["sample_id"])]
    if "error" in entry:
        return [*ids, *("-" for _ in names), "damaged", "-"]
    values = [_cut(short(entry["metadata"][name])) for name in names]
    return [*ids, *values, size(entry["payload_bytes"]), _seen(bytes.fromhex(entry["first_bytes"]))]


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_CHARACTERS else f"{text[: VALUE_CHARACTERS - 1]}…"


def _seen(data: bytes) -> str:
    """As text where it is ASCII text, otherwise in hexadecimal pairs."""
    if data and data.isascii() and (text := data.decode("ascii")).isprintable():
        return f'"{text}"'
    return data[: BYTES_SHOWN // 2].hex(" ")
