"""Meters: whose costs are counted."""

import subprocess
import sys
import time

from benchmarks.trial.consume import Tally
from benchmarks.trial.meter import child_pids, measure, private_bytes

BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def test_own_work_is_counted():
    def burn():
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        return Tally(7, 70)

    step = measure(burn)
    assert step.cpu_ns >= 100_000_000
    assert (step.samples, step.payload_bytes) == (7, 70)


def test_child_that_ended_meanwhile_is_counted():
    def burn():
        subprocess.run([sys.executable, "-c", BURN], check=True)
        return Tally(1, 0)

    assert measure(burn).cpu_ns >= 300_000_000


def test_living_child_is_counted_and_its_memory_looked_at():
    program = "import sys\nheld = b'x' * (20 << 20)\nprint(flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as child:
        child.stdout.readline()
        children = child_pids()
        assert len(children) == 1
        step = measure(lambda: Tally(1, 0), children=children)
        child.stdin.close()
    assert step.child_private_bytes >= 20 << 20


def test_private_memory_grows_with_what_is_written():
    before = private_bytes()
    held = bytearray(32 << 20)
    assert private_bytes() - before >= 16 << 20
    assert len(held) == 32 << 20
