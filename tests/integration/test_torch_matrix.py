"""One order for every way of loading: workers, start methods, batches, ranks and modes.

Three windows are drawn, one of them interrupted at a random point and resumed with fresh
objects; what the ranks deliver is merged and compared with the plan of one process. Every pair of
options is among the cases that always run. ``DRT_TORCH_MATRIX`` set to a share from 0 to 1 runs
so much of the whole matrix instead, drawn at random with a fixed seed; 1 is all of it.
"""

import itertools
import multiprocessing
import os
import random
from dataclasses import astuple, dataclass

import dataset_rt as drt
import polars as pl
import pytest
from support import flat, open_numbers, planned
from torch.utils import data as torch_data

ROWS, EPOCH_LENGTH, EPOCHS = 23, 37, 3
MODES = {
    "ordered": {"shuffle": False},
    "with replacement": {"shuffle": True},
    "each once": {"shuffle": True, "replacement": False},
}
PROCESS_COSTS = {None: 0, "fork": 0.1, "forkserver": 1, "spawn": 4}


@dataclass(frozen=True)
class Case:
    """One way of loading; a batch size of None is the iterable view in a plain DataLoader."""

    workers: int
    method: str | None
    batch_size: int | None
    ranks: int
    mode: str

    def __str__(self) -> str:
        return "-".join(str(value).replace(" ", "_") for value in astuple(self))


def every_case() -> list[Case]:
    ways = [(0, None), *itertools.product([1, 2, 3], ["fork", "forkserver", "spawn"])]
    rest = itertools.product([None, 1, 7], [1, 2, 3], MODES)
    return [Case(*way, *others) for way, others in itertools.product(ways, rest)]


def pairs_of(case: Case) -> set:
    return set(itertools.combinations(enumerate(astuple(case)), 2))


def cost_of(case: Case) -> float:
    return 1 + PROCESS_COSTS[case.method] * case.workers * case.ranks


def pairwise(cases: list[Case]) -> list[Case]:
    """Few and cheap cases that have every pair of options between them."""
    missing = set().union(*map(pairs_of, cases))
    chosen = []
    while missing:
        best = max(cases, key=lambda case: len(pairs_of(case) & missing) / cost_of(case))
        chosen.append(best)
        missing -= pairs_of(best)
    return chosen


def chosen_cases() -> list[Case]:
    share = os.environ.get("DRT_TORCH_MATRIX")
    cases = every_case()
    if share is None:
        return pairwise(cases)
    return random.Random(5).sample(cases, round(len(cases) * float(share)))


def number_of(sample: drt.CachedSample) -> int:
    return sample.sample_id


def as_it_is(items):
    return items


class Loading:
    """All ranks of a case, from one saved state on."""

    def __init__(self, case: Case, make, state: dict | None) -> None:
        self.case = case
        self.datasets = [make() for _ in range(case.ranks)]
        options = {}
        if case.workers:
            options = {"multiprocessing_context": case.method, "persistent_workers": True}
        if case.batch_size is not None:
            self.loaders = [
                dataset.to_torch_dataloader(
                    batch_size=case.batch_size,
                    num_workers=case.workers,
                    rank=rank,
                    world_size=case.ranks,
                    **options,
                )
                for rank, dataset in enumerate(self.datasets)
            ]
            for loader in self.loaders if state else ():
                loader.load_state_dict(state)
            return
        for dataset in self.datasets if state else ():
            dataset.load_state_dict(state)
        self.loaders = [
            torch_data.DataLoader(
                dataset.partition(rank, case.ranks).to_torch_iterable_dataset(None, number_of),
                batch_size=None,
                num_workers=case.workers,
                collate_fn=as_it_is,
                **options,
            )
            for rank, dataset in enumerate(self.datasets)
        ]

    def window(self, items: int | None) -> list[int]:
        """What the ranks deliver of one window, merged; each at most so many items."""
        shares = []
        for loader in self.loaders:
            share = list(itertools.islice(loader, items))
            if self.case.batch_size is not None:
                share = flat(batch.sample_id.tolist() for batch in share)
            shares.append(share)
        merged = itertools.chain.from_iterable(itertools.zip_longest(*shares))
        return [number for number in merged if number is not None]

    def state_at(self, position: int) -> dict:
        """The state of a stream that came so far; ranks that came equally far have one."""
        owners = self.loaders
        if self.case.batch_size is None:
            owners = self.datasets
            for dataset in owners:
                dataset.skip(position - dataset.position)
        states = [owner.state_dict() for owner in owners]
        assert [state["position"] for state in states] == [position] * self.case.ranks
        assert all(state == states[0] for state in states)
        return states[0]


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_merged_sequence_is_that_of_one_process(runtime, tmp_path, case: Case) -> None:
    if case.method == "forkserver":
        multiprocessing.set_forkserver_preload(["dataset_rt.integrations.torch"])

    def make() -> drt.CachedDataset:
        dataset = open_numbers(runtime, tmp_path, ROWS, **MODES[case.mode])
        if case.mode != "ordered":
            table = dataset.get_metadata()
            dataset.update_metadata(table.with_columns(weight=pl.col("label") + 0.5))
        dataset.set_epoch_len(EPOCH_LENGTH)
        return dataset

    chance = random.Random(str(case))
    reference = planned(make(), (EPOCHS + 1) * EPOCH_LENGTH)
    interrupted = chance.randrange(EPOCHS)
    loading, position = Loading(case, make, None), 0
    for epoch in range(EPOCHS):
        end = position + EPOCH_LENGTH
        if epoch == interrupted:
            draws = (case.batch_size or 1) * case.ranks
            items = chance.randint(1, EPOCH_LENGTH // draws)
            start, position = position, position + items * draws
            assert loading.window(items) == reference[start:position]
            loading = Loading(case, make, loading.state_at(position))
            if case.batch_size is None:  # the state of a dataset that skipped: full windows follow
                end = position + EPOCH_LENGTH
        assert loading.window(None) == reference[position:end]
        position = end


def test_chosen_cases_have_every_pair() -> None:
    cases = every_case()
    assert len(cases) == len(set(cases)) == 270
    few = pairwise(cases)
    assert set().union(*map(pairs_of, few)) == set().union(*map(pairs_of, cases))
    assert len(few) < 30
    assert sum(case.workers * case.ranks for case in few if case.method == "spawn") < 20
