"""The core draws what the oracle draws, for random tables, modes and positions."""

import itertools
import tempfile
from pathlib import Path

import dataset_rt as drt
import numpy as np
import polars as pl
import xxhash
from draws import EACH_ONCE, ORDERED, WITH_REPLACEMENT, Stream, Table, draw_seed
from hypothesis import given, settings
from hypothesis import strategies as st

RUNTIME = drt.DatasetRuntime(num_workers=1)
SAMPLES = (7, 5)
MODES = {
    ORDERED: {"shuffle": False},
    WITH_REPLACEMENT: {"shuffle": True},
    EACH_ONCE: {"shuffle": True, "replacement": False},
}


class Source:
    """Small samples without metadata."""

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self._count = count

    def __iter__(self):
        return (drt.CacheInput(bytes([i]), {}) for i in range(self._count))


def make_caches(base: Path) -> list[Path]:
    sources = [Source(f"c{i}", count) for i, count in enumerate(SAMPLES)]
    config = drt.WriterConfig(show_progress=False)
    return [result.path for result in RUNTIME.write_cache(sources, base, writer_config=config)]


FOLDER = tempfile.TemporaryDirectory()
CACHES = make_caches(Path(FOLDER.name))

WEIGHTS = st.floats(1e-300, 1e300) | st.integers(1, 5).map(float)
TABLES = st.lists(st.tuples(st.integers(0, sum(SAMPLES) - 1), WEIGHTS), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    rows=TABLES,
    mode=st.sampled_from(sorted(MODES)),
    seed=st.integers(0, 2**64 - 1),
    start=st.integers(0, 2**40),
)
def test_draws_of_any_table_are_those_of_the_oracle(
    rows: list, mode: str, seed: int, start: int
) -> None:
    config = drt.ReaderConfig(seed=seed, **MODES[mode])
    dataset = RUNTIME.cached_dataset(CACHES, reader_config=config)
    samples = [sample for sample, _ in rows]
    frame = pl.DataFrame(
        {
            "cache_id": [int(sample >= SAMPLES[0]) for sample in samples],
            "sample_id": [sample - SAMPLES[0] * (sample >= SAMPLES[0]) for sample in samples],
            "weight": [weight for _, weight in rows],
        }
    )
    dataset.update_metadata(frame)
    table = Table(samples, [weight for _, weight in rows])
    stream = Stream(table, mode, seed)
    plan = dataset.plan(12, start)
    wanted = [stream.row(position) for position in range(start, start + 12)]
    assert plan["row"].to_list() == wanted
    drawn = plan.select(pl.col("cache_id") * SAMPLES[0] + pl.col("sample_id")).to_series()
    assert drawn.to_list() == [samples[row] for row in wanted]
    assert dataset.draw_seed(start) == draw_seed(seed, start)
    digest = xxhash.xxh3_128_hexdigest(table.canonical())
    assert dataset.state_dict()["table_digest"] == digest


def test_payloads_come_in_the_order_of_the_oracle() -> None:
    config = drt.ReaderConfig(seed=2**63 + 5)
    dataset = RUNTIME.cached_dataset(CACHES, reader_config=config)
    weights = np.arange(1.0, 13.0)
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.Series(weights)))
    stream = Stream(Table(range(12), list(weights)), WITH_REPLACEMENT, 2**63 + 5)
    drawn = [(sample.cache_id, sample.data[0]) for sample in itertools.chain(dataset, dataset)]
    assert len(drawn) == 24
    wanted = [stream.row(position) for position in range(24)]
    assert drawn == [(int(row >= 7), row - 7 * (row >= 7)) for row in wanted]
