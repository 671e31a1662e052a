"""``dataset-rt stats``: counts, payload sizes, columns, and expected against drawn shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataset_rt as drt
from dataset_rt.cli import payloads
from dataset_rt.cli.columns import column_entries, show_columns
from dataset_rt.cli.failures import UsageError
from dataset_rt.cli.places import open_dataset
from dataset_rt.cli.screen import Column, Screen
from dataset_rt.cli.shares import Shares, share_entries, show_shares
from dataset_rt.units import count, counted, size

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["stats"]

PLOT_KINDS = (".png", ".svg")


def stats(
    screen: Screen,
    paths: list[Path],
    *,
    shares: Shares,
    every_payload: bool,
    plot: Path | None,
    workers: int,
) -> None:
    """Show everything, and draw it into ``plot`` on wish."""
    shares.check()
    if plot is not None and plot.suffix.lower() not in PLOT_KINDS:
        raise UsageError(f"--plot {plot}: the name ends neither in .png nor in .svg")
    dataset = open_dataset(paths, workers=workers, seed=shares.seed, each_once=shares.each_once)
    caches = [drt.inspect(path) for path in dataset.cache_paths]
    table = dataset.get_metadata()
    answer: dict[str, Any] = {
        "rows": len(dataset),
        "caches": [
            {
                "path": facts.path,
                "rows": facts.row_count,
                "payload_bytes": facts.payload_bytes,
                "stored_bytes": facts.stored_bytes,
            }
            for facts in caches
        ],
        "columns": column_entries(table),
        "shares": share_entries(dataset, table, shares),
        "payloads": payloads.entry(dataset, caches, all_of_them=every_payload),
    }
    if plot is not None:
        from dataset_rt.cli.plot import draw

        draw(plot, answer)
        answer["plot"] = plot
    if screen.as_json:
        screen.value(answer)
    else:
        _show(screen, answer)


def _show(screen: Screen, answer: dict[str, Any]) -> None:
    caches = answer["caches"]
    screen.heading(f"{counted(answer['rows'], 'row')} in {counted(len(caches), 'cache')}")
    screen.table(
        [
            Column("cache", may_shrink=True),
            Column("rows", right=True),
            Column("payload", right=True),
            Column("stored", right=True),
        ],
        [
            (
                cache["path"].name,
                count(cache["rows"]),
                size(cache["payload_bytes"]),
                size(cache["stored_bytes"]),
            )
            for cache in caches
        ],
    )
    payloads.show(screen, answer["payloads"])
    show_columns(screen, answer["columns"])
    if answer["shares"] is not None:
        show_shares(screen, answer["shares"])
    if "plot" in answer:
        screen.heading(f"plot written to {answer['plot']}")
