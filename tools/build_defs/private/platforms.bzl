"""The platforms that wheels are made for, and what each of them promises."""

# By name of the config setting `is_<name>` and of the platform `<name>` in //tools/build_defs.
#   system, processor   names of @platforms
#   tag                 platform tag of the wheel; the tests hold the native module to it
#   link                what link_native.py links for; empty: the toolchain's own linker does it
PLATFORMS = {
    "linux_aarch64": struct(
        system = "linux",
        processor = "aarch64",
        tag = "manylinux_2_17_aarch64",
        link = "aarch64-linux-gnu.2.17",
    ),
    "linux_x86_64": struct(
        system = "linux",
        processor = "x86_64",
        tag = "manylinux_2_17_x86_64",
        link = "x86_64-linux-gnu.2.17",
    ),
    "macos_aarch64": struct(
        system = "macos",
        processor = "aarch64",
        tag = "macosx_11_0_arm64",
        link = "",
    ),
}

# What x86-64 builds for other processors: a target `<wheel>_<platform>` each.
CROSS_BUILT = ["linux_aarch64"]

def drt_platforms():
    """For each platform a platform `<name>`, which --platforms can name, and a config setting `is_<name>`."""
    for name, value in PLATFORMS.items():
        constraints = ["@platforms//cpu:" + value.processor, "@platforms//os:" + value.system]
        native.platform(name = name, constraint_values = constraints, visibility = ["//visibility:public"])
        native.config_setting(name = "is_" + name, constraint_values = constraints, visibility = ["//visibility:public"])
