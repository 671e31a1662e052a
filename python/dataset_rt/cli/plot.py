"""The figure of ``dataset-rt stats --plot``: payload sizes, and shares where there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataset_rt.cli.failures import UsageError
from dataset_rt.cli.payloads import edge_labels
from dataset_rt.cli.screen import clean
from dataset_rt.units import count, short

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["draw"]

VALUES_SHOWN = 20
LABEL_CHARACTERS = 24
DARK, LIGHT = "#22577a", "#b9c9d3"


def draw(path: Path, answer: dict[str, Any]) -> None:
    """Write the figure; its kind follows from the name."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise UsageError("--plot needs matplotlib: pip install matplotlib") from None

    shares = answer["shares"]
    panels = 1 if shares is None else 2
    bars = 0 if shares is None else min(len(shares["values"]), VALUES_SHOWN)
    figure = Figure(figsize=(6.4 * panels, max(4.2, 1.4 + 0.34 * bars)), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _sizes(axes[0], answer["payloads"])
    if shares is not None:
        _shares(axes[1], shares)
        figure.legend(frameon=False, loc="outside lower right", ncols=2)
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _sizes(axes: Axes, sizes: dict[str, Any]) -> None:
    bins = sizes["histogram"]
    rows = [entry["rows"] for entry in bins]
    axes.bar(range(len(bins)), rows, width=0.94, align="edge", color=DARK)
    axes.set_xticks(range(len(bins) + 1), edge_labels(bins), rotation=45, ha="right")
    axes.set_xlabel("payload size")
    axes.set_ylabel("rows")
    axes.yaxis.set_major_formatter(lambda value, _: count(value))
    axes.set_title(f"payload sizes of {count(sizes['rows_read'])} rows", loc="left")


def _shares(axes: Axes, shares: dict[str, Any]) -> None:
    draws = shares["draws"] or 1
    ordered = sorted(shares["values"], key=lambda value: -round(value["expected"], 6))
    shown = ordered[:VALUES_SHOWN]
    places = range(len(shown))
    for key, offset, colour in (("expected", -0.2, LIGHT), ("drawn", 0.2, DARK)):
        axes.barh(
            [place + offset for place in places],
            [100 * value[key] / draws for value in shown],
            height=0.4,
            color=colour,
            label=key,
        )
    axes.set_yticks(places, [_label(value["value"]) for value in shown])
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("share of the draws, %")
    hidden = len(ordered) - len(shown)
    more = f" ({hidden:,} smaller left out)" if hidden else ""
    axes.set_title(
        f"{_label(shares['by'])}: {count(shares['draws'])} draws, seed {shares['seed']}{more}",
        loc="left",
    )


def _label(value: object) -> str:
    """A short text in which a dollar sign begins no formula."""
    text = clean(short(value))
    if len(text) > LABEL_CHARACTERS:
        text = f"{text[: LABEL_CHARACTERS - 1]}…"
    return text.replace("$", r"\$")
