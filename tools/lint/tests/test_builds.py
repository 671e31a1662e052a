"""Lints that compare build files: each finds what it is for, and is silent without it."""

import build_files
import cargo_build
import crate_graph
from tree import Tree


def form(text: str) -> list[str]:
    return list(build_files.problems(Tree.of({"a/BUILD.bazel": text})))


def test_a_build_file_in_form_is_accepted() -> None:
    loads = 'load("@x//:a.bzl", "a", "b")\nload("//t:d.bzl", "d")\n\n'
    assert (
        form(
            loads + 'd(\n    name = "a",\n    deps = [\n        ":b",\n        "//c",\n    ],\n)\n'
        )
        == []
    )


def test_departures_from_the_form_are_found() -> None:
    assert len(form('d(name = "a")\n\n')) == 1
    assert len(form('d(name = "a")  \n')) == 1
    assert len(form('d(deps = ["a"], name = "a")\n')) == 1
    assert len(form('d(name = "a", deps = ["//c", ":b"])\n')) == 1
    assert len(form('d(name = "a")\nload("//t:d.bzl", "d")\n')) == 1
    assert len(form('load("//t:d.bzl", "d", "c")\n')) == 1
    assert len(form('load("//t:d.bzl", "d")\nload("@x//:a.bzl", "a")\n')) == 1


def test_rules_that_are_loaded_or_stay_native_are_accepted() -> None:
    assert form('load("@x//:a.bzl", "sh_test", c = "cc_library")\n\nsh_test(name = "a")\n') == []
    assert form('filegroup(name = "a")\n\ngenquery(name = "b")\n') == []
    assert form("def m(py_files):\n    native.glob(py_files)\n") == []


def test_rules_that_newer_bazel_has_no_more_are_found() -> None:
    assert len(form('sh_test(name = "a")\n')) == 1
    assert len(form('def m():\n    native.cc_library(name = "a")\n')) == 1
    assert len(form("def _impl(ctx):\n    return ctx.attr.a[PyInfo]\n")) == 1
    assert len(form('local_repository(name = "a", path = "b")\n')) == 1


WORKSPACE = """[workspace]
members = ["rust/a", "rust/b"]
[workspace.dependencies]
dataset_rt_b = {}
pyo3 = "1"
"""
MEMBER = "[dependencies]\ndataset_rt_b.workspace = true\npyo3.workspace = true\n"
TREE = {
    "tools/lint/crate_rules.txt": "pyo3 | rust/a | the core knows no Python\n",
    "Cargo.toml": WORKSPACE,
    "MODULE.bazel": '"//rust/a:Cargo.toml" "//rust/b:Cargo.toml"',
    "rust/a/Cargo.toml": MEMBER,
    "rust/a/BUILD.bazel": 'drt_rust_crate(name = "a", deps = ["//rust/b"])\n',
    "rust/b/Cargo.toml": "",
    "rust/b/BUILD.bazel": 'drt_rust_crate(name = "b")\n',
}


def changed(path: str, text: str) -> list[str]:
    return list(cargo_build.problems(Tree.of({**TREE, path: text})))


def test_crates_on_which_both_tools_agree_are_accepted() -> None:
    assert changed("README.md", "") == []


def test_disagreements_between_the_tools_are_found() -> None:
    assert len(changed("rust/a/BUILD.bazel", 'drt_rust_crate(name = "a")\n')) == 1
    assert (
        len(changed("rust/b/BUILD.bazel", 'drt_rust_crate(name = "b", deps = ["//rust/a"])\n')) == 1
    )
    assert len(changed("MODULE.bazel", '"//rust/a:Cargo.toml"')) == 1
    assert len(changed("rust/c/Cargo.toml", "")) == 1


def test_a_crate_outside_its_place_is_found() -> None:
    assert len(changed("rust/b/Cargo.toml", "[dependencies]\npyo3.workspace = true\n")) == 1


def test_a_version_outside_the_workspace_table_is_found() -> None:
    assert (
        len(changed("rust/a/Cargo.toml", MEMBER.replace("pyo3.workspace = true", 'pyo3 = "1"')))
        == 1
    )


def test_a_crate_that_nothing_uses_is_found() -> None:
    assert len(changed("Cargo.toml", WORKSPACE + 'rayon = "1"\n')) == 1


REACHED = ["//rust/a:a", "//rust/b:b", "@@rules_rust~~crate~crates__rayon-core-1.13.0//:rayon_core"]


def test_a_crate_that_reaches_what_it_may_not_is_found() -> None:
    assert list(crate_graph.problems(REACHED, {"a", "b"}, {"pyo3"})) == []
    assert len(list(crate_graph.problems(REACHED, {"a"}, {"pyo3"}))) == 1
    assert len(list(crate_graph.problems(REACHED, {"a", "b"}, {"rayon-core"}))) == 1
    newer = [label.replace("~~", "++").replace("~", "+") for label in REACHED]  # as Bazel 8 has it
    assert len(list(crate_graph.problems(newer, {"a", "b"}, {"rayon-core"}))) == 1


def test_a_query_that_found_nothing_is_found() -> None:
    assert len(list(crate_graph.problems([], {"a"}, {"pyo3"}))) == 1
