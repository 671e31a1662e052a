"""From lines to the report: pairing, groups, verdicts, refusals."""

import json

import pytest

from benchmarks.harness.lines import DebugBuildError, append_line, read_lines
from benchmarks.harness.markdown import duration, number, with_range
from benchmarks.harness.report import write_report
from benchmarks.harness.statistics import Spread
from benchmarks.harness.summary import summarize
from benchmarks.tests.lines import TEXT, definition, line, lines


def row_of(summary, contender):
    (table,) = summary.tables
    return next(row for row in table.rows if row.contender == contender)


def test_ratio_to_original_takes_the_best_of_each_round():
    summary = summarize(definition(), lines())
    assert row_of(summary, "ours").speed_over_original == Spread(4.0, 3.0, 5.0, 3)
    assert row_of(summary, "original-1").speed_over_original == Spread(1.0, 0.5, 1.0, 3)


def test_ratios_pair_rounds_so_that_slow_rounds_do_not_count():
    summary = summarize(definition(), lines())
    assert row_of(summary, "ours").cpu_over_floor == Spread(1.5, 1.5, 1.5, 3)
    assert row_of(summary, "ours").quantities["cpu_us"] == Spread(6.0, 6.0, 12.0, 3)


def test_rows_are_ordered_by_cpu_time():
    (table,) = summarize(definition(), lines()).tables
    assert [row.contender for row in table.rows] == ["floor", "ours", "original-1", "original-2"]


def test_verdicts_say_met_missed_and_not_measured():
    verdicts = summarize(definition(), lines()).verdicts
    assert [verdict.is_met for verdict in verdicts] == [True, False, True, None]


def test_memory_of_a_worker_is_compared_by_difference():
    text = TEXT + '[[targets]]\nquantity = "worker_mib"\nover = "floor"\nat_most = 15.0\n'
    held = {"ours": 40 << 20, "floor": 30 << 20}
    found = [
        each.model_copy(
            update={
                "steps": {
                    "read": each.steps["read"].model_copy(
                        update={"child_private_bytes": held.get(each.contender, 0)}
                    )
                }
            }
        )
        for each in lines()
    ]
    verdict = summarize(definition(text), found).verdicts[-1]
    assert verdict.found == Spread(10.0, 10.0, 10.0, 3)
    assert verdict.is_met


def test_lines_survive_the_file(tmp_path):
    file = tmp_path / "lines.jsonl"
    for each in lines():
        append_line(file, each)
    assert list(read_lines(file.read_text().splitlines())) == lines()


def test_report_is_written_with_plots_and_json(tmp_path):
    file = write_report(tmp_path, [definition()], lines(), {"reading": {"lmdb": "a\nreason"}})
    text = file.read_text()
    assert "| ours | 6 µs (6 µs … 12 µs) |" in text
    assert "lmdb did not take part: reason" in text
    assert "**missed**" in text
    assert (tmp_path / "plots" / "reading-read.svg").stat().st_size > 0
    values = json.loads((tmp_path / "report.json").read_text())
    assert values["definitions"][0]["verdicts"][0]["found"]["median"] == 4.0


@pytest.mark.parametrize("profile", ["debug", "unknown", ""])
def test_debug_build_is_not_reported(tmp_path, profile):
    mixed = [*lines(), line("ours", 3, wall=1, cpu=1, profile=profile)]
    with pytest.raises(DebugBuildError, match="ours"):
        write_report(tmp_path, [definition()], mixed, {})
    assert list(tmp_path.iterdir()) == []


def test_lines_of_an_older_definition_are_left_out(tmp_path):
    changed = definition().model_copy(update={"workload": definition().workload.model_copy()})
    old = [each.model_copy(update={"definition_digest": "older"}) for each in lines()]
    with pytest.raises(ValueError, match="no result line"):
        write_report(tmp_path, [changed], old, {})


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(0.0, "0 ns"), (0.25, "250 ns"), (3.456, "3.46 µs"), (1234.0, "1.23 ms"), (2.5e6, "2.5 s")],
)
def test_durations_have_the_unit_that_suits_them(microseconds, text):
    assert duration(microseconds) == text


def test_numbers_keep_three_digits():
    assert [number(value) for value in (0, 0.012345, 1.2345, 123.45, 12345.6)] == [
        "0",
        "0.0123",
        "1.23",
        "123",
        "12,346",
    ]
    assert with_range(None) == "–"  # noqa: RUF001 - the sign of the report
