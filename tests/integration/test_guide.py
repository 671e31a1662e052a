"""The code blocks of the documentation run as they stand, each page in a directory of its own.

Blocks of Python are executed, also those that a page keeps in an HTML comment; in console blocks
each ``$ dataset-rt …`` is run and gives the lines below it, where ``…`` stands for anything.
``$ echo $?`` shows an exit code that is not 0.
"""

import re
import shlex
from pathlib import Path

import pytest
from command import run

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("", "docs", "proto_format", "benchmarks", "tools/airgap")
    for path in (ROOT / folder).glob("*.md" if folder != "docs" else "**/*.md")
}
ELSEWHERE = {"docs/guide/ray.md"}  # its code runs in tests/ray, where Ray is
PAGES = sorted({page for page, text in TEXTS.items() if BLOCK.search(text)} - ELSEWHERE)
FENCE = re.compile(r"^([ \t>]*)(`{3,}|~{3,})([^\s`]*)", re.MULTILINE)
LANGUAGES = {"", "console", "json", "python", "text"}
WITHOUT_CODE = {
    "docs/guide/README.md": "contents and words",
    "docs/guide/faq.md": "its answers link to the pages with code",
}


def test_every_page_of_the_guide_shows_code() -> None:
    guide = {page for page in TEXTS if page.startswith("docs/guide/")}
    assert len(guide) > 12
    assert guide - set(PAGES) == set(WITHOUT_CODE) | ELSEWHERE
    assert "README.md" in PAGES


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_no_block_hides_from_the_test(page: str) -> None:
    """A program in another language, or one that is indented, would not be run."""
    for indent, fence, language in FENCE.findall(TEXTS[page]):
        assert language in LANGUAGES
        assert not language or (indent, fence) == ("", "```")


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


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_page_runs(page: str, tmp_path: Path, monkeypatch) -> None:
    text = TEXTS[page]
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"guide_{Path(page).stem}"}
    for match in BLOCK.finditer(text):
        # Blank lines in front make line numbers of a failure those of the page.
        if match.group(1) == "console":
            check_console(match.group(2))
            continue
        code = "\n" * text.count("\n", 0, match.start(2)) + match.group(2)
        exec(compile(code, page, "exec"), names)
