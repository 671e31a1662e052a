"""Signals at any point of a write: absent or complete, and the next run has it.

SIGINT becomes a KeyboardInterrupt and leaves no temporaries. SIGTERM and SIGKILL end the process
where it stands; the next run removes what they left. `tests/crash` does the same at each step.
"""

import random
import signal
import time
from pathlib import Path

import dataset_rt as drt
import pytest
from children import ended, start
from support import Rows, leftovers, numbered, payload, write_one

COUNT = 400
WRITE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)

class Paced(Rows):
    def __iter__(self):
        for number, row in enumerate(super().__iter__()):
            if number == int(sys.argv[2]):
                say("there")
                sys.stdin.readline()
            yield row

source = Paced("numbers", numbered(400).rows)
config = QUIET.model_copy(update={"max_shard_bytes": 2000, "num_processes": 0})
say("ready")
runtime = drt.DatasetRuntime(num_workers=2)
(outcome,) = runtime.write_cache(source, sys.argv[1], writer_config=config)
say(told(outcome))
"""


def assert_absent_or_complete(runtime: drt.DatasetRuntime, base: Path) -> bool:
    """Whether there is a cache; if so, all of it."""
    if not (base / "numbers").exists():
        return False
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
    samples = list(runtime.cached_dataset([base / "numbers"], reader_config=config))
    assert [sample.data for sample in samples] == [payload(number) for number in range(COUNT)]
    return True


def assert_next_run_has_it(runtime: drt.DatasetRuntime, base: Path, is_there: bool) -> None:
    outcome = write_one(runtime, numbered(COUNT), base)
    if is_there:
        assert isinstance(outcome.error, drt.CacheExistsError)
    else:
        assert outcome.status == "built"
    assert assert_absent_or_complete(runtime, base)
    assert leftovers(base) == []


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def check_end(runtime, base: Path, child, number: signal.Signals, *, may_have_ended: bool) -> None:
    """Look at what a signalled process said and left."""
    output, errors = ended(child)
    is_there = assert_absent_or_complete(runtime, base)
    if child.returncode == 0:
        assert may_have_ended
        assert is_there
    elif number == signal.SIGINT:
        assert child.returncode == -signal.SIGINT
        # One that comes after the program's last line finds no program that could raise it.
        assert errors.rstrip().endswith("KeyboardInterrupt") or '"built"' in output, errors
        assert leftovers(base) == []
    else:
        assert child.returncode == -number, errors
        assert "built" not in output or is_there
    assert_next_run_has_it(runtime, base, is_there)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("row", [0, 1, COUNT - 1])
def test_signal_while_the_source_thinks(runtime, tmp_path, number, row: int) -> None:
    child = start(WRITE, tmp_path, row)
    assert [child.stdout.readline() for _ in range(2)] == ['"ready"\n', '"there"\n']
    assert not (tmp_path / "numbers").exists()
    child.send_signal(number)
    check_end(runtime, tmp_path, child, number, may_have_ended=False)


def found(base: Path, pattern: str) -> bool:
    """Whether something fits among the temporaries, which may vanish while one looks."""
    try:
        return any((base / "tmp").glob(pattern))
    except FileNotFoundError:
        return False


SIGNS = {
    "lock": lambda base: (base / "tmp" / "numbers.build.lock").exists(),
    "directory": lambda base: found(base, "*/shards"),
    "second shard": lambda base: found(base, "*/shards/000001.bin"),
    "block table": lambda base: found(base, "*/blocks.bin"),
    "manifest": lambda base: found(base, "*/manifest.json"),
    "name": lambda base: (base / "numbers").exists(),
    "end": lambda base: (base / "numbers").exists() and not (base / "tmp").exists(),
}
"""What can be seen of a write from outside, in the order in which it comes."""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("sign", SIGNS)
def test_signal_as_soon_as_a_step_is_seen(runtime, tmp_path, number, sign: str) -> None:
    child = start(WRITE, tmp_path, -1)
    assert child.stdout.readline() == '"ready"\n'
    while not SIGNS[sign](tmp_path) and child.poll() is None:
        pass
    child.send_signal(number)
    check_end(runtime, tmp_path, child, number, may_have_ended=True)


@pytest.fixture
def alarm():
    """An alarm that interrupts as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("workers", [1, 4])
def test_interrupt_at_any_moment_leaves_nothing(tmp_path, alarm, workers: int) -> None:
    runtime = drt.DatasetRuntime(num_workers=workers)
    rows = numbered(COUNT).rows
    began = time.monotonic()
    assert write_one(runtime, Rows("numbers", rows), tmp_path / "0", max_shard_bytes=2000)
    whole = time.monotonic() - began
    moments, late, interrupted = random.Random(7), 0.0, 0
    for number in range(1, 61):
        base = tmp_path / str(number)
        after = moments.uniform(0.02, 1.1) * whole
        began = time.monotonic()
        try:
            alarm(after)
            write_one(runtime, Rows("numbers", rows), base, max_shard_bytes=2000)
            alarm(0)
        except KeyboardInterrupt:
            late = max(late, time.monotonic() - began - after)
            interrupted += 1
        assert leftovers(base) == []
        is_there = assert_absent_or_complete(runtime, base)
        assert_next_run_has_it(runtime, base, is_there)
    print(f"{interrupted} interrupts, the slowest after {late:.3f} seconds")
    assert interrupted > 0
