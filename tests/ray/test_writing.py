"""Sources written as tasks of Ray: the same values and bytes as in this process."""

import json
import os
import select
import signal
import subprocess
import sys

import dataset_rt as drt
import pytest
import ray
from dataset_rt.integrations.ray import write_caches
from dataset_rt.integrations.ray_tasks import Ledger, SourceJob, write_source
from dataset_rt.source_outcome import unpack_result
from ray_sources import (
    QUIET,
    Dying,
    DyingLate,
    Nameless,
    NotIterable,
    Numbers,
    Raising,
    Unloadable,
    Unpicklable,
    Versioned,
    told,
    tree,
)

pytestmark = pytest.mark.usefixtures("cluster")


def every_kind() -> list:
    return [
        Numbers("first", 2500),
        Raising("raising"),
        Numbers("empty", 0),
        Nameless(),
        Versioned("versioned", version="v1"),
        NotIterable(),
        Numbers("tmp"),
        Numbers("a/b"),
        Versioned("bad version", version=3),
        Numbers("last", 7),
    ]


def test_results_and_bytes_are_those_of_a_local_write(runtime, tmp_path) -> None:
    config = drt.WriterConfig(
        show_progress=False,
        max_shard_bytes=5000,
        shard_compression=drt.ShardCompression(algo="lz4"),
    )
    local, tasks = tmp_path / "local", tmp_path / "tasks"
    first = runtime.write_cache(every_kind(), local, writer_config=config)
    second = write_caches(every_kind(), tasks, writer_config=config, num_workers=2)
    assert [told(result, tasks) for result in second] == [told(result, local) for result in first]
    assert len(tree(local)) > 10
    assert tree(tasks) == tree(local)


def test_error_of_a_source_has_its_traceback(tmp_path) -> None:
    (failure,) = write_caches(Raising("raising"), tmp_path, writer_config=QUIET)
    assert isinstance(failure.error, KeyError)
    (note,) = failure.error.__notes__
    assert "ray_sources.py" in note


def test_source_that_cannot_travel_fails_alone(tmp_path) -> None:
    sources = [Unpicklable("a"), Unloadable("b"), Numbers("c")]
    first, second, third = write_caches(sources, tmp_path, writer_config=QUIET)
    assert isinstance(first.error, drt.SourceProcessError)
    assert "stays here" in first.message
    assert isinstance(second.error, drt.SourceProcessError)
    assert "not in a task" in second.message
    assert third.status == "built"


def test_class_of_a_script_travels_as_it_is(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import sys, tempfile
import dataset_rt as drt
import ray
from cluster import started
from dataset_rt.integrations.ray import write_caches


class Local:
    name = "local"

    def __iter__(self):
        yield drt.CacheInput(b"x", {})


with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
    started(folder)
    quiet = drt.WriterConfig(show_progress=False)
    (done,) = write_caches(Local(), sys.argv[1], writer_config=quiet)
    assert done.status == "built", done
    ray.shutdown()
""")
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, script, tmp_path / "base"], check=True, env=environment)
    assert (tmp_path / "base" / "local" / "manifest.json").exists()


def test_two_sources_of_one_name_are_refused_before_anything_is_written(tmp_path) -> None:
    with pytest.raises(drt.InvalidConfigError):
        write_caches([Numbers("a"), Numbers("a")], tmp_path / "base", writer_config=QUIET)
    assert not (tmp_path / "base").exists()


def test_finished_cache_exists_or_is_reused(tmp_path) -> None:
    write_caches(Numbers("a"), tmp_path, writer_config=QUIET)
    sources = [Numbers("a"), Numbers("b")]
    exists, built = write_caches(sources, tmp_path, writer_config=QUIET)
    assert isinstance(exists.error, drt.CacheExistsError)
    assert built.status == "built"
    results = write_caches(sources, tmp_path, writer_config=QUIET, reuse=True)
    assert [result.status for result in results] == ["reused", "reused"]


def test_killed_worker_costs_its_task_only(tmp_path) -> None:
    log = tmp_path / "log"
    base = tmp_path / "base"
    sources = [Numbers("a"), Dying("b", log=str(log), deaths=2), Numbers("c")]
    results = write_caches(sources, base, writer_config=QUIET)
    assert [result.status for result in results] == ["built"] * 3
    assert log.read_text() == "xxx"
    assert sorted(path.name for path in base.iterdir()) == ["a", "b", "c"]


def test_worker_that_is_killed_each_time_is_an_error_value(tmp_path) -> None:
    dying = Dying("a", log=str(tmp_path / "log"), deaths=9)
    base = tmp_path / "base"
    failed, built = write_caches([dying, Numbers("b")], base, writer_config=QUIET, max_retries=1)
    assert isinstance(failed.error, drt.SourceProcessError)
    assert built.status == "built"
    assert [path.name for path in base.iterdir()] == ["b"]


def test_cache_of_a_task_that_died_after_publishing_is_built(tmp_path) -> None:
    log = tmp_path / "log"
    (result,) = write_caches(
        DyingLate("a", tmp_path / "base", log), tmp_path / "base", writer_config=QUIET
    )
    assert log.exists()
    assert (result.status, result.row_count) == ("built", 20)


def test_retried_task_takes_for_its_own_what_an_attempt_could_have_made(tmp_path) -> None:
    ledgers = [ray.remote(num_cpus=0)(Ledger).remote() for _ in range(2)]
    job = SourceJob(0, "a", str(tmp_path), QUIET, 1, reuse=False)
    source = ray.cloudpickle.dumps(Numbers("a"))
    task = ray.remote(write_source)

    def attempt(ledger) -> drt.CacheWriteResult:
        return unpack_result("a", ray.get(task.remote(job, source, [], ledger)).result)

    assert attempt(ledgers[0]).status == "built"
    assert attempt(ledgers[0]).status == "built"
    assert isinstance(attempt(ledgers[1]).error, drt.CacheExistsError)
    # The other call's source was not asked for a row, so nothing here is its own.
    assert isinstance(attempt(ledgers[1]).error, drt.CacheExistsError)
    for ledger in ledgers:
        ray.kill(ledger)


def test_what_is_no_exception_is_raised(tmp_path) -> None:
    with pytest.raises(SystemExit) as raised:
        write_caches([Raising("a", error=SystemExit(3))], tmp_path, writer_config=QUIET)
    assert raised.value.code == 3
    assert list(tmp_path.iterdir()) == []


def test_interrupt_cancels_tasks_and_leaves_nothing(tmp_path) -> None:
    pipe, base = tmp_path / "pipe", tmp_path / "base"
    os.mkfifo(pipe)
    begun = os.open(pipe, os.O_RDWR)  # waits for nobody
    program = """
import sys, tempfile
import ray
from cluster import started
from dataset_rt.integrations.ray import write_caches
from ray_sources import QUIET, Blocked

with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
    started(folder)
    try:
        write_caches(Blocked("a", sys.argv[1]), sys.argv[2], writer_config=QUIET)
    except KeyboardInterrupt:
        print("interrupted")
    ray.shutdown()
"""
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", program, str(pipe), str(base)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        ready, _, _ = select.select([begun, child.stdout], [], [])
        assert ready == [begun]
        child.send_signal(signal.SIGINT)
        assert child.communicate()[0] == "interrupted\n"
    os.close(begun)
    assert list(base.rglob("*")) == []


def test_progress_and_profile_are_those_of_a_local_write(tmp_path, capfd) -> None:
    profile = tmp_path / "profile.json"
    config = drt.WriterConfig(
        profiler=drt.WriterProfilerConfig(enabled=True, path=profile),
    )
    write_caches([Numbers("a"), Raising("b"), Numbers("c")], tmp_path, writer_config=config)
    shown = capfd.readouterr().err
    for words in ("a", "b", "c", "3/3 sources", "(built)", "failed"):
        assert words in shown
    entries = json.loads(profile.read_text())["sources"]
    assert [(entry["name"], entry["outcome"]) for entry in entries] == [
        ("a", "built"),
        ("b", "failed"),
        ("c", "built"),
    ]


def test_options_of_tasks_reach_ray(tmp_path) -> None:
    options = {"num_cpus": 0, "runtime_env": {"env_vars": {"DRT_WORD": "here"}}}
    (result,) = write_caches(Environment("a"), tmp_path, writer_config=QUIET, task_options=options)
    dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
        [result.path], reader_config=drt.ReaderConfig(seed=1, shuffle=False)
    )
    assert next(iter(dataset)).data == b"here"


class Environment(Numbers):
    def __iter__(self):
        yield drt.CacheInput(os.environ["DRT_WORD"].encode(), {})
