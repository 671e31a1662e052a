"""The build: the same bytes from the same texts, and an end with a message where one is amiss."""

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path("tools/site/build.py").resolve()
SITE = Path(os.environ["DRT_SITE"])
TEXTS = [os.path.normpath(text) for text in os.environ["DRT_TEXTS"].split()]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The texts of the site in a folder of their own."""
    for text in TEXTS:
        copy = tmp_path / "root" / text
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(text, copy)
    return tmp_path / "root"


def build(root: Path, *files: str, hash_seed: str = "1") -> subprocess.CompletedProcess[str]:
    version = "--version=" + version_of(SITE)
    return subprocess.run(
        [sys.executable, BUILD, f"--out={root.parent / 'out'}", version, *files],
        cwd=root,
        env={
            "HOME": str(root),
            "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
            "PYTHONHASHSEED": hash_seed,
            "TZ": "Asia/Tokyo",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def version_of(site: Path) -> str:
    """The version that the site was built for, as its scripts say."""
    text = (site / "_static" / "documentation_options.js").read_text(encoding="utf-8")
    return text.partition("VERSION: '")[2].partition("'")[0]


def problem(root: Path, *files: str) -> str:
    done = build(root, *files)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_the_same_texts_give_the_same_bytes(root: Path) -> None:
    done = build(root, *reversed(TEXTS), hash_seed="77")
    assert done.returncode == 0, done.stderr
    made = sorted(path.relative_to(SITE) for path in SITE.rglob("*") if path.is_file())
    out = root.parent / "out"
    assert made == sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    _, unlike, errors = filecmp.cmpfiles(SITE, out, made, shallow=False)
    assert (unlike, errors) == ([], [])


def test_a_page_without_a_place_fails(root: Path) -> None:
    (root / "docs" / "new.md").write_text("# New\n", encoding="utf-8")
    assert problem(root, *TEXTS, "docs/new.md") == "docs/new.md has no place in docs/site.toml\n"


def test_a_link_that_leads_nowhere_fails(root: Path) -> None:
    page = root / "docs" / "determinism.md"
    page.write_text("# A\n\n[b](../rust/format/src/lib.rs)\n", encoding="utf-8")
    said = "docs/determinism.md:3: ../rust/format/src/lib.rs leads to rust/format/src/lib.rs"
    assert problem(root, *TEXTS).startswith(said)


def test_an_anchor_that_leads_nowhere_fails(root: Path) -> None:
    page = root / "docs" / "determinism.md"
    page.write_text("# A\n\n[b](durability.md#no-such-heading)\n", encoding="utf-8")
    assert "no-such-heading" in problem(root, *TEXTS)


def test_a_public_name_without_a_place_in_the_reference_fails(root: Path) -> None:
    page = root / "docs" / "api" / "tools.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("- `verify`\n", ""), encoding="utf-8")
    assert problem(root, *TEXTS) == "the pages of docs/api list verify 0 times\n"
