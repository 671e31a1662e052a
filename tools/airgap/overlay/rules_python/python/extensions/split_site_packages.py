"""Prints a BUILD file: one py_library for each distribution that `pip install --target` installed.

Usage: split_site_packages.py FOLDER. Edges are the requirements that apply to this interpreter and
are installed; a distribution whose requirements lead back to itself keeps those that do not.
"""

import csv
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import PurePosixPath

from pip._vendor.packaging.requirements import Requirement

HEADER = """load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])
"""
# test suites of third parties: thousands of files that nothing here imports
LEFT_OUT = ("**/tests/**", "**/__pycache__/**", "**/* *")


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def top_entries(distribution: Distribution, folder: str) -> list[str]:
    """First path components of a distribution's files; scripts stand in bin/ of the folder.

    Read from RECORD itself: importlib.metadata leaves out files that are not where RECORD says, and
    with --target scripts are not.
    """
    entries = set()
    for file, *_ in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
        parts = PurePosixPath(file).parts
        if ".." in parts:
            entries.add(f"{folder}/bin/{parts[-1]}")
        elif "__pycache__" not in parts:
            entries.add(f"{folder}/{parts[0]}" + ("/**" if len(parts) > 1 else ""))
    return sorted(entries)


def requirements(distribution: Distribution, installed: set[str]) -> set[str]:
    wanted = set()
    for text in distribution.requires or []:
        requirement = Requirement(text)
        name = normalized(requirement.name)
        if name in installed and (
            requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ):
            wanted.add(name)
    return wanted


def without_cycles(edges: dict[str, set[str]]) -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {}

    def reaches(start: str, goal: str) -> bool:
        return start == goal or any(reaches(step, goal) for step in kept.get(start, []))

    for name in sorted(edges):
        kept[name] = []
        for step in sorted(edges[name]):
            if not reaches(step, name):
                kept[name].append(step)
    return kept


def main() -> None:
    folder = sys.argv[1]
    found = {normalized(d.metadata["Name"]): d for d in distributions(path=[folder])}
    edges = without_cycles({name: requirements(d, set(found)) for name, d in found.items()})
    print(HEADER)
    for name, distribution in sorted(found.items()):
        entries = top_entries(distribution, folder)
        python = [
            entry + "/*.py" if entry.endswith("**") else entry
            for entry in entries
            if entry.endswith(("**", ".py"))
        ]
        print("py_library(")
        print(f'    name = "{name}",')
        print(f"    srcs = glob({python}, exclude = {list(LEFT_OUT)}, allow_empty = True),")
        print(
            f"    data = glob({entries}, exclude = {['**/*.py', *LEFT_OUT]}, allow_empty = True),"
        )
        print(f'    imports = ["{folder}"],')
        print(f"    deps = {[':' + step for step in edges[name]]},".replace("'", '"'))
        print(")\n")


if __name__ == "__main__":
    main()
