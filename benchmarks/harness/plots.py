"""The report's plots: CPU time per sample as bars, growth with rows as lines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.harness.summary import DefinitionSummary, StepTable


def _pyplot() -> Any:
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dataset_rt"
    return import_module("matplotlib.pyplot")


def plot_bars(summary: DefinitionSummary, table: StepTable, file: Path) -> None:
    """CPU microseconds per sample of each contender; whiskers from least to greatest."""
    pyplot = _pyplot()
    rows = table.rows[::-1]
    spreads = [row.quantities["cpu_us"] for row in rows]
    middle = [each.median for each in spreads]
    whiskers = [
        [each.median - each.least for each in spreads],
        [each.most - each.median for each in spreads],
    ]
    colors = ["tab:orange" if row.contender.startswith("ours") else "tab:gray" for row in rows]
    figure, axes = pyplot.subplots(figsize=(7, 0.6 + 0.35 * len(rows)), layout="constrained")
    axes.barh([row.contender for row in rows], middle, xerr=whiskers, color=colors, capsize=3)
    axes.set_xscale("log")
    axes.set_xlabel("CPU µs per sample")
    axes.set_title(summary.definition.title)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def plot_growth(family: Sequence[DefinitionSummary], step: str, file: Path) -> None:
    """Wall time of one step over row counts, a line per contender."""
    pyplot = _pyplot()
    points: dict[str, list[tuple[int, float]]] = {}
    for summary in family:
        for table in summary.tables:
            for row in table.rows if table.step == step else ():
                value = row.quantities["wall_us"].median / 1e3
                points.setdefault(row.contender, []).append(
                    (summary.definition.records.rows, value)
                )
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for contender, found in sorted(points.items()):
        axes.plot(*zip(*sorted(found), strict=True), marker="o", label=contender)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel("ms")
    axes.set_title(step)
    axes.legend()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def plot_all(summaries: Sequence[DefinitionSummary], folder: Path) -> list[Path]:
    """Draw every plot into a folder; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    families: dict[str, list[DefinitionSummary]] = {}
    for summary in summaries:
        families.setdefault(summary.definition.family, []).append(summary)
    for name, family in families.items():
        if len(family) > 1:
            steps = dict.fromkeys(table.step for summary in family for table in summary.tables)
            for step in steps:
                files.append(folder / f"{name}-{step}.svg")
                plot_growth(family, step, files[-1])
            continue
        for table in family[0].tables:
            files.append(folder / f"{name}-{table.step}.svg")
            plot_bars(family[0], table, files[-1])
    return files
