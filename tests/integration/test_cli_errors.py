"""What the command says when it cannot: one or two lines, the right exit code, no traceback."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt
import pytest
from command import answer, environment, on_terminal, plain, problem, read_all, run
from dataset_rt.cli.verify import _ranges
from support import Rows, numbered, payload, write_ok

COMMANDS = ["info", "head", "verify", "stats", "plan", "bench"]
# a parent may have told its children to ignore the signal
GUARDED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from dataset_rt.cli import main
sys.exit(main())
"""


@pytest.fixture
def cache(runtime: drt.DatasetRuntime, tmp_path: Path) -> Path:
    return write_ok(runtime, numbered(20), tmp_path, max_shard_bytes=100).path


def damage(cache: Path, sample_id: int) -> None:
    """Change a byte of a payload."""
    (shard,) = [s for s in (cache / "shards").iterdir() if payload(sample_id) in s.read_bytes()]
    data = bytearray(shard.read_bytes())
    data[data.index(payload(sample_id))] ^= 1
    shard.write_bytes(bytes(data))


@pytest.mark.parametrize("command", COMMANDS)
def test_path_that_is_no_cache_is_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    for name in ("missing", "file", "folder"):
        told = problem(command, tmp_path / name, expect=1)
        assert str(tmp_path / name) in told


def test_conversion_names_what_is_in_the_way(cache: Path, tmp_path: Path) -> None:
    assert str(cache) in problem("convert", cache, cache, expect=1)
    assert "missing" in problem("convert", tmp_path / "missing", tmp_path / "out", expect=1)


@pytest.mark.parametrize("command", COMMANDS)
def test_cache_of_a_later_version_is_refused(command: str, cache: Path) -> None:
    manifest = cache / "manifest.json"
    text = manifest.read_text()
    assert '"format_version": 1' in text
    manifest.write_text(text.replace('"format_version": 1', '"format_version": 7'))
    told = problem(command, cache, expect=1)
    assert str(cache) in told
    assert "7" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_damaged_manifest_is_told(command: str, cache: Path) -> None:
    (cache / "manifest.json").write_bytes(b"{")
    assert str(cache) in problem(command, cache, expect=1)


def test_verify_names_damaged_samples(cache: Path) -> None:
    for sample_id in (3, 11, 12):
        damage(cache, sample_id)
    told = answer("verify", cache, expect=1)
    assert told["is_intact"] is False
    (found,) = told["caches"]
    assert found["damaged_samples"] == [[3, 3], [11, 12]]
    assert found["damages"][0]["sample_id"] == 3
    shown = run("verify", cache, expect=1).stdout
    assert "DAMAGED" in shown
    assert "3 samples: 3, 11-12" in shown
    code, shown = on_terminal("verify", cache, "--most", "1")
    assert code == 1
    assert "--json lists them" in plain(shown)


def test_neighbouring_findings_are_one_range(tmp_path: Path) -> None:
    error = drt.CorruptCacheError("gone")
    found = [range(7, 9), range(3), range(3, 5), range(4, 5), range(20, 21)]
    damages = (*(drt.CacheDamage(error, ids) for ids in found), drt.CacheDamage(error))
    report = drt.CacheVerification(tmp_path, 30, 4, 100, damages)
    assert _ranges(report) == [[0, 4], [7, 8], [20, 20]]


def test_one_damaged_cache_hides_no_other(
    runtime: drt.DatasetRuntime, cache: Path, tmp_path: Path
) -> None:
    write_ok(runtime, numbered(5, "other"), tmp_path)
    (cache / "manifest.json").write_bytes(b"{")
    for command in ("info", "verify"):
        broken, other = answer(command, tmp_path, expect=1)["caches"]
        assert (broken["path"], broken["error"]["type"]) == (str(cache), "CorruptCacheError")
        assert (other["path"], other["row_count"]) == (str(tmp_path / "other"), 5)


def test_head_shows_the_samples_beside_a_damaged_one(cache: Path) -> None:
    damage(cache, 1)
    rows = answer("head", cache, "-n", "3", expect=1)["rows"]
    assert ["error" in row for row in rows] == [False, True, False]
    done = run("head", cache, "-n", "3", expect=1)
    assert done.stdout.splitlines()[2].split()[-2:] == ["damaged", "-"]
    assert str(cache) in done.stderr


def test_schemas_that_differ_are_told(
    runtime: drt.DatasetRuntime, cache: Path, tmp_path: Path
) -> None:
    other = write_ok(runtime, Rows("other", [(b"x", {"a": 1})]), tmp_path).path
    assert str(other) in problem("stats", cache, other, expect=1)
    assert "2 schemas" in run("info", tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["stats", "--by", "nope"], "nope"),
        (["stats", "--weight", "quality"], "--by"),
        (["stats", "--by", "label", "--weight", "nope"], "nope"),
        (["stats", "--by", "label", "--weight", "x("], "x("),
        (["stats", "--by", "label", "--weight", "0"], "weight"),
        (["stats", "--plot", "p.pdf"], "p.pdf"),
        (["plan", "--ordered", "--each-once"], "--each-once"),
    ],
)
def test_wrong_arguments_exit_with_2(cache: Path, arguments: list[str], word: str) -> None:
    assert word in problem(*arguments, cache, expect=2)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nope"],
        ["info"],
        ["info", "--nope", "."],
        ["plan", "--seed", "-1", "."],
        ["plan", "--seed", str(2**64), "."],
        ["convert", ".", "out", "--compression", "zip"],
    ],
)
def test_usage_is_shown_for_what_is_no_command_line(arguments: list[str]) -> None:
    done = run(*arguments, expect=2)
    assert "Usage" in done.stdout + done.stderr


def test_long_sentence_fits_a_screen(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    wide = {f"a column with a long name, number {i}": i for i in range(100)}
    one = write_ok(runtime, Rows("one", [(b"", wide)]), tmp_path).path
    two = write_ok(runtime, Rows("two", [(b"", wide | {"more": 1})]), tmp_path).path
    assert len(problem("plan", one, two, expect=1)) < 800


def test_interrupt_exits_with_130_and_says_nothing(cache: Path) -> None:
    # The first byte of its bar says that the command is at work.
    command = [sys.executable, "-c", GUARDED, "bench", str(cache), "--seconds", "600"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(TERM="xterm", LC_ALL="C.UTF-8"),
        text=True,
    ) as child:
        os.close(theirs)
        shown = os.read(ours, 1)
        child.send_signal(signal.SIGINT)
        shown += read_all(ours).encode()
        out = child.stdout.read()
        assert child.wait(120) == 130, shown
    os.close(ours)
    assert out == ""
    # the bar hides the cursor; whenever the signal came, it is shown again
    assert shown.rfind(b"\x1b[?25h") >= shown.rfind(b"\x1b[?25l"), shown
    assert b"Traceback" not in shown


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_extra_is_one_line(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None\n{GUARDED}"
    done = subprocess.run(
        [sys.executable, "-c", code, "info", "."],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert missing in done.stderr
    assert "pip install typer rich matplotlib" in done.stderr


def test_missing_matplotlib_stops_plots_alone(cache: Path, tmp_path: Path) -> None:
    code = f"import sys; sys.modules['matplotlib'] = None\n{GUARDED}"
    for options, expect in ([], 0), (["--plot", str(tmp_path / "p.png")], 2):
        done = subprocess.run(
            [sys.executable, "-c", code, "stats", str(cache), *options],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        assert done.returncode == expect, done.stderr
        assert ("pip install matplotlib" in done.stderr) == bool(options)


def test_reader_of_a_pipe_may_have_seen_enough(cache: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dataset_rt", "head", str(cache), "-n", "20", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as child:
        child.stdout.close()
        errors = child.stderr.read()
        assert child.wait(120) == 0, errors
    assert errors == ""
