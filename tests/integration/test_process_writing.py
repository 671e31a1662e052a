"""Sources written in processes of their own: the same values and bytes as in this process."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import dataset_rt as drt
import pytest
from dataset_rt import _native
from process_sources import (
    Blocked,
    Dying,
    Exit,
    Failing,
    Lingering,
    Logged,
    Opening,
    Source,
    Unloadable,
    UnpicklableError,
)
from support import Rows, leftovers, numbered, versioned, write_one

READER = drt.ReaderConfig(seed=1, shuffle=False)


def config(num_processes: int, **fields) -> drt.WriterConfig:
    fields.setdefault("show_progress", False)
    return drt.WriterConfig(num_processes=num_processes, **fields)


def write(runtime, base: Path, sources, num_processes: int = 2, **fields) -> list:
    return runtime.write_cache(sources, base, writer_config=config(num_processes, **fields))


def tree(base: Path) -> dict[str, bytes]:
    """All files of all caches but those that tell the time."""
    return {
        str(file.relative_to(base)): file.read_bytes()
        for file in sorted(base.rglob("*"))
        if file.is_file() and file.name != "origin.json"
    }


def told(result: drt.CacheWriteResult, base: Path) -> object:
    """What a result says, apart from place and time."""
    if isinstance(result, drt.CacheWriteSuccess):
        path = result.path.relative_to(base)
        return replace(result, path=path, created_at="")
    error = result.error
    fields = {name: getattr(error, name) for name in getattr(error, "fields", ())}
    text = repr((result.message, type(error), str(error), getattr(error, "args", ()), fields))
    return result.source_name, text.replace(str(base), "BASE")


class Nameless:
    @property
    def name(self) -> str:
        raise RuntimeError("no name")

    def __iter__(self):
        return iter(())


def every_kind() -> list:
    return [
        numbered(2500, "first"),
        Failing("failing", KeyError("missing")),
        Rows("empty", []),
        Nameless(),
        versioned("versioned", [(b"", {"größe": 1.5})], "v1"),
        Rows("bad row", [(b"x", {"a": 1}), (b"y", {"a": "1"})]),
        Rows("bad payload", [("text", {})]),
        numbered(1, "tmp"),
        numbered(1, "a/b"),
        versioned("bad version", [], 3),
        Rows("not iterable", 3),
        Rows("large", [(b"x" * 3_000_000, {"a": 1})]),
        numbered(7, "last"),
    ]


@pytest.mark.parametrize("num_processes", [1, 3])
def test_results_and_bytes_are_those_of_one_process(tmp_path, num_processes: int) -> None:
    runtime = drt.DatasetRuntime(num_workers=2)
    fields = {"max_shard_bytes": 5000, "shard_compression": drt.ShardCompression(algo="lz4")}
    bases = [tmp_path / "serial", tmp_path / "processes"]
    first, second = (
        [told(result, base) for result in write(runtime, base, every_kind(), count, **fields)]
        for base, count in zip(bases, [0, num_processes], strict=True)
    )
    assert second == first
    assert len(tree(bases[0])) > 10
    assert tree(bases[1]) == tree(bases[0])
    assert [leftovers(base) for base in bases] == [[], []]


def test_results_and_dataset_of_opening_are_those_of_one_process(runtime, tmp_path) -> None:
    outcomes = []
    for count in (0, 2):
        base = tmp_path / str(count)
        sources = [numbered(3, "a"), Source("other schema"), numbered(4, "b")]
        opened = runtime.from_cache_sources(
            sources, base, reader_config=READER, writer_config=config(count)
        )
        assert isinstance(opened, drt.CacheSourcesDatasetSuccess)
        results = [told(result, base) for result in opened.results]
        outcomes.append((results, list(opened.dataset)))
    assert outcomes[0] == outcomes[1]
    assert isinstance(opened.results[1].error, drt.InvalidMetadataError)
    assert [result.status for result in opened.results[::2]] == ["built", "built"]


def test_each_source_has_a_process_and_results_have_its_order(runtime, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The first one ends when the second one has begun.
    sources = [Opening("a", str(pipe), "r"), Opening("b", str(pipe), "w"), Source("c")]
    results = write(runtime, tmp_path, sources)
    assert [result.source_name for result in results] == ["a", "b", "c"]
    paths = [result.path for result in results]
    samples = list(runtime.cached_dataset(paths, reader_config=READER))
    processes = {sample.metadata["process"] for sample in samples}
    assert len(processes) == 3
    assert os.getpid() not in processes


def test_no_more_processes_run_than_asked_for(runtime, tmp_path) -> None:
    log = tmp_path / "log"
    results = write(runtime, tmp_path, [Logged(str(i), str(log)) for i in range(5)])
    assert [result.row_count for result in results] == [2] * 5
    running = [0]
    for sign in log.read_text():
        running.append(running[-1] + (1 if sign == "+" else -1))
    assert running[-1] == 0
    assert max(running) <= 2


def test_duplicate_names_are_refused_before_anything_is_written(runtime, tmp_path) -> None:
    with pytest.raises(drt.InvalidConfigError):
        write(runtime, tmp_path / "base", [numbered(2, "a"), Source("b"), numbered(2, "a")])
    assert not (tmp_path / "base").exists()


def test_exception_brings_its_traceback_along(runtime, tmp_path) -> None:
    (failure,) = write(runtime, tmp_path, Failing("failing", KeyError("missing")))
    assert type(failure.error) is KeyError
    assert failure.error.args == ("missing",)
    (note,) = failure.error.__notes__
    assert "'failing'" in note
    assert "in more" in note
    assert note.endswith("KeyError: 'missing'")


class Raising(Source):
    """Makes its exception itself."""

    def more(self):
        raise UnpicklableError(1, 2)


class Exiting(Source):
    def more(self):
        raise Exit(1, 2)


def test_exception_made_in_the_process_becomes_its_text(runtime, tmp_path) -> None:
    (failure,) = write(runtime, tmp_path, Raising("raising"))
    assert type(failure.error) is drt.DatasetError
    assert failure.message == str(failure.error) == "UnpicklableError: 1 and 2"
    assert "in more" in failure.error.__notes__[0]


def test_source_that_can_not_travel_is_its_error_value(runtime, tmp_path) -> None:
    local = type("Local", (Source,), {})("local")
    results = write(runtime, tmp_path, [local, Unloadable("unloadable"), Source("fine")])
    for failure in results[:2]:
        assert isinstance(failure.error, drt.SourceProcessError)
        assert "pickled" in failure.message
    assert "not in this process" in results[1].message
    assert results[0].error.__cause__ is not None
    assert results[2].status == "built"
    assert leftovers(tmp_path) == []


def test_process_that_dies_is_the_error_value_of_its_source(runtime, tmp_path) -> None:
    sources = [
        Dying("killed", -signal.SIGKILL),
        Dying("exits", 7),
        Dying("exits well", 0),
        Source("fine"),
    ]
    results = write(runtime, tmp_path, sources)
    errors = [result.error for result in results[:3]]
    assert all(isinstance(error, drt.SourceProcessError) for error in errors)
    assert [(error.signal, error.exit_code) for error in errors] == [
        ("SIGKILL", None),
        (None, 7),
        (None, 0),
    ]
    assert results[3].status == "built"
    assert leftovers(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fine"]
    assert write_one(runtime, numbered(3, "killed"), tmp_path).status == "built"


def test_silent_process_is_ended_and_an_error_value(runtime, tmp_path) -> None:
    (failure,) = write(runtime, tmp_path, Blocked("blocked"), process_timeout_seconds=0.5)
    assert isinstance(failure.error, drt.SourceProcessError)
    assert failure.error.timeout_seconds == 0.5
    assert "'blocked'" in failure.message
    assert list(tmp_path.iterdir()) == []


def test_process_that_does_not_end_has_its_outcome_and_is_ended(
    runtime, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("dataset_rt.processes._EXIT_SECONDS", 0.1)
    (result,) = write(runtime, tmp_path, Lingering("lingering"))
    assert (result.status, result.row_count) == ("built", 1)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("now"), SystemExit(3), GeneratorExit()])
def test_what_is_no_exception_is_raised_and_ends_the_others(runtime, tmp_path, interrupt) -> None:
    with pytest.raises(type(interrupt)) as caught:
        write(runtime, tmp_path, [Blocked("blocked"), Failing("failing", interrupt)])
    assert caught.value.args == interrupt.args
    assert multiprocessing.active_children() == []
    assert list(tmp_path.iterdir()) == []


def test_interrupt_that_does_not_pickle_is_raised_as_what_it_derives_from(
    runtime, tmp_path
) -> None:
    with pytest.raises(SystemExit) as caught:
        write(runtime, tmp_path, Exiting("exiting"))
    assert type(caught.value) is SystemExit


def test_finished_caches_are_reused_without_a_process(runtime, tmp_path) -> None:
    write(runtime, tmp_path, [numbered(3, "a"), Source("b")])
    local = type("Local", (Source,), {"__reduce__": None})  # can't be sent to a process
    opened = runtime.from_cache_sources(
        local("b"), tmp_path, reader_config=READER, writer_config=config(2)
    )
    assert [result.status for result in opened.results] == ["reused"]
    (again,) = write(runtime, tmp_path, local("b"))
    assert isinstance(again.error, drt.CacheExistsError)


@pytest.mark.parametrize(
    ("version", "on_change", "status"),
    [("v1", "refuse", "reused"), ("v2", "refuse", None), ("v2", "rebuild", "built")],
)
def test_versions_decide_as_in_one_process(runtime, tmp_path, version, on_change, status) -> None:
    write(runtime, tmp_path, versioned("a", [(b"one", {"a": 1}), (b"two", {"a": 2})], "v1"))
    source = versioned("a", [(b"three", {"a": 3})], version)
    opened = runtime.from_cache_sources(
        source, tmp_path, reader_config=READER, writer_config=config(1, on_version_change=on_change)
    )
    (result,) = opened.results
    if status is None:
        assert isinstance(result.error, drt.CacheVersionError)
        assert (result.error.expected, result.error.found) == ("v2", "v1")
    else:
        assert (result.status, result.row_count) == (status, 1 if status == "built" else 2)
    assert leftovers(tmp_path) == []


def test_validation_finds_damage_before_reuse(runtime, tmp_path) -> None:
    (written,) = write(runtime, tmp_path, numbered(3, "a"))
    shard = written.path / "shards" / "000000.bin"
    shard.write_bytes(shard.read_bytes()[::-1])
    opened = runtime.from_cache_sources(
        numbered(3, "a"),
        tmp_path,
        reader_config=READER,
        writer_config=config(2, validate_cache=True),
    )
    assert isinstance(opened.results[0].error, drt.CorruptCacheError)


def test_relative_paths_are_those_of_the_caller(runtime, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text("")
    (serial,), (result,) = (
        write(runtime, Path(f"base{count}/../base{count}"), Logged("a", "log"), count)
        for count in (0, 1)
    )
    assert result.path == Path(str(serial.path).replace("base0", "base1"))
    assert (tmp_path / "log").read_text() == "+-+-"


def without_numbers(text: str) -> list[str]:
    return re.sub(r"ETA .*", "ETA", re.sub(r"[\d.,]+(?= (samples/s|MB/s))", "N", text)).splitlines()


def test_progress_has_the_lines_of_one_process(tmp_path, capfd) -> None:
    runtime = drt.DatasetRuntime(num_workers=1)  # nothing is completed beside the next source
    lines = []
    for count in (0, 1):
        sources = [numbered(50, "a"), Failing("b", ValueError()), numbered(60, "c")]
        write(runtime, tmp_path / str(count), sources, count, show_progress=True)
        captured = capfd.readouterr()
        assert captured.out == ""
        lines.append(without_numbers(captured.err))
    assert lines[1] == lines[0]
    assert lines[1][2].startswith("c: 60 samples, ")
    assert lines[1][2].endswith("(built); 3/3 sources")


def test_notebook_gets_the_lines_of_all_processes() -> None:
    shown: list[tuple[str, int, int]] = []
    screen = _native.WriteProgress(True, 2, lambda *line: shown.append(line))
    for name in "ab":
        screen.begin(name)
    screen.end("b", "built", 1500, 3000)
    screen.end("a", "failed", 0, 0)
    screen.finish()
    lines = [text for text, _, _ in shown]
    assert [line.split(",")[0] for line in lines] == ["b: 1", "a: failed; 2/2 sources"]
    assert [counts for _, *counts in shown] == [[1, 2], [2, 2]]
    assert "(built); 1/2 sources" in lines[0]


@pytest.mark.parametrize("interrupt", [False, True])
def test_one_profile_has_all_sources(runtime, tmp_path, interrupt: bool) -> None:
    file = tmp_path / "profile.json"
    profiler = drt.WriterProfilerConfig(enabled=True, path=file)
    sources = [numbered(50, "a"), Dying("b", 1), numbered(60, "c")]
    if interrupt:
        sources.append(Failing("d", KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            write(runtime, tmp_path / "base", sources, 1, profiler=profiler)
    else:
        write(runtime, tmp_path / "base", sources, 1, profiler=profiler)
    profile = json.loads(file.read_text())
    assert profile["outcome"] == ("interrupted" if interrupt else "finished")
    told = [(entry["name"], entry["outcome"], entry["samples"]) for entry in profile["sources"]]
    expected = [("a", "built", 50), ("b", "failed", 0), ("c", "built", 60), ("d", "interrupted", 0)]
    assert told == expected[: len(sources)]
    for stage, value in profile["total"].items():
        assert value == pytest.approx(sum(entry[stage] for entry in profile["sources"])), stage
    assert profile["total"]["python_next"] > 0
    serial = tmp_path / "serial.json"
    profiler = drt.WriterProfilerConfig(enabled=True, path=serial)
    write(runtime, tmp_path / "serial", numbered(5), 0, profiler=profiler)
    alone = json.loads(serial.read_text())
    assert (profile.keys(), profile["total"].keys()) == (alone.keys(), alone["total"].keys())
    assert profile["sources"][1].keys() == alone["sources"][0].keys()


def open_files_and_threads() -> tuple[int, int]:
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


def test_nothing_is_left_running_or_open(runtime, tmp_path) -> None:
    write(runtime, tmp_path / "warm", Source("a"))  # starts what Python keeps for itself
    before = open_files_and_threads()
    sources = [Source("a"), Dying("b", 3), Failing("c", ValueError()), Unloadable("d")]
    write(runtime, tmp_path, sources)
    assert open_files_and_threads() == before
    assert multiprocessing.active_children() == []


def test_core_tells_a_watcher_while_it_waits_and_looks_without_waiting(tmp_path) -> None:
    started, calls = threading.Event(), []
    enough = threading.Event()

    class Slow(Rows):
        def __iter__(self):
            yield drt.CacheInput(b"first", {"a": 1})
            started.set()
            assert enough.wait(60)

    def report(*counts: int) -> None:
        calls.append(counts)
        if len(calls) == 3:
            enough.set()

    runtime = drt.DatasetRuntime(num_workers=1)
    builder = threading.Thread(target=lambda: write_one(runtime, Slow("a", []), tmp_path))
    builder.start()
    assert started.wait(60)
    other, quiet = _native.Runtime(1), config(0)
    base = str(tmp_path)
    found = other.find_caches([numbered(1, "a")], base, quiet, reuse=True)
    assert found == [("a", None)]
    (result,) = other.write_caches([numbered(1, "a")], base, quiet, reuse=True, report=report)
    builder.join()
    assert (result.status, result.row_count) == ("reused", 1)
    assert len(calls) >= 3
    assert set(calls) == {(0, 0)}


PROGRAM = """
import sys
from process_sources import Blocked, write

write(sys.argv[1], Blocked("a"), Blocked("b", ignores_interrupts=True))
"""


def started(*arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A program in a session of its own whose two sources wait, and their processes."""
    program = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    assert program.stdout is not None
    return program, [int(program.stdout.readline()) for _ in range(2)]


@pytest.mark.parametrize("to_all", [False, True], ids=["parent", "terminal"])
def test_interrupt_ends_the_processes_and_leaves_nothing(runtime, tmp_path, to_all) -> None:
    program, processes = started("-c", PROGRAM, str(tmp_path))
    with program:
        (os.killpg if to_all else os.kill)(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=60)
    assert program.returncode != 0
    assert errors.count("KeyboardInterrupt") == errors.count("Traceback") == 1, errors
    assert not any(Path(f"/proc/{process}").exists() for process in processes)
    assert list(tmp_path.iterdir()) == []
    assert write_one(runtime, numbered(3, "a"), tmp_path).status == "built"


def test_processes_end_with_their_starter(runtime, tmp_path) -> None:
    program, _ = started("-c", PROGRAM, str(tmp_path))
    with program:
        program.kill()
        # Read to the end: everyone who could write there is gone.
        output, errors = program.communicate(timeout=60)
    assert (output, errors) == ("", "")
    assert write_one(runtime, numbered(3, "a"), tmp_path).status == "built"
    assert leftovers(tmp_path) == []


def run_script(folder: Path, text: str) -> str:
    script = folder / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    return done.stdout


def test_script_that_runs_itself_again_is_told_so(tmp_path) -> None:
    text = """
from process_sources import Source, write

(failure,) = write("base", Source("a"))
print(failure.error.exit_code, failure.message)
"""
    printed = run_script(tmp_path, text)
    assert printed.startswith("1 ")
    assert "__main__" in printed


def test_script_of_the_guide_runs(tmp_path) -> None:
    page = Path(__file__).parents[2] / "docs" / "guide" / "writing.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    (script,) = [block for block in blocks if "num_processes" in block]
    run_script(tmp_path, script)
    assert len(list(tmp_path.rglob("manifest.json"))) > 1


def test_nothing_of_processes_is_loaded_until_asked_for(tmp_path) -> None:
    text = """
import sys
from support import numbered, QUIET
import dataset_rt as drt

drt.DatasetRuntime(num_workers=1).write_cache(numbered(3), "base", writer_config=QUIET)
print(sorted(name for name in sys.modules if name.startswith(("dataset_rt.", "multiprocessing"))))
"""
    printed = run_script(tmp_path, text)
    assert "dataset_rt.runtime" in printed
    assert "process" not in printed
