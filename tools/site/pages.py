"""Which file of the repository is which page of the site, and where the links of a page lead there.

The texts stay where they are, with links that work on a plain view of the repository. This module
owns the way from those paths to pages; a link that the site can't follow is a problem, never a
dead end.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tomllib
from doc_links import FENCE, NETWORK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LINK_END = re.compile(r"\]\(<?([^)\s>]+)>?(?=[)\s])")
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
COMMENT = re.compile(r"^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)


class SiteError(Exception):
    """The site can't be built of these texts; the message says which, and where."""


@dataclass(frozen=True)
class Section:
    """Pages under one heading of the navigation; a path that ends in ``/`` is a whole folder."""

    title: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What ``docs/site.toml`` says."""

    home: str
    sources: tuple[str, ...]
    sections: tuple[Section, ...]

    @classmethod
    def read(cls, text: str) -> Plan:
        """Takes the text of the file."""
        data = tomllib.loads(text)
        sections = tuple(Section(one["title"], tuple(one["pages"])) for one in data["section"])
        return cls(data["home"], tuple(data["sources"]), sections)

    def problems(self, files: Iterable[str]) -> list[str]:
        """Files without a place in the site, and places without a file."""
        given = set(files)
        named = {self.home, *self.sources}
        found = []
        for page in (page for section in self.sections for page in section.pages):
            pages = {file for file in given if file.startswith(page)} if page[-1] == "/" else {page}
            if not pages:
                found.append(f"docs/site.toml names {page}, which has no file")
            named |= pages
        found += [f"docs/site.toml names {page}, which is no file" for page in named - given]
        found += [f"{file} has no place in docs/site.toml" for file in given - named]
        return sorted(found)


def page_name(path: str) -> str:
    """The page that shows a file, as a path in the site without its ending."""
    path = path.removeprefix("docs/")
    folder, name = posixpath.split(path)
    if name in {"README.md", ""}:
        return posixpath.join(folder, "index")
    return path.removesuffix(".md")


def without_comments(text: str) -> str:
    """A text without HTML comments at the beginning of a line, where pages keep code to run."""
    return COMMENT.sub("", text)


def with_links(path: str, text: str, target: Callable[[str], str | None]) -> str:
    """A text whose links lead from page to page.

    Args:
        path: Where the text stands in the repository.
        text: Markdown.
        target: The page that shows a file or folder of the repository, or None.

    Raises:
        SiteError: A link leads to something that the site does not show.
    """
    folder = posixpath.dirname(path)
    here = posixpath.dirname(page_name(path))

    def moved(match: re.Match[str], number: int) -> str:
        link = match[1]
        if NETWORK.match(link) or link.startswith("#"):
            return match[0]
        name, _, anchor = link.partition("#")
        file = posixpath.normpath(posixpath.join(folder, name))
        page = target(file)
        if page is None:
            raise SiteError(
                f"{path}:{number}: {link} leads to {file}, which the site does not show"
            )
        way = posixpath.relpath(f"{page}.md", here or ".")
        return f"]({way}" + (f"#{anchor}" if anchor else "")

    lines, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fenced = not fenced
        if fenced or line.startswith("    "):
            lines.append(line)
            continue
        # code keeps its length, so that places in the masked line are places in the line
        masked = CODE_SPAN.sub(lambda code: "x" * len(code[0]), line)
        parts, last = [], 0
        for match in LINK_END.finditer(masked):
            parts += [line[last : match.start()], moved(match, number)]
            last = match.end()
        lines.append("".join([*parts, line[last:]]))
    return "\n".join(lines)
