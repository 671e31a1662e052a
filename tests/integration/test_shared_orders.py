"""Draws without replacement by weight: workers of a host make the order of a cycle once."""

from __future__ import annotations

import itertools
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from support import open_numbers, planned

ROWS = 1 << 17
"""Enough for an order to be shared; one takes half a MiB."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("DATASET_RT_SNAPSHOT_DIR", str(tmp_path / "snapshots"))
    return tmp_path / "snapshots"


def weighted(runtime: drt.DatasetRuntime, base: Path, rows: int = ROWS) -> drt.CachedDataset:
    """Ten samples in many rows, drawn once each."""
    dataset = open_numbers(runtime, base, replacement=False)
    table = dataset.get_metadata()
    many = table[[number % 10 for number in range(rows)]]
    dataset.update_metadata(many.with_columns(weight=1.0 + pl.int_range(pl.len()) % 7))
    return dataset


def mapped_files() -> list[str]:
    """Names of the files below the snapshot folder that this process has mapped."""
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/snapshots/" in line}
    return sorted(Path(path).name for path in paths)


def look(sample: drt.CachedSample) -> tuple[int, list[str]]:
    return sample.sample_id, mapped_files()


def as_list(items: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    return items


def orders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("snapshot.*/order-*"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_map_the_order_that_the_main_process_made(runtime, tmp_path, folder, method):
    dataset = weighted(runtime, tmp_path)
    dataset.set_epoch_len(600)
    wanted = planned(dataset, 600)
    loader = dataset.to_torch_dataloader(
        batch_size=50,
        num_workers=2,
        transform=look,
        collate_fn=as_list,
        multiprocessing_context=method,
    )
    seen = list(itertools.chain.from_iterable(loader))
    assert [sample_id for sample_id, _ in seen] == wanted
    assert {tuple(files) for _, files in seen} == {("order-0.bin", "tables.bin")}
    assert orders(folder) == ["order-0.bin"]


def test_worker_that_comes_to_a_cycle_first_makes_its_order_for_all(runtime, tmp_path, folder):
    dataset = weighted(runtime, tmp_path)
    dataset.skip(ROWS - 100)
    dataset.set_epoch_len(400)
    wanted = planned(dataset, 400)
    loader = dataset.to_torch_dataloader(
        batch_size=20,
        num_workers=2,
        transform=look,
        collate_fn=as_list,
        multiprocessing_context="fork",
    )
    seen = list(itertools.chain.from_iterable(loader))
    assert [sample_id for sample_id, _ in seen] == wanted
    # Those that a worker draws from, and that of the cycle before.
    assert all("order-0.bin" in files for _, files in seen[:100])
    assert all("order-1.bin" in files for _, files in seen[100:])
    assert orders(folder) == ["order-0.bin", "order-1.bin"]


def test_iterators_of_one_process_share_the_order(runtime, tmp_path) -> None:
    rows = 1 << 20
    dataset = weighted(runtime, tmp_path, rows)
    next(iter(dataset))
    dataset.set_epoch_len(10)
    dataset.skip(rows)
    before = private_kib()
    live = [iter(dataset) for _ in range(32)]
    for iterator in live:
        next(iterator)
    # 4 MiB for the order of the next cycle; twice that while it is made.
    assert private_kib() - before < 5 * 4 * 1024


def private_kib() -> int:
    with Path("/proc/self/status").open(encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def test_damaged_or_missing_order_is_made_anew_in_memory(runtime, tmp_path, folder) -> None:
    dataset = weighted(runtime, tmp_path)
    dataset.set_epoch_len(40)
    window = dataset._native.window()
    handle = window.share()
    wanted = planned(dataset, 40, 0)
    (file,) = folder.glob("snapshot.*/order-0.bin")
    file.write_bytes(file.read_bytes()[:-7])
    for spoil in (lambda: None, file.unlink):
        spoil()
        opened = drt._native.Runtime(1).open_window(handle)
        assert [sample.sample_id for sample in opened.samples(0, 40)] == wanted


def test_dataset_of_a_dump_adds_nothing_to_the_folder_of_the_dump(runtime, tmp_path, folder):
    dump = weighted(runtime, tmp_path).dump_config(tmp_path / "dump")
    before = sorted(path.name for path in dump.parent.iterdir())
    dataset = drt.CachedDataset.from_config(dump, runtime)
    dataset.set_epoch_len(40)
    wanted = planned(dataset, 40)
    opened = drt._native.Runtime(1).open_window(dataset._native.window().share())
    assert [sample.sample_id for sample in opened.samples(0, 40)] == wanted
    assert sorted(path.name for path in dump.parent.iterdir()) == before
    assert orders(folder) == ["order-0.bin"]


def test_folder_in_which_others_can_interfere_is_refused(runtime, tmp_path, folder) -> None:
    dataset = weighted(runtime, tmp_path, 20)
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(drt.InvalidConfigError) as caught:
        dataset._native.window().share()
    assert caught.value.path == str(folder)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(drt.InvalidConfigError):
        dataset._native.window().share()
    folder.unlink()
    dataset._native.window().share()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("snapshot.*[!k]")} == {0o700}


def test_files_of_a_snapshot_go_with_it_and_dead_ones_are_swept(runtime, tmp_path, folder) -> None:
    dataset = weighted(runtime, tmp_path)
    window = dataset._native.window()
    window.share()
    dead = folder / "snapshot.1-0123456789abcdef"
    dead.mkdir()
    dead.with_name(dead.name + ".lock").touch()
    (dead / "tables.bin").write_bytes(b"left")
    foreign = folder / "someone's"
    foreign.mkdir()
    dataset.update_metadata(dataset.get_metadata())
    del window
    assert len(list(folder.glob("snapshot.*[!k]"))) == 1
    dataset._native.window().share()
    assert not dead.exists()
    assert foreign.exists()
    assert len(list(folder.glob("snapshot.*[!k]"))) == 1
