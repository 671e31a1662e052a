"""No file grows past the size at which it should have been split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

SOURCE_LINES = 400
TEST_LINES = 500
BUILD_LINES = 60
MACRO_LINES = 120
MOD_RS_LINES = 40
EXCEPTIONS = "tools/lint/size_exceptions.txt"
COUNTED = (
    "*.rs",
    "*.py",
    "*.pyi",
    "*.bzl",
    "*.bazel",
    "*.sh",
    "*.toml",
    "*.md",
    "tools/bazel",
    "tools/dev/*",
    ".ci/*",
)


def limit_lines(path: str) -> int:
    """The limit of one file, in lines."""
    name = path.rpartition("/")[2]
    if name == "BUILD.bazel":
        return BUILD_LINES
    if name.endswith(".bzl"):
        return MACRO_LINES
    is_test = (
        "/tests/" in f"/{path}" or name in {"tests.rs", "conftest.py"} or name.startswith("test_")
    )
    if name == "mod.rs" and not is_test:
        return MOD_RS_LINES
    return TEST_LINES if is_test else SOURCE_LINES


def problems(tree: Tree) -> Iterator[str]:
    """Files over their limit, and exceptions that are not needed or give no reason."""
    allowed = {}
    for entry in entries(tree.text(EXCEPTIONS)) if EXCEPTIONS in tree else ():
        path, most, reason = (*entry, "", "")[:3]
        if not most.isdigit() or not reason:
            yield f"{EXCEPTIONS}: '{path}' needs a line 'path | lines | reason'"
            continue
        allowed[path] = int(most)
    for path in tree.paths(*COUNTED):
        if not tree.is_text(path):
            continue
        lines, limit = len(tree.lines(path)), limit_lines(path)
        most = allowed.pop(path, None)
        if lines > (most or limit):
            yield f"{path}: {lines} lines, at most {most or limit}"
        elif most is not None and lines <= limit:
            yield f"{EXCEPTIONS}: {path} has {lines} lines and needs no exception"
    for path in allowed:
        yield f"{EXCEPTIONS}: {path} does not exist"
