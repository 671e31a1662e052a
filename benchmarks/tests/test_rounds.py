"""Rounds and contenders' processes, with engines made for the test."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.harness.definitions import Contender
from benchmarks.harness.environments import Environment
from benchmarks.harness.lines import DebugBuildError
from benchmarks.harness.rounds import DefinitionRun, RunFacts, RunPlace, round_order
from benchmarks.tests.lines import definition

ROOT = Path(__file__).absolute().parents[2]

MACHINE = {"processor": "any"}


def test_every_contender_takes_every_place():
    names = ["a", "b", "c"]
    orders = [round_order(names, number) for number in range(6)]
    assert orders[0] == names
    assert all(sorted(order) == names for order in orders)
    for place in range(3):
        assert {order[place] for order in orders} == set(names)
    assert round_order([], 3) == []


def a_run(tmp_path, contenders, *, refuses_debug=True, text=None):
    here = Environment("here", Path(sys.executable), "digest")
    facts = RunFacts(run="now", commit="c", machine=MACHINE, refuses_debug=refuses_debug)
    place = RunPlace(facts, lambda _: here, tmp_path, ROOT)
    found = definition() if text is None else definition(text)
    named = {name: Contender(engine=name, environment="here") for name in contenders}
    return DefinitionRun(found, named, place)


SHORT = """
title = "Reading"
contenders = ["copyloop"]
[records]
rows = 50
payload_bytes = 64
[workload]
kind = "read"
pass_seconds = 0.01
"""


def test_lines_of_a_plain_copy_loop_are_complete(tmp_path):
    run = a_run(tmp_path, ["copyloop"], text=SHORT)
    run.verify()
    assert run.failures == {}
    lines = list(run.lines(rounds=2))
    assert [line.round for line in lines] == [0, 1]
    step = lines[0].steps["read"]
    assert step.samples >= 50
    assert step.payload_bytes == step.samples * 64
    assert step.wall_ns > 0
    assert step.cpu_ns > 0


def test_cold_reads_run_in_fresh_processes(tmp_path):
    text = SHORT.replace('kind = "read"', 'kind = "read"\ntemperature = "cold"')
    run = a_run(tmp_path, ["copyloop"], text=text)
    run.verify()
    assert run.failures == {}
    (line,) = run.lines(rounds=1)
    assert set(line.steps) == {"open", "read"}
    assert line.steps["read"].samples == 50


def test_spinner_is_not_charged_to_the_contender(tmp_path):
    text = SHORT.replace("pass_seconds = 0.01", "spinner = true\npass_seconds = 0.3")
    run = a_run(tmp_path, ["copyloop"], text=text)
    run.verify()
    assert run.failures == {}
    (line,) = run.lines(rounds=1)
    step = line.steps["read"]
    assert step.spinner_turns > 0
    assert step.cpu_ns < step.wall_ns


def test_contender_that_cannot_do_it_is_out_with_its_reason(tmp_path):
    run = a_run(tmp_path, ["copyloop"], text=SHORT.replace('"read"', '"loader"'))
    run.verify()
    assert "NotOfferedError" in run.failures["copyloop"]
    assert list(run.lines(rounds=1)) == []


def test_contender_that_delivers_wrong_bytes_is_out(tmp_path):
    run = a_run(tmp_path, ["copyloop"], text=SHORT)
    run.verify()
    assert run.failures == {}
    (payload,) = tmp_path.rglob("payload.bin")
    payload.write_bytes(payload.read_bytes()[::-1])
    run.verify()
    assert "payload of 64 bytes is not the stored one" in run.failures["copyloop"]


def test_stopped_contender_dies_with_the_harness(tmp_path):
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from benchmarks.harness.environments import Environment\n"
        "from benchmarks.harness.session import Session\n"
        "here = Environment('here', Path(sys.executable), 'digest')\n"
        f"session = Session(here, Path({str(ROOT)!r}), Path({str(tmp_path / 'log')!r}), {{}})\n"
        "try:\n"
        "    session.ask('nothing')\n"
        "except Exception:\n"
        "    pass\n"
        "session.stop()\n"
        "print(session.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as harness:
        pid = int(harness.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        harness.kill()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, "it outlived the harness"
        time.sleep(0.05)


def test_debug_build_is_refused_before_it_runs(tmp_path, monkeypatch):
    folder = tmp_path / "benchmarks_debug"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "from benchmarks.trial.engine import Engine\nEngine.build_profile = lambda self: 'debug'\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    run = a_run(tmp_path, ["copyloop"], text=SHORT)
    with pytest.raises(DebugBuildError):
        run.verify()
    allowed = a_run(tmp_path, ["copyloop"], text=SHORT, refuses_debug=False)
    allowed.verify()
    assert allowed.failures == {}


def test_contender_that_fails_on_the_way_leaves_the_rest_running(tmp_path):
    run = a_run(tmp_path, ["copyloop"], text=SHORT)
    run.verify()
    lines = run.lines(rounds=3)
    assert next(lines).round == 0
    (offsets,) = tmp_path.rglob("offsets.bin")
    offsets.unlink()
    broken = a_run(tmp_path, ["copyloop"], text=SHORT)
    assert list(broken.lines(rounds=1)) == []
    assert "offsets.bin" in broken.failures["copyloop"]
    assert [line.round for line in lines] == [1, 2]
