"""The report as Markdown: one table per step, targets with their verdicts, how it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.statistics import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.definitions import Target
    from benchmarks.harness.lines import TrialLine
    from benchmarks.harness.statistics import Spread
    from benchmarks.harness.summary import ContenderRow, DefinitionSummary, StepTable, Verdict

_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_ALL_DIGITS_FROM = 100
_WORDS = {
    "speed": "speed, times that of",
    "cpu": "CPU time, times that of",
    "cpu_us": "CPU µs per sample",
    "wall_ms": "ms",
    "switches": "context switches per sample",
    "private_mib": "MiB of private memory more",
    "worker_mib": "MiB of private memory of a worker, more than that of",
    "fetched_share": "bytes fetched per payload byte",
}


def number(value: float) -> str:
    """Three digits that matter."""
    if value == 0:
        return "0"
    if abs(value) >= _ALL_DIGITS_FROM:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def duration(microseconds: float) -> str:
    """A time with the unit that suits it."""
    for size, unit in _UNITS:
        if abs(microseconds) >= size:
            return f"{number(microseconds / size)} {unit}"
    return f"{number(microseconds * 1e3)} ns"


def with_range(found: Spread | None, *, is_time: bool = False) -> str:
    """Median, and the extremes in brackets."""
    if found is None:
        return "–"
    show = duration if is_time else number
    return f"{show(found.median)} ({show(found.least)} … {show(found.most)})"


_OWN_COLUMNS = {
    "loader": ("worker_mib", "MiB of a worker"),
    "remote": ("fetched_share", "bytes fetched per payload byte"),
}
"""Quantity and title of the column that differs with the kind of trial."""


def _row(row: ContenderRow, *, own: str) -> str:
    values = row.quantities
    cells = [
        row.contender,
        with_range(values["cpu_us"], is_time=True),
        with_range(values["wall_us"], is_time=True),
        number(values["switches"].median),
        number(values[own].median),
        with_range(row.speed_over_original),
        with_range(row.cpu_under_original),
        with_range(row.cpu_over_floor),
    ]
    return "| " + " | ".join(cells) + " |"


def _table(table: StepTable, kind: str) -> list[str]:
    own, title = _OWN_COLUMNS.get(kind, ("private_mib", "MiB more"))
    head = [
        "contender",
        "CPU per sample",
        "wall per sample",
        "switches per sample",
        title,
        "original's wall / its",
        "original's CPU / its",
        "its CPU / floor's",
    ]
    lines = [] if table.step == kind else [f"Step `{table.step}`", ""]
    lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *(_row(row, own=own) for row in table.rows), ""]


def _aim(target: Target) -> str:
    bound = f"at least {target.at_least}" if target.at_most is None else f"at most {target.at_most}"
    step = f"{target.step}: " if target.step else ""
    over = f" {target.over}" if target.over else ""
    return f"{step}{_WORDS[target.quantity]}{over}, {bound}"


def _verdict(verdict: Verdict) -> str:
    word = {True: "met", False: "**missed**", None: "not measured"}[verdict.is_met]
    return f"- {_aim(verdict.target)}: {with_range(verdict.found)}, {word}"


def _definition(summary: DefinitionSummary) -> list[str]:
    definition = summary.definition
    records, work = definition.records, definition.workload
    least, most = records.payload_bytes
    size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    facts = [
        f"`{definition.name}`",
        f"{records.rows:,} rows of {size} bytes in {records.caches} caches",
        f"{records.content} content, codec {records.codec}",
        work.temperature,
        f"consumer: {work.consume}",
        f"{summary.rounds} rounds",
    ]
    if work.spinner:
        facts.append("beside a spinning Python thread")
    lines = [f"## {definition.title}", "", "; ".join(facts) + ".", ""]
    for table in summary.tables:
        lines += _table(table, work.kind)
    lines += [_verdict(verdict) for verdict in summary.verdicts]
    for name, reason in summary.failures.items():
        lines.append(f"- {name} did not take part: {reason.strip().splitlines()[-1]}")
    return [*lines, ""]


def _heading(lines: Sequence[TrialLine]) -> list[str]:
    first, last = lines[0], lines[-1]
    machine: dict[str, Any] = first.machine
    loads = sorted(line.load_average for line in lines)
    versions: dict[str, str] = {}
    for line in lines:
        versions.update(line.versions)
    return [
        "# Benchmarks",
        "",
        f"Taken from {first.taken_at} to {last.taken_at}, commit {first.commit[:12]}, on "
        f"{machine['cores']} cores of {machine['processor']}"
        + (" (virtual machine)" if machine["virtual"] else "")
        + f", {machine['memory_gib']} GiB, {machine['system']}, {machine['file_system']}; "
        f"load average {loads[0]} to {loads[-1]}; copying 16 KiB out of memory at random cost "
        f"{with_range(spread(line.copy_us for line in lines), is_time=True)} meanwhile.",
        "",
        "Measured: " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
        "",
        "Figures are medians with the least and the greatest in brackets. Ratios are taken "
        "within a round, in which every contender ran once while all others were stopped. "
        "CPU time, context switches and ratios say more than wall time, in that order. Every "
        "contender's payloads were compared with the generator before any of this.",
        "",
    ]


def render(summaries: Sequence[DefinitionSummary], lines: Sequence[TrialLine]) -> str:
    """The whole report."""
    parts = _heading(lines)
    for summary in summaries:
        parts += _definition(summary)
    return "\n".join(parts)
