"""Rows of a Ray Data pipeline as caches: their order, their bounds, and what a failure costs."""

import hashlib
import os
import signal
from pathlib import Path

import dataset_rt as drt
import numpy as np
import pandas as pd
import pytest
import ray
import ray.data
from dataset_rt.integrations.ray import write_dataset
from dataset_rt.integrations.ray_partitions import RowParts
from ray_sources import QUIET, tree

pytestmark = pytest.mark.usefixtures("cluster")


def pipeline(rows: int = 100, blocks: int = 7):
    """Rows that tell their number; the first block takes longest."""
    numbers = ray.data.range(rows, override_num_blocks=blocks)
    return numbers.map_batches(with_payload, batch_size=None)


def with_payload(batch: dict) -> dict:
    ids = batch["id"]
    if ids[0] == 0:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000)
    return {
        "payload": np.array([f"row {i};".encode() * (i % 3 + 1) for i in ids], dtype=object),
        "id": ids,
        "is_even": ids % 2 == 0,
        "text": np.array([f"t{i % 4}" for i in ids], dtype=object),
    }


def write(dataset, base: Path, **options) -> list:
    options.setdefault("payload", "payload")
    options.setdefault("metadata", ["id", "is_even", "text"])
    return write_dataset(dataset, base, writer_config=QUIET, **options)


def rows(results: list) -> list:
    """What the caches hold, in order."""
    dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
        [result.path for result in results],
        reader_config=drt.ReaderConfig(seed=1, shuffle=False),
    )
    return [(sample.cache_id, sample.data, sample.metadata) for sample in dataset]


def expected(caches: list[range]) -> list:
    return [
        (
            cache,
            f"row {i};".encode() * (i % 3 + 1),
            {"id": i, "is_even": i % 2 == 0, "text": f"t{i % 4}"},
        )
        for cache, numbers in enumerate(caches)
        for i in numbers
    ]


def test_rows_come_in_order_in_caches_of_the_asked_for_size(tmp_path) -> None:
    results = write(pipeline(), tmp_path, rows_per_cache=30)
    assert [result.source_name for result in results] == [f"part-0000{i}" for i in range(4)]
    assert [result.row_count for result in results] == [30, 30, 30, 10]
    assert rows(results) == expected([range(30), range(30, 60), range(60, 90), range(90, 100)])


def test_number_of_caches_cuts_the_rows_evenly(tmp_path) -> None:
    results = write(pipeline(), tmp_path, num_caches=3)
    assert [result.row_count for result in results] == [33, 33, 34]
    assert rows(results) == expected([range(33), range(33, 66), range(66, 100)])
    few = write(pipeline(2, 2), tmp_path, num_caches=5, name="few")
    assert [result.row_count for result in few] == [1, 1]


def test_same_rows_give_the_same_bytes_whatever_their_blocks(tmp_path) -> None:
    for folder, blocks in (("a", 7), ("b", 2), ("c", 100)):
        write(pipeline(blocks=blocks), tmp_path / folder, rows_per_cache=30)
    assert len(tree(tmp_path / "a")) > 10
    assert tree(tmp_path / "a") == tree(tmp_path / "b") == tree(tmp_path / "c")


def test_order_setting_of_the_pipeline_is_given_back(tmp_path) -> None:
    dataset = pipeline()
    assert not dataset.context.execution_options.preserve_order
    write(dataset, tmp_path, rows_per_cache=50)
    assert not dataset.context.execution_options.preserve_order


def test_functions_make_payload_and_metadata_of_a_row(tmp_path) -> None:
    results = write(
        pipeline(6, 2),
        tmp_path,
        payload=lambda row: b"%d" % row["id"],
        metadata=lambda row: {"half": row["id"] / 2},
        rows_per_cache=6,
    )
    assert rows(results) == [(0, b"%d" % i, {"half": i / 2}) for i in range(6)]


def test_blocks_of_pandas_and_tensors_are_taken(tmp_path) -> None:
    frame = pd.DataFrame({"payload": [b"a", b"bc"], "count": np.array([3, 4], np.int32)})
    results = write(
        ray.data.from_pandas(frame), tmp_path, metadata=["count"], num_caches=1, name="frame"
    )
    assert rows(results) == [(0, b"a", {"count": 3}), (0, b"bc", {"count": 4})]
    images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    tensors = ray.data.from_numpy(images)
    results = write(tensors, tmp_path, payload="data", metadata=(), num_caches=1, name="tensors")
    assert [data for _, data, _ in rows(results)] == [image.tobytes() for image in images]


def test_partition_that_fails_is_a_value_and_the_others_are_there(tmp_path) -> None:
    results = write(
        pipeline(20, 4),
        tmp_path,
        metadata=lambda row: {"id": int(row["id"]) if row["id"] != 13 else "thirteen"},
        rows_per_cache=5,
    )
    assert [isinstance(result, drt.CacheWriteSuccess) for result in results] == [
        True, True, False, True,
    ]  # fmt: skip
    assert isinstance(results[2].error, drt.InvalidMetadataError)
    assert results[2].error.rows == (3,)


class KillsOnce:
    """A payload function that kills its process the first time it comes to a row."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __call__(self, row: dict) -> bytes:
        if row["id"] == 17 and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return b"%d" % row["id"]


def test_killed_worker_costs_its_partition_only(tmp_path) -> None:
    base = tmp_path / "base"
    results = write(
        pipeline(30, 3),
        base,
        payload=KillsOnce(tmp_path / "mark"),
        metadata=(),
        rows_per_cache=10,
    )
    assert (tmp_path / "mark").exists()
    assert [result.status for result in results] == ["built"] * 3
    assert [data for _, data, _ in rows(results)] == [b"%d" % i for i in range(30)]
    assert len(list(base.iterdir())) == 3


class FailsAt:
    """A stage of a pipeline that fails at a row."""

    def __call__(self, row: dict) -> dict:
        if row["id"] == 25:
            raise RuntimeError("no row 25")
        return row


def test_error_of_the_pipeline_is_raised_and_nothing_is_half_done(tmp_path) -> None:
    failing = pipeline(30, 6).map(FailsAt().__call__)
    with pytest.raises(ray.exceptions.RayTaskError, match="no row 25"):
        write(failing, tmp_path, rows_per_cache=5)
    assert all((path / "manifest.json").exists() for path in tmp_path.iterdir())


def test_pipeline_waits_for_writers(tmp_path) -> None:
    """More rows than the object store holds; the pipeline has to be read as it is written."""
    store_bytes = int(ray.cluster_resources()["object_store_memory"])
    rows, row_bytes = 120, 2_000_000
    assert rows * row_bytes > 2 * store_bytes
    large = ray.data.range(rows, override_num_blocks=60).map(
        lambda row: {"id": row["id"], "payload": bytes([row["id"]]) * row_bytes}
    )
    results = write(large, tmp_path, metadata=["id"], rows_per_cache=4, most_tasks=2)
    assert [result.row_count for result in results] == [4] * 30
    spilled = sum(file.stat().st_size for file in Path(session()).rglob("ray_spilled*/*"))
    assert spilled < store_bytes


def session() -> str:
    return ray._private.worker._global_node.get_session_dir_path()


def test_finished_partitions_are_reused_or_refused(tmp_path) -> None:
    write(pipeline(), tmp_path, rows_per_cache=50)
    refused = write(pipeline(), tmp_path, rows_per_cache=50)
    assert all(isinstance(result.error, drt.CacheExistsError) for result in refused)
    reused = write(pipeline(), tmp_path, rows_per_cache=50, reuse=True)
    assert [result.status for result in reused] == ["reused", "reused"]
    versioned = write(pipeline(), tmp_path, rows_per_cache=50, reuse=True, version="2")
    assert all(isinstance(result, drt.CacheWriteError) for result in versioned)


def test_arguments_that_say_nothing_or_too_much_are_refused(tmp_path) -> None:
    for options in ({}, {"rows_per_cache": 1, "num_caches": 1}):
        with pytest.raises(TypeError):
            write(pipeline(), tmp_path, **options)
    for options in ({"rows_per_cache": 0}, {"num_caches": 0}, {"num_caches": 1, "most_tasks": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            write(pipeline(), tmp_path, **options)


@pytest.mark.parametrize(("count", "total"), [(3, 10), (1, 5), (5, 3), (4, 4), (2, 0)])
def test_even_parts_end_with_the_rows_and_differ_by_one(count: int, total: int) -> None:
    ends = RowParts(None, count).ends(total)
    found = [next(ends) for _ in range(min(count, total))]
    lengths = [end - start for start, end in zip([0, *found], found, strict=False)]
    assert sum(lengths) == total
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
