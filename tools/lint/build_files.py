"""BUILD and .bzl files in one form: that of buildifier, as far as it matters for small diffs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

SORTED_LISTS = {"data", "deps", "exports", "srcs", "test_deps", "tests", "visibility"}


def label_key(label: str) -> tuple[int, str]:
    """Order of labels in a list: of this package, of this repository, of others."""
    signs = (":", "//", "@")
    phase = next((n for n, sign in enumerate(signs, 1) if label.startswith(sign)), 0)
    return phase, label.replace(":", "!")


def text_problems(path: str, text: str) -> Iterator[str]:
    """Tabs, spaces at line ends, and a wrong end of the file."""
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield f"{path}: ends with exactly one line end"
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line or line != line.rstrip():
            yield f"{path}:{number}: tab, or space at the line's end"


def tree_problems(path: str, text: str) -> Iterator[str]:
    """Loads after other statements or out of order, and what is wrong with calls."""
    module = ast.parse(text)
    loads: list[str] = []
    other_seen = False
    for statement in module.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "load"
        ):
            loads.append(ast.literal_eval(call.args[0]))
            names = [ast.literal_eval(argument) for argument in call.args[1:]]
            if other_seen:
                yield f"{path}:{statement.lineno}: load stands above everything but the file's text"
            if names != sorted(names):
                yield f"{path}:{statement.lineno}: loaded names are sorted"
        elif not isinstance(call, ast.Constant):
            other_seen = True
    if loads != sorted(loads, key=lambda label: (not label.startswith("@"), label)):
        yield f"{path}: loads are sorted, other repositories first"
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield from call_problems(path, node)


def call_problems(path: str, call: ast.Call) -> Iterator[str]:
    """Unsorted label lists of one call, and a name that is not first."""
    keywords = [keyword.arg for keyword in call.keywords]
    if (
        "name" in keywords
        and keywords[0] != "name"
        and isinstance(call.func, ast.Name)
        and call.func.id != "dict"
    ):
        yield f"{path}:{call.lineno}: name is the first argument"
    for keyword in call.keywords:
        if keyword.arg not in SORTED_LISTS or not isinstance(keyword.value, ast.List):
            continue
        labels = [item.value for item in keyword.value.elts if isinstance(item, ast.Constant)]
        ordered = sorted(labels, key=label_key)
        if len(labels) == len(keyword.value.elts) and labels != ordered:
            yield f"{path}:{keyword.value.lineno}: {keyword.arg} is sorted: {ordered}"


def problems(tree: Tree) -> Iterator[str]:
    """Every departure from the form."""
    for path in tree.paths("*BUILD.bazel", "*.bzl", "MODULE.bazel"):
        text = tree.text(path)
        yield from text_problems(path, text)
        yield from tree_problems(path, text)
