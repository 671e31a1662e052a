"""Ranks that a launcher started: found in its variables, compared once there is a group."""

import json
import os
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt
import pytest
from dataset_rt.integrations.torch_ranks import own_rank
from support import flat, open_numbers, planned

RANK = """
import json, os, sys
from datetime import timedelta
import torch.distributed as dist
import dataset_rt as drt

_, cache, rendezvous, group = sys.argv
dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
    [cache], reader_config=drt.ReaderConfig(seed=7)
)
given = {"rank": 0, "world_size": 1} if group == "given" else {}
loader = dataset.to_torch_dataloader(batch_size=4, **given)
groups = {
    "same": (rendezvous, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])),
    "smaller": (f"{rendezvous}-{os.environ['RANK']}", 0, 1),
}
if group in groups:
    method, rank, world_size = groups[group]
    dist.init_process_group(
        "gloo", init_method=method, rank=rank, world_size=world_size,
        timeout=timedelta(seconds=120),
    )
try:
    print(json.dumps({"drawn": [batch.sample_id.tolist() for batch in loader]}))
except drt.InvalidConfigError as error:
    print(json.dumps({"field": error.field, "value": error.value}))
"""


def launched(folder: Path, cache: Path, group: str) -> list[dict]:
    """What two ranks print whose process group is made after their loaders, or never."""
    rendezvous = (folder / "rendezvous").as_uri()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, cache, rendezvous, group],
            env={
                **os.environ,
                "PYTHONPATH": ":".join(sys.path),
                "RANK": str(rank),
                "WORLD_SIZE": "2",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    return [json.loads(process.communicate()[0]) for process in ranks]


def test_loader_made_before_the_group_is_that_of_its_rank(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, seed=7)
    reference = planned(dataset, 30)
    first, second = launched(tmp_path, dataset.cache_paths[0], "same")
    assert flat(first["drawn"]) == reference[0::2]
    assert flat(second["drawn"]) == reference[1::2]


@pytest.mark.parametrize("group", ["none", "smaller"])
def test_ranks_that_cannot_compare_draw_nothing(runtime, tmp_path, group) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, seed=7)
    outcomes = launched(tmp_path, dataset.cache_paths[0], group)
    assert outcomes == [{"field": "world_size", "value": "2"}] * 2


def test_rank_that_is_given_is_taken_as_it_is(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, seed=7)
    reference = planned(dataset, 30)
    outcomes = launched(tmp_path, dataset.cache_paths[0], "given")
    assert [flat(outcome["drawn"]) for outcome in outcomes] == [reference, reference]


def test_world_of_one_and_half_a_world_are_no_ranks(runtime, tmp_path, monkeypatch) -> None:
    native = open_numbers(runtime, tmp_path, 10)._native
    for rank, world_size in (("0", "1"), ("", "4"), ("2", ""), ("", "")):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", world_size)
        assert own_rank(native) is None
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert own_rank(native) == (2, 4)
    assert own_rank(native.partition(0, 3)) is None


@pytest.mark.parametrize(("rank", "world_size"), [("4", "4"), ("-1", "4"), ("one", "2")])
def test_variables_that_are_no_rank_are_refused(
    runtime, tmp_path, monkeypatch, rank, world_size
) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", world_size)
    with pytest.raises(drt.InvalidConfigError) as refused:
        dataset.to_torch_dataloader(batch_size=2)
    assert (refused.value.field, refused.value.value) == ("RANK", rank)
