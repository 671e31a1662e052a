"""Small sources and shortcuts that the integration tests share."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import dataset_rt as drt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

QUIET = drt.WriterConfig(show_progress=False)


@dataclasses.dataclass
class Rows:
    """A source over given rows; counts how often it was iterated."""

    name: str
    rows: Sequence[Any]
    iterations: int = 0

    def __iter__(self) -> Iterator[Any]:
        self.iterations += 1
        for row in self.rows:
            yield drt.CacheInput(*row) if type(row) is tuple else row


class VersionedRows(Rows):
    """The same with a version text."""

    version: str | None = None


def versioned(name: str, rows: Sequence[Any], version: str | None) -> VersionedRows:
    source = VersionedRows(name, rows)
    source.version = version
    return source


def payload(sample_id: int) -> bytes:
    """A payload that tells its sample, of a length that differs from its neighbours'."""
    return f"sample {sample_id};".encode() * (sample_id % 5 + 1)


def numbered(count: int, name: str = "numbers") -> Rows:
    """Rows with one column of each type; ``label`` is sample_id modulo 3."""
    return Rows(
        name,
        [
            (
                payload(i),
                {"flag": i % 2 == 0, "label": i % 3, "quality": i / 7, "split": f"part-{i % 4}"},
            )
            for i in range(count)
        ],
    )


def write_one(
    runtime: drt.DatasetRuntime, source: Any, base: Path, **config: Any
) -> drt.CacheWriteResult:
    """Write one source quietly and give its only result."""
    writer_config = drt.WriterConfig(show_progress=False, **config)
    (result,) = runtime.write_cache(source, base, writer_config=writer_config)
    return result


def write_ok(
    runtime: drt.DatasetRuntime, source: Any, base: Path, **config: Any
) -> drt.CacheWriteSuccess:
    """Write one source that must succeed."""
    result = write_one(runtime, source, base, **config)
    assert isinstance(result, drt.CacheWriteSuccess), result
    return result


def write_fails(
    runtime: drt.DatasetRuntime, source: Any, base: Path, **config: Any
) -> drt.CacheWriteError:
    """Write one source that must fail."""
    result = write_one(runtime, source, base, **config)
    assert isinstance(result, drt.CacheWriteError), result
    return result


def open_numbers(
    runtime: drt.DatasetRuntime, base: Path, count: int = 10, *, seed: int = 7, **config: Any
) -> drt.CachedDataset:
    """A dataset of one numbered cache, written on first use."""
    path = base / f"numbers-{count}"
    if not path.exists():
        write_ok(runtime, numbered(count, path.name), base)
    return runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=seed, **config))


def flat(parts: Iterable[Iterable[Any]]) -> list[Any]:
    """The items of several lists in one."""
    return list(itertools.chain.from_iterable(parts))


def ids(samples: Any) -> list[int]:
    """Sample ids in the order of iteration."""
    return [sample.sample_id for sample in samples]


def planned(dataset: drt.CachedDataset, n: int, start: int | None = None) -> list[int]:
    """Sample ids of draws to come, without reading them."""
    return dataset.plan(n, start)["sample_id"].to_list()


def leftovers(base: Path) -> list[str]:
    """What a writer left beside finished caches."""
    temporary = base / "tmp"
    if not temporary.exists():
        return []
    return sorted(str(path.relative_to(base)) for path in temporary.rglob("*"))
