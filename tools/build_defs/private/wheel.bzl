"""The wheel: one archive from the Python package, the native module and the texts of the repository."""

load("@cargo_facts//:facts.bzl", "VERSION")
load("//tools/build_defs/private:platforms.bzl", "CROSS_BUILT", "PLATFORMS")
load("//tools/build_defs/private:release_module.bzl", "drt_release_module")

def _drt_wheel_impl(ctx):
    name = "{}-{}-{}.whl".format(ctx.attr.distribution, VERSION, ctx.attr.tag)
    wheel = ctx.actions.declare_file(name)
    args = ctx.actions.args()
    args.add("--out", wheel)
    args.add("--tag", ctx.attr.tag)
    args.add("--cargo", ctx.file.cargo)
    args.add("--pyproject", ctx.file.pyproject)
    args.add("--readme", ctx.file.readme)
    args.add_all(ctx.files.licenses, before_each = "--license")
    args.add("--root", ctx.label.package + "/")
    args.add("--generated-root", ctx.files.native[0].path.rpartition(ctx.attr.distribution + "/")[0])
    args.add_all(ctx.files.srcs)
    args.add_all(ctx.files.native)
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._make_wheel,
        inputs = ctx.files.srcs + ctx.files.native + [ctx.file.cargo, ctx.file.pyproject, ctx.file.readme] + ctx.files.licenses,
        outputs = [wheel],
        arguments = [args],
        mnemonic = "Wheel",
        progress_message = "Packing %{output}",
    )
    return [DefaultInfo(files = depset([wheel]), runfiles = ctx.runfiles([wheel]))]

_wheel = rule(
    implementation = _drt_wheel_impl,
    attrs = {
        "cargo": attr.label(allow_single_file = True, mandatory = True),
        "distribution": attr.string(mandatory = True),
        "licenses": attr.label_list(allow_files = True, mandatory = True),
        "native": attr.label(allow_files = True, mandatory = True),
        "pyproject": attr.label(allow_single_file = True, mandatory = True),
        "readme": attr.label(allow_single_file = True, mandatory = True),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "tag": attr.string(mandatory = True),
        "_make_wheel": attr.label(cfg = "exec", default = "//tools/build_defs/private:make_wheel", executable = True),
    },
)

def _platform_impl(_settings, attr):
    return {"//command_line_option:platforms": attr.platform}

_platform = transition(
    implementation = _platform_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _wheel_for_impl(ctx):
    wheel = ctx.attr.wheel[0][DefaultInfo].files
    return [DefaultInfo(files = wheel, runfiles = ctx.runfiles(transitive_files = wheel))]

_wheel_for = rule(
    doc = "A wheel, built for another platform than that of the command line.",
    implementation = _wheel_for_impl,
    attrs = {
        "platform": attr.string(doc = "label of a platform of //tools/build_defs", mandatory = True),
        "wheel": attr.label(cfg = _platform, doc = "the drt_wheel", mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def drt_wheel(name, distribution, srcs, library, module, visibility):
    """A wheel for the stable ABI. Version: Cargo.toml; metadata: pyproject.toml; the same inputs give the same bytes.

    `<name>` is for the platform of the command line, `<name>_<platform>` for one of CROSS_BUILT: those are built by name
    only, because Rust's standard library for them is fetched apart.

    Args:
      name: name of the target.
      distribution: name of the distribution and of the package folder.
      srcs: files of the Python package, typing files included.
      library: the drt_extension.
      module: file of the native module in the package, ending in .abi3.so.
      visibility: who may use the wheel.
    """
    drt_release_module(
        name = name + "_module",
        library = library,
        out = module,
        visibility = ["//visibility:private"],
    )
    _wheel(
        name = name,
        srcs = srcs,
        cargo = "//:Cargo.toml",
        distribution = distribution,
        licenses = ["//:LICENSE", "//:THIRD_PARTY_LICENSES.txt"],
        native = name + "_module",
        pyproject = "//:pyproject.toml",
        readme = "//:README.md",
        tag = select({"//tools/build_defs:is_" + key: "cp310-abi3-" + value.tag for key, value in PLATFORMS.items()}),
        visibility = visibility,
    )
    for platform in CROSS_BUILT:
        _wheel_for(
            name = "{}_{}".format(name, platform),
            platform = "//tools/build_defs:" + platform,
            tags = ["manual"],
            visibility = visibility,
            wheel = name,
        )
