"""`@cargo_facts//:facts.bzl`: what the root Cargo.toml says once for both build tools.

VERSION and EDITION are those of [workspace.package]; LINT_FLAGS are the levels of [workspace.lints] as
compiler flags, in the order in which Cargo passes them: lower priority first, then by name.
"""

_SECTIONS = {
    "[workspace.lints.clippy]": "clippy::",
    "[workspace.lints.rust]": "",
    "[workspace.lints.rustdoc]": "rustdoc::",
    "[workspace.package]": None,
}

def _level_and_priority(text):
    """Reads `"deny"` or `{ level = "deny", priority = -1 }`."""
    if not text.startswith("{"):
        return json.decode(text), 0
    fields = {}
    for part in text.strip("{} ").split(","):
        key, value = part.split("=")
        fields[key.strip()] = json.decode(value.strip())
    return fields["level"], fields.get("priority", 0)

def parse_cargo_facts(text):
    """Reads the lines of a root Cargo.toml that are facts for the build.

    Args:
      text: the whole manifest. Each fact stands on a line of its own.

    Returns:
      A struct of `package` (dict of [workspace.package]) and `lint_flags` (list of compiler flags).
    """
    package, lints, section = {}, [], ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section in _SECTIONS and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            key, value = key.strip(), value.strip()
            if _SECTIONS[section] == None:
                package[key] = json.decode(value)
            else:
                level, priority = _level_and_priority(value)
                lints.append((priority, _SECTIONS[section] + key.replace("-", "_"), level))
    return struct(
        lint_flags = ["--{}={}".format(level, lint) for _, lint, level in sorted(lints)],
        package = package,
    )

def _cargo_facts_impl(rctx):
    facts = parse_cargo_facts(rctx.read(rctx.path(rctx.attr.manifest)))
    rctx.file("BUILD.bazel", 'exports_files(["facts.bzl", "facts.json"])\n')
    rctx.file("facts.json", json.encode({"lint_flags": facts.lint_flags, "package": facts.package}))
    rctx.file("facts.bzl", "\n".join([
        '"""Made from Cargo.toml."""',
        "VERSION = %r" % facts.package["version"],
        "EDITION = %r" % facts.package["edition"],
        "LINT_FLAGS = %r" % facts.lint_flags,
        "",
    ]))

cargo_facts = repository_rule(
    implementation = _cargo_facts_impl,
    attrs = {"manifest": attr.label(doc = "the root Cargo.toml", mandatory = True)},
)
