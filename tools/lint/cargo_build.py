"""Cargo and Bazel build the same crates; crates that belong in one place stay there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import tomllib
from tree import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

RULES = "tools/lint/crate_rules.txt"
OWN = "dataset_rt_"
MACROS = {"drt_rust_crate", "drt_extension"}


def macro_arguments(build: str) -> dict[str, Any]:
    """Literal arguments of the crate macro that a BUILD file calls, empty if it calls none."""
    for node in ast.walk(ast.parse(build)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in MACROS
        ):
            return {
                keyword.arg: ast.literal_eval(keyword.value)
                for keyword in node.keywords
                if keyword.arg and isinstance(keyword.value, (ast.List, ast.Constant))
            }
    return {}


def own_crates(dependencies: dict[str, Any]) -> set[str]:
    """Labels of our own crates among the dependencies of a manifest."""
    return {f"//rust/{name.removeprefix(OWN)}" for name in dependencies if name.startswith(OWN)}


def problems_of_crate(tree: Tree, folder: str, homes: dict[str, set[str]]) -> Iterator[str]:
    """Where manifest and BUILD file of one crate disagree, or break a rule of crate_rules.txt."""
    manifest = tomllib.loads(tree.text(f"{folder}/Cargo.toml"))
    if f"{folder}/BUILD.bazel" not in tree:
        yield f"{folder}: a crate has a BUILD.bazel"
        return
    arguments = macro_arguments(tree.text(f"{folder}/BUILD.bazel"))
    for section, argument in (("dependencies", "deps"), ("dev-dependencies", "test_deps")):
        cargo = own_crates(manifest.get(section, {}))
        bazel = set(arguments.get(argument, []))
        if cargo != bazel:
            yield (
                f"{folder}: [{section}] has {sorted(cargo - bazel)} that {argument} lacks, "
                f"{argument} has {sorted(bazel - cargo)} more"
            )
        for name, value in manifest.get(section, {}).items():
            if not (isinstance(value, dict) and value.get("workspace")):
                yield f"{folder}/Cargo.toml: the version of {name} stands in the workspace's table"
    for name in manifest.get("dependencies", {}):
        if name in homes and folder not in homes[name]:
            yield f"{folder}/Cargo.toml: {name} belongs in {sorted(homes[name])}, says {RULES}"


def problems(tree: Tree) -> Iterator[str]:
    """Where Cargo and Bazel disagree."""
    homes = {crate: set(folders.split()) for crate, folders, _ in entries(tree.text(RULES))}
    workspace = tomllib.loads(tree.text("Cargo.toml"))["workspace"]
    folders = {
        path.removesuffix("/Cargo.toml")
        for path in tree.paths("rust/*/Cargo.toml")
        if "\n[workspace]" not in tree.text(path)
    }
    if folders != set(workspace["members"]):
        yield f"Cargo.toml: members {sorted(workspace['members'])}, folders {sorted(folders)}"
    for folder in sorted(folders & set(workspace["members"])):
        if f'"//{folder}:Cargo.toml"' not in tree.text("MODULE.bazel"):
            yield f"MODULE.bazel: crate.from_cargo lacks the manifest of {folder}"
        yield from problems_of_crate(tree, folder, homes)
    used = {
        name
        for path in tree.paths("rust/*/Cargo.toml")
        for name in tree.text(path).replace(".", " ").replace("=", " ").split()
    }
    for name in workspace["dependencies"]:
        if name not in used:
            yield f"Cargo.toml: no crate uses {name}"
