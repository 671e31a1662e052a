"""Paired rounds: in each one every contender runs once, and the order rotates.

A ratio is taken within a round, so that what changes slowly on the machine falls out of it.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.harness.lines import TrialLine, refuse_debug
from benchmarks.harness.object_server import ObjectServer
from benchmarks.harness.probe import CopyProbe
from benchmarks.harness.session import ContenderError, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from benchmarks.harness.definitions import Contender, Definition
    from benchmarks.harness.environments import Environment


def round_order(contenders: list[str], number: int) -> list[str]:
    """Who runs when in a round: rotated by one each time, and turned round every other time."""
    if not contenders:
        return []
    shift = number % len(contenders)
    rotated = contenders[shift:] + contenders[:shift]
    return rotated if number % 2 == 0 else rotated[::-1]


@dataclass(frozen=True)
class RunFacts:
    """What all lines of a run have in common."""

    run: str
    commit: str
    machine: dict[str, Any]
    refuses_debug: bool = True


@dataclass(frozen=True)
class RunPlace:
    """Where a run happens.

    Attributes:
        environment: Gives the environment of that name.
        folder: For stores, scratch files and logs; stores in it are used again.
        root: Folder that holds the package ``benchmarks``.
    """

    facts: RunFacts
    environment: Callable[[str], Environment]
    folder: Path
    root: Path


class DefinitionRun:
    """All rounds of one definition; to be entered, for what trials share and leave behind.

    Args:
        definition: What to do.
        contenders: Those who take part, by name.
        place: Where and with what.

    Attributes:
        failures: Why a contender no longer takes part, by name.
    """

    def __init__(
        self,
        definition: Definition,
        contenders: dict[str, Contender],
        place: RunPlace,
    ) -> None:
        self._definition = definition
        self._contenders = contenders
        self.failures: dict[str, str] = {}
        self._probe = CopyProbe()
        self._copy_us = 0.0
        self._environment = place.environment
        self._facts = place.facts
        self._folder = place.folder
        self._root = place.root
        self._variables: dict[str, str] = {}

    def __enter__(self) -> DefinitionRun:
        with ExitStack() as stack:
            if self._definition.workload.kind == "remote":
                server = ObjectServer(self._environment("moto"), self._root)
                self._variables = stack.enter_context(server).variables
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        shutil.rmtree(self._folder / "scratch", ignore_errors=True)

    def _begin(self, name: str) -> tuple[Session, dict[str, Any]]:
        contender = self._contenders[name]
        environment = self._environment(contender.environment)
        records = self._definition.records
        store = f"{contender.engine}-{environment.digest}"
        scratch = self._folder / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        log = self._folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        session = Session(environment, self._root, log, self._variables)
        try:
            answer = session.ask(
                "begin",
                engine=contender.engine,
                options=contender.options,
                records=records.message(),
                workload=self._definition.workload_message(),
                store=str(self._folder / "stores" / records.digest() / store),
                scratch=str(scratch),
            )
            if self._facts.refuses_debug:
                refuse_debug(answer["build_profile"], name)
        except BaseException:
            session.__exit__(None, None, None)
            raise
        return session, answer

    def _taking_part(self) -> list[str]:
        return [name for name in self._contenders if name not in self.failures]

    def _drop(self, name: str, error: ContenderError) -> None:
        self.failures[name] = str(error)
        print(f"{self._definition.name}: {name} is out: {error}", file=sys.stderr)

    def verify(self) -> None:
        """Write missing stores and check what each contender delivers, before any timing."""
        for name in self._taking_part():
            try:
                session, _ = self._begin(name)
                with session:
                    session.ask("store")
                    answer = session.ask("check")
            except ContenderError as error:
                self._drop(name, error)
                continue
            print(
                f"{self._definition.name}: {name} delivered {answer['checked']} samples as "
                f"stored, {answer['distinct']} distinct",
                file=sys.stderr,
            )

    def lines(self, rounds: int) -> Iterator[TrialLine]:
        """Run the rounds, after ``verify``."""
        if self._definition.workload.needs_fresh_process:
            yield from self._fresh_rounds(rounds)
            return
        with ExitStack() as stack:
            ready: dict[str, tuple[Session, dict[str, Any]]] = {}
            for name in self._taking_part():
                try:
                    session, answer = self._begin(name)
                    stack.enter_context(session)
                    session.ask("prepare")
                except ContenderError as error:
                    self._drop(name, error)
                    continue
                session.stop()
                ready[name] = (session, answer)
            for number in range(rounds):
                self._copy_us = self._probe.copy_us()
                for place, name in enumerate(round_order(self._taking_part(), number)):
                    session, answer = ready[name]
                    session.resume()
                    try:
                        steps = session.ask("run")["steps"]
                    except ContenderError as error:
                        self._drop(name, error)
                        continue
                    finally:
                        session.stop()
                    yield self._line(name, answer, number, place, steps)

    def _fresh_rounds(self, rounds: int) -> Iterator[TrialLine]:
        for number in range(rounds):
            self._copy_us = self._probe.copy_us()
            for place, name in enumerate(round_order(self._taking_part(), number)):
                try:
                    session, answer = self._begin(name)
                    with session:
                        session.ask("prepare")
                        steps = session.ask("run")["steps"]
                except ContenderError as error:
                    self._drop(name, error)
                    continue
                yield self._line(name, answer, number, place, steps)

    def _line(
        self, name: str, answer: dict[str, Any], number: int, place: int, steps: dict[str, Any]
    ) -> TrialLine:
        definition, contender = self._definition, self._contenders[name]
        now = dt.datetime.now(dt.timezone.utc)
        return TrialLine.model_validate(
            {
                "run": self._facts.run,
                "taken_at": now.isoformat(timespec="seconds"),
                "definition": definition.name,
                "definition_digest": definition.digest(),
                "kind": definition.workload.kind,
                "rows": definition.records.rows,
                "payload_bytes": definition.records.payload_bytes,
                "temperature": definition.workload.temperature,
                "contender": name,
                "group": contender.group or name,
                "options": contender.options,
                "versions": answer["versions"],
                "build_profile": answer["build_profile"],
                "commit": self._facts.commit,
                "round": number,
                "place": place,
                "load_average": round(os.getloadavg()[0], 2),
                "copy_us": round(self._copy_us, 3),
                "machine": self._facts.machine,
                "steps": steps,
            }
        )
