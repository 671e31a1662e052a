"""Ray: sources written as tasks of a cluster, and the rows of a Ray Data pipeline as caches.

Ray schedules, retries and moves data; a cache is written by the core, in the task, where it is
to stand. All nodes and the driver reach that folder under one path.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dataset_rt.config import DEFAULT_WRITER_CONFIG, WriterConfig
from dataset_rt.integrations.ray_calls import RayWrite
from dataset_rt.integrations.ray_partitions import RowParts, ordered_blocks, partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ray.data import Dataset

    from dataset_rt.results import CacheWriteResult
    from dataset_rt.source import BytesLike, CacheSource, Metadata

__all__ = ["write_caches", "write_dataset"]

MOST_TASKS = 1000
"""Tasks of ``write_caches`` that are submitted and not done; Ray runs what it has room for."""


def write_caches(
    sources: CacheSource | Sequence[CacheSource],
    path: str | Path,
    *,
    writer_config: WriterConfig = DEFAULT_WRITER_CONFIG,
    reuse: bool = False,
    num_workers: int = 1,
    max_retries: int = 3,
    task_options: Mapping[str, Any] | None = None,
) -> list[CacheWriteResult]:
    """Write one cache per source, like ``DatasetRuntime.write_cache``, each in a task of Ray.

    The caches are byte for byte those of a local write. A worker or node that dies costs its
    task only, which is run again and finds nothing half done.

    Args:
        sources: A source, or a list of them; those that have to be written are pickled.
        path: Base directory of the caches, which every node and this process reach.
        writer_config: How to write. ``num_processes`` and ``process_timeout_seconds`` say
            nothing here.
        reuse: Whether a cache that was finished before is a success, with status
            ``"reused"``, as in ``from_cache_sources``; otherwise it is a ``CacheExistsError``.
        num_workers: Native threads of each task, and the processors that it asks Ray for.
        max_retries: How often a task is run again when its worker or node dies; -1 for ever.
            What a source raises is its outcome and is not tried again.
        task_options: Further options of the tasks, as ``ray.remote`` takes them: ``resources``,
            ``memory``, ``scheduling_strategy``, ``runtime_env``, another ``num_cpus``.

    Returns:
        One ``CacheWriteSuccess`` or ``CacheWriteError`` per source, in source order. A task
        that gave no outcome is a ``SourceProcessError``.

    Raises:
        InvalidConfigError: Two sources share a name; nothing has been written.
        KeyboardInterrupt: On Ctrl-C, and likewise whatever else a source raises that is not
            an ``Exception``; tasks are cancelled and no temporaries are left.
    """
    from dataset_rt.runtime import source_list

    listed = source_list(sources)
    call = RayWrite(
        os.fsdecode(path),
        _required(writer_config),
        reuse=reuse,
        num_workers=num_workers,
        max_retries=max_retries,
        task_options=task_options or {},
        most_tasks=MOST_TASKS,
        total=len(listed),
    )
    with call:
        for (name, found), source in zip(call.find(listed), listed, strict=True):
            call.add(name, found, source)
        return call.results()


def write_dataset(
    ray_dataset: Dataset,
    path: str | Path,
    *,
    payload: str | Callable[[dict[str, Any]], BytesLike],
    metadata: Sequence[str] | Callable[[dict[str, Any]], Metadata] = (),
    rows_per_cache: int | None = None,
    num_caches: int | None = None,
    name: str = "part",
    version: str | None = None,
    writer_config: WriterConfig = DEFAULT_WRITER_CONFIG,
    reuse: bool = False,
    num_workers: int = 1,
    max_retries: int = 3,
    most_tasks: int = 4,
    task_options: Mapping[str, Any] | None = None,
) -> list[CacheWriteResult]:
    """Cache the rows that a Ray Data pipeline computes: ``name-00000``, ``name-00001``, ….

    Each cache holds a range of the rows, in the pipeline's order, which Ray is told to keep:
    the same rows give the same caches on any cluster, however they come in blocks.

    With ``rows_per_cache`` rows are written while the pipeline runs. When ``most_tasks`` caches
    are under way the pipeline waits, so what is held, by Ray's object store, is bounded by
    their rows and what Ray Data holds of its own. ``num_caches`` has to know how many rows
    there are: the pipeline runs first, and Ray's object store, with its disk, holds the results.

    Args:
        ray_dataset: The pipeline. It is executed once.
        path: Base directory of the caches, which every node and this process reach.
        payload: Column with the payload, or what makes it of a row.
        metadata: Columns of metadata, or what makes it of a row. NumPy scalars are taken as
            the Python values they hold.
        rows_per_cache: Rows of each cache but the last. Given this or ``num_caches``.
        num_caches: Number of caches; their row counts differ by one at most. With fewer rows
            than that there are fewer caches.
        name: Beginning of the names of the caches.
        version: Version text of the caches, see ``CacheSource``.
        writer_config: How to write, see ``write_caches``.
        reuse: See ``write_caches``. The pipeline is executed all the same.
        num_workers: Native threads of each task.
        max_retries: How often a task is run again when its worker or node dies; Ray computes
            blocks again that were lost with it.
        most_tasks: Bound of caches that are being written, and of the rows held for them.
        task_options: See ``write_caches``. ``num_cpus`` is 0 unless given: tasks that waited
            for processors held by actors of the pipeline, which waits for them, would never run.

    Returns:
        One outcome per cache, in the order of the rows.

    Raises:
        TypeError: Not exactly one of ``rows_per_cache`` and ``num_caches`` is given.
        ValueError: One of the numbers is below 1.
        Exception: What the pipeline raised; the caches finished before are there.
        KeyboardInterrupt: As for ``write_caches``.
    """
    parts = RowParts(rows_per_cache, num_caches)
    if most_tasks < 1:
        raise ValueError(f"most_tasks wants at least 1, {most_tasks} was given")
    template = {"payload": payload, "metadata": metadata, "version": version}
    call = RayWrite(
        os.fsdecode(path),
        _required(writer_config),
        reuse=reuse,
        num_workers=num_workers,
        max_retries=max_retries,
        task_options={"num_cpus": 0, **(task_options or {})},
        most_tasks=most_tasks,
        total=num_caches,
    )
    with call, ordered_blocks(ray_dataset, is_whole=num_caches is not None) as blocks:
        for partition, references in partitions(blocks, parts, name, template):
            ((text, found),) = call.find([partition])
            call.add(text, found, partition, references)
        return call.results()


def _required(config: object) -> WriterConfig:
    if not isinstance(config, WriterConfig):
        raise TypeError(f"writer_config wants a WriterConfig, a {type(config).__name__} was given")
    return config
