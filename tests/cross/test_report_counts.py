"""The core reports what the oracle reports, for random tables, modes and ranges."""

import tempfile
from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from draws import EACH_ONCE, ORDERED, WITH_REPLACEMENT, Stream, Table
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import report

RUNTIME = drt.DatasetRuntime(num_workers=1)
SAMPLES = 9
MODES = {
    ORDERED: {"shuffle": False},
    WITH_REPLACEMENT: {"shuffle": True},
    EACH_ONCE: {"shuffle": True, "replacement": False},
}


class Source:
    """Small samples without metadata."""

    name = "small"

    def __iter__(self):
        return (drt.CacheInput(bytes([i]), {}) for i in range(SAMPLES))


FOLDER = tempfile.TemporaryDirectory()
(CACHE,) = RUNTIME.write_cache(
    Source(), FOLDER.name, writer_config=drt.WriterConfig(show_progress=False)
)
WEIGHTS = st.floats(0.01, 100) | st.integers(1, 5).map(float)
ROWS = st.tuples(st.integers(0, SAMPLES - 1), WEIGHTS)


def reports_agree(mode: str, rows: list, start: int, draws: int) -> None:
    config = drt.ReaderConfig(seed=11, **MODES[mode])
    dataset = RUNTIME.cached_dataset([Path(CACHE.path)], reader_config=config)
    samples, weights = [sample for sample, _ in rows], [weight for _, weight in rows]
    frame = pl.DataFrame({"cache_id": 0, "sample_id": samples, "weight": weights})
    dataset.update_metadata(frame)
    stop = start + draws
    wanted = report(Stream(Table(samples, weights), mode, 11), start, stop)
    found = dataset.sampling_report(start, stop)
    assert found["sample_id"].to_list() == samples
    assert found["drawn"].to_list() == wanted.drawn
    assert found["weight_share"].to_list() == pytest.approx(wanted.weight_share, rel=1e-14)
    assert found["expected"].to_list() == pytest.approx(wanted.expected, rel=1e-9, abs=1e-9)
    by_sample = dataset.sampling_report(start, stop, by="sample_id")
    for sample, _, _, expected, drawn in by_sample.iter_rows():
        lines = [row for row, other in enumerate(samples) if other == sample]
        assert drawn == sum(wanted.drawn[row] for row in lines)
        assert expected == pytest.approx(sum(wanted.expected[row] for row in lines), abs=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    mode=st.sampled_from(sorted(MODES)),
    rows=st.lists(ROWS, min_size=1, max_size=7),
    start=st.integers(0, 10**12),
    draws=st.integers(0, 40),
)
def test_reports_on_few_rows_are_exactly_those_of_the_oracle(mode, rows, start, draws) -> None:
    reports_agree(mode, rows, start, draws)


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(
    rows=st.lists(ROWS, min_size=17, max_size=40),
    start=st.integers(0, 10**6),
    draws=st.integers(0, 90),
)
def test_reports_on_many_rows_solve_the_equation_of_the_text(rows, start, draws) -> None:
    reports_agree(EACH_ONCE, rows, start, draws)
