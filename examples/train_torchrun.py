"""Training on any number of ranks: saved on two, resumed on one, finished on three.

The loader finds rank and world size by itself, and a batch of all ranks together is always the
same run of draws, so the checkpoint of one number of ranks is good for another.

    python examples/train_torchrun.py                           show that, in several runs here
    torchrun --nproc-per-node 2 examples/train_torchrun.py --work DIRECTORY    train, or resume
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from train_digits import open_dataset, to_tensors

EPOCH_DRAWS = 240
BATCH_DRAWS = 24
"""Of all ranks together, so that 1, 2, 3 or 4 of them have equal parts."""

BATCHES = 20
"""Two epochs."""


def train(work: Path, stop_after: int) -> None:
    """Train from the checkpoint, or from the beginning, until so many batches are done."""
    ranks = dist.get_world_size()
    torch.manual_seed(0)
    network = DistributedDataParallel(torch.nn.Linear(64, 10))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    dataset = open_dataset(work / "cache")
    dataset.set_epoch_len(EPOCH_DRAWS)
    loader = dataset.to_torch_dataloader(
        batch_size=BATCH_DRAWS // ranks, transform=to_tensors, with_seed=True
    )
    losses: list[float] = []
    drawn: list[int] = []
    checkpoint = work / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        network.module.load_state_dict(saved["network"])
        losses, drawn = saved["losses"], saved["drawn"]
        loader.load_state_dict(saved["stream"])
    while len(losses) < stop_after:
        for images, labels, numbers in loader:
            loss = torch.nn.functional.cross_entropy(network(images), labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            batch_loss, batch = of_all_ranks(loss.item(), numbers.tolist())
            losses.append(batch_loss)
            drawn += batch
            if len(losses) == stop_after:
                break
    if dist.get_rank() == 0:
        state = {"network": network.module.state_dict(), "stream": loader.state_dict()}
        torch.save({**state, "losses": losses, "drawn": drawn}, checkpoint)


def of_all_ranks(loss: float, numbers: list[int]) -> tuple[float, list[int]]:
    """The mean of the losses, and the samples in the order of their draws."""
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (loss, numbers))
    draws = zip(*(of_rank for _, of_rank in told), strict=True)
    return float(np.mean([of_rank for of_rank, _ in told])), [n for turn in draws for n in turn]


def launch(work: Path, ranks: int, stop_after: int) -> None:
    """Run this file once per rank, with the variables that torchrun would set."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, f"--work={work}", f"--stop-after={stop_after}"]
        command += [f"--meet=file://{folder}/ranks"]
        shared = {"OMP_NUM_THREADS": "1", **os.environ, "WORLD_SIZE": str(ranks)}
        started = [
            subprocess.Popen(command, env={**shared, "RANK": str(rank)}) for rank in range(ranks)
        ]
        statuses = [process.wait() for process in started]
    assert statuses == [0] * ranks, statuses


def compare(undisturbed: Path, changed: Path) -> None:
    """Make sure that two trainings drew and learned the same, and say so."""
    one, other = (
        torch.load(work / "checkpoint.pt", weights_only=True) for work in (undisturbed, changed)
    )
    assert one["drawn"] == other["drawn"]
    assert len(one["drawn"]) == BATCHES * BATCH_DRAWS
    # The same numbers, added in another order.
    assert np.allclose(one["losses"], other["losses"], atol=1e-4)
    assert one["losses"][-1] < one["losses"][0]
    print(f"loss {one['losses'][0]:.3f} -> {one['losses'][-1]:.3f}, the same draws in all runs")


def show() -> None:
    """Train on one rank, and on two, one and three in turn."""
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
        launch(Path(whole), 1, BATCHES)
        for ranks, stop_after in ((2, 7), (1, 10), (3, BATCHES)):
            launch(Path(cut), ranks, stop_after)
        compare(Path(whole), Path(cut))


def main() -> None:
    """Show everything, or be one rank of a training in a directory that is kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, help="train here, or resume what is here")
    parser.add_argument("--stop-after", type=int, default=BATCHES, help="so many batches")
    parser.add_argument("--meet", default="env://", help="how ranks find each other")
    options = parser.parse_args()
    if options.work is None:
        show()
        return
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=options.meet,
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
    )
    train(options.work, options.stop_after)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
