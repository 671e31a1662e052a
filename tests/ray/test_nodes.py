"""A node that dies while it writes; this machine has two of them, each with its own processes."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import TYPE_CHECKING

from cluster import joined
from dataset_rt.integrations.ray import write_caches
from ray.cluster_utils import Cluster
from ray_sources import QUIET, Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import dataset_rt as drt

ONLY_THERE = {"num_cpus": 0, "resources": {"there": 1}}
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


class BlockedOnce(Numbers):
    """Waits for ever after its first row, the first time, and says so through a named pipe."""

    def __init__(self, name: str, pipe: Path, mark: Path) -> None:
        super().__init__(name)
        self._pipe, self._mark = pipe, mark

    def __iter__(self) -> Iterator[drt.CacheInput]:
        for number, row in enumerate(super().__iter__()):
            if number == 1 and not self._mark.exists():
                self._mark.touch()
                self._pipe.write_text("begun")
                reading, _writing = os.pipe()
                os.read(reading, 1)
            yield row


def test_node_that_dies_costs_its_task_only(tmp_path: Path) -> None:
    pipe, mark, base = tmp_path / "pipe", tmp_path / "mark", tmp_path / "base"
    os.mkfifo(pipe)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
        nodes = Cluster()
        nodes.add_node(**NODE, include_dashboard=False, temp_dir=folder)
        dying = nodes.add_node(**NODE, resources={"there": 1})
        try:
            with joined(nodes.address):

                def replace_node() -> None:
                    pipe.read_text()
                    nodes.remove_node(dying, allow_graceful=False)
                    nodes.add_node(**NODE, resources={"there": 1})

                replacing = threading.Thread(target=replace_node)
                replacing.start()
                sources = [Numbers("a"), BlockedOnce("b", pipe, mark), Numbers("c")]
                results = write_caches(sources, base, writer_config=QUIET, task_options=ONLY_THERE)
                replacing.join()
        finally:
            nodes.shutdown()
    assert mark.exists()
    assert [result.status for result in results] == ["built"] * 3
    assert sorted(path.name for path in base.iterdir()) == ["a", "b", "c"]
