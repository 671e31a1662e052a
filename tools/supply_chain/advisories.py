"""Which locked packages have a known vulnerability.

Owns the comparison of versions with advisories.txt: a dated extract of the public databases,
with every entry about a package that is locked here, in any version. It is as old as its date
says: what came later is found by cargo-deny and pip-audit, which need the network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locks import Package

_BOUND = re.compile(r"(>=|<=|>|<|=|\^|~)?\s*(\d[\w.+-]*)")


@dataclass(frozen=True)
class Advisory:
    """An entry: the package, an identifier, and the versions that are safe or that are not."""

    ecosystem: str
    package: str
    identifier: str
    kind: str
    ranges: tuple[str, ...]

    def concerns(self, package: Package) -> bool:
        """Whether a package in its version is affected."""
        if (self.ecosystem, self.package) != (package.ecosystem, package.name):
            return False
        version = Version(package.version.partition("+")[0])
        return any(inside(version, found) for found in self.ranges) == (self.kind == "affected")


def _next(version: Version, parts: int) -> Version:
    """The first version that differs from another in its first `parts` numbers."""
    numbers = [*version.release, 0, 0][:3]
    return Version(".".join(map(str, [*numbers[: parts - 1], numbers[parts - 1] + 1])))


def inside(version: Version, text: str) -> bool:
    """Whether a version is in a range as Cargo writes it: bounds between commas."""
    for sign, number in _BOUND.findall(text):
        bound = Version(number)
        if sign == "~":
            held = bound <= version < _next(bound, min(2, len(bound.release)))
        elif sign in {"^", ""}:
            first = next((n for n, part in enumerate(bound.release[:3], 1) if part), 3)
            held = bound <= version < _next(bound, first)
        else:
            held = {
                ">=": version >= bound,
                "<=": version <= bound,
                ">": version > bound,
                "<": version < bound,
                "=": version == bound,
            }[sign]
        if not held:
            return False
    return True


def read_table(text: str) -> list[Advisory]:
    """advisories.txt: ecosystem, package, identifier, `safe` or `affected`, ranges between `;`."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            ecosystem, package, identifier, kind, ranges = (
                field.strip() for field in line.split("|")
            )
            parts = tuple(part.strip() for part in ranges.split(";") if part.strip())
            found.append(Advisory(ecosystem, package, identifier, kind, parts))
    return found


def problems(
    packages: Iterable[Package], table: Iterable[Advisory], ignored: dict[str, str]
) -> Iterator[str]:
    """Advisories that concern what is locked, and exceptions that concern nothing.

    Args:
        packages: what is locked.
        table: advisories.txt.
        ignored: reason of each identifier that deny.toml or python.toml passes over.
    """
    packages = sorted(packages)
    concerned = {
        advisory.identifier: f"{package}: {advisory.identifier}"
        for advisory in table
        for package in packages
        if advisory.concerns(package)
    }
    for identifier, sentence in concerned.items():
        if identifier not in ignored:
            yield sentence
    for identifier, reason in ignored.items():
        if identifier not in concerned:
            yield f"{identifier}: an exception for what concerns nothing that is locked"
        if not reason:
            yield f"{identifier}: an exception without a reason"
