"""What a prompt and a notebook show of results: short, and with every text escaped."""

import re
from pathlib import Path

import dataset_rt as drt
import pytest
from support import Rows, numbered, write_ok

EVIL = "<b>&name"


class Failing:
    name = "<i>failing"

    def __iter__(self):
        raise ValueError("<script>alert(1)</script>" + "long " * 500)


@pytest.fixture
def outcome(runtime: drt.DatasetRuntime, tmp_path: Path) -> drt.CacheSourcesDatasetSuccess:
    rows = [(b"x" * i, {EVIL: i}) for i in range(50)]
    quiet = drt.WriterConfig(show_progress=False, max_shard_bytes=10)
    return runtime.from_cache_sources(
        [Rows(EVIL, rows), Failing()],
        tmp_path / EVIL,
        reader_config=drt.ReaderConfig(seed=7),
        writer_config=quiet,
    )


def shown(outcome: drt.CacheSourcesDatasetSuccess) -> list[object]:
    path = outcome.results[0].path
    (path / "shards" / "000003.bin").write_bytes(b"")
    failed = drt.CacheSourcesDatasetError(outcome.results, "none could be loaded")
    return [
        outcome,
        failed,
        outcome.dataset,
        *outcome.results,
        drt.inspect(path),
        drt.verify(path),
        outcome.dataset.stats(),
    ]


def test_html_is_escaped_and_short(outcome) -> None:
    for value in shown(outcome):
        html = value._repr_html_()
        tags = set(re.findall(r"</?(\w+)", html))
        assert tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}, value
        assert EVIL not in html
        assert "<script" not in html
        assert len(html) < 8000, value
        assert html.count("<table") == html.count("</table")


def test_text_names_what_matters_in_a_few_lines(outcome) -> None:
    path = outcome.results[0].path
    texts = [repr(value) for value in shown(outcome) if not isinstance(value, drt.CacheWriteError)]
    assert all(len(text) < 600 for text in texts), texts
    assert "2 sources, 1 failed" in texts[0]
    dataset = repr(outcome.dataset)
    assert "1 cache, epoch length 50, position" in dataset
    assert "with replacement, seed 7" in dataset
    assert str(path) in repr(drt.inspect(path))
    report = drt.verify(path)
    assert f"{len(report.damages)} finding" in repr(report)
    assert str(report.damages[0].error) in repr(report)


def test_view_of_a_rank_says_so(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, numbered(8), tmp_path).path
    config = drt.ReaderConfig(seed=1, shuffle=False)
    view = runtime.cached_dataset([path], reader_config=config).partition(1, 4)
    assert "rank 1 of 4" in repr(view)
    assert "in table order" in repr(view)
    assert "1 of 4" in view._repr_html_()
    assert "intact" in repr(drt.verify(path))
    assert "intact" in drt.verify(path)._repr_html_()


def test_many_lines_are_cut(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    sources = [Rows(f"s{i}", []) for i in range(60)]
    quiet = drt.WriterConfig(show_progress=False)
    result = runtime.from_cache_sources(
        sources, tmp_path, reader_config=drt.ReaderConfig(seed=1), writer_config=quiet
    )
    assert isinstance(result, drt.CacheSourcesDatasetError)
    assert result._repr_html_().count("<tr>") == 21
    assert "and 40 more" in result._repr_html_()
    assert "60 sources, 60 failed" in repr(result)
