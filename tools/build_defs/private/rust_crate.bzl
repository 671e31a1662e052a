"""A library crate with everything that is checked about it."""

load("@bazel_skylib//rules:build_test.bzl", "build_test")
load("@cargo_facts//:facts.bzl", "EDITION", "LINT_FLAGS", "VERSION")
load("@crates//:defs.bzl", "aliases", "all_crate_deps")
load("@rules_rust//rust:defs.bzl", "rust_clippy", "rust_doc_test", "rust_library", "rust_test", "rustfmt_test")
load("//tools/lint:lint.bzl", "drt_graph_test")

# Our own code is optimised a little in tests, so that property tests run in seconds; debug assertions stay on.
RUSTC_FLAGS = LINT_FLAGS + select({
    "//tools/build_defs:is_opt": [],
    "//conditions:default": ["-Copt-level=1"],
})

def _one_report_each_impl(ctx):
    reports = ctx.attr.clippy[DefaultInfo].files
    if len(reports.to_list()) != ctx.attr.count:
        fail("clippy looked at {} of {} targets".format(len(reports.to_list()), ctx.attr.count))
    return [DefaultInfo(files = reports)]

# rust_clippy passes over kinds of targets that it does not know, without a word.
_one_report_each = rule(
    implementation = _one_report_each_impl,
    attrs = {
        "clippy": attr.label(doc = "the rust_clippy target", mandatory = True),
        "count": attr.int(doc = "how many targets it was given", mandatory = True),
    },
)

def drt_rust_lints(name, targets):
    """Tests that clippy has nothing to say about targets and that rustfmt would change nothing.

    Args:
      name: prefix of the tests `<name>_clippy_test` and `<name>_fmt_test`.
      targets: rust_library and rust_test targets of this package.
    """
    rust_clippy(name = name + "_clippy", testonly = True, deps = targets)
    _one_report_each(name = name + "_clippy_reports", testonly = True, clippy = name + "_clippy", count = len(targets))
    build_test(name = name + "_clippy_test", targets = [name + "_clippy_reports"])
    rustfmt_test(name = name + "_fmt_test", size = "small", targets = targets)

def drt_rust_crate(name, visibility, deps = [], test_deps = [], test_srcs = [], data = [], testonly = False, test_size = "medium"):
    """Library `<name>` from src/, its tests and its lints. Third-party crates are those of the folder's Cargo.toml.

    Targets: `<name>`, `<name>_test` (unit tests), `<name>_doc_test`, one `<file>_test` for each tests/<file>.rs,
    one `<file>_bench_test` for each benches/<file>.rs, which runs its benchmarks once,
    `<name>_clippy_test`, `<name>_fmt_test`, `<name>_graph_test`.

    Args:
      name: name of the folder; the crate is called dataset_rt_<name>, as in Cargo.toml.
      visibility: the crates that may use this one. It is the dependency graph: never public.
      deps: our own crates this one uses, as labels; the same as the path dependencies of Cargo.toml.
      test_deps: our own crates that only the tests use; the same as the path dev-dependencies of Cargo.toml.
      test_srcs: tests that stand outside the folder, as labels of files; the same as [[test]] of Cargo.toml.
      data: files that tests read, found under the path they have in the repository.
      testonly: for crates that only tests may use.
      test_size: Bazel's size class of the tests, which also sets their time limit.
    """
    crate = "dataset_rt_" + name
    common = dict(edition = EDITION, rustc_flags = RUSTC_FLAGS, version = VERSION)
    rust_library(
        name = name,
        testonly = testonly,
        srcs = native.glob(["src/**/*.rs"]),
        aliases = aliases(),
        crate_name = crate,
        proc_macro_deps = all_crate_deps(proc_macro = True),
        visibility = visibility,
        deps = deps + all_crate_deps(normal = True),
        **common
    )
    tests = dict(data = data, size = test_size, **common)
    dev = dict(deps = test_deps + all_crate_deps(normal_dev = True), proc_macro_deps = all_crate_deps(proc_macro_dev = True))
    rust_test(name = name + "_test", crate = ":" + name, **dict(tests, **dev))
    targets = [name, name + "_test"]
    for src in native.glob(["tests/*.rs"], allow_empty = True) + test_srcs:
        target = src.replace(":", "/").rpartition("/")[2][:-len(".rs")] + "_test"
        targets.append(target)
        rust_test(
            name = target,
            srcs = [src],
            deps = [":" + name] + deps + test_deps + all_crate_deps(normal = True, normal_dev = True),
            proc_macro_deps = all_crate_deps(proc_macro = True, proc_macro_dev = True),
            **tests
        )
    for src in native.glob(["benches/*.rs"], allow_empty = True):
        # Criterion runs each benchmark once, unmeasured, unless it is started by `cargo bench`.
        target = src[len("benches/"):-len(".rs")] + "_bench_test"
        targets.append(target)
        rust_test(
            name = target,
            srcs = [src],
            deps = [":" + name] + deps + test_deps + all_crate_deps(normal = True, normal_dev = True),
            proc_macro_deps = all_crate_deps(proc_macro = True, proc_macro_dev = True),
            use_libtest_harness = False,
            **tests
        )
    rust_doc_test(name = name + "_doc_test", crate = ":" + name)
    drt_rust_lints(name, [":" + target for target in targets])
    drt_graph_test(name = name + "_graph_test", crate = name)
