"""The bill of materials beside a wheel: its crates as the configured graph has them, for the wheel's platform."""

load("//tools/build_defs/private:extension.bzl", "opt_mode")

_LinkedCrates = provider(doc = "Crates of others.", fields = {"names": "depset of <name>-<version>"})

# How the crate generator begins the names of its repositories, whatever stands before.
_PREFIX = "crates__"

# Not proc_macro_deps: those run in the compiler and are not linked.
_EDGES = ["actual", "deps"]

def _linked_crates_impl(_target, ctx):
    if not (ctx.rule.kind.startswith("rust_") or ctx.rule.kind == "alias"):
        # build scripts stand among the dependencies: they run, and are not linked
        return [_LinkedCrates(names = depset())]
    below = []
    for edge in _EDGES:
        value = getattr(ctx.rule.attr, edge, None)
        below += value if type(value) == "list" else [value] if value else []
    repository = ctx.label.workspace_name
    is_crate = _PREFIX in repository and ctx.rule.kind == "rust_library"
    return [_LinkedCrates(names = depset(
        [repository.partition(_PREFIX)[2]] if is_crate else [],
        transitive = [target[_LinkedCrates].names for target in below if _LinkedCrates in target],
    ))]

_linked_crates = aspect(implementation = _linked_crates_impl, attr_aspects = _EDGES)

def _drt_sbom_impl(ctx):
    wheel = ctx.file.wheel
    crates = ctx.actions.declare_file(ctx.label.name + ".crates")
    ctx.actions.write(crates, "\n".join(sorted(ctx.attr.library[0][_LinkedCrates].names.to_list())))
    out = ctx.actions.declare_file(wheel.basename.removesuffix(".whl") + ".cdx.json")
    inputs = {"crates": crates, "licences": ctx.file._licences, "lock": ctx.file._lock, "wheel": wheel}
    args = ctx.actions.args()
    args.add(out, format = "--out=%s")
    for name, file in inputs.items():
        args.add(file, format = "--" + name + "=%s")
    ctx.actions.run(
        executable = ctx.executable._make_sbom,
        inputs = inputs.values(),
        outputs = [out],
        arguments = [args],
        mnemonic = "Sbom",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

drt_sbom = rule(
    doc = "CycloneDX document `<wheel>.cdx.json`. The same wheel gives the same bytes.",
    implementation = _drt_sbom_impl,
    attrs = {
        "library": attr.label(aspects = [_linked_crates], cfg = opt_mode, doc = "the drt_extension", mandatory = True),
        "mode": attr.string(default = "opt"),
        "wheel": attr.label(allow_single_file = True, doc = "the drt_wheel", mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_licences": attr.label(allow_single_file = True, default = "//tools/supply_chain:licences.txt"),
        "_lock": attr.label(allow_single_file = True, default = "//:Cargo.lock"),
        "_make_sbom": attr.label(cfg = "exec", default = "//tools/supply_chain:make_sbom", executable = True),
    },
)
