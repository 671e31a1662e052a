"""A C toolchain for platforms that are only ever linked by link_native.py.

rules_rust wants a C toolchain for each target platform, also where rustc calls no linker: for rlibs and static libraries.
This one stands in that place. Whatever is compiled or linked with it fails and says why.
"""

load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "tool_path")
load("@rules_cc//cc:defs.bzl", "CcToolchainConfigInfo", "cc_common")

_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objdump", "strip"]

def _cross_cc_config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "unknown",
        abi_version = "unknown",
        compiler = "none",
        host_system_name = "local",
        target_cpu = ctx.attr.processor,
        target_libc = "unknown",
        target_system_name = ctx.attr.processor,
        tool_paths = [tool_path(name = name, path = "refuse.sh") for name in _TOOLS],
        toolchain_identifier = "cross_" + ctx.attr.processor,
    )

cross_cc_config = rule(
    implementation = _cross_cc_config_impl,
    attrs = {"processor": attr.string(doc = "name of a processor in @platforms//cpu", mandatory = True)},
    provides = [CcToolchainConfigInfo],
)
