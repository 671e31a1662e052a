"""BUILD and .bzl files in one form: that of buildifier, as far as it matters for small diffs.

And without rules that only older releases of Bazel have of their own.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

SORTED_LISTS = {"data", "deps", "exports", "srcs", "test_deps", "tests", "visibility"}

# What Bazel 9 has no more of its own: rules of languages, their providers, and repository rules.
GONE = re.compile(
    r"(android|apple|cc|java|objc|proto|py|sh)_[a-z_]+"
    r"|(Cc|Java|Objc|Proto|Py)\w*(Info|Provider)"
    r"|(new_)?(git|local)_repository|http_archive|http_file"
)


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


def bound_names(module: ast.Module) -> Iterator[str]:
    """Names that a file loads, assigns, defines or takes as arguments."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "load":
            yield from (ast.literal_eval(argument) for argument in node.args[1:])
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def native_problems(path: str, text: str) -> Iterator[str]:
    """Rules and providers that are taken from Bazel itself, where newer releases have none."""
    module = ast.parse(text)
    bound = set(bound_names(module))
    for node in ast.walk(module):
        name = ""
        if isinstance(node, ast.Name) and node.id not in bound:
            name = node.id
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "native"
        ):
            name = node.attr
        if GONE.fullmatch(name):
            yield f"{path}:{node.lineno}: {name} is loaded from its rule set: Bazel 9 has none"


def problems(tree: Tree) -> Iterator[str]:
    """Every departure from the form."""
    for path in tree.paths("*BUILD.bazel", "*.bzl", "MODULE.bazel"):
        text = tree.text(path)
        yield from text_problems(path, text)
        yield from tree_problems(path, text)
        yield from native_problems(path, text)
