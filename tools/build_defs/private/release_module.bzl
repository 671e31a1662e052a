"""The native module of a release: linked against an old C library on Linux, by the toolchain's own linker elsewhere."""

load("//tools/build_defs/private:extension.bzl", "drt_native_module", "opt_mode")
load("//tools/build_defs/private:platforms.bzl", "PLATFORMS")

def _linked_module_impl(ctx):
    out = ctx.actions.declare_file(ctx.attr.out)
    archive = [file for file in ctx.files.archive if file.extension == "a"][0]
    args = ctx.actions.args()
    args.add(archive, format = "--library=%s")
    args.add(out, format = "--out=%s")
    args.add(ctx.attr.target, format = "--target=%s")
    args.add(out.basename.partition(".")[0], format = "--name=%s")
    ctx.actions.run(
        executable = ctx.executable._link,
        inputs = [archive],
        outputs = [out],
        arguments = [args],
        mnemonic = "LinkNative",
        progress_message = "Linking %{output} for " + ctx.attr.target,
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

_linked_module = rule(
    implementation = _linked_module_impl,
    attrs = {
        "archive": attr.label(cfg = opt_mode, mandatory = True),
        "mode": attr.string(default = "opt"),
        "out": attr.string(mandatory = True),
        "target": attr.string(mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_link": attr.label(cfg = "exec", default = "//tools/build_defs/private:link_native", executable = True),
    },
)

def drt_release_module(name, library, out, visibility):
    """The library of a drt_extension as it is shipped: optimised, and for the C library that the wheel's tag promises.

    Args:
      name: name of the target.
      library: the drt_extension.
      out: path in this package, ending in .abi3.so.
      visibility: the package of the wheel.
    """
    linked = {"//tools/build_defs:is_" + key: value.link for key, value in PLATFORMS.items() if value.link}
    _linked_module(
        name = name + "_linked",
        archive = library + "_archive",
        out = "linked/" + out,
        tags = ["manual"],
        target = select(dict(linked, **{"//conditions:default": ""})),
        visibility = ["//visibility:private"],
    )
    drt_native_module(
        name = name + "_copied",
        library = library,
        mode = "opt",
        out = "copied/" + out,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    native.alias(
        name = name,
        actual = select(dict({setting: name + "_linked" for setting in linked}, **{"//conditions:default": name + "_copied"})),
        visibility = visibility,
    )
