"""Runs lints over the tree: `main.py [--root FOLDER] [LINT...]`, all of them by default.

The exit code is 1 when one has something to say.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tree import Tree

LINTS = (
    "build_files",
    "cargo_build",
    "doc_links",
    "file_sizes",
    "forbidden_words",
    "rust_style",
    "unsafe_list",
)


def default_root() -> Path:
    """Bazel's copy of the tree in a test, the checkout otherwise."""
    if runfiles := os.environ.get("TEST_SRCDIR"):
        found = sorted(Path(runfiles).glob("*source_tree/tree"))
        if len(found) != 1:
            sys.exit(f"expected one copy of the tree in {runfiles}, found {found}")
        return found[0]
    return Path(__file__).resolve().parents[2]


def main() -> int:
    """Runs the named lints and prints one line for each problem."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path)
    parser.add_argument("lints", nargs="*", choices=[*LINTS, []], default=[])
    args = parser.parse_args()
    tree = Tree.read(args.root or default_root())
    count = 0
    for name in args.lints or LINTS:
        for problem in importlib.import_module(name).problems(tree):
            print(f"{name}: {problem}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
