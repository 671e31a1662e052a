"""Unsafe code stands in the files of unsafe_list.txt, as often as listed, with SAFETY texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

LIST = "tools/lint/unsafe_list.txt"
UNSAFE = re.compile(r"\bunsafe\b(?=\s*(\{|impl\b|fn\b|extern\b|trait\b))")
# comments and string literals speak of unsafe without using it
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|b?"(?:[^"\\]|\\.)*"', re.DOTALL)
# how many lines above an unsafe block its SAFETY paragraph may start
SAFETY_LINES = 12
LINT_LEVEL = re.compile(r"#!\[(forbid|deny)\(unsafe_code\)\]")


def blank_noise(text: str) -> str:
    """The text with comments and literals blanked out, line numbers kept."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def problems(tree: Tree) -> Iterator[str]:
    """Unlisted unsafe code, wrong counts, missing SAFETY paragraphs, crates without a level."""
    listed = {}
    for entry in entries(tree.text(LIST)):
        path, count, reason = (*entry, "", "")[:3]
        if not count.isdigit() or not reason:
            yield f"{LIST}: '{path}' needs a line 'path | count | reason'"
            continue
        listed[path] = int(count)
    for path in tree.paths("*.rs"):
        lines = tree.lines(path)
        places = [
            n
            for n, line in enumerate(blank_noise(tree.text(path)).splitlines())
            for _ in UNSAFE.finditer(line)
        ]
        expected = listed.pop(path, 0)
        if len(places) != expected:
            yield f"{path}: {len(places)} uses of unsafe, {LIST} allows {expected}"
        for place in places:
            if not any(
                "SAFETY:" in line or "# Safety" in line
                for line in lines[max(0, place - SAFETY_LINES) : place + 1]
            ):
                yield f"{path}:{place + 1}: unsafe without a SAFETY paragraph above it"
        if (
            path.startswith("rust/")
            and path.endswith("/src/lib.rs")
            and not LINT_LEVEL.search(tree.text(path))
        ):
            yield f"{path}: says #![forbid(unsafe_code)], or deny where {LIST} names a file of it"
    for path in listed:
        yield f"{LIST}: {path} does not exist"
