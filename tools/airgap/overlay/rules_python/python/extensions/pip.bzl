"""`pip.parse(...)` with the image's pip: locked requirements in one repository, one py_library for each distribution."""

def _pip_repository_impl(rctx):
    lock = rctx.path(rctx.attr.requirements_lock)
    rctx.watch(lock)
    python = rctx.which("python3")
    result = rctx.execute(
        [python, "-m", "pip", "install", "--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes"] +
        ["--disable-pip-version-check", "--root-user-action=ignore", "--target", "site-packages", "-r", lock],
        timeout = 3600,
        quiet = False,
    )
    if result.return_code:
        fail("pip could not install %s from the index that this machine is set up with:\n%s" % (rctx.attr.requirements_lock, result.stderr))
    result = rctx.execute([python, rctx.path(rctx.attr._split), "site-packages"])
    if result.return_code:
        fail("could not read the installed distributions:\n" + result.stderr)
    rctx.file("BUILD.bazel", result.stdout)
    for name in [line.split('"')[1] for line in result.stdout.split("\n") if line.startswith("    name = ")]:
        rctx.file(name + "/BUILD.bazel", """
package(default_visibility = ["//visibility:public"])

alias(
    name = "{name}",
    actual = "//:{name}",
)

alias(
    name = "pkg",
    actual = "//:{name}",
)
""".format(name = name))

_pip_repository = repository_rule(
    implementation = _pip_repository_impl,
    attrs = {
        "requirements_lock": attr.label(mandatory = True),
        "_split": attr.label(default = "//python/extensions:split_site_packages.py"),
    },
)

def _pip_impl(mctx):
    for module in mctx.modules:
        for tag in module.tags.parse:
            _pip_repository(name = tag.hub_name, requirements_lock = tag.requirements_lock)

_parse = tag_class(attrs = {
    "hub_name": attr.string(mandatory = True),
    "python_version": attr.string(),
    "requirements_lock": attr.label(mandatory = True),
})

pip = module_extension(implementation = _pip_impl, tag_classes = {"parse": _parse})
