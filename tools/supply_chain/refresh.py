"""Writes what is known of locked packages anew: by hand, when a lock or a database has changed.

Usage: tools/dev/lock_supply_chain [--rustsec CLONE --pypa CLONE]. Licences come from cargo and
pip, so from the registries they are set up with; advisories from clones of the two public
databases. Without the clones the extract stays as it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tomllib
from locks import CARGO, PYPI, Package, all_packages, normalized
from texts import linked, third_party_text

ROOT = Path(__file__).resolve().parent.parent.parent
HOME = ROOT / "tools" / "supply_chain"

# What distributions wrote before they wrote SPDX expressions.
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def run(*command: str) -> str:
    """Output of a command that must succeed."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT).stdout


def cargo_metadata() -> dict[str, Any]:
    """What Cargo knows of all crates."""
    found: dict[str, Any] = json.loads(run("cargo", "metadata", "--format-version=1", "--locked"))
    return found


def cargo_licences(metadata: dict[str, Any]) -> dict[Package, str]:
    """Licences as the manifests of the crates say them."""
    return {
        Package(CARGO, package["name"], package["version"]): package["license"] or "unknown"
        for package in metadata["packages"]
        if package["source"]
    }


def distribution_licence(metadata: dict[str, Any]) -> str:
    """An SPDX expression, else the classifiers, else the short text that old metadata has."""
    if expression := metadata.get("license_expression"):
        return str(expression)
    named = [line.rpartition(" :: ")[2] for line in metadata.get("classifier", [])]
    known = sorted({CLASSIFIERS[name] for name in named if name in CLASSIFIERS})
    text = (metadata.get("license") or "unknown").splitlines()[0]
    return " AND ".join(known) or text


def pypi_licences(packages: set[Package]) -> dict[Package, str]:
    """Licences as pip reads them from the index, for every interpreter and platform."""
    found: dict[Package, str] = {}
    rest = sorted(packages)
    while rest:
        batch = {package.name: package for package in reversed(rest)}
        rest = [package for package in rest if package not in batch.values()]
        with tempfile.TemporaryDirectory() as folder:
            wanted, report = Path(folder, "wanted"), Path(folder, "report")
            wanted.write_text("".join(f"{p.name}=={p.version}\n" for p in batch.values()))
            pip = (sys.executable, "-m", "pip", "install", "--quiet", "--dry-run")
            options = (
                "--ignore-installed",
                "--no-deps",
                "--ignore-requires-python",
                "--only-binary=:all:",
            )
            run(*pip, *options, f"--report={report}", f"--requirement={wanted}")
            for entry in json.loads(report.read_text())["install"]:
                metadata = entry["metadata"]
                package = batch[normalized(metadata["name"])]
                found[package] = distribution_licence(metadata)
    return found


def rustsec_lines(clone: Path, names: set[str]) -> list[str]:
    """Entries of RustSec's database about crates of these names."""
    lines = []
    for name in sorted(names):
        listing = run("git", "-C", str(clone), "ls-tree", "--name-only", "HEAD", f"crates/{name}/")
        for path in listing.split():
            text = run("git", "-C", str(clone), "show", f"HEAD:{path}")
            entry = tomllib.loads(text.partition("```toml")[2].partition("```")[0])
            if "withdrawn" in entry["advisory"]:
                continue
            versions = entry["versions"]
            safe = "; ".join([*versions.get("patched", []), *versions.get("unaffected", [])])
            lines.append(f"{CARGO} | {name} | {entry['advisory']['id']} | safe | {safe}".rstrip())
    return lines


def pypa_lines(clone: Path, names: set[str]) -> list[str]:
    """Entries of the Python Packaging Authority's database about distributions of these names."""
    import yaml

    lines = []
    for name in sorted(names):
        listing = run("git", "-C", str(clone), "ls-tree", "--name-only", "HEAD", f"vulns/{name}/")
        for path in listing.split():
            entry = yaml.safe_load(run("git", "-C", str(clone), "show", f"HEAD:{path}"))
            ranges = []
            for found in entry.get("affected", []):
                for span in found.get("ranges", []):
                    if span["type"] == "ECOSYSTEM" and found["package"]["name"] == name:
                        ranges += spans(span["events"])
            if ranges and "withdrawn" not in entry:
                lines.append(f"{PYPI} | {name} | {entry['id']} | affected | {'; '.join(ranges)}")
    return lines


def spans(events: list[dict[str, str]]) -> list[str]:
    """The ranges between `introduced` and `fixed` events."""
    found = []
    for event in events:
        if "introduced" in event:
            found.append(f">= {event['introduced']}")
        elif "fixed" in event:
            found[-1] += f", < {event['fixed']}"
        elif "last_affected" in event:
            found[-1] += f", <= {event['last_affected']}"
    return found


def write(name: str, head: list[str], lines: list[str]) -> None:
    """Writes one of the two files, with its comment."""
    text = "".join(f"# {line}\n" for line in head) + "".join(f"{line}\n" for line in lines)
    (HOME / name).write_text(text)


def main() -> None:
    """Licences always, advisories when the clones are given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rustsec", type=Path, help="a clone of RustSec's advisory-db")
    parser.add_argument("--pypa", type=Path, help="a clone of pypa's advisory-database")
    args = parser.parse_args()
    packages = all_packages(ROOT)
    metadata = cargo_metadata()
    crates = linked(metadata, "dataset_rt_py")
    (ROOT / "THIRD_PARTY_LICENSES.txt").write_text(third_party_text(crates), encoding="utf-8")
    licences = cargo_licences(metadata) | pypi_licences(
        {p for p in packages if p.ecosystem == PYPI}
    )
    write(
        "licences.txt",
        ["Licence of each locked package, written by tools/dev/lock_supply_chain."],
        [f"{p.ecosystem} | {p.name} | {p.version} | {licences[p]}" for p in sorted(packages)],
    )
    if not (args.rustsec and args.pypa):
        return
    log = ("log", "-1", "--format=%H of %cs")
    head = [
        "Advisories about locked packages, in any version, written by tools/dev/lock_supply_chain.",
        f"RustSec's advisory-db, commit {run('git', '-C', str(args.rustsec), *log).strip()}.",
        f"pypa's advisory-database, commit {run('git', '-C', str(args.pypa), *log).strip()}.",
    ]
    cargo = {p.name for p in packages if p.ecosystem == CARGO}
    pypi = {p.name for p in packages if p.ecosystem == PYPI}
    write("advisories.txt", head, rustsec_lines(args.rustsec, cargo) + pypa_lines(args.pypa, pypi))


if __name__ == "__main__":
    main()
