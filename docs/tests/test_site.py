"""The site is whole: links lead to places, nothing comes from elsewhere, every name is there."""

import ast
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from site_pages import SITE, pages

PACKAGE = Path("python/dataset_rt")
REFERENCE = [name for name in pages() if name.startswith("api/")]


def public_names() -> list[str]:
    """The names of ``dataset_rt.__all__``."""
    for statement in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return ast.literal_eval(statement.value)
    raise AssertionError("dataset_rt has no __all__")


def problem_with(page: str, link: str) -> str | None:
    """Where a link leads that leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None if parts.scheme in {"https", "http", "mailto"} else f"{page}: {link}"
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    target = page if not parts.path else name
    if not (SITE / target).is_file():
        return f"{page}: {link} leads to no file"
    # "#" alone is the top of the page
    if parts.fragment and unquote(parts.fragment) not in pages()[target].places:
        return f"{page}: {link} leads to no place"
    return None


@pytest.mark.parametrize("page", sorted(pages()))
def test_links_lead_to_pages_and_places(page: str) -> None:
    assert not [problem for link in pages()[page].links if (problem := problem_with(page, link))]


@pytest.mark.parametrize("page", sorted(pages()))
def test_a_page_loads_nothing_from_elsewhere(page: str) -> None:
    for link in pages()[page].loads:
        assert not urlsplit(link).netloc, link
        assert problem_with(page, link) is None
        assert not urlsplit(link).scheme or link.startswith("data:")


def test_styles_load_nothing_from_elsewhere() -> None:
    styles = list(SITE.rglob("*.css"))
    assert len(styles) > 3
    for style in styles:
        for link in re.findall(
            r"(?:url\(|@import )['\"]?([^'\")]+)", style.read_text(encoding="utf-8")
        ):
            assert link.startswith("data:") or (style.parent / link).is_file(), (style, link)


def test_every_public_name_is_in_the_reference_once() -> None:
    places = [place for name in REFERENCE for place in pages()[name].places]
    for name in public_names():
        assert places.count(f"dataset_rt.{name}") == 1, name


def test_the_reference_has_what_docstrings_say() -> None:
    text = pages()["api/dataset.html"].text
    assert "The whole table is validated and then swapped in, or nothing changes." in text
    assert {"dataset_rt.CachedDataset.plan", "dataset_rt.CachedDataset.update_metadata"} <= pages()[
        "api/dataset.html"
    ].places
    assert "Where each payload begins in data" in pages()["api/batches.html"].text  # from the stub


def test_the_search_index_knows_words_of_every_page() -> None:
    index = (SITE / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    shown = {name.removesuffix(".html") for name in pages()} - {"genindex", "search", "py-modindex"}
    known = set(re.findall(r'"([^"]+)"', re.search(r'"?docnames"?:\[(.*?)\]', index)[1]))
    assert known == shown


def test_code_that_only_tests_need_is_not_shown() -> None:
    for page in pages().values():
        assert "<!--" not in page.text
