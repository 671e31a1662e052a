"""The command line: ``python -m benchmarks run`` does everything."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.definitions import Contender, Definition, load_contenders, load_definitions
from benchmarks.harness.environments import EnvironmentMaker, cache_folder, lock_peers
from benchmarks.harness.lines import DebugBuildError, TrialLine, append_line, read_lines
from benchmarks.harness.machine import commit, machine_facts
from benchmarks.harness.report import write_report
from benchmarks.harness.rounds import DefinitionRun, RunFacts, RunPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).absolute().parents[2]
"""Folder that holds the package ``benchmarks``."""

DATA = ROOT / "benchmarks"


@dataclass(frozen=True)
class Choice:
    """What of all there is takes part."""

    definitions: list[Definition]
    contenders: dict[str, Contender]


def choose(patterns: Sequence[str], only: Sequence[str], without: Sequence[str]) -> Choice:
    """Choose definitions by name pattern, and contenders by name, group or engine.

    Raises:
        LookupError: A pattern or a contender matches nothing.
    """
    definitions = load_definitions(DATA / "definitions")
    contenders = load_contenders(DATA / "contenders.toml")
    for pattern in patterns:
        if not any(_matches(definition, pattern) for definition in definitions):
            raise LookupError(f"no definition is called {pattern}")
    chosen = [
        definition
        for definition in definitions
        if not patterns or any(_matches(definition, pattern) for pattern in patterns)
    ]
    names = {name: {name, entry.group, entry.engine} for name, entry in contenders.items()}
    for word in (*only, *without):
        if not any(word in known for known in names.values()):
            raise LookupError(f"no contender is called {word}")
    taking_part = {
        name: entry
        for name, entry in contenders.items()
        if (not only or names[name] & set(only)) and not names[name] & set(without)
    }
    return Choice(chosen, taking_part)


def _matches(definition: Definition, pattern: str) -> bool:
    return fnmatch(definition.name, pattern) or fnmatch(definition.family, pattern)


def run(choice: Choice, maker: EnvironmentMaker, out: Path, rounds: int) -> int:
    """Run the choice, keep every line in ``out``, and write the report there."""
    out.mkdir(parents=True, exist_ok=True)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    started = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    facts = RunFacts(run=started, commit=commit(), machine=machine_facts(folder))
    place = RunPlace(facts, maker.environment, folder, ROOT)
    lines: list[TrialLine] = []
    failures: dict[str, dict[str, str]] = {}
    for definition in choice.definitions:
        part = {
            name: choice.contenders[name]
            for name in definition.contenders
            if name in choice.contenders
        }
        if not part:
            continue
        with DefinitionRun(definition, part, place) as each:
            failures[definition.name] = each.failures
            each.verify()
            for line in each.lines(rounds or definition.rounds):
                append_line(out / "lines.jsonl", line)
                lines.append(line)
    print(write_report(out, choice.definitions, lines, failures))
    return 1 if any(failures.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    chosen = argparse.ArgumentParser(add_help=False)
    chosen.add_argument("definitions", nargs="*", help="name patterns; all if left out")
    chosen.add_argument("--only", action="append", default=[], help="contender, group or engine")
    chosen.add_argument("--without", action="append", default=[], help="the same, left out")
    run_action = actions.add_parser("run", parents=[chosen], help="run, and write the report")
    run_action.add_argument("--rounds", type=int, default=0, help="instead of each definition's")
    run_action.add_argument("--out", type=Path, required=True, help="folder for the report")
    run_action.add_argument("--wheel", type=Path, help="the wheel of ours; without it ours is out")
    report = actions.add_parser("report", help="write the report again from kept lines")
    report.add_argument("--out", type=Path, required=True, help="folder with lines.jsonl")
    actions.add_parser("list", parents=[chosen], help="list definitions and who takes part")
    lock = actions.add_parser("lock", help="lock environments again from requirements.in")
    lock.add_argument("names", nargs="*", help="all if left out")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    given = _parser().parse_args(arguments)
    if given.action == "lock":
        lock_peers(given.names)
        return 0
    try:
        if given.action == "report":
            lines = list(read_lines((given.out / "lines.jsonl").read_text().splitlines()))
            print(write_report(given.out, load_definitions(DATA / "definitions"), lines, {}))
            return 0
        choice = choose(given.definitions, given.only, given.without)
        if given.action == "list":
            for definition in choice.definitions:
                part = [name for name in definition.contenders if name in choice.contenders]
                print(f"{definition.name}: {definition.title} [{', '.join(part)}]")
            return 0
        if given.wheel is None:
            ours = {name for name, entry in choice.contenders.items() if entry.engine == "ours"}
            for name in ours:
                del choice.contenders[name]
        maker = EnvironmentMaker(given.wheel)
        return run(choice, maker, given.out, given.rounds)
    except (LookupError, DebugBuildError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
