"""Ours in one definition of each shape, on few rows: delivered as stored, lines complete.

Nothing is asserted about time; the build under test is a debug build and must not be reported.
"""

import sys
from pathlib import Path

import pytest

from benchmarks.harness.definitions import Contender, load_definitions
from benchmarks.harness.environments import Environment
from benchmarks.harness.lines import DebugBuildError
from benchmarks.harness.report import write_report
from benchmarks.harness.rounds import DefinitionRun, RunFacts, RunPlace

ROOT = Path(__file__).absolute().parents[2]
ROWS = 300
SMALL = {"rows": ROWS, "payload_bytes": (40, 700)}


def shape(definition):
    work = definition.workload
    codec = definition.records.codec
    reading = (work.kind, codec, work.temperature, work.spinner, work.consume)
    return (*reading, work.workers > 0, work.repeats > 1)


SHAPES = {shape(each): each for each in load_definitions(ROOT / "benchmarks" / "definitions")}
CHOSEN = {each.family: each for each in SHAPES.values()}


def smoke(definition, folder, *, refuses_debug=False):
    work = definition.workload.model_copy(
        update={"draws": 2 * ROWS, "pass_seconds": 0.0, "batch_size": 64}
    )
    small = definition.model_copy(
        update={"records": definition.records.model_copy(update=SMALL), "workload": work}
    )
    here = Environment("here", Path(sys.executable), "digest")
    facts = RunFacts(run="now", commit="c", machine={}, refuses_debug=refuses_debug)
    place = RunPlace(facts, lambda _: here, folder, ROOT)
    ours = {"ours": Contender(engine="ours", environment="here", options={"workers": 2})}
    with DefinitionRun(small, ours, place) as run:
        run.verify()
        assert run.failures == {}
        lines = list(run.lines(rounds=1))
        assert run.failures == {}
    return small, lines


@pytest.mark.parametrize("family", sorted(CHOSEN))
def test_ours_delivers_what_the_definition_asks_for(family, tmp_path):
    definition, (line,) = smoke(CHOSEN[family], tmp_path)
    assert line.contender == "ours"
    assert line.definition_digest == definition.digest()
    assert line.build_profile in {"debug", "release"}
    for name, step in line.steps.items():
        assert step.samples > 0, name
        assert step.wall_ns > 0, name
    wanted = {target.step for target in definition.targets if target.step}
    assert wanted <= set(line.steps)


def test_debug_build_of_ours_is_not_reported(tmp_path):
    definition, lines = smoke(CHOSEN["get-item-16k"], tmp_path)
    debug = [line.model_copy(update={"build_profile": "debug"}) for line in lines]
    with pytest.raises(DebugBuildError):
        write_report(tmp_path / "report", [definition], debug, {})
