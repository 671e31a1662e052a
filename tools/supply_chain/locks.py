"""What is locked: crates of Cargo.lock, distributions of the requirements files.

Owns the reading of both formats. Judges nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tomllib

if TYPE_CHECKING:
    from pathlib import Path

CARGO, PYPI = "cargo", "pypi"
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")


@dataclass(frozen=True, order=True)
class Package:
    """A locked package: where from, its name and its version."""

    ecosystem: str
    name: str
    version: str

    def __str__(self) -> str:
        """Ecosystem, name and version, as a reader would say them."""
        return f"{self.ecosystem} {self.name} {self.version}"


def normalized(name: str) -> str:
    """A distribution's name in the one spelling that names are compared in."""
    return re.sub(r"[-_.]+", "-", name).lower()


def cargo_entries(lock: str) -> list[dict[str, object]]:
    """The [[package]] tables of a Cargo.lock that come from elsewhere."""
    packages: list[dict[str, object]] = tomllib.loads(lock)["package"]
    return [package for package in packages if "source" in package]


def cargo_packages(lock: str) -> set[Package]:
    """The crates of a Cargo.lock, without our own."""
    return {
        Package(CARGO, str(entry["name"]), str(entry["version"])) for entry in cargo_entries(lock)
    }


def pypi_packages(lock: str) -> set[Package]:
    """The distributions of a requirements file, for every interpreter and platform it is for."""
    found = (_REQUIREMENT.match(line) for line in lock.splitlines())
    return {Package(PYPI, normalized(match[1]), match[2]) for match in found if match}


def all_packages(root: Path) -> set[Package]:
    """Everything that the locks in a folder name."""
    packages = cargo_packages((root / "Cargo.lock").read_text())
    for lock in root.glob("requirements*.txt"):
        packages |= pypi_packages(lock.read_text())
    return packages


def unverifiable(root: Path) -> list[str]:
    """Locked packages that could be replaced unseen: without a checksum, or not from a registry."""
    crates = [
        f"Cargo.lock: {entry['name']} has no checksum, or is from no registry"
        for entry in cargo_entries((root / "Cargo.lock").read_text())
        if "checksum" not in entry or not str(entry["source"]).startswith("registry+")
    ]
    distributions = [
        f"{lock.name}: {block.split()[0]} has no hash"
        for lock in sorted(root.glob("requirements*.txt"))
        for block in re.split(r"\n(?=\S)", lock.read_text())
        if _REQUIREMENT.match(block) and "--hash=sha256:" not in block
    ]
    return crates + distributions
