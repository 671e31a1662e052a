"""Words that must not stand in the repository, as listed with reasons in forbidden_words.txt."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from tree import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree import Tree

LIST = "tools/lint/forbidden_words.txt"
# these hold the words because they are about them; locks are written by tools
EXEMPT = (LIST, "tools/lint/tests/*", "*.lock", "requirements*.txt")


def problems(tree: Tree) -> Iterator[str]:
    """Each line that holds a forbidden word, and why it is forbidden."""
    rules = []
    for entry in entries(tree.text(LIST)):
        files, reason, *pattern = entry
        if not pattern or not reason:
            yield f"{LIST}: '{files}' needs a line 'files | reason | pattern'"
            continue
        rules.append((files.split(), reason, re.compile("|".join(pattern))))
    for path in tree.paths():
        if any(fnmatch.fnmatchcase(path, exempt) for exempt in EXEMPT) or not tree.is_text(path):
            continue
        applying = [
            rule for rule in rules if any(fnmatch.fnmatchcase(path, files) for files in rule[0])
        ]
        for number, line in enumerate(tree.lines(path) if applying else (), 1):
            for _, reason, pattern in applying:
                if found := pattern.search(line):
                    yield f"{path}:{number}: '{found[0].strip()}': {reason}"
