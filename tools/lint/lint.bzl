"""Lints as tests: over the whole tree, and over what a crate can reach."""

load("@rules_python//python:defs.bzl", "py_test")

# Which of our crates each crate may reach, at any distance. docs and ARCHITECTURE.md draw the same picture.
_MAY_REACH = {
    "format": [],
    "pool": [],
    "reader": ["format", "pool", "replica", "sampler", "storage"],
    "replica": ["format", "pool", "storage"],
    "sampler": ["format"],
    "storage": ["format", "pool"],
}

# The core knows no Python: its tests run without an interpreter.
_NEVER = ["pyo3"]

def drt_tree_lint(name, program = "main", deps = [], size = "small", target_compatible_with = []):
    """A lint of tools/lint over every file of the checkout.

    Args:
      name: name of the lint; the target is `<name>_test`.
      program: the Python file that takes the name as its argument.
      deps: libraries beyond the lints themselves.
      size: Bazel's size class.
      target_compatible_with: where the lint can run, when it needs a program that only the air-gapped image has.
    """
    py_test(
        name = name + "_test",
        size = size,
        srcs = [program + ".py"],
        args = [name],
        data = ["@source_tree//:files"],
        main = program + ".py",
        target_compatible_with = target_compatible_with,
        deps = [":lint"] + deps,
    )

def drt_graph_test(name, crate):
    """Tests that a crate reaches only the crates it may: the table above.

    Args:
      name: name of the test.
      crate: name of the crate's library target in this package.
    """
    if crate not in _MAY_REACH:
        fail("{} is not in the graph of tools/lint/lint.bzl".format(crate))
    native.genquery(
        name = crate + "_reaches",
        testonly = True,
        expression = "deps(//{}:{})".format(native.package_name(), crate),
        opts = ["--noimplicit_deps", "--notool_deps"],
        scope = [":" + crate],
    )
    program = Label("//tools/lint:crate_graph.py")
    py_test(
        name = name,
        size = "small",
        srcs = [program],
        args = ["$(rootpath :{}_reaches)".format(crate), "--own=" + ",".join(_MAY_REACH[crate] + [crate]), "--never=" + ",".join(_NEVER)],
        data = [":{}_reaches".format(crate)],
        main = program,
    )
