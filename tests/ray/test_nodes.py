"""A node that dies while it writes; this machine has three, each with its own processes."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import ray
from cluster import joined
from dataset_rt.integrations.ray import write_caches
from ray.cluster_utils import Cluster
from ray_sources import QUIET, Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dataset_rt as drt
    import pytest

NODE = {"num_cpus": 0, "object_store_memory": 80_000_000}
NOT_HERE = {"num_cpus": 0, "resources": {"there": 1}}


class BlockedOnce(Numbers):
    """Waits for ever after its first row, the first time; tells a named pipe on which node."""

    def __init__(self, name: str, pipe: Path, mark: Path) -> None:
        super().__init__(name)
        self._pipe, self._mark = pipe, mark

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for number, row in enumerate(super().__iter__()):
            if number == 1 and not self._mark.exists():
                self._mark.touch()
                self._pipe.write_text(ray.get_runtime_context().get_node_id())
                reading, _writing = os.pipe()
                os.read(reading, 1)
            yield row


def test_node_that_dies_costs_its_task_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, mark, base = tmp_path / "pipe", tmp_path / "mark", tmp_path / "base"
    os.mkfifo(pipe)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        Path(folder, "ray").mkdir()
        cluster = Cluster()
        cluster.add_node(**NODE, include_dashboard=False)
        workers = [cluster.add_node(**NODE, resources={"there": 1}) for _ in range(2)]

        def end_node() -> None:
            name = pipe.read_text()
            for node in workers:
                if node.node_id == name:
                    cluster.remove_node(node, allow_graceful=False)

        ending = threading.Thread(target=end_node, daemon=True)
        ending.start()
        try:
            with joined(cluster.address):
                sources = [Numbers("a"), BlockedOnce("b", pipe, mark), Numbers("c")]
                results = write_caches(sources, base, writer_config=QUIET, task_options=NOT_HERE)
        finally:
            cluster.shutdown()
    ending.join()
    assert mark.exists()
    assert [result.status for result in results] == ["built"] * 3
    assert sorted(path.name for path in base.iterdir()) == ["a", "b", "c"]
