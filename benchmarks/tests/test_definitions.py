"""Definitions and contenders: what the files say, and what is refused."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from benchmarks.harness.definitions import (
    Definition,
    load_contenders,
    load_definitions,
    read_definition,
)
from benchmarks.harness.environments import peers_folder

HERE = Path(__file__).absolute().parents[1]

TEXT = """
title = "Reading"
contenders = ["floor"]
[records]
rows = 100
payload_bytes = 64
[workload]
kind = "read"
"""


def one(text: str) -> Definition:
    (definition,) = read_definition(text, "reading")
    return definition


def test_all_definitions_load_with_known_contenders_and_references():
    definitions = load_definitions(HERE / "definitions")
    contenders = load_contenders(HERE / "contenders.toml")
    known = set(contenders) | {entry.group for entry in contenders.values() if entry.group}
    assert len({definition.name for definition in definitions}) == len(definitions)
    for definition in definitions:
        assert set(definition.contenders) <= set(contenders), definition.name
        for target in definition.targets:
            assert target.contender in definition.contenders, definition.name
            assert target.over is None or target.over in known, definition.name


def test_every_contender_has_an_engine_and_a_lock():
    for contender in load_contenders(HERE / "contenders.toml").values():
        assert (HERE / "engines" / f"{contender.engine}.py").exists()
        lock = peers_folder() / contender.environment / "requirements.txt"
        assert "--hash=sha256:" in lock.read_text()


def test_every_kind_of_trial_is_known_to_the_other_side():
    from benchmarks.harness.definitions import Kind
    from benchmarks.trial.kinds import KINDS

    assert set(KINDS) == set(Kind.__args__)


def test_one_size_stands_for_least_and_most():
    assert one(TEXT).records.payload_bytes == (64, 64)
    ranged = one(TEXT.replace("64", "[1, 9]"))
    assert ranged.records.message()["most_bytes"] == 9


def test_list_of_rows_gives_one_definition_each():
    found = list(read_definition(TEXT.replace("rows = 100", "rows = [10, 20]"), "growth"))
    assert [each.name for each in found] == ["growth/10", "growth/20"]
    assert {each.family for each in found} == {"growth"}
    assert found[0].digest() != found[1].digest()


def test_targets_may_be_for_one_row_count():
    text = TEXT.replace("rows = 100", "rows = [10, 20]")
    text += '[[targets]]\nquantity = "wall_ms"\nat_most = 1.0\nrows = 20\n'
    found = list(read_definition(text, "growth"))
    assert [len(each.own_targets) for each in found] == [0, 1]


def test_digest_changes_with_the_work_and_not_with_words():
    base = one(TEXT)
    assert one(TEXT.replace("Reading", "Other words")).digest() == base.digest()
    assert one(TEXT + 'consume = "crc32"\n').digest() != base.digest()
    assert base.draws == 100


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("64", "[9, 1]"),
        TEXT.replace("64", "-1"),
        TEXT.replace("rows = 100", "rows = 1"),
        TEXT.replace('"read"', '"guess"'),
        TEXT.replace('["floor"]', '["floor", "floor"]'),
        TEXT + "surprise = 1\n",
        TEXT + '[[targets]]\nquantity = "speed"\nover = "floor"\n',
        TEXT + '[[targets]]\nquantity = "speed"\nat_least = 2.0\n',
        TEXT + '[[targets]]\nquantity = "switches"\nover = "floor"\nat_most = 1.0\n',
    ],
)
def test_wrong_definition_is_refused(changed):
    with pytest.raises(ValidationError):
        one(changed)
