"""Bazel builds with the version, edition and lint levels that Cargo reads from Cargo.toml."""

import json
import os
from pathlib import Path
from typing import Any

import tomllib

FACTS = json.loads(Path(os.environ["CARGO_FACTS"]).read_text())
WORKSPACE = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]


def level_and_priority(value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        return value, 0
    return value["level"], value.get("priority", 0)


def test_lint_flags_are_the_table_of_the_workspace() -> None:
    lints = []
    for tool, table in WORKSPACE["lints"].items():
        prefix = "" if tool == "rust" else f"{tool}::"
        for name, value in table.items():
            level, priority = level_and_priority(value)
            lints.append((priority, prefix + name.replace("-", "_"), level))
    assert FACTS["lint_flags"] == [f"--{level}={name}" for _, name, level in sorted(lints)]
    assert len(lints) > 5


def test_version_and_edition_are_those_of_the_workspace() -> None:
    for fact in ("version", "edition", "license"):
        assert FACTS["package"][fact] == WORKSPACE["package"][fact]


def test_bazel_is_told_of_the_settings_files() -> None:
    settings = Path(".bazelrc").read_text().splitlines()
    for name in ("clippy.toml", "rustfmt.toml"):
        assert f"build --@rules_rust//:{name}=//:{name}" in settings
