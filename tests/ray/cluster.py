"""How tests start Ray: two processors of this machine, no dashboard, nothing told to anyone."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import ray

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ.update(
    RAY_AUTH_MODE="disabled",
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_UV_RUN_RUNTIME_ENV="0",
    RAY_DATA_DISABLE_PROGRESS_BARS="1",
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
)

DRIVER = {
    "log_to_driver": False,
    "logging_level": "warning",
    "runtime_env": {"env_vars": {"PYTHONPATH": ":".join(sys.path)}},
}


def started(folder: str, **options: object) -> None:
    """Start Ray with its files in a folder, whose name is short: sockets lie in it."""
    settings: dict[str, object] = {
        **DRIVER,
        "address": "local",
        "num_cpus": 2,
        "include_dashboard": False,
        "object_store_memory": 100_000_000,
        "_temp_dir": folder,
        **options,
    }
    ray.init(**settings)  # type: ignore[arg-type]


@contextlib.contextmanager
def joined(address: str) -> Iterator[None]:
    """Be a driver of a Ray that runs."""
    ray.init(address, **DRIVER)  # type: ignore[arg-type]
    yield
    ray.shutdown()
