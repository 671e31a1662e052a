"""The built site, read page by page."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

SITE = Path(os.environ["DRT_SITE"])
LOADED = {"img": "src", "link": "href", "script": "src", "source": "src", "iframe": "src"}


@dataclass
class Page(HTMLParser):
    """What one page links to, loads and offers as places to link to."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if name := given.get("id") or given.get("name"):
            self.places.add(name)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        # what a browser fetches by itself; links to other formats of the page are none of it
        if (source := given.get(LOADED.get(tag, ""))) and given.get("rel") != "canonical":
            self.loads.append(source)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """The words of the page."""
        return " ".join("".join(self.words).split())


@cache
def pages() -> dict[str, Page]:
    """Every page by its path in the site."""
    found = {path.relative_to(SITE).as_posix(): Page(path) for path in SITE.rglob("*.html")}
    assert len(found) > 40
    return found
