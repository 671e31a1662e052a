"""The command's answers: as JSON, as text in a pipe, and on a terminal."""

from pathlib import Path

import dataset_rt as drt
import polars as pl
import pytest
from command import answer, on_terminal, plain, run
from support import Rows, numbered, payload, write_ok

GOLDEN = Path(__file__).parents[1] / "golden" / "caches"
COUNT = 60


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """A folder with the caches ``first`` and ``second``, of one schema."""
    folder = tmp_path_factory.mktemp("caches")
    runtime = drt.DatasetRuntime(num_workers=2)
    write_ok(runtime, numbered(COUNT, "first"), folder, max_shard_bytes=300)
    write_ok(runtime, numbered(7, "second"), folder)
    return folder


def sizes() -> list[int]:
    return [len(payload(i)) for i in range(COUNT)]


def test_info_is_the_inspection(base: Path) -> None:
    (told,) = answer("info", base / "first")["caches"]
    facts = drt.inspect(base / "first")
    assert (told["path"], told["row_count"]) == (str(facts.path), COUNT)
    assert (told["payload_bytes"], told["content_digest"]) == (sum(sizes()), facts.content_digest)
    assert told["metadata_schema"] == facts.metadata_schema
    assert [file["name"] for file in told["files"]] == [file.name for file in facts.files]
    shown = run("info", base / "first").stdout
    assert facts.content_digest in shown
    assert "--files shows all" in shown
    every = run("info", "--files", base / "first").stdout
    assert all(file.name in every for file in facts.files)


def test_info_of_a_folder_lists_its_caches(base: Path) -> None:
    told = answer("info", base)["caches"]
    assert [Path(cache["path"]).name for cache in told] == ["first", "second"]
    lines = run("info", base).stdout.splitlines()
    assert lines[0] == "2 caches"
    assert lines[2].split()[:2] == ["first", "60"]
    assert "samples  67" in lines
    original = run("info", GOLDEN / "original-v2").stdout
    assert "typed-lz4" in original
    assert "typed-none" in original


def test_head_shows_metadata_and_payloads(base: Path) -> None:
    rows = answer("head", base, "-n", "62")["rows"]
    assert [(row["cache_id"], row["sample_id"]) for row in rows[59:]] == [(0, 59), (1, 0), (1, 1)]
    for row in rows[:COUNT]:
        data = payload(row["sample_id"])
        assert (row["payload_bytes"], row["first_bytes"]) == (len(data), data[:16].hex())
        assert row["metadata"]["label"] == row["sample_id"] % 3
    shown = run("head", base / "first", "-n", "2").stdout.splitlines()
    assert shown[0].split()[:4] == ["cache", "sample", "flag", "label"]
    assert len(shown) == 3
    # floats that JSON has no numbers for are there by name
    odd = answer("head", GOLDEN / "v1" / "typed-lz4", "-n", "40")["rows"]
    assert {"nan", "inf", "-inf"} <= {row["metadata"]["score"] for row in odd}


def test_plan_is_that_of_the_dataset(runtime: drt.DatasetRuntime, base: Path) -> None:
    paths = [base / "first", base / "second"]
    for options, config in [
        (["--seed", "5"], drt.ReaderConfig(seed=5)),
        (["--ordered"], drt.ReaderConfig(seed=0, shuffle=False)),
        (["--each-once"], drt.ReaderConfig(seed=0, replacement=False)),
    ]:
        dataset = runtime.cached_dataset(paths, reader_config=config)
        told = answer("plan", *paths, "-n", "30", "--start", "11", *options)
        assert told["draws"] == dataset.plan(30, 11).to_dicts()
    lines = run("plan", base, "-n", "3", "--ordered").stdout.splitlines()
    assert lines[1].split() == ["position", "row", "cache", "sample", "name"]
    assert lines[-1].split() == ["2", "2", "0", "2", "first"]


def test_stats_count_sizes_and_values(base: Path) -> None:
    told = answer("stats", base / "first")
    assert (told["rows"], told["shares"]) == (COUNT, None)
    found = told["payloads"]
    assert (found["min"], found["max"], found["rows_read"]) == (min(sizes()), max(sizes()), COUNT)
    assert found["mean"] == pytest.approx(sum(sizes()) / COUNT)
    for part in found["histogram"]:
        assert part["rows"] == sum(part["from"] <= size < part["to"] for size in sizes())
    assert sum(part["rows"] for part in found["histogram"]) == COUNT
    columns = {column["column"]: column for column in told["columns"]}
    assert columns["label"]["type"] == "int64"
    assert (columns["label"]["min"], columns["label"]["max"]) == (0, 2)
    assert columns["split"]["distinct"] == 4
    assert {value["rows"] for value in columns["flag"]["most_frequent"]} == {30}
    assert "payload sizes of 60 rows" in run("stats", base / "first").stdout


def test_stats_compare_expected_and_drawn_shares(runtime: drt.DatasetRuntime, base: Path) -> None:
    weight = "CASE WHEN label = 0 THEN 2.5 ELSE 1 END"
    options = ["--by", "label", "--draws", "900", "--seed", "3", "--weight", weight]
    shares = answer("stats", base / "first", *options)["shares"]
    dataset = runtime.cached_dataset([base / "first"], reader_config=drt.ReaderConfig(seed=3))
    weights = [2.5 if label == 0 else 1.0 for label in dataset.get_metadata()["label"]]
    dataset.update_metadata(dataset.get_metadata().with_columns(weight=pl.Series(weights)))
    report = dataset.sampling_report(0, 900, "label")
    for name in ("weight_share", "expected", "drawn"):
        assert [value[name] for value in shares["values"]] == report[name].to_list()
    assert report["expected"].to_list() == pytest.approx([500, 200, 200])
    shown = run("stats", base / "first", *options).stdout
    assert "shares of label in 900 draws of seed 3" in shown


def test_weight_keeps_the_digits_of_a_quotient(base: Path) -> None:
    weight = "0.0000001 / COUNT(*) OVER (PARTITION BY label)"
    shares = answer("stats", base, "--by", "label", "--weight", weight)["shares"]
    assert [value["weight_share"] for value in shares["values"]] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml")])
def test_plot_is_written(base: Path, tmp_path: Path, name: str, start: bytes) -> None:
    run("stats", base, "--by", "split", "--plot", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_bench_measures_each_way_beside_memory(base: Path) -> None:
    told = answer("bench", base, "--seconds", "0.03", "--batch-size", "8")
    ways = [line["way"] for line in told["ways"]]
    assert ways[0] == "memory copy"
    assert "batches of 8, shuffled" in ways
    assert all(line["per_second"] > 0 for line in told["ways"])
    shown = run("bench", base / "first", "--seconds", "0.03").stdout
    assert "This machine, now" in shown


def test_convert_writes_another_cache(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "packed"
    told = answer("convert", base / "first", out, "--compression", "lz4")
    assert (told["before"]["compression"], told["after"]["compression"]) == ("none", "lz4")
    assert drt.verify(out).is_intact
    shown = run("convert", GOLDEN / "original-v2" / "typed-lz4", tmp_path / "new").stdout
    assert drt.inspect(tmp_path / "new").content_digest in shown


@pytest.mark.parametrize("columns", [80, 120])
def test_terminal_gets_colours_and_no_line_too_long(base: Path, columns: int) -> None:
    for arguments in (
        ["info", base / "first"],
        ["info", base],
        ["head", base / "first"],
        ["stats", base, "--by", "split"],
        ["plan", base],
        ["bench", base, "--seconds", "0.02"],
    ):
        code, shown = on_terminal(*arguments, columns=columns)
        assert code == 0, shown
        assert "\x1b[1m" in shown
        text = plain(shown)
        assert max(len(line) for line in text.splitlines() if "━" not in line) <= columns, text
        # what is narrow is cut nowhere, so that numbers can be read
        assert "of memory copy" in text or arguments[0] != "bench"


@pytest.mark.parametrize("version", [2, 3])
def test_caches_of_the_original_system_are_looked_at_as_well(version: int) -> None:
    path = GOLDEN / f"original-v{version}" / "typed-lz4"
    (told,) = answer("info", path)["caches"]
    assert (told["format"], told["format_version"], told["row_count"]) == ("original", version, 40)
    assert "of the original system" in run("info", path).stdout
    assert len(answer("head", path, "-n", "3")["rows"]) == 3
    assert answer("verify", path)["is_intact"] is True
    assert answer("stats", path)["payloads"]["total"] == told["payload_bytes"]
    assert len(answer("plan", path, "-n", "5")["draws"]) == 5
    assert answer("bench", path, "--seconds", "0.02")["rows"] == 40


def test_terminal_sees_bars_of_what_goes_on(base: Path) -> None:
    code, shown = on_terminal("verify", base)
    assert code == 0
    assert "━" in shown
    assert plain(shown).count("intact") == 2
    assert "━" not in run("verify", base).stderr


def test_wide_rows_stand_sample_by_sample_on_a_terminal(base: Path) -> None:
    code, shown = on_terminal("head", base / "first", "-n", "2", columns=50)
    assert code == 0
    assert "cache 0, sample 1" in plain(shown)


def test_text_of_a_cache_steers_no_terminal(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    rows = [(b"\x1b[31m", {"text\x1b[2J": "line\nbreak\x1b[31m [b]"})]
    path = write_ok(runtime, Rows("evil", rows), tmp_path).path
    for command in ("info", "head", "stats"):
        code, shown = on_terminal(command, path, columns=120)
        assert code == 0, shown
        assert "\x1b[31m" not in shown
        assert "\x1b[2J" not in shown
        assert command == "info" or r"line\nbreak\x1b[31m [b]" in plain(shown)


def test_many_values_are_cut_to_the_largest_and_near_sizes_told_apart(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    rows = [
        (bytes(1000 + number % 2), {"k": number})
        for number in range(40)
        for _ in range(3 if number == 39 else 1)
    ]
    path = write_ok(runtime, Rows("many", rows), tmp_path).path
    shown = run("stats", path, "--by", "k", "--plot", tmp_path / "p.svg").stdout
    lines = shown.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("shares of k")) + 2
    assert lines[first].split()[:3] == ["39", "3", "3.0"]
    assert "and 10 more values" in shown
    assert "1,000 B" in shown
    assert "1,001 B" in shown
