"""Any history of a dataset equals the slow model: edits, iterators, skips, saves, loads, ranks.

Every step is taken by the core and by ``stream_model``, and what both answer is compared; when a
history ends, every iterator that is left is read to its end. Histories are the same in each run.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
import polars as pl
import pytest
import stream_model
import xxhash
from draws import EACH_ONCE, ORDERED, WITH_REPLACEMENT, Table, draw_seed
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = (5, 7)
MOST_ROWS = 24
MODES = {
    ORDERED: {"shuffle": False},
    WITH_REPLACEMENT: {"shuffle": True},
    EACH_ONCE: {"shuffle": True, "replacement": False},
}
TAILS = {"uneven": {}, "drop": {"drop_uneven": True}, "pad": {"pad": True}}


class Source:
    """Samples that tell their number in payload and metadata."""

    def __init__(self, name: str, first: int, count: int) -> None:
        self.name = name
        self._numbers = range(first, first + count)

    def __iter__(self):
        return (
            drt.CacheInput(b"sample %d" % i * (i % 3), {"number": i, "label": i % 3})
            for i in self._numbers
        )


RUNTIME = drt.DatasetRuntime(num_workers=2)
FOLDER = tempfile.TemporaryDirectory()
SOURCES = [Source("few", 0, SAMPLES[0]), Source("more", SAMPLES[0], SAMPLES[1])]
CACHES = [
    result.path
    for result in RUNTIME.write_cache(
        SOURCES, FOLDER.name, writer_config=drt.WriterConfig(show_progress=False)
    )
]
DUMPS = itertools.count()


@dataclass
class Row:
    """A line of the table as the model keeps it."""

    number: int
    weight: float = 1.0
    note: int | None = None


@dataclass
class Pair:
    """One thing twice: ours, and the model of it."""

    ours: Any
    model: Any
    rows: list[Row]
    """Rows of the table; of an iterator, those that it was made with."""
    reopen: Callable[[], drt.CachedDataset]
    """Opens the same caches with the same config once more."""


@dataclass(frozen=True)
class Edit:
    """One edit: of the model's rows, and of the table that the core handed out."""

    name: str
    rows: Callable[[list[Row]], list[Row]]
    frame: Callable[[pl.DataFrame], pl.DataFrame]

    def __repr__(self) -> str:
        return self.name


def keep(modulus: int, rest: int) -> Edit:
    return Edit(
        f"keep({modulus}, {rest})",
        lambda rows: [row for row in rows if row.number % modulus == rest],
        lambda frame: frame.filter(pl.col("number") % modulus == rest),
    )


def repeat(count: int) -> Edit:
    return Edit(
        f"repeat({count})",
        lambda rows: (rows + rows[:count])[:MOST_ROWS],
        lambda frame: pl.concat([frame, frame.head(count)], rechunk=False).head(MOST_ROWS),
    )


def gather(places: list[int]) -> Edit:
    return Edit(
        f"gather({places})",
        lambda rows: [rows[place % len(rows)] for place in places] if rows else [],
        lambda frame: frame[[place % frame.height for place in places]] if frame.height else frame,
    )


def weigh(weights: list[float]) -> Edit:
    return Edit(
        f"weigh({weights})",
        lambda rows: [
            Row(row.number, weights[place % len(weights)], row.note)
            for place, row in enumerate(rows)
        ],
        lambda frame: frame.with_columns(
            weight=pl.Series(
                (weights * MOST_ROWS)[: frame.height] if frame.height else [], dtype=pl.Float64
            )
        ),
    )


def note(value: int) -> Edit:
    return Edit(
        f"note({value})",
        lambda rows: [Row(row.number, row.weight, value) for row in rows],
        lambda frame: frame.with_columns(note=pl.lit(value, pl.Int64)),
    )


REVERSE = Edit("reverse", lambda rows: rows[::-1], lambda frame: frame.reverse())
SORT = Edit(
    "sort",
    lambda rows: sorted(rows, key=lambda row: row.number % 3),
    lambda frame: frame.sort("label", maintain_order=True),
)
WEIGHTS = st.integers(1, 4).map(float) | st.floats(1e-9, 1e9)
WEIGH = st.builds(weigh, st.lists(WEIGHTS, min_size=1, max_size=6))
EDITS = st.one_of(
    st.sampled_from([keep(modulus, rest) for modulus in range(1, 5) for rest in range(modulus)]),
    st.builds(repeat, st.integers(0, 6)),
    st.sampled_from([REVERSE, SORT]),
    st.builds(gather, st.lists(st.integers(0, 50), max_size=12)),
    st.builds(note, st.integers(0, 3)),
    WEIGH,
)
SCRIPTS = st.lists(EDITS, max_size=4) | st.tuples(EDITS, WEIGH).map(list)
SKIPS = st.integers(0, 40) | st.sampled_from([10**12, 2**62, 2**63 - 5, 2**63])


class Histories(RuleBasedStateMachine):
    """Steps that a user can take, in any order."""

    datasets = Bundle("datasets")
    iterators = Bundle("iterators")
    states = Bundle("states")

    def __init__(self) -> None:
        super().__init__()
        self.live: list[Pair] = []
        self.opened: list[Pair] = []

    @initialize(
        target=datasets, mode=st.sampled_from(sorted(MODES)), script=st.lists(WEIGH, max_size=1)
    )
    def begin(self, mode: str, script: list[Edit]) -> Pair:
        return self.open(
            mode=mode, seed=7, caches=(0, 1), prefetch=64, script=script, is_mapped=True
        )

    @rule(
        target=datasets,
        mode=st.sampled_from(sorted(MODES)),
        seed=st.sampled_from([7, 2**64 - 1]),
        caches=st.sampled_from([(0, 1), (0, 1), (1,)]),
        prefetch=st.sampled_from([1, 64]),
        script=SCRIPTS,
        is_mapped=st.booleans(),
    )
    def open(
        self,
        *,
        mode: str,
        seed: int,
        caches: tuple[int, ...],
        prefetch: int,
        script: list[Edit],
        is_mapped: bool,
    ) -> Pair:
        config = drt.ReaderConfig(
            seed=seed, prefetch_size=prefetch, mapped=is_mapped, **MODES[mode]
        )

        def reopen() -> drt.CachedDataset:
            return RUNTIME.cached_dataset([CACHES[i] for i in caches], reader_config=config)

        ours = reopen()
        rows = [Row(row) for i in caches for row in SOURCES[i]._numbers]
        digest = str(ours.state_dict()["caches_digest"])
        source = stream_model.Source(
            Table(range(len(rows))), mode, seed, digest, xxhash.xxh3_128_hexdigest
        )
        pair = self.dataset(ours, stream_model.Dataset(source), rows, reopen)
        if script:
            self.edit(pair, script, 0)
        return pair

    def dataset(self, ours: Any, model: Any, rows: list[Row], reopen: Any) -> Pair:
        pair = Pair(ours, model, rows, reopen)
        self.opened.append(pair)
        self.agree(pair)
        return pair

    @rule(dataset=datasets, script=SCRIPTS, cut=st.integers(0, 9))
    def edit(self, dataset: Pair, script: list[Edit], cut: int) -> None:
        rows, frame = dataset.rows, dataset.ours.get_metadata()
        for edit in script:
            rows, frame = edit.rows(rows), edit.frame(frame)
        frame = pl.concat([frame[:cut], frame[cut:]], rechunk=False)
        if not rows:
            with pytest.raises(drt.InvalidMetadataError):
                dataset.ours.update_metadata(frame)
        else:
            dataset.ours.update_metadata(frame)
            # Numbers of a table count the samples of the caches that are open.
            first = SAMPLES[0] if len(dataset.ours.cache_paths) == 1 else 0
            samples = [row.number - first for row in rows]
            dataset.model.update(Table(samples, [row.weight for row in rows]))
            dataset.rows = rows
        self.agree(dataset)

    @rule(dataset=datasets, weight=st.sampled_from([0.0, -1.0, float("nan"), float("inf"), None]))
    def spoil(self, dataset: Pair, weight: float | None) -> None:
        frame = dataset.ours.get_metadata().reverse()
        spoilt = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(weight)).otherwise("weight")
        with pytest.raises(drt.InvalidMetadataError) as caught:
            dataset.ours.update_metadata(frame.with_columns(weight=spoilt))
        assert caught.value.rows == (0,)
        self.agree(dataset)

    @rule(dataset=datasets, length=st.integers(1, 40))
    def set_epoch_length(self, dataset: Pair, length: int) -> None:
        dataset.ours.set_epoch_len(length)
        dataset.model.cursor.epoch_length = length
        self.agree(dataset)

    @rule(target=iterators, dataset=datasets)
    def iterate(self, dataset: Pair) -> Any:
        try:
            model = dataset.model.iterate()
        except stream_model.BeyondError:
            with pytest.raises(drt.InvalidConfigError):
                iter(dataset.ours)
            return self.iterate_again(dataset)
        pair = self.follow(iter(dataset.ours), model, dataset)
        self.agree(dataset)
        return pair

    def follow(self, ours: Any, model: stream_model.Iterator, dataset: Pair) -> Pair:
        pair = Pair(ours, model, dataset.rows, dataset.reopen)
        self.live.append(pair)
        return pair

    def iterate_again(self, dataset: Pair) -> Pair:
        """An update takes a cursor at the end of its stream back to its start."""
        self.edit(dataset, [], 0)
        return self.iterate(dataset)

    @rule(iterator=iterators, draws=st.integers(0, 12))
    def draw(self, iterator: Pair, draws: int) -> None:
        for _ in range(draws):
            self.draw_one(iterator)
        assert iterator.ours.position == iterator.model.position
        assert iterator.ours.__length_hint__() == iterator.model.remaining

    def draw_one(self, iterator: Pair) -> bool:
        position = iterator.model.next_position()
        sample = next(iterator.ours, None)
        if position is None or sample is None:
            assert (position, sample) == (None, None)
            return False
        number = iterator.rows[iterator.model.source.stream.row(position)].number
        assert sample.metadata == {"number": number, "label": number % 3}
        assert sample.data == b"sample %d" % number * (number % 3)
        return True

    @rule(
        target=states,
        dataset=datasets,
        size=st.integers(1, 12),
        drop_last=st.booleans(),
        skipped=st.sampled_from([0, 0, 1, 5]),
        taken=st.integers(0, 5),
    )
    def read_in_batches(
        self, dataset: Pair, size: int, drop_last: bool, skipped: int, taken: int
    ) -> Any:
        if dataset.model.cursor.position > 2**62:
            return multiple()
        model, ours = dataset.model.iterate(), dataset.ours.batches(size, drop_last)
        for _ in range(taken):
            positions = model.next_batch(size, drop_last=drop_last)
            batch = next(ours, None)
            assert (batch.positions.tolist() if batch else []) == positions
            for place, position in enumerate(positions):
                number = dataset.rows[model.source.stream.row(position)].number
                assert bytes(batch.payload(place)) == b"sample %d" % number * (number % 3)
            model.skip(skipped)
            ours.skip(skipped)
            assert ours.state_dict() == model.state()
        self.agree(dataset)
        return ours.state_dict()

    @rule(iterator=consumes(iterators))
    def drop(self, iterator: Pair) -> None:
        self.live.remove(iterator)

    @rule(iterator=iterators, draws=SKIPS)
    def skip_within_a_window(self, iterator: Pair, draws: int) -> None:
        iterator.ours.skip(draws)
        iterator.model.skip(draws)
        assert iterator.ours.position == iterator.model.position

    @rule(dataset=datasets, draws=SKIPS)
    def skip(self, dataset: Pair, draws: int) -> None:
        try:
            dataset.model.cursor.skip(draws)
        except stream_model.BeyondError:
            with pytest.raises(drt.InvalidConfigError):
                dataset.ours.skip(draws)
        else:
            dataset.ours.skip(draws)
        self.agree(dataset)

    @rule(target=states, saved=st.one_of(datasets, iterators))
    def save(self, saved: Pair) -> dict[str, Any]:
        state = json.loads(json.dumps(saved.ours.state_dict()))
        assert state == saved.model.state()
        return state

    @rule(loaded=st.one_of(datasets, iterators), state=states)
    def load(self, loaded: Pair, state: dict[str, Any]) -> None:
        mismatch = loaded.model.source.mismatch(state)
        if mismatch is None:
            loaded.ours.load_state_dict(state)
            loaded.model.load(state)
        else:
            with pytest.raises(drt.StateMismatchError) as caught:
                loaded.ours.load_state_dict(state)
            assert caught.value.field == mismatch.replace("_", " ")
        assert loaded.ours.state_dict() == loaded.model.state()

    @rule(
        target=datasets,
        iterator=iterators,
        draws=st.integers(0, 12),
        skipped=st.sampled_from([0, 0, 1, 5, 30]),
        length=st.none() | st.integers(1, 40),
    )
    def resume(self, iterator: Pair, draws: int, skipped: int, length: int | None) -> Pair:
        """As another process would: open the caches, set the table, load what was saved."""
        self.draw(iterator, draws % (iterator.model.remaining or 1))
        ours = iterator.reopen()
        table = ours.get_metadata()
        places = [table["number"].index_of(row.number) for row in iterator.rows]
        weights = pl.Series([row.weight for row in iterator.rows])
        ours.update_metadata(table[places].with_columns(weight=weights))
        rows = [Row(row.number, row.weight) for row in iterator.rows]
        model = stream_model.Dataset(iterator.model.source)
        ours.load_state_dict(iterator.ours.state_dict())
        model.load(iterator.model.state())
        resumed = self.dataset(ours, model, rows, iterator.reopen)
        self.skip(resumed, skipped)
        if length is not None:
            self.set_epoch_length(resumed, length)
        return resumed

    @rule(
        target=datasets,
        dataset=datasets,
        count=st.sampled_from([1, 2, 3, 4, 8]),
        index=st.integers(0, 7),
        tail=st.sampled_from(sorted(TAILS)),
    )
    def partition(self, dataset: Pair, count: int, index: int, tail: str) -> Pair:
        view = dataset.ours.partition(index % count, count, **TAILS[tail])
        model = dataset.model.partition(index % count, count, tail)
        self.agree(dataset)
        return self.dataset(view, model, dataset.rows, dataset.reopen)

    @rule(
        target=iterators,
        dataset=datasets,
        count=st.sampled_from([2, 3, 4, 8]),
        tail=st.sampled_from(sorted(TAILS)),
    )
    def iterate_on_ranks(self, dataset: Pair, count: int, tail: str) -> Any:
        if dataset.model.cursor.position > 2**62:
            return multiple()
        iterators = []
        for index in range(count):
            view = dataset.ours.partition(index, count, **TAILS[tail])
            model = dataset.model.partition(index, count, tail).iterate()
            iterators.append(self.follow(iter(view), model, dataset))
        self.agree(dataset)
        return multiple(*iterators)

    @rule(
        target=iterators,
        iterator=iterators,
        draws=st.integers(0, 12),
        count=st.sampled_from([1, 2, 3, 4, 8]),
        tail=st.sampled_from(sorted(TAILS)),
    )
    def resume_on_ranks(self, iterator: Pair, draws: int, count: int, tail: str) -> Any:
        resumed = self.resume(iterator, draws, skipped=0, length=None)
        return self.iterate_on_ranks(resumed, count, tail)

    @rule(target=datasets, dataset=datasets)
    def hand_over(self, dataset: Pair) -> Pair:
        file = dataset.ours.dump_config(Path(FOLDER.name) / f"dump-{next(DUMPS)}")
        ours = drt.CachedDataset.from_config(file, RUNTIME)
        return self.dataset(ours, dataset.model.handed_over(), dataset.rows, dataset.reopen)

    @rule(dataset=datasets, start=st.none() | st.integers(0, 2**63), draws=st.integers(0, 20))
    def look_ahead(self, dataset: Pair, start: int | None, draws: int) -> None:
        first = dataset.model.cursor.position if start is None else start
        try:
            rows = dataset.model.rows(first, draws)
        except stream_model.BeyondError:
            with pytest.raises(drt.InvalidConfigError):
                dataset.ours.plan(draws, start)
            return
        plan = dataset.ours.plan(draws, start)
        assert plan["position"].to_list() == list(range(first, first + draws))
        assert plan["row"].to_list() == rows
        report = dataset.ours.sampling_report(first, first + draws)
        assert report["drawn"].to_list() == [rows.count(row) for row in range(len(dataset.rows))]
        assert dataset.ours.draw_seed(first) == draw_seed(dataset.model.source.seed, first)

    def agree(self, dataset: Pair) -> None:
        """Compare all that a dataset tells."""
        assert dataset.ours.state_dict() == dataset.model.state()
        assert dataset.ours.position == dataset.model.cursor.position
        assert len(dataset.ours) == len(dataset.model)
        table = dataset.ours.get_metadata()
        assert table["number"].to_list() == [row.number for row in dataset.rows]
        assert table["weight"].to_list() == [row.weight for row in dataset.rows]
        if "note" in table.columns:
            assert table["note"].to_list() == [row.note for row in dataset.rows]

    def teardown(self) -> None:
        for iterator in self.live:
            while self.draw_one(iterator):
                pass
            assert iterator.ours.state_dict() == iterator.model.state()
        for dataset in self.opened:
            self.agree(dataset)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=200,
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    database=None,
)
