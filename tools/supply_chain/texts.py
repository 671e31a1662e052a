"""Licence texts of the crates that are linked into the native module; MIT and BSD want them along.

A text that several crates have word for word stands once, under all of their names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_NAMES = ("COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE")
_HEAD = """\
The native module of dataset_rt is linked with the crates below, and with Rust's standard library
(https://www.rust-lang.org, MIT OR Apache-2.0, Copyright (c) The Rust Project Contributors).
Their licences follow. Written by tools/dev/lock_supply_chain.
"""


def linked(metadata: dict[str, Any], root: str) -> list[dict[str, Any]]:
    """Crates of others that a crate of ours is linked with, by name.

    Args:
        metadata: What ``cargo metadata`` prints.
        root: Name of our crate.
    """
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: set[str] = set()
    rest = [key for key, package in packages.items() if package["name"] == root]
    while rest:
        key = rest.pop()
        kinds = {kind for target in packages[key]["targets"] for kind in target["kind"]}
        if key in found or "proc-macro" in kinds:
            continue
        found.add(key)
        rest += [
            dependency["pkg"]
            for dependency in nodes[key]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    crates = [packages[key] for key in found if packages[key]["source"]]
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def _texts(crate: dict[str, Any]) -> list[str]:
    """The texts of a crate: those of MIT alone where that is enough, for it is the shortest."""
    folder = Path(crate["manifest_path"]).parent
    files = [file for file in folder.iterdir() if file.name.upper().startswith(_NAMES)]
    if re.search(r"\bMIT\b", crate["license"]) and " AND " not in crate["license"]:
        files = [file for file in files if "MIT" in file.name.upper()] or files
    return [file.read_text(encoding="utf-8").strip() for file in sorted(files)]


def third_party_text(crates: list[dict[str, Any]]) -> str:
    """One text with everything that these crates want to be passed on."""
    parts: dict[str, list[str]] = {}
    for crate in crates:
        heading = f"== {crate['name']} {crate['version']} ({crate['license']})"
        for text in _texts(crate) or ["(comes without a text of its licence)"]:
            parts.setdefault(text, []).append(heading)
    blocks = ["\n".join(headings) + "\n\n" + text for text, headings in parts.items()]
    return _HEAD + "\n" + "\n\n".join(blocks) + "\n"
