"""`@host_rust//:toolchain`: the Rust compiler that this machine or image has on its PATH.

Used in the air-gapped image only (`--config=airgap`); everywhere else the toolchain that MODULE.bazel pins is fetched.
"""

_TRIPLE = "x86_64-unknown-linux-gnu"

# Processors that can be built for, with the triple and Debian's name of each.
CROSS = {"aarch64": ("aarch64-unknown-linux-gnu", "arm64")}
_TOOLS = ["cargo", "cargo-clippy", "clippy-driver", "rustc", "rustdoc", "rustfmt"]

_BUILD = """
load("@rules_rust//rust:toolchain.bzl", "rust_stdlib_filegroup", "rust_toolchain", "rustfmt_toolchain")

package(default_visibility = ["//visibility:public"])

rust_stdlib_filegroup(
    name = "std",
    srcs = glob(["lib/rustlib/{triple}/lib/*.*"]),
)

rust_toolchain(
    name = "compiler",
    binary_ext = "",
    cargo = "bin/cargo",
    clippy_driver = "bin/clippy-driver",
    default_edition = "2024",
    dylib_ext = ".so",
    exec_triple = "{triple}",
    rust_doc = "bin/rustdoc",
    rust_std = ":std",
    rustc = "bin/rustc",
    rustfmt = "bin/rustfmt",
    staticlib_ext = ".a",
    stdlib_linkflags = ["-lpthread", "-ldl"],
    target_triple = "{triple}",
)

toolchain(
    name = "toolchain",
    exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
    target_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
    toolchain = ":compiler",
    toolchain_type = "@rules_rust//rust:toolchain_type",
)

{cross}
rustfmt_toolchain(
    name = "formatter",
    rustfmt = "bin/rustfmt",
)

toolchain(
    name = "rustfmt_toolchain",
    exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
    toolchain = ":formatter",
    toolchain_type = "@rules_rust//rust/rustfmt:toolchain_type",
)
"""

_CROSS = """
rust_toolchain(
    name = "compiler_{processor}",
    binary_ext = "",
    cargo = "bin/cargo",
    default_edition = "2024",
    dylib_ext = ".so",
    exec_triple = "{host}",
    rust_doc = "bin/rustdoc",
    rust_std = "@host_rust_std_{processor}//:std",
    rustc = "bin/rustc",
    staticlib_ext = ".a",
    stdlib_linkflags = ["-lpthread", "-ldl"],
    target_triple = "{triple}",
)

toolchain(
    name = "toolchain_{processor}",
    exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
    target_compatible_with = ["@platforms//os:linux", "@platforms//cpu:{processor}"],
    toolchain = ":compiler_{processor}",
    toolchain_type = "@rules_rust//rust:toolchain_type",
)
"""

def _host_rust_impl(rctx):
    rustc = rctx.which("rustc")
    if not rustc:
        fail("--config=airgap needs rustc on PATH; it is set by tools/bazel inside its image")
    sysroot = rctx.execute([rustc, "--print", "sysroot"]).stdout.strip()
    rctx.symlink(sysroot + "/lib/rustlib", "lib/rustlib")
    for tool in _TOOLS:
        path = rctx.which(tool)
        if not path:
            fail("the image has rustc but no " + tool)
        rctx.symlink(path, "bin/" + tool)
    cross = [_CROSS.format(host = _TRIPLE, processor = processor, triple = triple) for processor, (triple, _) in CROSS.items()]
    rctx.file("BUILD.bazel", _BUILD.format(cross = "".join(cross), triple = _TRIPLE))

host_rust = repository_rule(
    implementation = _host_rust_impl,
    environ = ["PATH"],
    local = True,
)
