"""The training of train_torchrun.py under Ray Train: saved on two workers, ended on three.

Ray Train starts the workers and their process group; the loader finds its rank there.

    python examples/train_ray.py        start a Ray of its own on this machine, and show that
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import ray
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer
from train_digits import open_dataset
from train_torchrun import BATCH_DRAWS, BATCHES, train


def train_worker(config: dict[str, Any]) -> None:
    """What each worker of Ray Train runs."""
    train(Path(config["work"]), config["stop_after"])


def launch(work: Path, workers: int, stop_after: int) -> None:
    """Train on so many workers until so many batches are done."""
    TorchTrainer(
        train_worker,
        train_loop_config={"work": str(work), "stop_after": stop_after},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=False),
        run_config=RunConfig(storage_path=str(work / "ray")),
    ).fit()


def compare(work: Path) -> None:
    """Make sure that both runs together drew the stream, each draw once and in order."""
    saved = torch.load(work / "checkpoint.pt", weights_only=True)
    plan = open_dataset(work / "cache").plan(BATCHES * BATCH_DRAWS)
    assert saved["drawn"] == plan["sample_id"].to_list()
    losses = saved["losses"]
    assert losses[-1] < losses[0]
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, the draws of the plan on 2 and 3 workers")


def main() -> None:
    """Train on two workers and on three, and compare what they drew with the plan."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # a Ray that lives for this program
    # Sockets lie below this folder, so its name has to be short.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as folder:
        ray.init(
            address="local",
            num_cpus=4,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=100_000_000,
            _temp_dir=folder,
        )
        with tempfile.TemporaryDirectory() as work:
            launch(Path(work), 2, BATCHES // 3)
            launch(Path(work), 3, BATCHES)
            compare(Path(work))
        ray.shutdown()


if __name__ == "__main__":
    main()
