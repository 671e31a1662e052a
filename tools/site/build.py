"""Builds the documentation site: `build.py --root FOLDER --out FOLDER [--version TEXT] FILE...`.

Files are paths below the root. The pages among them are put together under the names that ``pages``
gives them, the reference under ``reference``, and Sphinx makes the site. Every warning is an error.
The same files give the same bytes, wherever and whenever it runs, and nothing is fetched.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pages import Plan, SiteError, page_name, with_links, without_comments
from reference import Package, names_in, with_reference

TITLE = "dataset_rt"
PLAN = "docs/site.toml"
PACKAGE = "python/"
LANGUAGES = {".py": "python", ".json": "json"}


class Build:
    """Puts the sources of Sphinx together in a folder of its own."""

    def __init__(self, root: Path, files: list[str], staging: Path) -> None:
        """Takes the files of the site, as paths below the root."""
        self._root = root
        self._staging = staging
        self._texts = {
            file: (root / file).read_text(encoding="utf-8")
            for file in sorted(files)
            if file != PLAN and not file.startswith(PACKAGE)
        }
        self._plan = Plan.read((root / PLAN).read_text(encoding="utf-8"))
        if problems := self._plan.problems(self._texts):
            raise SiteError("\n".join(problems))

    def stage(self) -> None:
        """Write every page with links, code and reference in place."""
        package = self._package()
        for path, text in self._texts.items():
            if path in self._plan.sources:
                self._write(page_name(path), _source_page(path, text))
                continue
            page = with_links(path, with_reference(path, text, package), self._page_of)
            page = without_comments(page)
            if path == self._plan.home:
                page += self._navigation()
            self._write(page_name(path), page)
        for folder in self._folders():
            self._write(page_name(folder), self._folder_page(folder))

    def _package(self) -> Package:
        package = Package(self._root / PACKAGE)
        named = [name for text in self._texts.values() for name in names_in(text)]
        package.link_to(named)
        for name in package.listed_names():
            if named.count(name) != 1:
                raise SiteError(f"the pages of docs/api list {name} {named.count(name)} times")
        return package

    def _page_of(self, file: str) -> str | None:
        if file in self._texts or f"{file}/" in self._folders():
            return page_name(file if file in self._texts else f"{file}/")
        return None

    def _folders(self) -> list[str]:
        sections = self._plan.sections
        return [page for section in sections for page in section.pages if page.endswith("/")]

    def _navigation(self) -> str:
        parts = []
        for section in self._plan.sections:
            pages = "\n".join(f"/{page_name(page)}" for page in section.pages)
            parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {section.title}\n\n{pages}\n```\n")
        return "".join(parts)

    def _folder_page(self, folder: str) -> str:
        """The page of a folder: its name, and its pages."""
        title = folder.rstrip("/").rpartition("/")[2].capitalize()
        pages = "\n".join(f"/{page_name(path)}" for path in self._texts if path.startswith(folder))
        return f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n"

    def _write(self, page: str, text: str) -> None:
        file = self._staging / f"{page}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _source_page(path: str, text: str) -> str:
    """A source text as a page of its own, outside the navigation."""
    fence, language = "`" * 5, LANGUAGES.get(Path(path).suffix, "text")
    return f"---\norphan: true\n---\n\n# {path}\n\n{fence}{language}\n{text}{fence}\n"


def run_sphinx(staging: Path, out: Path, version: str) -> int:
    """Make the site of what stands in the staging folder; returns Sphinx's exit code."""
    from sphinx.cmd.build import build_main

    here = Path(__file__).parent
    shutil.copy(here / "conf.py", staging / "conf.py")
    shutil.copytree(here / "static", staging / "_static")
    options = ["--builder", "html", "--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"]
    options += ["--define", f"release={version}", "--define", f"html_title={TITLE} {version}"]
    options += ["--doctree-dir", str(staging / ".doctrees")]
    return build_main([*options, str(staging), str(out)])


def main() -> int:
    """Builds the site; says what is wrong with the pages, and fails, if something is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # no page tells when it was built
    with tempfile.TemporaryDirectory() as folder:
        staging = Path(folder)
        try:
            Build(args.root, args.files, staging).stage()
        except SiteError as error:
            print(error, file=sys.stderr)
            return 1
        code = run_sphinx(staging, args.out, args.version)
    (args.out / ".buildinfo").unlink(missing_ok=True)  # for a next build in the same folder
    return code


if __name__ == "__main__":
    sys.exit(main())
