"""The rules find what they are for: versions, licences, missing hashes, stale exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from advisories import inside, problems, read_table
from licences import problems as licence_problems
from licences import unmet
from locks import CARGO, PYPI, Package, unverifiable
from packaging.version import Version

if TYPE_CHECKING:
    from pathlib import Path

CRATE = Package(CARGO, "a", "1.2.3")


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("1.2.3", ">= 1.2.3", True),
        ("1.2.2", ">= 1.2.3", False),
        ("1.9.0", ">= 1.2, < 2", True),
        ("2.0.0", ">= 1.2, < 2", False),
        ("1.9.0", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("0.2.9", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("0.0.4", "^0.0.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.2.3", "= 1.2.3", True),
        ("1.2.4", "<= 1.2.3", False),
        ("1.2.3", "> 1.2.3", False),
        ("1.4.0", "1.2", True),
    ],
)
def test_ranges_mean_what_cargo_means(version: str, text: str, expected: bool) -> None:
    assert inside(Version(version), text) is expected


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cargo | a | X-1 | safe | >= 1.2.4; < 1.0", True),
        ("cargo | a | X-1 | safe | >= 1.2.3", False),
        ("cargo | a | X-1 | safe |", True),
        ("cargo | a | X-1 | affected | >= 1.0, < 1.2.3", False),
        ("cargo | a | X-1 | affected | >= 0, < 0.5; >= 1.0", True),
        ("pypi | a | X-1 | affected | >= 0", False),
    ],
)
def test_advisories_concern_packages_by_version(line: str, found: bool) -> None:
    assert list(problems([CRATE], read_table(line), {})) == (
        ["cargo a 1.2.3: X-1"] if found else []
    )


def test_exceptions_need_a_reason_and_something_they_are_for() -> None:
    table = read_table("cargo | a | X-1 | safe | >= 2")
    assert list(problems([CRATE], table, {"X-1": "not reached"})) == []
    assert list(problems([CRATE], table, {"X-1": ""})) == ["X-1: an exception without a reason"]
    (stale,) = problems([CRATE], table, {"X-1": "not reached", "X-2": "old"})
    assert stale.startswith("X-2")


@pytest.mark.parametrize(
    ("licence", "part"),
    [
        ("MIT", None),
        ("GPL-3.0-only OR MIT", None),
        ("GPL-3.0-only/MIT", None),
        ("GPL-3.0-only AND MIT", "GPL-3.0-only"),
        ("(MIT OR GPL-3.0-only) AND Apache-2.0", "Apache-2.0"),
        ("LicenseRef-Known", None),
    ],
)
def test_a_choice_needs_one_licence_and_a_sum_all(licence: str, part: str | None) -> None:
    assert unmet(licence, {"MIT", "LicenseRef-Known"}) == part


def test_a_text_that_is_no_expression_is_told() -> None:
    assert "not a licence expression" in (unmet("as you like", {"MIT"}) or "")


def test_table_and_locks_name_the_same_packages() -> None:
    policy = {"allow": ["MIT"]}
    (missing,) = licence_problems({CRATE}, {}, policy, policy)
    assert missing.startswith("cargo a 1.2.3: no line")
    (stale,) = licence_problems(set(), {CRATE: "MIT"}, policy, policy)
    assert stale.endswith("is not locked")


def test_exceptions_are_for_one_package() -> None:
    policy = {"allow": ["MIT"], "exceptions": [{"crate": "a-*", "allow": ["ISC"]}]}
    nothing = {"allow": []}
    other, ours = Package(PYPI, "b", "1"), Package(PYPI, "a-b", "1")
    table = {ours: "ISC", other: "ISC"}
    (found,) = licence_problems(set(table), table, nothing, policy)
    assert found.startswith("pypi b 1: licence ISC")
    (unused,) = licence_problems({other}, {other: "MIT"}, nothing, policy)
    assert unused.startswith("pypi a-*: an exception")


def test_what_has_no_checksum_is_told(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "a"\nversion = "1"\nsource = "git+somewhere"\nchecksum = "0"\n'
    (tmp_path / "Cargo.lock").write_text(lock)
    hashed = "b==1 \\\n    --hash=sha256:00\n"
    (tmp_path / "requirements.txt").write_text(hashed + "c==2\n")
    assert unverifiable(tmp_path) == [
        "Cargo.lock: a has no checksum, or is from no registry",
        "requirements.txt: c==2 has no hash",
    ]
