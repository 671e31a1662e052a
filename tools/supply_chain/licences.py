"""Which licences locked packages may have, and which they have.

Owns the rule: every locked package has a line in licences.txt, and its licence can be met by
what the policy allows. The policy for crates is deny.toml, cargo-deny's own file; that for
distributions is python.toml.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from license_expression import AND, OR, get_spdx_licensing
from locks import CARGO, PYPI, Package

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPDX = get_spdx_licensing()


def read_table(text: str) -> dict[Package, str]:
    """licences.txt: ecosystem, name, version and licence, between bars."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    fields = [[field.strip() for field in line.split("|")] for line in lines]
    return {Package(*entry[:3]): entry[3] for entry in fields}


def unmet(licence: str, allowed: set[str]) -> str | None:
    """The part of a licence expression that no allowed licence meets, or None.

    Crates of long ago write `MIT/Apache-2.0` for a choice. A text that is
    no expression can be allowed as it stands.
    """
    if licence in allowed:
        return None
    try:
        parsed = _SPDX.parse(licence.replace("/", " OR "), validate=True)
    except Exception as error:  # noqa: BLE001 - the parser has many errors and no base for them
        return f"{licence} (not a licence expression: {error})"

    def part(node: Any) -> str | None:
        if isinstance(node, OR):
            missing = [part(child) for child in node.args]
            return None if None in missing else str(node)
        if isinstance(node, AND):
            return next((found for child in node.args if (found := part(child))), None)
        return None if str(node) in allowed else str(node)

    return part(parsed)


def problems(
    packages: set[Package], table: dict[Package, str], deny: dict[str, Any], python: dict[str, Any]
) -> Iterator[str]:
    """Every departure from the rule.

    Args:
        packages: what is locked.
        table: licences.txt.
        deny: the table [licenses] of deny.toml.
        python: the table [licenses] of python.toml, of the same form.
    """
    for package in sorted(packages - set(table)):
        yield f"{package}: no line in licences.txt; tools/dev/lock_supply_chain writes it"
    for package in sorted(set(table) - packages):
        yield f"{package}: has a line in licences.txt and is not locked"
    used: set[tuple[str, str]] = set()
    for package in sorted(packages & set(table)):
        policy = deny if package.ecosystem == CARGO else python
        allowed = set(policy["allow"])
        for exception in policy.get("exceptions", []):
            if fnmatchcase(package.name, exception["crate"]):
                allowed |= set(exception["allow"])
                used.add((package.ecosystem, exception["crate"]))
        if part := unmet(table[package], allowed):
            yield f"{package}: licence {part} is not allowed"
    for ecosystem, policy in ((CARGO, deny), (PYPI, python)):
        for exception in policy.get("exceptions", []):
            if (ecosystem, exception["crate"]) not in used:
                yield f"{ecosystem} {exception['crate']}: an exception for what is not locked"
