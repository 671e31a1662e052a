"""The iterable view in a plain DataLoader: single-process order for any worker count."""

import warnings

import dataset_rt as drt
import pytest
from support import flat, ids, open_numbers, planned
from torch.utils import data as torch_data


def identity_of(sample: drt.CachedSample) -> int:
    return sample.sample_id


def drawn(view, num_workers: int, method: str = "fork", **options) -> list:
    loader = torch_data.DataLoader(
        view,
        batch_size=None,
        num_workers=num_workers,
        multiprocessing_context=method if num_workers else None,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="This DataLoader will create")
        warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")
        got = list(loader)
        assert len(loader) == len(got)
    return got


@pytest.mark.parametrize("num_workers", [0, 1, 3])
@pytest.mark.parametrize("batch_size", [None, 7])
def test_order_and_length_for_any_worker_count(runtime, tmp_path, num_workers, batch_size) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    order = planned(dataset, 30)
    view = dataset.to_torch_iterable_dataset(batch_size, identity_of)
    expected = order if batch_size is None else [order[i : i + 7] for i in range(0, 30, 7)]
    assert len(view) == len(expected)
    assert drawn(view, num_workers) == expected


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods(runtime, tmp_path, method: str) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    view = dataset.to_torch_iterable_dataset(4, identity_of)
    order = planned(dataset, 30)
    assert flat(drawn(view, 2, method)) == order


def test_main_process_claims_window_by_window(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    order = planned(dataset, 30)
    view = dataset.to_torch_iterable_dataset()
    assert ids(drawn(view, 0)) == order[:10]
    assert ids(view) == order[10:20]
    assert ids(dataset) == order[20:30]


def test_persistent_workers_advance_and_others_start_again(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 20)
    order = planned(dataset, 40)
    view = dataset.to_torch_iterable_dataset(transform=identity_of)
    loader = torch_data.DataLoader(
        view,
        batch_size=None,
        num_workers=2,
        persistent_workers=True,
        multiprocessing_context="fork",
    )
    assert list(loader) == order[:20]
    assert list(loader) == order[20:]
    assert dataset.position == 0
    assert drawn(view, 2) == order[:20]
    assert drawn(view, 2) == order[:20]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_set_epoch_moves_the_window(runtime, tmp_path, num_workers: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 10)
    order = planned(dataset, 40)
    view = dataset.to_torch_iterable_dataset(transform=identity_of)
    for epoch in (0, 3, 1):
        view.set_epoch(epoch)
        assert drawn(view, num_workers) == order[10 * epoch : 10 * epoch + 10]
    assert dataset.position == 0


@pytest.mark.parametrize("num_workers", [0, 2])
def test_view_of_a_rank(runtime, tmp_path, num_workers: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 30)
    order = planned(dataset, 30)
    view = dataset.partition(1, 4).to_torch_iterable_dataset(3, identity_of)
    share = order[1::4]
    assert drawn(view, num_workers) == [share[i : i + 3] for i in range(0, len(share), 3)]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_torchs_own_batching_is_complete(runtime, tmp_path, num_workers: int) -> None:
    dataset = open_numbers(runtime, tmp_path, 30, shuffle=False)
    loader = torch_data.DataLoader(
        dataset.to_torch_iterable_dataset(transform=identity_of),
        batch_size=4,
        num_workers=num_workers,
        multiprocessing_context="fork" if num_workers else None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sorted(flat(batch.tolist() for batch in loader)) == list(range(30))


@pytest.mark.parametrize("batch_size", [0, -1])
def test_impossible_batch_sizes_are_refused(runtime, tmp_path, batch_size: int) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        open_numbers(runtime, tmp_path).to_torch_iterable_dataset(batch_size)
