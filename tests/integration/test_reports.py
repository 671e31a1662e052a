"""What a write says while and after it runs: progress and profile; and what we never run."""

import json
import re
from pathlib import Path

import dataset_rt as drt
import pytest
from support import Rows, numbered, write_one


def test_quiet_writes_say_nothing(runtime, tmp_path, capfd) -> None:
    write_one(runtime, numbered(5), tmp_path)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_is_plain_lines_where_there_is_no_terminal(runtime, tmp_path, capfd) -> None:
    config = drt.WriterConfig(show_progress=True)
    runtime.write_cache([numbered(50, "a"), numbered(50, "b")], tmp_path, writer_config=config)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "\x1b" not in captured.err
    assert "\r" not in captured.err
    for name in "ab":
        assert re.search(rf"^.*\b{name}\b.*samples/s.*MB/s", captured.err, re.MULTILINE)
    assert "2/2" in captured.err


STAGES = {
    "python_next",
    "python_extract",
    "ingress_wait",
    "record",
    "compression",
    "disk",
    "finish",
    "publish",
}


def fails(i: int):
    def rows():
        yield drt.CacheInput(b"x", {"a": 1})
        raise [RuntimeError("no"), KeyboardInterrupt()][i]

    class Failing:
        name = "failing"

        def __iter__(self):
            return rows()

    return Failing()


@pytest.mark.parametrize("outcome", ["success", "failure", "interrupt"])
def test_profile_is_written_after_every_outcome(runtime, tmp_path, outcome: str) -> None:
    file = tmp_path / "profile.json"
    profiler = drt.WriterProfilerConfig(enabled=True, path=file)
    source = {"success": numbered(20), "failure": fails(0), "interrupt": fails(1)}[outcome]
    if outcome == "interrupt":
        with pytest.raises(KeyboardInterrupt):
            write_one(runtime, source, tmp_path / "base", profiler=profiler)
    else:
        write_one(runtime, source, tmp_path / "base", profiler=profiler)
    profile = json.loads(file.read_text())
    assert profile["outcome"] == ("interrupted" if outcome == "interrupt" else "finished")
    (entry,) = profile["sources"]
    assert entry["name"] == source.name
    for stages in (entry, profile["total"]):
        assert set(stages) >= STAGES
        assert all(stages[stage] >= 0 for stage in STAGES)
    assert profile["total"]["samples"] == 20 or outcome != "success"


def test_no_profile_unless_asked(runtime, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_one(runtime, numbered(3), tmp_path / "base")
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


class Malicious:
    def __reduce__(self):
        raise AssertionError("a payload was pickled or unpickled")


def test_package_unpickles_only_between_its_own_processes() -> None:
    root = Path(drt.__file__).parent
    sources = {file.name: file.read_text() for file in root.rglob("*.py")}
    assert len(sources) > 10
    unpickling = re.compile(r"pickle\.loads?\b|Unpickler|marshal|shelve|\beval\(|\bexec\(")
    found = {name: unpickling.findall(text) for name, text in sources.items()}
    assert {name: uses for name, uses in found.items() if uses} == {
        "source_outcome.py": ["pickle.loads"]
    }


def test_malicious_payload_is_bytes_like_any_other(runtime, tmp_path) -> None:
    bomb = b"cposix\nsystem\n(S'exit 3'\ntR."
    write_one(runtime, Rows("bomb", [(bomb, {})]), tmp_path)
    dataset = runtime.cached_dataset([tmp_path / "bomb"], reader_config=drt.ReaderConfig(seed=1))
    assert [sample.data for sample in dataset] == [bomb]
