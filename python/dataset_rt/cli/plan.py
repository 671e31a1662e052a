"""``dataset-rt plan``: the draws to come, without reading a payload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataset_rt.cli.places import open_dataset
from dataset_rt.cli.screen import Column, Screen
from dataset_rt.units import counted

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["plan"]


def plan(
    screen: Screen,
    paths: list[Path],
    *,
    draws: int,
    start: int,
    seed: int,
    ordered: bool,
    each_once: bool,
) -> None:
    """Show position, row, cache and sample of each draw."""
    dataset = open_dataset(paths, workers=1, seed=seed, ordered=ordered, each_once=each_once)
    rows = dataset.plan(draws, start).to_dicts()
    mode = "in table order" if ordered else f"each row once per cycle, seed {seed}"
    if not ordered and not each_once:
        mode = f"with replacement, seed {seed}"
    if screen.as_json:
        screen.value({"mode": dataset.state_dict()["mode"], "seed": seed, "draws": rows})
        return
    screen.heading(f"{counted(draws, 'draw')} of {counted(len(dataset), 'row')}, {mode}")
    names = [path.name for path in dataset.cache_paths]
    columns = [Column(name, right=True) for name in ("position", "row", "cache", "sample")]
    cells = [[str(value) for value in row.values()] for row in rows]
    if len(names) > 1:
        columns.append(Column("name", style="dim", may_shrink=True))
        cells = [[*line, names[row["cache_id"]]] for line, row in zip(cells, rows, strict=True)]
    screen.table(columns, cells)
