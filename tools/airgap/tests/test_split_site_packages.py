"""Locked packages as libraries: each with its own files and with what it requires here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path("tools/airgap/overlay/rules_python/python/extensions/split_site_packages.py")


def distribution(folder: Path, name: str, files: list[str], requires: list[str]) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    metadata = [f"Name: {name}", "Version: 1", *(f"Requires-Dist: {entry}" for entry in requires)]
    (info / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(metadata) + "\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:  # an interpreter may list only what is there
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def libraries(folder: Path) -> dict[str, str]:
    command = [sys.executable, SCRIPT.absolute(), folder.name]
    text = subprocess.check_output(command, text=True, cwd=folder.parent)
    blocks = text.split("py_library(\n")[1:]
    return {block.split('"')[1]: block for block in blocks}


def test_each_distribution_has_its_files_and_requirements(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "site-packages"
    requires = ["b_c>=1", "absent", 'd ; python_version < "3"', 'e ; extra == "more"']
    distribution(folder, "A", ["a/__init__.py", "one.py", "../../bin/a"], requires)
    distribution(folder, "b.c", ["b/c.py"], [])
    distribution(folder, "d", ["d.py"], [])
    distribution(folder, "e", ["e.py"], [])
    found = libraries(folder)
    assert set(found) == {"a", "b_c", "d", "e"}
    for pattern in ("'site-packages/a/**'", "'site-packages/one.py'", "'site-packages/bin/a'"):
        assert pattern in found["a"]
    assert 'deps = [":b_c"]' in found["a"]


def test_requirements_in_a_circle_lose_one_edge(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "site-packages"
    distribution(folder, "a", ["a.py"], ["b"])
    distribution(folder, "b", ["b.py"], ["a"])
    found = libraries(folder)
    assert 'deps = [":b"]' in found["a"]
    assert "deps = []" in found["b"]
