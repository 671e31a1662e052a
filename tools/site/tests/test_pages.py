"""Which file is which page, and where links lead: by made-up texts."""

import pytest
from pages import Plan, SiteError, page_name, with_links, without_comments

PLAN = """
home = "README.md"
sources = ["LICENSE"]

[[section]]
title = "Guide"
pages = ["docs/guide/README.md", "docs/decisions/"]
"""
FILES = ["LICENSE", "README.md", "docs/decisions/0001-a.md", "docs/guide/README.md"]
SHOWN = {file: page_name(file) for file in [*FILES, "docs/guide.md", "docs/guide/table.md"]}


def moved(text: str, path: str = "docs/guide/README.md") -> str:
    return with_links(path, text, SHOWN.get)


def test_paths_become_short_names() -> None:
    assert page_name("README.md") == "index"
    assert page_name("docs/guide/README.md") == "guide/index"
    assert page_name("docs/determinism.md") == "determinism"
    assert page_name("proto_format/FORMAT.md") == "proto_format/FORMAT"
    assert page_name("examples/quickstart.py") == "examples/quickstart.py"
    assert page_name("docs/decisions/") == "decisions/index"


def test_links_lead_from_page_to_page() -> None:
    assert moved("[a](table.md#b-c) [d](../../README.md)") == "[a](table.md#b-c) [d](../index.md)"
    assert moved("[l](docs/guide/README.md)", "README.md") == "[l](guide/index.md)"
    assert moved("[g](../guide.md)", "docs/guide/README.md") == "[g](../guide.md)"
    assert moved("[`x`](../../LICENSE), [y](#here)") == "[`x`](../LICENSE.md), [y](#here)"


def test_other_hosts_and_code_stay_as_they_are() -> None:
    for text in (
        "[a](https://example.org/b.md)",
        "`[a](b.md)`",
        "``[a](b.md) ` ``",
        "```\n[a](b.md)\n```",
        "    [a](b.md)",
    ):
        assert moved(text) == text


def test_a_link_to_what_the_site_lacks_is_named_with_its_line() -> None:
    with pytest.raises(SiteError, match=r"docs/guide/README.md:2: other.py leads to docs/guide/"):
        moved("one\n[a](other.py)")


def test_each_file_has_its_place_and_each_place_its_file() -> None:
    plan = Plan.read(PLAN)
    assert plan.problems(FILES) == []
    assert plan.problems([*FILES, "new.md"]) == ["new.md has no place in docs/site.toml"]
    assert plan.problems(FILES[:2] + FILES[3:]) == [
        "docs/site.toml names docs/decisions/, which has no file"
    ]
    assert plan.problems(FILES[1:]) == ["docs/site.toml names LICENSE, which is no file"]


def test_comments_are_left_out() -> None:
    assert without_comments("# A\n<!-- run first\n```python\nx\n```\n-->\nb <!-- c -->\n") == (
        "# A\nb <!-- c -->\n"
    )
