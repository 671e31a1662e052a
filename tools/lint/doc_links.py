"""Links in Markdown files lead to files and headings that exist; the network is not asked."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
NETWORK = re.compile(r"^[a-z][a-z0-9+.-]*:")


def prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines outside code fences, with inline code blanked out."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(lines: list[str]) -> set[str]:
    """The names that headings of a file have in links."""
    found: set[str] = set()
    for _, line in prose(lines):
        if heading := HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            repeated = sum(
                1 for other in found if re.fullmatch(re.escape(name) + r"(-\d+)?", other)
            )
            found.add(f"{name}-{repeated}" if repeated else name)
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def problems(tree: Tree) -> Iterator[str]:
    """Each link whose file or heading is missing."""
    folders = {posixpath.dirname(path) for path in tree.paths()}
    folders |= {
        parent
        for folder in folders
        for parent in [folder[:at] for at, sign in enumerate(folder) if sign == "/"]
    }
    for path in tree.paths("*.md"):
        for number, line in prose(tree.lines(path)):
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if NETWORK.match(target):
                    continue
                name, _, anchor = target.partition("#")
                file = (
                    posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
                    if name
                    else path
                )
                if file not in tree and file not in folders:
                    yield f"{path}:{number}: {target} leads to no file"
                elif anchor and file.endswith(".md") and anchor not in anchors(tree.lines(file)):
                    yield f"{path}:{number}: {target} leads to no heading of {file}"
