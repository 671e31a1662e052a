"""The code blocks of the guide run as they stand, each page in a directory of its own."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_there_are_pages() -> None:
    assert len(PAGES) >= 6


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"guide_{page.stem}"}
    for match in BLOCK.finditer(text):
        # Blank lines in front make line numbers of a failure those of the page.
        code = "\n" * text.count("\n", 0, match.start(1)) + match.group(1)
        exec(compile(code, str(page), "exec"), names)
    assert BLOCK.search(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_the_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("../../"):
            assert (page.parent / target).is_file(), target
