"""Writes a run's report: Markdown for people, JSON for programs, plots."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from benchmarks.harness.markdown import render
from benchmarks.harness.plots import plot_all
from benchmarks.harness.summary import DefinitionSummary, summarize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.harness.definitions import Definition
    from benchmarks.harness.lines import TrialLine


def _plain(value: Any) -> Any:
    """What ``json`` cannot write by itself."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(type(value).__name__)


def summaries_of(
    definitions: Sequence[Definition],
    lines: Sequence[TrialLine],
    failures: dict[str, dict[str, str]],
) -> list[DefinitionSummary]:
    """Sum up every definition that has lines; lines of an older text of it are left out."""
    found = []
    for definition in definitions:
        own = [line for line in lines if line.definition == definition.name]
        own = [line for line in own if line.definition_digest == definition.digest()]
        if own:
            found.append(summarize(definition, own, failures.get(definition.name)))
    return found


def write_report(
    folder: Path,
    definitions: Sequence[Definition],
    lines: Sequence[TrialLine],
    failures: dict[str, dict[str, str]],
) -> Path:
    """Write ``report.md``, ``report.json`` and ``plots/`` into a folder.

    Returns:
        The Markdown file.

    Raises:
        DebugBuildError: A line comes from an unoptimised build; nothing is written.
        ValueError: No line belongs to any of the definitions.
    """
    summaries = summaries_of(definitions, lines, failures)
    if not summaries:
        raise ValueError("no result line belongs to any definition")
    plots = plot_all(summaries, folder / "plots")
    text = render(summaries, lines)
    text += "\n".join(f"![{file.stem}](plots/{file.name})" for file in plots) + "\n"
    values = {"machine": lines[0].machine, "commit": lines[0].commit, "definitions": summaries}
    (folder / "report.json").write_text(json.dumps(values, default=_plain, indent=2) + "\n")
    (folder / "report.md").write_text(text, encoding="utf-8")
    return folder / "report.md"
