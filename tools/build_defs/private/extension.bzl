"""The native module: a PyO3 crate for the stable ABI, and its file beside the Python package."""

load("@cargo_facts//:facts.bzl", "EDITION", "VERSION")
load("@crates//:defs.bzl", "aliases", "all_crate_deps")
load("@rules_rust//rust:defs.bzl", "rust_library", "rust_shared_library", "rust_static_library")
load("//tools/build_defs/private:rust_crate.bzl", "RUSTC_FLAGS", "drt_rust_lints")

# As in the release profile of Cargo.toml: a read crosses all crates, and its steps are short.
LINK_TIME_OPTIMISATION = ["-Clto=thin", "-Ccodegen-units=4"]

def drt_extension(name, visibility, deps = []):
    """Shared library `<name>` from src/, `<name>_archive`, which drt_release_module links, and lints. It is tested from Python: it does not link against an interpreter.

    Args:
      name: name of the Python module, the same as [lib] name of the folder's Cargo.toml.
      visibility: the package that copies the library into place.
      deps: our own crates this one uses, as labels; the same as the path dependencies of Cargo.toml.
    """
    common = dict(
        srcs = native.glob(["src/**/*.rs"]),
        aliases = aliases(),
        crate_name = name,
        edition = EDITION,
        proc_macro_deps = all_crate_deps(proc_macro = True),
        rustc_flags = RUSTC_FLAGS,
        version = VERSION,
        deps = deps + all_crate_deps(normal = True),
    )
    rust_shared_library(name = name, visibility = visibility, **common)
    archive = dict(common, rustc_flags = RUSTC_FLAGS + select({
        "//tools/build_defs:is_opt": LINK_TIME_OPTIMISATION,
        "//conditions:default": [],
    }))
    rust_static_library(name = name + "_archive", tags = ["manual"], visibility = visibility, **archive)

    # clippy knows libraries and tests only
    rust_library(name = name + "_lib", tags = ["manual"], visibility = ["//visibility:private"], **common)
    drt_rust_lints(name, [":{}_lib".format(name)])

def _mode_impl(_settings, attr):
    return {"//command_line_option:compilation_mode": attr.mode} if attr.mode else {}

opt_mode = transition(
    implementation = _mode_impl,
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _drt_native_module_impl(ctx):
    out = ctx.actions.declare_file(ctx.attr.out)
    source = [file for file in ctx.files.library if file.extension in ["so", "dylib"]][0]
    ctx.actions.run_shell(
        inputs = [source],
        outputs = [out],
        command = 'cp "$1" "$2" && chmod 644 "$2"',
        arguments = [source.path, out.path],
        mnemonic = "NativeModule",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

drt_native_module = rule(
    doc = "Copies the library of a drt_extension to the file name under which Python imports it.",
    implementation = _drt_native_module_impl,
    attrs = {
        "library": attr.label(doc = "the drt_extension", cfg = opt_mode, mandatory = True),
        "mode": attr.string(
            doc = "compilation mode of the library: empty for that of the command line, which keeps debug assertions " +
                  "in tests; opt for what is shipped",
            values = ["", "opt"],
        ),
        "out": attr.string(doc = "path in this package, ending in .abi3.so", mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
