"""Writes the bill of materials of a wheel: CycloneDX 1.6, the same bytes for the same wheel.

Owns what is listed: the crates that are linked into the native module, as Bazel's graph has
them; Rust's standard library and LLVM's unwinder, in the versions that the module itself names;
and, as requirements, the distributions that the wheel's metadata asks for, which are not in it.
No clock and no random number: the serial number comes from the wheel's hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import uuid
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import tomllib
from licences import read_table
from locks import CARGO, PYPI, Package, cargo_entries

MODULE = re.compile(r".*\.(?:so|pyd)$")
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)([^;]*)(;.*extra.*)?")


def licence(expression: str) -> list[dict[str, str]]:
    """A licence as CycloneDX writes it; crates of long ago write `MIT/Apache-2.0` for a choice."""
    return [{"expression": expression.replace("/", " OR ")}]


def crate_component(
    entry: dict[str, Any], licences: dict[Package, str]
) -> tuple[str, dict[str, Any]]:
    """Reference and component of a locked crate."""
    name, version = entry["name"], entry["version"]
    reference = f"pkg:cargo/{name}@{version}"
    return reference, {
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": version,
        "scope": "required",
        "hashes": [{"alg": "SHA-256", "content": entry["checksum"]}],
        "licenses": licence(licences[Package(CARGO, name, version)]),
        "purl": reference,
    }


def runtime_components(module: bytes) -> list[dict[str, Any]]:
    """What compiler and linker put into the module, by the versions in its comment section."""
    found = []
    for name, pattern, expression in (
        ("rust-std", rb"rustc version ([\w.-]+)", "MIT OR Apache-2.0"),
        ("llvm-libunwind", rb"LLD ([\w.]+)", "Apache-2.0 WITH LLVM-exception"),
    ):
        if match := re.search(pattern, module):
            version = match[1].decode()
            reference = f"pkg:generic/{name}@{version}"
            found.append(
                {
                    "type": "library",
                    "bom-ref": reference,
                    "name": name,
                    "version": version,
                    "scope": "required",
                    "licenses": licence(expression),
                    "purl": reference,
                }
            )
    return found


def requirement_components(
    required: list[str], licences: dict[Package, str]
) -> list[dict[str, Any]]:
    """What the wheel asks for: no version, since pip chooses it on the user's machine."""
    found = []
    for text in required:
        match = REQUIREMENT.match(text)
        if not match:
            raise ValueError(text)
        name = match[1].lower()
        known = sorted({v for p, v in licences.items() if (p.ecosystem, p.name) == (PYPI, name)})
        found.append(
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}",
                "name": name,
                "scope": "optional" if match[3] else "required",
                **({"licenses": licence(known[-1])} if known else {}),
                "purl": f"pkg:pypi/{name}",
                "properties": [{"name": "dataset_rt:requirement", "value": text}],
            }
        )
    return found


def dependencies(
    lock: str, linked: dict[str, str], root: str, others: list[str]
) -> list[dict[str, Any]]:
    """Edges of the graph: those of Cargo.lock between what is linked, and those of the wheel."""
    packages: list[dict[str, Any]] = tomllib.loads(lock)["package"]
    versions: dict[str, list[str]] = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(package["version"])
    edges: dict[str, set[str]] = {root: set(others)}
    for package in packages:
        key = f"{package['name']}-{package['version']}"
        source = root if "source" not in package else linked.get(key)
        if source is None:
            continue
        for text in package.get("dependencies", []):
            name, _, version = text.partition(" ")
            target = linked.get(f"{name}-{version.split()[0] if version else versions[name][0]}")
            edges.setdefault(source, set()).update({target} if target else set())
    return [{"ref": source, "dependsOn": sorted(edges[source])} for source in sorted(edges)]


def bill(wheel: Path, lock: str, licence_table: str, crates: list[str]) -> dict[str, Any]:
    """The whole document.

    Args:
        wheel: the wheel it is about.
        lock: text of Cargo.lock.
        licence_table: text of licences.txt.
        crates: name and version, with a hyphen between, of each crate that is linked.

    Returns:
        A CycloneDX document as JSON writes it.
    """
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(metadata).decode())
        module = archive.read(next(name for name in names if MODULE.match(name)))
    licences = read_table(licence_table)
    locked = {f"{entry['name']}-{entry['version']}": entry for entry in cargo_entries(lock)}
    linked: dict[str, str] = {}
    components = []
    for crate in sorted(set(crates)):
        linked[crate], component = crate_component(locked[crate], licences)
        components.append(component)
    others = runtime_components(module)
    others += requirement_components(fields.get_all("Requires-Dist", []), licences)
    root = f"pkg:pypi/{fields['Name'].replace('_', '-')}@{fields['Version']}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": fields["Name"],
                "version": fields["Version"],
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": licence(fields["License-Expression"]),
                "purl": root,
                "properties": [{"name": "dataset_rt:wheel", "value": wheel.name}],
            }
        },
        "components": components + others,
        "dependencies": dependencies(lock, linked, root, [other["bom-ref"] for other in others]),
    }


def main() -> None:
    """Reads the arguments of the drt_sbom rule."""
    parser = argparse.ArgumentParser()
    for option in ("out", "wheel", "lock", "licences", "crates"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    args = parser.parse_args()
    document = bill(
        args.wheel,
        args.lock.read_text(),
        args.licences.read_text(),
        args.crates.read_text().split(),
    )
    args.out.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
