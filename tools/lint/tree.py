"""The files a lint looks at, from a checkout, from Bazel's copy of it, or made up by a test."""

from __future__ import annotations

import fnmatch
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Bazel's copy gives BUILD files another name, because under their own they would make packages.
COPIED_BUILD_SUFFIX = ".txt"


class Tree:
    """Files by path relative to the root of the repository."""

    def __init__(self, files: dict[str, bytes]) -> None:
        """Takes the content of every file by its path."""
        self._files = files

    @classmethod
    def of(cls, texts: dict[str, str]) -> Tree:
        """A made-up tree, for tests of lints."""
        return cls({path: text.encode() for path, text in texts.items()})

    @classmethod
    def read(cls, root: Path) -> Tree:
        """The tracked and the new files of a checkout, or all files of a plain folder."""
        if (root / ".git").exists():
            command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            listing = subprocess.check_output(command, cwd=root, text=True).split("\0")
            paths = [root / name for name in listing if name and (root / name).is_file()]
        else:
            paths = [path for path in root.rglob("*") if path.is_file()]
        files = {}
        for path in paths:
            name = path.relative_to(root).as_posix()
            if path.name in {"BUILD" + COPIED_BUILD_SUFFIX, "BUILD.bazel" + COPIED_BUILD_SUFFIX}:
                name = name.removesuffix(COPIED_BUILD_SUFFIX)
            files[name] = path.read_bytes()
        return cls(files)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def paths(self, *patterns: str) -> Iterator[str]:
        """Paths that match one of the shell patterns, sorted; `*` also matches slashes."""
        for path in sorted(self._files):
            if not patterns or any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
                yield path

    def is_text(self, path: str) -> bool:
        """Whether a file is text: UTF-8 without NUL."""
        content = self._files[path]
        if b"\0" in content:
            return False
        try:
            content.decode()
        except UnicodeDecodeError:
            return False
        return True

    def text(self, path: str) -> str:
        """The text of a file."""
        return self._files[path].decode()

    def lines(self, path: str) -> list[str]:
        """The lines of a file, without line ends."""
        return self.text(path).splitlines()


def entries(text: str) -> Iterator[list[str]]:
    """Fields of a list file: one entry a line, fields between `|`, `#` starts a comment line."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield [field.strip() for field in line.split("|")]
