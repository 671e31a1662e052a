"""Training that is killed and resumed: a small network on the handwritten digits of scikit-learn.

Classes are balanced by weight, samples with a large loss come more often in the next epoch, and
each image is shifted as the seed of its draw says. One process, or several ranks that share the
stream; killed in the middle of an epoch and started again, it ends with the very same losses.

    python examples/train_digits.py                             show all that, with 1 and 2 ranks
    torchrun --nproc-per-node 2 examples/train_digits.py --work DIRECTORY     train, or resume
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import numpy as np
import polars as pl
import torch
import torch.distributed as dist
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

EPOCHS = 3
EPOCH_DRAWS = 640
BATCH_DRAWS = 32
"""Of all ranks together."""


class Digits:
    """The images as bytes, with their label as metadata."""

    name = "digits"
    version = "8x8"

    def __iter__(self) -> Iterator[drt.CacheInput]:
        """Yield every image once."""
        digits = load_digits()
        for image, label in zip(digits.images, digits.target, strict=True):
            yield drt.CacheInput(image.astype(np.uint8).tobytes(), {"label": int(label)})


def open_dataset(folder: Path) -> drt.CachedDataset:
    """Write the cache, reuse it, or wait for the rank that is writing it."""
    result = drt.DatasetRuntime(num_workers=2).from_cache_sources(
        Digits(),
        folder,
        reader_config=drt.ReaderConfig(seed=1),
        writer_config=drt.WriterConfig(show_progress=False),
    )
    if isinstance(result, drt.CacheSourcesDatasetError):
        raise SystemExit(result.message)
    return result.dataset


def to_tensors(sample: drt.CachedSample, seed: int) -> tuple[torch.Tensor, int, int]:
    """Shift an image by up to one pixel: by the seed of the draw, so the same after a resume."""
    image = np.frombuffer(sample.data, np.uint8).reshape(8, 8).astype(np.float32) / 16
    down, right = np.random.default_rng(seed).integers(-1, 2, size=2)
    image = np.roll(image, (down, right), axis=(0, 1))
    return torch.from_numpy(image).flatten(), int(sample.metadata["label"]), sample.sample_id


def weigh(table: pl.DataFrame, losses: dict[int, float]) -> pl.DataFrame:
    """Balance the classes and draw samples more often the larger their last loss was."""
    known = pl.DataFrame(
        {"sample_id": list(losses), "loss": list(losses.values())},
        schema={"sample_id": pl.UInt64, "loss": pl.Float64},
    )
    loss = table.select("sample_id").join(known, on="sample_id", how="left", maintain_order="left")
    hardness = 0.2 + loss["loss"].fill_null(1.0).clip(0, 5)
    return table.with_columns(weight=hardness / pl.len().over("label"))


class Training:
    """Network, optimiser and dataset, and the checkpoint that they resume from."""

    def __init__(self, work: Path) -> None:
        """Start where the checkpoint says, or at the beginning."""
        torch.manual_seed(0)
        self.is_distributed = dist.is_initialized()
        self.ranks = dist.get_world_size() if self.is_distributed else 1
        self.rank = dist.get_rank() if self.is_distributed else 0
        self.network = torch.nn.Sequential(
            torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
        )
        self.optimiser = torch.optim.SGD(self.network.parameters(), lr=0.1, momentum=0.9)
        self.dataset = open_dataset(work / "cache")
        self.table = self.dataset.get_metadata()
        self.checkpoint = work / "checkpoint.pt"
        self.epoch = 0
        self.losses: list[float] = []
        self.hard: dict[int, float] = {}
        self.drawn_by: dict[int, float] = {}
        state = None
        if self.checkpoint.exists():
            saved = torch.load(self.checkpoint, weights_only=True)
            self.network.load_state_dict(saved["network"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.epoch, self.losses = saved["epoch"], saved["losses"]
            self.hard, self.drawn_by = saved["hard"], saved["drawn_by"]
            state = saved["stream"]
        self.set_table()
        self.loader = self.dataset.to_torch_dataloader(
            batch_size=BATCH_DRAWS // self.ranks, transform=to_tensors, with_seed=True
        )
        if state is not None and state["position"] < state["window_end"]:
            self.loader.load_state_dict(state)
        elif state is not None:
            self.end_epoch()

    def set_table(self) -> None:
        """Let the weights follow from the losses of the epoch before."""
        self.dataset.update_metadata(weigh(self.table, self.drawn_by))
        self.dataset.set_epoch_len(EPOCH_DRAWS)

    def run(self, kill_after: int | None) -> None:
        """Train to the end; save after each batch, and die where that is asked for."""
        while self.epoch < EPOCHS:
            for images, labels, numbers in self.loader:
                self.step(images, labels, numbers)
                self.save()
                if len(self.losses) == kill_after:
                    os.kill(os.getpid(), signal.SIGKILL)
            self.end_epoch()

    def end_epoch(self) -> None:
        """Take the losses of the epoch to weigh the next one."""
        self.epoch += 1
        self.drawn_by, self.hard = self.hard, {}
        self.set_table()

    def step(self, images: torch.Tensor, labels: torch.Tensor, numbers: torch.Tensor) -> None:
        """One step on the batches of all ranks."""
        each = torch.nn.functional.cross_entropy(self.network(images), labels, reduction="none")
        self.optimiser.zero_grad()
        each.mean().backward()
        told = list(zip(numbers.tolist(), each.tolist(), strict=True))
        if self.is_distributed:
            for parameter in self.network.parameters():
                if parameter.grad is not None:
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= self.ranks
            of_ranks: list[Any] = [None] * self.ranks
            dist.all_gather_object(of_ranks, told)
            told = [pair for pairs in of_ranks for pair in pairs]
        self.optimiser.step()
        self.losses.append(sum(loss for _, loss in told) / len(told))
        self.hard.update(told)

    def save(self) -> None:
        """Write the checkpoint beside its place, then give it its name; ranks hold one state."""
        if self.rank == 0:
            beside = self.checkpoint.with_suffix(".new")
            torch.save(
                {
                    "network": self.network.state_dict(),
                    "optimiser": self.optimiser.state_dict(),
                    "epoch": self.epoch,
                    "losses": self.losses,
                    "hard": self.hard,
                    "drawn_by": self.drawn_by,
                    "stream": self.loader.state_dict(),
                },
                beside,
            )
            beside.replace(self.checkpoint)
        if self.is_distributed:
            dist.barrier()


def train(work: Path, kill_after: int | None) -> None:
    """Be one rank, as torchrun's variables say, or the only one; print the losses."""
    torch.set_num_threads(1)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        dist.init_process_group("gloo", init_method=os.environ.get("DIGITS_RENDEZVOUS"))
    training = Training(work)
    training.run(kill_after)
    if training.rank == 0:
        print(json.dumps(training.losses))
    if training.is_distributed:
        dist.destroy_process_group()


def run_ranks(work: Path, ranks: int, kill_after: int | None = None) -> list[float]:
    """Start the ranks and wait for them; the losses, none where they were killed."""
    rendezvous = work / f"rendezvous-{kill_after}"
    command = [sys.executable, __file__, "--work", str(work)]
    if kill_after is not None:
        command += ["--kill-after", str(kill_after)]
    processes = []
    for rank in range(ranks):
        environment = {
            **os.environ,
            "RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "DIGITS_RENDEZVOUS": f"{rendezvous.as_uri()}?rank={rank}&world_size={ranks}",
        }
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE))
    outputs = [process.communicate()[0] for process in processes]
    codes = {process.returncode for process in processes}
    if kill_after is not None:
        assert codes == {-signal.SIGKILL}, codes
        return []
    assert codes == {0}, codes
    losses: list[float] = json.loads(outputs[0])
    return losses


def show() -> None:
    """Train undisturbed and killed, on one rank and on two: in mid-epoch, and at an epoch's end."""
    batches = EPOCH_DRAWS // BATCH_DRAWS
    for ranks in (1, 2):
        with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
            undisturbed = run_ranks(Path(whole), ranks)
            for kill_after in (batches // 2, 2 * batches):
                run_ranks(Path(cut), ranks, kill_after)
            resumed = run_ranks(Path(cut), ranks)
        assert resumed == undisturbed
        assert len(resumed) == EPOCHS * batches
        first, last = np.mean(resumed[:batches]), np.mean(resumed[-batches:])
        assert last < first
        print(f"{ranks} rank(s): loss {first:.3f} -> {last:.3f}, the same when killed twice")


def main() -> None:
    """Show everything, or train in a directory that is kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, help="train here, or resume what is here")
    parser.add_argument("--kill-after", type=int, help="die after so many batches")
    options = parser.parse_args()
    if options.work is None:
        show()
    else:
        options.work.mkdir(parents=True, exist_ok=True)
        train(options.work, options.kill_after)


if __name__ == "__main__":
    main()
