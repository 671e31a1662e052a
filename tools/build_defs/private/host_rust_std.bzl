"""`@host_rust_std_<processor>//:std`: the standard library for another processor that belongs to the image's rustc.

From the Debian mirror of the image, in the very version of its compiler: another one cannot be used. Fetched when
something is built for that processor, and not before; apt checks signatures and sums.
"""

_FETCH = """
version=$(dpkg-query --show --showformat='${Version}' libstd-rust-dev)
mkdir -p apt/state/lists/partial apt/cache/archives/partial
touch apt/status
options=(-o "Dir::State=$PWD/apt/state" -o "Dir::State::status=$PWD/apt/status" -o "Dir::Cache=$PWD/apt/cache")
options+=(-o "APT::Architectures::=$1" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
apt-get "${options[@]}" download "libstd-rust-dev:$1=$version" || {
  echo "the mirror no longer has libstd-rust-dev:$1 $version, which fits the image's rustc; a new image has a newer rustc" >&2
  exit 1
}
dpkg-deb --extract libstd-rust-dev_*.deb files
mv files/usr/lib/rustlib/$2/lib lib
rm -rf apt files libstd-rust-dev_*.deb
"""

_BUILD = """
load("@rules_rust//rust:toolchain.bzl", "rust_stdlib_filegroup")

rust_stdlib_filegroup(
    name = "std",
    srcs = glob(["lib/*.*"]),
    visibility = ["//visibility:public"],
)
"""

def _host_rust_std_impl(rctx):
    result = rctx.execute(
        ["bash", "-euc", _FETCH, "_", rctx.attr.debian_architecture, rctx.attr.triple],
        timeout = 1800,
    )
    if result.return_code:
        fail("could not fetch Rust's standard library for %s:\n%s" % (rctx.attr.triple, result.stderr))
    rctx.file("BUILD.bazel", _BUILD)

host_rust_std = repository_rule(
    implementation = _host_rust_std_impl,
    attrs = {
        "debian_architecture": attr.string(mandatory = True),
        "triple": attr.string(mandatory = True),
    },
)
