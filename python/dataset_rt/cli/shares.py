"""Expected against drawn shares of a column's values, from the dataset's sampling report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataset_rt.cli.failures import UsageError
from dataset_rt.cli.screen import Column
from dataset_rt.errors import InvalidMetadataError
from dataset_rt.units import count, share, short

if TYPE_CHECKING:
    import polars as pl

    from dataset_rt import CachedDataset
    from dataset_rt.cli.screen import Screen

__all__ = ["Shares", "share_entries", "show_shares"]

LINES_SHOWN = 30
QUOTED_OR_DECIMAL = re.compile(r"""('[^']*'|"[^"]*")|(?<![\w.])(\d+\.\d*|\.\d+)(?![\w.])""")


@dataclass(frozen=True)
class Shares:
    """What is to be drawn and compared.

    Attributes:
        by: Column whose values are compared; nothing is drawn without one.
        weight: SQL expression over the table that becomes its weight.
        draws: Number of draws; one for each row if left out.
        seed: Seed of the draws.
        each_once: Each row once per cycle.
    """

    by: str | None
    weight: str | None
    draws: int | None
    seed: int
    each_once: bool

    def check(self) -> None:
        """Refuse a weight or a number of draws that nothing would be done with."""
        for option, value in (("--weight", self.weight), ("--draws", self.draws)):
            if value is not None and self.by is None:
                raise UsageError(f"{option} needs --by COLUMN, whose shares it is about")


def share_entries(
    dataset: CachedDataset, table: pl.DataFrame, shares: Shares
) -> dict[str, Any] | None:
    """Compare, after the table of ``dataset`` got its new weight."""
    if shares.by is None:
        return None
    if shares.weight is not None:
        _set_weight(dataset, table, shares.weight)
    draws = len(dataset) if shares.draws is None else shares.draws
    report = dataset.sampling_report(0, draws, shares.by)
    names = ("value", "rows", "weight_share", "expected", "drawn")
    return {
        "by": shares.by,
        "draws": draws,
        "seed": shares.seed,
        "weight": shares.weight,
        "values": [dict(zip(names, line, strict=True)) for line in report.iter_rows()],
    }


def _set_weight(dataset: CachedDataset, table: pl.DataFrame, expression: str) -> None:
    import polars as pl

    try:
        weighted = table.with_columns(weight=pl.sql_expr(_in_floats(expression)))
        if weighted["weight"].dtype.is_decimal():
            weighted = weighted.with_columns(pl.col("weight").cast(pl.Float64))
        dataset.update_metadata(weighted)
    except (pl.exceptions.PolarsError, InvalidMetadataError) as error:
        cause = str(error).partition("\n")[0]
        raise UsageError(f"--weight {expression!r}: {cause}") from None


def _in_floats(expression: str) -> str:
    """Numbers with a point as floats: SQL's decimals would cut a quotient to a few digits."""
    return QUOTED_OR_DECIMAL.sub(lambda found: found[1] or f"{found[2]}e0", expression)


def show_shares(screen: Screen, answer: dict[str, Any]) -> None:
    """Write the comparison as a table with bars of the drawn shares."""
    draws, values = answer["draws"], answer["values"]
    weight = f", weight {answer['weight']}" if answer["weight"] is not None else ""
    screen.heading(
        f"shares of {answer['by']} in {count(draws)} draws of seed {answer['seed']}{weight}"
    )
    shown = values
    if len(values) > LINES_SHOWN:
        shown = sorted(values, key=lambda value: -value["expected"])[:LINES_SHOWN]
    highest = max((value["drawn"] for value in values), default=0) or 1
    screen.table(
        [
            Column(answer["by"], may_shrink=True),
            Column("rows", right=True),
            Column("expected", right=True),
            Column("drawn", right=True),
            Column("share", right=True),
            Column("", style="cyan", may_shrink=True),
        ],
        [
            (
                short(value["value"]),
                count(value["rows"]),
                f"{value['expected']:,.1f}",
                count(value["drawn"]),
                share(value["drawn"] / draws if draws else 0.0),
                value["drawn"] / highest,
            )
            for value in shown
        ],
    )
    if len(shown) < len(values):
        rest = len(values) - len(shown)
        screen.line(f"and {count(rest)} more values with smaller shares; --json lists them", "dim")
