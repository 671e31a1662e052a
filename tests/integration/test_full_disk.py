"""Disks that take no more, or nothing: a value that says what was missing where, and nothing left.

A full disk is a small file system of memory that a child mounts for itself. Where the kernel lets
no ordinary process mount anything, the child limits the length of its files instead: the system
then refuses the same writes, by another number.
"""

import errno
from pathlib import Path

import pytest
from children import run
from support import leftovers, numbered, write_ok

FULL = """
base, kind, processes = sys.argv[1], sys.argv[2], int(sys.argv[3])
is_mounted = mounted(base, 1 << 20) is not None
if not is_mounted:
    limit_files(1 << 20)

noise = os.urandom(3000)
rows = {
    "payloads": [(noise[i % 7 :], {"i": i}) for i in range(1000)],
    "one payload": [(b"small", {"i": 0}), (noise * 700, {"i": 1})],
    "metadata": [(b"", {"text": str(i) * 3000}) for i in range(400)],
}[kind]
config = QUIET.model_copy(update={"num_processes": processes})
runtime = drt.DatasetRuntime(num_workers=2)
sources = [numbered(3, "before"), Rows("large", rows), numbered(4, "after")]
outcomes = runtime.write_cache(sources, base, writer_config=config)
reader = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
paths = [f"{base}/before", f"{base}/after"]
count = sum(1 for _ in runtime.cached_dataset(paths, reader_config=reader))
say([is_mounted, list(map(told, outcomes)), sorted(os.listdir(base)), count])
"""


@pytest.mark.parametrize("kind", ["payloads", "one payload", "metadata"])
@pytest.mark.parametrize("processes", [0, 2])
def test_full_disk_is_told_with_the_bytes_it_lacked(tmp_path, kind: str, processes: int) -> None:
    base = tmp_path / "base"
    base.mkdir()
    is_mounted, (before, failure, after), left, count = run(FULL, base, kind, processes)
    number = errno.ENOSPC if is_mounted else errno.EFBIG
    assert (before["status"], after["status"]) == ("built", "built")
    assert failure["bases"][0:2] == ["DatasetIOError", "DatasetError"]
    assert "OSError" in failure["bases"]
    assert (failure["errno"], failure["operation"]) == (number, "write")
    file = Path(failure["filename"])
    assert file.parts[: len(base.parts)] == base.parts
    assert file.name in ("metadata.arrow" if kind == "metadata" else "000000.bin", "index.bin")
    assert 0 < failure["needed_bytes"] <= 3_000_000
    assert str(failure["needed_bytes"]) in failure["message"]
    assert (left, count) == (["after", "before"], 7)


SEALED = """
base = sys.argv[1]
make_read_only = mounted(base, 1 << 20) if sys.argv[2] == "mount" else None
runtime = drt.DatasetRuntime(num_workers=1)
(built,) = runtime.write_cache(numbered(5), base, writer_config=QUIET)
if make_read_only is None:
    drop_capabilities()
    os.chmod(base, 0o555)
else:
    make_read_only()
reader = drt.ReaderConfig(seed=1, shuffle=False)
config = QUIET.model_copy(update={"num_processes": int(sys.argv[3])})
opened = runtime.from_cache_sources(
    [numbered(5), numbered(5, "other")], base, reader_config=reader, writer_config=config
)
(failed,) = runtime.write_cache(numbered(5, "other"), base, writer_config=config)
outcomes = [told(outcome) for outcome in (built, *opened.results, failed)]
say([make_read_only is not None, outcomes, os.listdir(base), len(list(opened.dataset))])
"""


@pytest.mark.parametrize("how", ["mount", "permissions"])
@pytest.mark.parametrize("processes", [0, 1])
def test_sealed_directory_is_read_and_not_written(tmp_path, how: str, processes: int) -> None:
    base = tmp_path / "base"
    base.mkdir()
    is_mounted, outcomes, left, count = run(SEALED, base, how, processes)
    built, reused, *failures = outcomes
    assert (built["status"], reused["status"], count) == ("built", "reused", 5)
    for failure in failures:
        assert "DatasetIOError" in failure["bases"]
        assert failure["errno"] == (errno.EROFS if is_mounted else errno.EACCES)
        assert ("PermissionError" in failure["bases"]) is not is_mounted
        assert failure["filename"].startswith(str(base))
        assert failure["operation"] == "create directory"
        assert failure["needed_bytes"] is None
    assert left == ["numbers"]


def test_next_run_builds_what_found_no_room(runtime, tmp_path) -> None:
    code = """
limit_files(10_000)
source = Rows("numbers", [(b"x" * 3000, {"i": i}) for i in range(100)])
(failure,) = drt.DatasetRuntime(num_workers=2).write_cache(
    source, sys.argv[1], writer_config=QUIET
)
say(told(failure))
"""
    failure = run(code, tmp_path)
    assert (failure["errno"], failure["operation"]) == (errno.EFBIG, "write")
    assert list(tmp_path.iterdir()) == []
    assert write_ok(runtime, numbered(3), tmp_path).status == "built"
    assert leftovers(tmp_path) == []
