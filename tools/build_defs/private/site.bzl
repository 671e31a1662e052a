"""The documentation site: a folder, made of texts of this repository by tools/site."""

load("@cargo_facts//:facts.bzl", "VERSION")

def _drt_site_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add("--out", out.path)
    args.add("--version", VERSION)
    args.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable._build,
        inputs = ctx.files.srcs,
        outputs = [out],
        arguments = [args],
        mnemonic = "Site",
        progress_message = "Building the documentation site",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

_site = rule(
    implementation = _drt_site_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "_build": attr.label(cfg = "exec", default = "//tools/site:build", executable = True),
    },
)

def drt_site(name, srcs, visibility):
    """A folder of HTML that needs nothing from elsewhere. A page, link or docstring that is amiss fails the build.

    Args:
      name: name of the target and of the folder.
      srcs: `docs/site.toml`, every file that it names, and the Python package.
      visibility: who may use the site.
    """
    _site(
        name = name,
        srcs = srcs,
        visibility = visibility,
    )
