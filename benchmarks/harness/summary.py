"""From result lines to tables: quantities per contender, paired ratios, verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.harness.lines import StepLine, TrialLine, refuse_debug
from benchmarks.harness.statistics import (
    ByRound,
    Spread,
    best_of,
    paired_differences,
    paired_ratios,
    spread,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.harness.definitions import Definition, Target

_MIB = 2.0**20

QUANTITIES: dict[str, Callable[[StepLine], float]] = {
    "cpu_us": lambda step: step.cpu_ns / 1e3 / step.samples,
    "wall_us": lambda step: step.wall_ns / 1e3 / step.samples,
    "wall_ms": lambda step: step.wall_ns / 1e6,
    "system_us": lambda step: step.system_ns / 1e3 / step.samples,
    "switches": lambda step: (step.voluntary_switches + step.involuntary_switches) / step.samples,
    "major_faults": lambda step: step.major_faults / step.samples,
    "private_mib": lambda step: step.private_growth_bytes / _MIB,
    "worker_mib": lambda step: step.child_private_bytes / _MIB,
    "mib_per_second": lambda step: step.payload_bytes / _MIB / (step.wall_ns / 1e9),
    "fetched_share": lambda step: step.fetched_bytes / max(1, step.payload_bytes),
    "spinner_turns_per_ms": lambda step: step.spinner_turns / (step.wall_ns / 1e6),
}
"""What is reported of a step; ``_us`` and ``switches`` are per sample."""

OVER_ORIGINAL = "original"
OVER_FLOOR = "floor"


@dataclass(frozen=True)
class ContenderRow:
    """One contender in one step.

    Attributes:
        speed_over_original: Wall time of the original's best by this one's, by round.
        cpu_under_original: CPU time of the original's best by this one's, by round.
        cpu_over_floor: CPU time of this one by the floor's, by round.
    """

    contender: str
    versions: dict[str, str]
    quantities: dict[str, Spread]
    speed_over_original: Spread | None
    cpu_under_original: Spread | None
    cpu_over_floor: Spread | None


@dataclass(frozen=True)
class Verdict:
    """A target and what was measured; ``found`` is None when nobody measured it."""

    target: Target
    found: Spread | None

    @property
    def is_met(self) -> bool | None:
        """Whether the median reaches the target."""
        if self.found is None:
            return None
        if self.target.at_least is not None:
            return self.found.median >= self.target.at_least
        return self.target.at_most is not None and self.found.median <= self.target.at_most


@dataclass(frozen=True)
class StepTable:
    """All contenders in one step of one definition, the quickest in CPU time first."""

    step: str
    rows: list[ContenderRow]


@dataclass(frozen=True)
class DefinitionSummary:
    """Everything measured for one definition."""

    definition: Definition
    rounds: int
    tables: list[StepTable]
    verdicts: list[Verdict]
    failures: dict[str, str] = field(default_factory=dict)


class _Measured:
    """Values by step, contender and round, with groups beside their members."""

    def __init__(self, lines: Iterable[TrialLine]) -> None:
        self._values: dict[tuple[str, str, str], dict[int, float]] = {}
        self._members: dict[str, set[str]] = {}
        self.versions: dict[str, dict[str, str]] = {}
        self.steps: dict[str, set[str]] = {}
        self.rounds: set[int] = set()
        for line in lines:
            refuse_debug(line.build_profile, line.contender)
            self.rounds.add(line.round)
            self._members.setdefault(line.group, set()).add(line.contender)
            self.versions[line.contender] = line.versions
            for name, step in line.steps.items():
                self.steps.setdefault(name, set()).add(line.contender)
                for quantity, take in QUANTITIES.items():
                    key = (name, line.contender, quantity)
                    self._values.setdefault(key, {})[line.round] = take(step)

    def by_round(self, step: str, who: str, quantity: str) -> ByRound:
        """Values of a contender, or the best ones of a group."""
        own = self._values.get((step, who, quantity))
        if own is not None:
            return own
        members = sorted(self._members.get(who, ()))
        return best_of(self._values.get((step, name, quantity), {}) for name in members)

    def ratio(self, step: str, quantity: str, above: str, below: str) -> Spread | None:
        """Spread of paired ratios; None where the two never met."""
        ratios = paired_ratios(
            self.by_round(step, above, quantity), self.by_round(step, below, quantity)
        )
        return spread(ratios) if ratios else None

    def _difference(self, step: str, target: Target) -> Spread | None:
        more = paired_differences(
            self.by_round(step, target.contender, target.quantity),
            self.by_round(step, target.over or "", target.quantity),
        )
        return spread(more) if more else None

    def verdict(self, target: Target, kind: str) -> Verdict:
        """Hold one target against what was measured."""
        step = target.step or kind
        if target.over is not None:
            if target.quantity == "speed":
                found = self.ratio(step, "wall_us", target.over, target.contender)
            elif target.quantity == "cpu":
                found = self.ratio(step, "cpu_us", target.contender, target.over)
            else:
                found = self._difference(step, target)
            return Verdict(target, found)
        values = self.by_round(step, target.contender, target.quantity)
        return Verdict(target, spread(values.values()) if values else None)


def summarize(
    definition: Definition, lines: Iterable[TrialLine], failures: dict[str, str] | None = None
) -> DefinitionSummary:
    """Sum up the lines of one definition.

    Raises:
        DebugBuildError: A line comes from an unoptimised build.
    """
    measured = _Measured(lines)
    tables = []
    for step, contenders in measured.steps.items():
        rows = [
            ContenderRow(
                contender=name,
                versions=measured.versions[name],
                quantities={
                    quantity: spread(measured.by_round(step, name, quantity).values())
                    for quantity in QUANTITIES
                },
                speed_over_original=measured.ratio(step, "wall_us", OVER_ORIGINAL, name),
                cpu_under_original=measured.ratio(step, "cpu_us", OVER_ORIGINAL, name),
                cpu_over_floor=measured.ratio(step, "cpu_us", name, OVER_FLOOR),
            )
            for name in contenders
        ]
        rows.sort(key=lambda row: row.quantities["cpu_us"].median)
        tables.append(StepTable(step, rows))
    return DefinitionSummary(
        definition=definition,
        rounds=len(measured.rounds),
        tables=tables,
        verdicts=[
            measured.verdict(target, definition.workload.kind) for target in definition.own_targets
        ],
        failures=failures or {},
    )
