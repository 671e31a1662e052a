"""Results and exceptions are values with fields, which survive pickling."""

import errno
import pickle
import traceback
from pathlib import Path

import dataset_rt as drt
import pytest
from dataset_rt.errors import io_error
from support import Rows, leftovers, numbered, write_fails, write_ok

SENTENCE = "a sentence"
ERRORS = [
    drt.DatasetError(SENTENCE, kind="Internal", path="/c"),
    drt.InvalidConfigError(SENTENCE, field="seed", value="-1"),
    drt.InvalidMetadataError(
        SENTENCE, column="label", expected="int64", found="string", count=9, rows=(1, 2, 3, 4, 5)
    ),
    drt.CorruptCacheError(
        SENTENCE,
        path="/c",
        file="shards/000001.bin",
        cache_id=0,
        sample_id=4,
        shard=1,
        byte_range=(5, 9),
        expected="ab",
        found="cd",
    ),
    drt.CacheVersionError(SENTENCE, path="/c", expected="1", found="9"),
    drt.CacheExistsError(SENTENCE, path="/c"),
    drt.StateMismatchError(SENTENCE, field="seed", expected="1", found="2"),
    drt.SourceProcessError(SENTENCE, exit_code=1, signal="SIGKILL", timeout_seconds=0.5),
    drt.RemoteReadError(
        SENTENCE, url="s3://b/c/index.bin", byte_range=(5, 9), attempts=5, cause="failed: 503"
    ),
    drt.UnknownSampleError(SENTENCE, cache_id=1, sample_id=2),
    drt.DatasetIOError(
        SENTENCE, errno=errno.ENOSPC, filename="/c/x", operation="write", needed_bytes=9
    ),
    io_error(SENTENCE, errno=errno.ENOENT, filename="/c/x", operation="open"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_keeps_its_fields_through_a_pickle(error: drt.DatasetError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert isinstance(again, drt.DatasetError)
    assert str(again) == str(error) == SENTENCE
    for field in error.fields:
        assert getattr(again, field) == getattr(error, field), field


def test_errors_are_also_the_builtin_classes() -> None:
    assert issubclass(drt.InvalidConfigError, ValueError)
    assert issubclass(drt.InvalidMetadataError, ValueError)
    assert issubclass(drt.UnknownSampleError, LookupError)
    assert issubclass(drt.DatasetIOError, OSError)
    assert issubclass(drt.RemoteReadError, OSError)
    assert isinstance(io_error("x", errno=errno.ENOENT), FileNotFoundError)
    assert isinstance(io_error("x", errno=errno.EACCES), PermissionError)
    assert isinstance(io_error("x", errno=errno.EEXIST), FileExistsError)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(TypeError, match="shard"):
        drt.CacheExistsError("x", shard=1)


def test_results_unpack_by_position_and_pickle(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    success = write_ok(runtime, numbered(3), tmp_path)
    match success:
        case drt.CacheWriteSuccess(name, path):
            assert (name, path) == ("numbers", tmp_path / "numbers")
    assert (success.status, success.row_count) == ("built", 3)
    assert success.writer_version == drt.__version__
    assert success.created_at.endswith("Z") or "+00:00" in success.created_at
    assert pickle.loads(pickle.dumps(success)) == success
    assert type(success).__module__ == "dataset_rt.api"


def test_existing_cache_is_an_error_value_that_pickles(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    path = write_ok(runtime, numbered(3), tmp_path).path
    failure = write_fails(runtime, numbered(3), tmp_path)
    match failure:
        case drt.CacheWriteError(name, message):
            assert name == "numbers"
            assert message
    assert isinstance(failure.error, drt.CacheExistsError)
    assert failure.error.path == str(path)
    again = pickle.loads(pickle.dumps(failure))
    assert again == failure
    assert again.error.path == str(path)


class UnpicklableError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def failing_source(error: BaseException):
    class Failing:
        name = "failing"

        def __iter__(self):
            yield drt.CacheInput(b"first", {"a": 1})
            raise error

    return Failing()


def test_exception_of_the_source_travels_as_itself(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    error = KeyError("missing")
    failure = write_fails(runtime, failing_source(error), tmp_path)
    assert failure.error is error
    assert "missing" in failure.message
    frames = traceback.extract_tb(failure.error.__traceback__)
    assert frames[-1].name == "__iter__"
    assert not (tmp_path / "failing").exists()
    assert leftovers(tmp_path) == []


def test_result_pickles_even_if_the_exception_does_not(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    failure = write_fails(runtime, failing_source(UnpicklableError(1, 2)), tmp_path)
    assert isinstance(failure.error, UnpicklableError)
    again = pickle.loads(pickle.dumps(failure))
    assert again == failure
    assert isinstance(again.error, drt.DatasetError)
    assert "1 and 2" in str(again.error)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_is_no_exception_is_raised_and_leaves_nothing(
    runtime: drt.DatasetRuntime, tmp_path: Path, interrupt: BaseException
) -> None:
    config = drt.WriterConfig(show_progress=False)
    with pytest.raises(type(interrupt)):
        runtime.write_cache(
            [failing_source(interrupt), numbered(3)], tmp_path, writer_config=config
        )
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "failing").exists()


def test_interrupt_in_a_later_source_leaves_earlier_ones_complete_or_absent(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    config = drt.WriterConfig(show_progress=False)
    sources = [numbered(50, "a"), numbered(50, "b"), failing_source(KeyboardInterrupt())]
    with pytest.raises(KeyboardInterrupt):
        runtime.write_cache(sources, tmp_path, writer_config=config)
    again = runtime.from_cache_sources(
        sources[:2], tmp_path, reader_config=drt.ReaderConfig(seed=1), writer_config=config
    )
    assert [result.status in ("built", "reused") for result in again.results] == [True, True]
    assert [item.data for item in again.dataset.get_items([(0, 49), (1, 7)])] == [
        sources[0].rows[49][0],
        sources[1].rows[7][0],
    ]
    assert leftovers(tmp_path) == []


def test_results_of_many_small_sources_stand_in_source_order(tmp_path: Path) -> None:
    sources = [
        failing_source(ValueError()) if number % 5 == 3 else numbered(number % 7, f"s{number}")
        for number in range(60)
    ]
    for number in range(3, 60, 5):
        sources[number].name = f"s{number}"
    outcomes = []
    for workers in (1, 2, 8):
        results = drt.DatasetRuntime(num_workers=workers).write_cache(
            sources, tmp_path / str(workers), writer_config=drt.WriterConfig(show_progress=False)
        )
        assert [result.source_name for result in results] == [f"s{i}" for i in range(60)]
        outcomes.append([getattr(result, "row_count", None) for result in results])
        assert leftovers(tmp_path / str(workers)) == []
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][:5] == [None, 1, 2, None, 4]


def test_one_failing_source_never_stops_the_others(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    sources = [
        numbered(3, "first"),
        failing_source(RuntimeError("no")),
        Rows("empty", []),
        object(),
        numbered(2, "last"),
    ]
    results = runtime.write_cache(
        sources, tmp_path, writer_config=drt.WriterConfig(show_progress=False)
    )
    names = [result.source_name for result in results]
    assert names == ["first", "failing", "empty", "source[3]", "last"]
    assert [type(result).__name__ for result in results] == [
        "CacheWriteSuccess",
        "CacheWriteError",
        "CacheWriteError",
        "CacheWriteError",
        "CacheWriteSuccess",
    ]
    assert results[2].message == "cache source yielded no samples"


def test_sample_is_a_tuple_that_pickles_under_the_api_name() -> None:
    sample = drt.CachedSample(b"x", {"label": 1}, 0, 2)
    assert type(sample).__module__ == "dataset_rt.api"
    assert b"dataset_rt.api" in pickle.dumps(sample)
    assert pickle.loads(pickle.dumps(sample)) == sample
    item = drt.CacheInput(b"x", {})
    assert pickle.loads(pickle.dumps(item)) == item
