"""The source distribution: the part of the checkout that the wheel is built from."""

load("@cargo_facts//:facts.bzl", "VERSION")

_FILES = ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "THIRD_PARTY_LICENSES.txt", "pyproject.toml"]

# Of these folders everything but what Bazel alone reads.
_FOLDERS = ["python/", "rust/format/", "rust/pool/", "rust/py/", "rust/reader/", "rust/replica/", "rust/sampler/", "rust/storage/"]

# Where the links of @source_tree stand.
_TREE = "/tree/"

def _is_packed(file):
    path = file.path.partition(_TREE)[2]
    if path.endswith("BUILD.bazel.txt"):
        return False
    return path in _FILES or [folder for folder in _FOLDERS if path.startswith(folder)]

def _drt_sdist_impl(ctx):
    sdist = ctx.actions.declare_file("{}-{}.tar.gz".format(ctx.attr.distribution, VERSION))
    files = [file for file in ctx.files._tree if _is_packed(file)]
    args = ctx.actions.args()
    args.add(sdist, format = "--out=%s")
    args.add("--tree=" + _TREE)
    args.add_all(files)
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._make_sdist,
        inputs = files,
        outputs = [sdist],
        arguments = [args],
        mnemonic = "Sdist",
        progress_message = "Packing %{output}",
    )
    return [DefaultInfo(files = depset([sdist]), runfiles = ctx.runfiles([sdist]))]

drt_sdist = rule(
    doc = "The source distribution, for pip and maturin. Version: Cargo.toml; the same inputs give the same bytes.",
    implementation = _drt_sdist_impl,
    attrs = {
        "distribution": attr.string(doc = "name of the distribution", mandatory = True),
        "_make_sdist": attr.label(cfg = "exec", default = "//tools/build_defs/private:make_sdist", executable = True),
        "_tree": attr.label(default = "@source_tree//:files"),
    },
)
