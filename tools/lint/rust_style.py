"""House rules for Rust that neither rustfmt nor clippy knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

BARE_MATCHES = re.compile(r"^\s*matches!\(.*\);\s*(//.*)?$")
TEST_NAME = re.compile(r"#\[test\]\s*(?:#\[[^\n]*\]\s*)*(?:pub\s+)?fn\s+(test_\w*)")
# names that say nothing about what is inside
EMPTY_NAMES = {"common", "handle", "helpers", "manager", "misc", "process", "util", "utils"}


def problems(tree: Tree) -> Iterator[str]:
    """Missing opening texts, tests that cannot fail, empty names, crates without the lint table."""
    for path in tree.paths("rust/*.rs", "benchmarks/*.rs", "tests/*.rs"):
        text = tree.text(path)
        if not text.startswith("//!") and not path.endswith("/tests.rs"):
            yield f"{path}: starts with //! (what it owns, what it must not do, its invariant)"
        for number, line in enumerate(text.splitlines(), 1):
            if BARE_MATCHES.match(line):
                yield f"{path}:{number}: the result of matches! is dropped: assert it"
        for found in TEST_NAME.finditer(text):
            yield f"{path}: {found[1]}: tests are named subject_condition_outcome, without test_"
    for path in tree.paths("rust/*.rs", "python/*.py"):
        if path.rpartition("/")[2].partition(".")[0] in EMPTY_NAMES:
            yield f"{path}: the name does not say what the file owns"
    for path in tree.paths("rust/*/Cargo.toml"):
        text = tree.text(path)
        is_member = "\n[workspace]" not in text
        if is_member and not re.search(r"^\[lints\]\nworkspace = true$", text, re.MULTILINE):
            yield f"{path}: lint levels are those of the workspace: [lints] workspace = true"
