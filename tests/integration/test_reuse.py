"""Finished caches: reused, refused or rebuilt, and always said so."""

import threading

import dataset_rt as drt
import pytest
from support import QUIET, Rows, leftovers, numbered, versioned, write_fails, write_ok

ROWS = [(b"one", {"a": 1}), (b"two", {"a": 2})]
OTHER = [(b"three", {"a": 3})]


def reuse(runtime, source, base, **config) -> drt.CacheWriteResult:
    result = runtime.from_cache_sources(
        source,
        base,
        reader_config=drt.ReaderConfig(seed=1, shuffle=False),
        writer_config=drt.WriterConfig(show_progress=False, **config),
    )
    return result.results[0]


def test_second_run_reuses_without_iterating(runtime, tmp_path) -> None:
    source = numbered(6)
    first = reuse(runtime, source, tmp_path)
    second = reuse(runtime, source, tmp_path)
    assert source.iterations == 1
    assert (first.status, second.status) == ("built", "reused")
    assert second.row_count == 6
    assert (second.created_at, second.writer_version) == (first.created_at, first.writer_version)
    assert second.path == first.path


def test_name_alone_decides_without_a_version(runtime, tmp_path) -> None:
    write_ok(runtime, Rows("a", ROWS), tmp_path)
    result = reuse(runtime, Rows("a", OTHER), tmp_path)
    assert (result.status, result.row_count) == ("reused", 2)


@pytest.mark.parametrize(
    ("recorded", "wanted", "status"),
    [
        ("v1", "v1", "reused"),
        ("v1", None, "reused"),
        (None, None, "reused"),
        ("v1", "v2", None),
        (None, "v1", None),
        ("v1", "V1", None),
        ("ü", "ü", "reused"),
    ],
)
def test_unequal_versions_are_refused(runtime, tmp_path, recorded, wanted, status) -> None:
    write_ok(runtime, versioned("a", ROWS, recorded), tmp_path)
    source = versioned("a", OTHER, wanted)
    result = reuse(runtime, source, tmp_path)
    assert source.iterations == 0
    if status is None:
        assert isinstance(result, drt.CacheWriteError)
        assert isinstance(result.error, drt.CacheVersionError)
        assert result.error.path == str(tmp_path / "a")
        assert wanted in result.error.expected
        assert (recorded or "") in (result.error.found or "")
    else:
        assert (result.status, result.row_count) == (status, 2)


def test_unequal_version_is_rebuilt_when_asked(runtime, tmp_path) -> None:
    write_ok(runtime, versioned("a", ROWS, "v1"), tmp_path)
    before = runtime.cached_dataset(
        [tmp_path / "a"], reader_config=drt.ReaderConfig(seed=1, shuffle=False)
    )
    result = reuse(runtime, versioned("a", OTHER, "v2"), tmp_path, on_version_change="rebuild")
    assert (result.status, result.row_count) == ("built", 1)
    assert [sample.data for sample in before] == [b"one", b"two"]
    again = reuse(runtime, versioned("a", OTHER, "v2"), tmp_path, on_version_change="rebuild")
    assert (again.status, again.row_count) == ("reused", 1)
    assert leftovers(tmp_path) == []


def test_failed_rebuild_leaves_the_old_cache(runtime, tmp_path) -> None:
    write_ok(runtime, versioned("a", ROWS, "v1"), tmp_path)
    bad = versioned("a", [(b"x", {"a": None})], "v2")
    result = reuse(runtime, bad, tmp_path, on_version_change="rebuild")
    assert isinstance(result.error, drt.InvalidMetadataError)
    assert reuse(runtime, versioned("a", [], "v1"), tmp_path).row_count == 2
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("version", [1, b"v1", 1.5, ["v1"]])
def test_version_is_a_text(runtime, tmp_path, version: object) -> None:
    failure = write_fails(runtime, versioned("a", ROWS, version), tmp_path)
    assert not (tmp_path / "a").exists()
    assert failure.error is not None


def test_write_cache_refuses_a_finished_cache(runtime, tmp_path) -> None:
    write_ok(runtime, numbered(3), tmp_path)
    source = numbered(3)
    failure = write_fails(runtime, source, tmp_path)
    assert isinstance(failure.error, drt.CacheExistsError)
    assert source.iterations == 0


def test_threads_with_one_name_build_once(runtime, tmp_path) -> None:
    started = threading.Event()

    class Slow(Rows):
        def __iter__(self):
            self.iterations += 1
            yield drt.CacheInput(b"first", {"a": 1})
            started.set()
            yield drt.CacheInput(b"second", {"a": 2})

    builder, waiter = Slow("a", []), Rows("a", OTHER)
    results = {}

    def build() -> None:
        results["builder"] = reuse(runtime, builder, tmp_path)

    def wait() -> None:
        started.wait(30)
        pool = drt.DatasetRuntime(num_workers=1)
        results["waiter"] = reuse(pool, waiter, tmp_path)

    threads = [threading.Thread(target=build), threading.Thread(target=wait)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert isinstance(results["builder"], drt.CacheWriteSuccess), results
    assert results["builder"].status == "built"
    assert (results["waiter"].status, results["waiter"].row_count) == ("reused", 2)
    assert waiter.iterations == 0


def test_stray_files_under_tmp_are_nobodys_to_delete(runtime, tmp_path) -> None:
    foreign = tmp_path / "tmp" / "numbers"
    foreign.mkdir(parents=True)
    (foreign / "mine.txt").write_text("keep")
    write_ok(runtime, numbered(3), tmp_path)
    assert (foreign / "mine.txt").read_text() == "keep"


def test_base_that_is_a_file_is_an_os_error_value(runtime, tmp_path) -> None:
    base = tmp_path / "file"
    base.write_text("x")
    (result,) = runtime.write_cache(numbered(2), base, writer_config=QUIET)
    assert isinstance(result, drt.CacheWriteError)
    assert isinstance(result.error, OSError)
    assert isinstance(result.error, drt.DatasetError)
    assert result.error.errno
    assert str(base) in str(result.error.filename)


@pytest.mark.parametrize("path", [b"bytes", 3, None])
def test_path_is_a_text_or_path(runtime, path: object) -> None:
    with pytest.raises(TypeError, match="path"):
        runtime.write_cache([], path, writer_config=QUIET)


@pytest.mark.parametrize("paths", ["abc", b"abc"])
def test_single_path_is_not_walked_letter_by_letter(runtime, paths: object) -> None:
    with pytest.raises(TypeError, match="list"):
        runtime.cached_dataset(paths, reader_config=drt.ReaderConfig(seed=1))


def test_no_paths_and_no_sources(runtime, tmp_path) -> None:
    with pytest.raises(drt.InvalidConfigError):
        runtime.cached_dataset([], reader_config=drt.ReaderConfig(seed=1))
    assert runtime.write_cache([], tmp_path, writer_config=QUIET) == []
    result = runtime.from_cache_sources([], tmp_path, reader_config=drt.ReaderConfig(seed=1))
    assert isinstance(result, drt.CacheSourcesDatasetError)
    assert result.results == []
