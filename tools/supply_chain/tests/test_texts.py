"""Licence texts of linked crates: of which crates, and each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from texts import linked, third_party_text

if TYPE_CHECKING:
    from pathlib import Path


def crate(name: str, folder: Path, licence: str = "MIT", kind: str = "lib") -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "license": licence,
        "source": None if name == "ours" else "registry",
        "targets": [{"kind": [kind]}],
        "manifest_path": str(folder / "Cargo.toml"),
    }


def test_linked_crates_are_neither_macros_nor_of_tests_or_builds(tmp_path: Path) -> None:
    names = {"ours": "lib", "near": "lib", "far": "lib", "macro": "proc-macro", "tests": "lib"}
    edges = {
        "ours": [("near", None), ("macro", None), ("tests", "dev"), ("tests", "build")],
        "near": [("far", None)],
        "macro": [("tests", None)],
    }
    nodes = [
        {
            "id": name,
            "deps": [
                {"pkg": other, "dep_kinds": [{"kind": kind}]} for other, kind in edges.get(name, [])
            ],
        }
        for name in names
    ]
    packages = [crate(name, tmp_path, kind=kind) for name, kind in names.items()]
    metadata = {"packages": packages, "resolve": {"nodes": nodes}}
    assert [found["name"] for found in linked(metadata, "ours")] == ["far", "near"]


def test_equal_texts_stand_once_and_mit_is_enough(tmp_path: Path) -> None:
    crates = []
    for name, licence in [("a", "MIT OR Apache-2.0"), ("b", "MIT"), ("c", "BSD-3-Clause")]:
        folder = tmp_path / name
        folder.mkdir()
        if name != "c":
            (folder / "LICENSE-MIT").write_text("do what you want\n")
            (folder / "LICENSE-APACHE").write_text("do it carefully\n")
        crates.append(crate(name, folder, licence))
    text = third_party_text(crates)
    assert text.count("do what you want") == 1
    assert "== a 1.0.0 (MIT OR Apache-2.0)\n== b 1.0.0 (MIT)\n\ndo what you want\n" in text
    assert "carefully" not in text
    assert "== c 1.0.0 (BSD-3-Clause)\n\n(comes without a text of its licence)" in text
