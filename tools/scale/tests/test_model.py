"""The model of scale against real caches that real ranks read."""

from pathlib import Path

import dataset_rt as drt
import numpy as np
import pytest
from model import Job, Layout, cache_hits, expected_distinct, of_node, of_rank, touched

LAYOUT = Layout(samples=500, payload_bytes=64, max_shard_bytes=1000)
RANKS = 6


class Even:
    """Samples of one size."""

    name = "even"

    def __iter__(self):
        for number in range(LAYOUT.samples):
            yield drt.CacheInput(number.to_bytes(2, "little") * 32, {})


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    config = drt.WriterConfig(show_progress=False, max_shard_bytes=LAYOUT.max_shard_bytes)
    base = tmp_path_factory.mktemp("base")
    (done,) = drt.DatasetRuntime(num_workers=2).write_cache(Even(), base, writer_config=config)
    return done.path


def opened(cache: Path, replacement: bool) -> drt.CachedDataset:
    config = drt.ReaderConfig(seed=3, replacement=replacement)
    return drt.DatasetRuntime(num_workers=1).cached_dataset([cache], reader_config=config)


def shard_of(cache: Path) -> list[int]:
    """The shard of each sample, from the lengths of the files."""
    files = sorted((cache / "shards").iterdir())
    counts = [file.stat().st_size // LAYOUT.payload_bytes for file in files]
    assert sum(counts) == LAYOUT.samples
    return np.repeat(np.arange(len(files)), counts).tolist()


@pytest.mark.parametrize("replacement", [True, False])
def test_what_ranks_touch_is_what_they_read(cache: Path, replacement: bool) -> None:
    dataset = opened(cache, replacement)
    window = dataset.plan(LAYOUT.samples)["row"].to_numpy().astype(np.int64)
    shards = shard_of(cache)
    assert len(set(shards)) == LAYOUT.shards > 30
    for rank in range(RANKS):
        read = list(dataset.partition(rank, RANKS))
        samples = {sample.sample_id: len(sample.data) for sample in read}
        found = touched(of_rank(window, rank, RANKS), LAYOUT)
        assert found.draws == len(read)
        assert found.samples == len(samples)
        assert found.payload_bytes == sum(samples.values())
        assert found.shards == len({shards[sample] for sample in samples})


def test_ranks_of_a_node_have_its_draws() -> None:
    rows = np.arange(100)
    node = of_node(rows, 1, RANKS, 3)
    assert sorted(np.concatenate([of_rank(rows, rank, RANKS) for rank in (3, 4, 5)])) == list(node)


@pytest.mark.parametrize("epochs", [1, 3])
def test_expected_samples_are_near_those_drawn(cache: Path, epochs: int) -> None:
    draws = epochs * LAYOUT.samples
    rows = opened(cache, True).plan(draws)["row"].to_numpy()
    assert abs(len(np.unique(rows)) - expected_distinct(draws, LAYOUT.samples)) < 25


def test_cache_holds_what_was_used_last() -> None:
    assert cache_hits(np.array([1, 2, 1, 3, 2, 1]), 2) == 1
    assert cache_hits(np.array([1, 2, 1, 3, 2, 1]), 3) == 3
    assert cache_hits(np.array([1, 1, 1]), 1) == 2


def test_epoch_is_as_slow_as_ranks_or_store() -> None:
    layout = Layout(samples=1000, payload_bytes=10, max_shard_bytes=100)
    fast = Job(layout, 4, 2, draws_per_second=50, store_bytes_per_second=1e9)
    assert fast.epoch_seconds == 5
    assert (fast.nodes, fast.wanted_bytes_per_second, fast.miss_bytes_per_second(0.25)) == (
        2,
        2000,
        1500,
    )
    slow = Job(layout, 4, 2, draws_per_second=50, store_bytes_per_second=1000)
    assert slow.epoch_seconds == 10


def test_page_says_what_its_program_makes() -> None:
    from page import MARKED, TABLES, with_tables

    text = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")
    assert {name for _, name, _ in MARKED.findall(text)} == set(TABLES)
    assert with_tables(text) == text
