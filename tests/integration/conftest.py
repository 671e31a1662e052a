"""Fixtures shared by the integration tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dataset_rt as drt
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from object_server import ObjectServer


@pytest.fixture(scope="session")
def runtime() -> drt.DatasetRuntime:
    """One pool of two threads for tests that do not care."""
    return drt.DatasetRuntime(num_workers=2)


@pytest.fixture(scope="session")
def object_server() -> Iterator[ObjectServer]:
    """An S3 server; only tests that ask for it import one."""
    from object_server import serving

    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def train_cache(tmp_path_factory: pytest.TempPathFactory, runtime: drt.DatasetRuntime) -> Path:
    """A cache of 1000 samples in several shards."""
    from object_server import rows
    from support import write_ok

    base = tmp_path_factory.mktemp("caches")
    return write_ok(runtime, rows(1000), base, max_shard_bytes=200_000).path


@pytest.fixture(scope="session")
def cache_url(object_server: ObjectServer, train_cache: Path) -> str:
    """The same cache in the server."""
    url = object_server.url("some/prefix")
    drt.upload(train_cache, url)
    return url
