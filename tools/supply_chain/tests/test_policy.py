"""What is locked keeps to the policy: licences, known advisories, checksums."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import advisories
import licences
import locks
import tomllib

HOME = Path("tools/supply_chain")
PACKAGES = locks.all_packages(Path())
LICENCES = licences.read_table((HOME / "licences.txt").read_text())
DENY = tomllib.loads(Path("deny.toml").read_text())
PYTHON = tomllib.loads((HOME / "python.toml").read_text())


def test_all_locks_are_looked_at() -> None:
    assert {package.ecosystem for package in PACKAGES} == {locks.CARGO, locks.PYPI}
    names = {package.name for package in PACKAGES}
    assert names >= {"pyo3", "lz4_flex", "polars", "pydantic", "torch", "ziglang"}


def test_every_licence_is_allowed() -> None:
    found = licences.problems(PACKAGES, LICENCES, DENY["licenses"], PYTHON["licenses"])
    assert list(found) == []


def test_no_advisory_concerns_what_is_locked() -> None:
    table = advisories.read_table((HOME / "advisories.txt").read_text())
    ignored = {
        entry["id"]: entry["reason"]
        for policy in (DENY, PYTHON)
        for entry in policy["advisories"]["ignore"]
    }
    assert list(advisories.problems(PACKAGES, table, ignored)) == []
    assert {entry.ecosystem for entry in table} == {locks.CARGO, locks.PYPI}


def test_everything_is_locked_by_checksum_from_a_registry() -> None:
    assert locks.unverifiable(Path()) == []


def test_installed_distributions_say_the_licence_that_the_list_has() -> None:
    looked_at = 0
    for distribution in importlib.metadata.distributions():
        package = locks.Package(
            locks.PYPI, locks.normalized(distribution.metadata["Name"]), distribution.version
        )
        said = distribution.metadata["License-Expression"]
        if package in LICENCES and said:
            assert LICENCES[package] == said, package
            looked_at += 1
    assert looked_at
