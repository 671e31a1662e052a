"""A small Ray on this machine, for each file of tests."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import dataset_rt as drt
import pytest
import ray
from cluster import started

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def runtime() -> drt.DatasetRuntime:
    return drt.DatasetRuntime(num_workers=2)


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
        started(folder)
        yield
        ray.shutdown()
