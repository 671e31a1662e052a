"""torchdata's ``StatefulDataLoader``: saved in mid-window, resumed in a fresh loader."""

import json

import dataset_rt as drt
import pytest
from support import open_numbers, planned
from torchdata.stateful_dataloader import StatefulDataLoader

EPOCH = 17


def number(sample: drt.CachedSample) -> int:
    return sample.sample_id


def as_is(items):
    return items


def numbers(items) -> list[int]:
    if isinstance(items, list):
        return [item if isinstance(item, int) else item.sample_id for item in items]
    return [items if isinstance(items, int) else items.sample_id]


def make_loader(runtime, tmp_path, *, batch_size, transform, workers, **options):
    dataset = open_numbers(runtime, tmp_path, 10)
    dataset.set_epoch_len(EPOCH)
    view = dataset.to_torch_iterable_dataset(batch_size=batch_size, transform=transform)
    if workers:
        options |= {"multiprocessing_context": "fork"}
    loader = StatefulDataLoader(
        view, batch_size=None, num_workers=workers, collate_fn=as_is, **options
    )
    return dataset, loader


@pytest.mark.parametrize("transform", [None, number])
@pytest.mark.parametrize(("batch_size", "workers"), [(None, 0), (None, 2), (4, 0), (4, 2), (4, 3)])
def test_resumed_after_any_batch_goes_on_exactly(
    runtime, tmp_path, batch_size, workers, transform
) -> None:
    options = {"batch_size": batch_size, "workers": workers, "transform": transform}
    dataset, loader = make_loader(runtime, tmp_path, **options)
    reference = planned(dataset, EPOCH)
    delivered: list[int] = []
    states = [loader.state_dict()]
    counts = [0]
    for items in loader:
        delivered += numbers(items)
        states.append(json.loads(json.dumps(loader.state_dict())))
        counts.append(len(delivered))
    assert delivered == reference
    for state, count in list(zip(states, counts, strict=True))[:: 2 if workers else 1]:
        _, resumed = make_loader(runtime, tmp_path, **options)
        resumed.load_state_dict(state)
        rest = [item for items in resumed for item in numbers(items)]
        assert rest == reference[count:]


@pytest.mark.parametrize("workers", [0, 2])
def test_later_windows_follow_the_resumed_one(runtime, tmp_path, workers) -> None:
    options = {"batch_size": 4, "workers": workers, "transform": number}
    if workers:
        options["persistent_workers"] = True
    dataset, loader = make_loader(runtime, tmp_path, **options)
    reference = planned(dataset, 4 * EPOCH)
    assert [item for items in loader for item in items] == reference[:EPOCH]
    iterator = iter(loader)
    next(iterator)
    next(iterator)
    state = loader.state_dict()

    _, resumed = make_loader(runtime, tmp_path, **options)
    resumed.load_state_dict(state)
    windows = [[item for items in resumed for item in items] for _ in range(3)]
    assert windows == [
        reference[EPOCH + 8 : 2 * EPOCH],
        reference[2 * EPOCH : 3 * EPOCH],
        reference[3 * EPOCH :],
    ]


def test_state_of_another_table_is_refused(runtime, tmp_path) -> None:
    options = {"batch_size": 4, "workers": 0, "transform": number}
    _, loader = make_loader(runtime, tmp_path, **options)
    next(iter(loader))
    state = loader.state_dict()
    dataset, other = make_loader(runtime, tmp_path, **options)
    dataset.update_metadata(dataset.get_metadata().reverse())
    other.load_state_dict(state)
    with pytest.raises(drt.StateMismatchError):
        iter(other)


@pytest.mark.parametrize("state", [{}, {"window": 3}, {"window": {}, "next_draw": "x"}])
def test_what_is_no_state_is_refused(runtime, tmp_path, state) -> None:
    view = open_numbers(runtime, tmp_path, 10).to_torch_iterable_dataset()
    with pytest.raises(drt.InvalidConfigError):
        view.load_state_dict(state)
