"""Result lines: one JSON object per trial, complete enough to be read on its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class StepLine(BaseModel):
    """Costs of one step; the units are in the names, see ``benchmarks.trial.meter.Step``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    samples: int
    payload_bytes: int
    wall_ns: int
    cpu_ns: int
    system_ns: int
    voluntary_switches: int
    involuntary_switches: int
    major_faults: int
    private_growth_bytes: int
    child_private_bytes: int = 0
    spinner_turns: int = 0
    fetched_bytes: int = 0


class TrialLine(BaseModel):
    """One trial: who, what, where, and what each step cost.

    Attributes:
        copy_us: What copying 16 KiB cost before this round, see ``benchmarks.harness.probe``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    line_format: Literal[1] = 1
    run: str
    taken_at: str
    definition: str
    definition_digest: str
    kind: str
    rows: int
    payload_bytes: tuple[int, int]
    temperature: str
    contender: str
    group: str
    options: dict[str, int | bool | str]
    versions: dict[str, str]
    build_profile: str
    commit: str
    round: int
    place: int
    load_average: float
    copy_us: float
    machine: dict[str, Any]
    steps: dict[str, StepLine]


class DebugBuildError(Exception):
    """Figures of an unoptimised build must not be reported."""


def refuse_debug(build_profile: str, contender: str) -> None:
    """Let only optimised builds and published wheels through.

    Raises:
        DebugBuildError: Anything else.
    """
    if build_profile not in {"release", "wheel"}:
        raise DebugBuildError(
            f"{contender} is a {build_profile} build: its figures mean nothing and are not reported"
        )


def append_line(file: Path, line: TrialLine) -> None:
    """Add one line at the end of a file."""
    with file.open("a", encoding="utf-8") as out:
        out.write(line.model_dump_json() + "\n")


def read_lines(texts: Iterable[str]) -> Iterator[TrialLine]:
    """Read lines back; blank ones are passed over."""
    for text in texts:
        if text.strip():
            yield TrialLine.model_validate(json.loads(text))
