"""Ranks of a ``torch.distributed`` job: one stream, or an error on all of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from dataset_rt.integrations.torch_workers import auto_workers, cpu_quota
from support import flat, open_numbers, planned

RANK = """
import json, sys
from datetime import timedelta
import torch.distributed as dist
import dataset_rt as drt


def main(rank, world_size, rendezvous, cache, workers, edit):
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=int(rank), world_size=int(world_size),
        timeout=timedelta(seconds=120),
    )
    dataset = drt.DatasetRuntime(num_workers=1).cached_dataset(
        [cache], reader_config=drt.ReaderConfig(seed=7)
    )
    if edit == "table" and rank == "1":
        dataset.update_metadata(dataset.get_metadata().reverse())
    if edit == "position" and rank == "0":
        dataset.skip(3)
    loader = dataset.to_torch_dataloader(batch_size=4, num_workers=int(workers))
    try:
        epochs = [[batch.sample_id.tolist() for batch in loader] for _ in range(2)]
        print(json.dumps({"epochs": epochs, "length": len(loader)}))
    except drt.StateMismatchError as error:
        print(json.dumps({"field": error.field, "message": error.message}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def run_ranks(folder: Path, cache: Path, count: int, workers: int = 0, edit: str = "") -> list:
    rendezvous = (folder / f"rendezvous-{count}-{workers}{edit}").as_uri()
    script = folder / "rank.py"
    script.write_text(RANK)
    ranks = [
        subprocess.Popen(
            [sys.executable, script, str(rank), str(count), rendezvous, cache, str(workers), edit],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(count)
    ]
    outcomes = []
    for process in ranks:
        out, err = process.communicate()
        assert process.returncode == 0, err
        outcomes.append(json.loads(out))
    return outcomes


@pytest.mark.parametrize(("count", "workers"), [(2, 0), (2, 2), (3, 0)])
def test_ranks_find_themselves_and_share_one_stream(runtime, tmp_path, count, workers) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, seed=7)
    reference = planned(dataset, 60)
    (cache,) = dataset.cache_paths
    outcomes = run_ranks(tmp_path, cache, count, workers)
    for epoch in range(2):
        window = reference[epoch * 30 : epoch * 30 + 30]
        for rank, outcome in enumerate(outcomes):
            assert flat(outcome["epochs"][epoch]) == window[rank::count]
            assert len(outcome["epochs"][epoch]) == outcome["length"]


@pytest.mark.parametrize(("edit", "field"), [("table", "table digest"), ("position", "position")])
def test_ranks_that_would_draw_differently_all_refuse(runtime, tmp_path, edit, field) -> None:
    (cache,) = open_numbers(runtime, tmp_path, 30, seed=7).cache_paths
    outcomes = run_ranks(tmp_path, cache, 2, edit=edit)
    assert [outcome["field"] for outcome in outcomes] == [field, field]
    assert outcomes[0]["message"].startswith("rank 1 does not draw what rank 0 draws")
    assert outcomes[1]["message"].startswith("rank 0 does not draw what rank 1 draws")


def group(root: Path, name: str, **files: str) -> None:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file.replace("_dot_", ".")).write_text(text)


def test_quota_is_the_least_of_a_group_and_those_above_it(tmp_path) -> None:
    root, membership = tmp_path / "fs", tmp_path / "cgroup"
    membership.write_text("0::/a/b\n")
    group(root, "a/b", cpu_dot_max="max 100000\n")
    assert cpu_quota(root, membership) is None
    group(root, "a", cpu_dot_max="250000 100000\n")
    assert cpu_quota(root, membership) == 2.5
    group(root, "a/b", cpu_dot_max="150000 100000\n")
    assert cpu_quota(root, membership) == 1.5


def test_quota_of_version_1_is_read_from_its_own_tree(tmp_path) -> None:
    root, membership = tmp_path / "fs", tmp_path / "cgroup"
    membership.write_text("5:memory:/m\n4:cpu,cpuacct:/jobs/x\n0::/\n")
    group(root, "cpu/jobs/x", cpu_dot_cfs_quota_us="-1\n", cpu_dot_cfs_period_us="100000\n")
    assert cpu_quota(root, membership) is None
    group(root, "cpu/jobs", cpu_dot_cfs_quota_us="300000\n", cpu_dot_cfs_period_us="100000\n")
    assert cpu_quota(root, membership) == 3.0
    assert cpu_quota(root, tmp_path / "none") is None


def test_auto_leaves_one_processor_and_shares_with_the_ranks_of_the_host(monkeypatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(8)))
    monkeypatch.setattr("dataset_rt.integrations.torch_workers.cpu_quota", lambda *_: None)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    assert auto_workers() == 7
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert auto_workers() == 1
    monkeypatch.setattr("dataset_rt.integrations.torch_workers.cpu_quota", lambda *_: 1.5)
    assert auto_workers() == 0
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "")
    assert auto_workers() == 0


def test_loader_takes_auto_and_keeps_its_order(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    reference = planned(dataset, 10)
    loader = dataset.to_torch_dataloader(batch_size=3, num_workers="auto")
    assert loader.num_workers == auto_workers()
    assert flat(batch.sample_id.tolist() for batch in loader) == reference
