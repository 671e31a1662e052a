"""The code blocks of the guide run as they stand, each page in a directory of its own.

Blocks of Python are executed; in console blocks each ``$ dataset-rt …`` is run and gives the
lines below it, where ``…`` stands for anything. ``$ echo $?`` shows an exit code that is not 0.
"""

import re
import shlex
from pathlib import Path

import pytest
from command import run

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_there_are_pages() -> None:
    assert len(PAGES) >= 6


def check_console(block: str) -> None:
    """Run the commands of a block and compare what they give."""
    commands = [part for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    for part, following in zip(commands, [*commands[1:], ""], strict=True):
        line, _, shown = part.replace("\\\n", " ").partition("\n")
        program, *arguments = shlex.split(line)
        if program == "echo":
            continue
        assert program == "dataset-rt"
        code = following.split() if following.startswith("echo $?") else ["0"]
        given = run(*arguments, expect=int(code[-1])).stdout.strip()
        wanted = ".*".join(re.escape(piece) for piece in shown.strip().split("…"))
        assert re.fullmatch(wanted, given, re.DOTALL), f"{line}\n{given}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"guide_{page.stem}"}
    for match in BLOCK.finditer(text):
        # Blank lines in front make line numbers of a failure those of the page.
        if match.group(1) == "console":
            check_console(match.group(2))
            continue
        code = "\n" * text.count("\n", 0, match.start(2)) + match.group(2)
        exec(compile(code, str(page), "exec"), names)
    assert BLOCK.search(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_the_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("../../"):
            assert (page.parent / target).is_file(), target
