"""The bill of materials beside the wheel: valid, about this wheel, and what is linked alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from email.parser import Parser
from pathlib import Path

import cyclonedx.schema
import jsonschema
import pytest
import tomllib
from referencing import Registry, Resource

WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
BILL = Path(os.environ["DATASET_RT_SBOM"])
SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"


@pytest.fixture(scope="module")
def bill() -> dict:
    return json.loads(BILL.read_text())


def crates(bill: dict) -> dict[str, dict]:
    found = bill["components"]
    return {c["name"]: c for c in found if c["purl"].startswith("pkg:cargo/")}


def test_it_keeps_to_the_schema_of_cyclonedx(bill: dict) -> None:
    def schema(name: str) -> dict:
        return json.loads((SCHEMAS / f"{name}.SNAPSHOT.schema.json").read_text())

    registry = Registry().with_resources(
        (f"http://cyclonedx.org/schema/{name}.schema.json", Resource.from_contents(schema(name)))
        for name in ("jsf-0.82", "spdx")
    )
    validator = jsonschema.Draft7Validator(schema("bom-1.6"), registry=registry)
    assert list(validator.iter_errors(bill)) == []


def test_it_is_about_this_wheel(bill: dict) -> None:
    component = bill["metadata"]["component"]
    assert component["hashes"][0]["content"] == hashlib.sha256(WHEEL.read_bytes()).hexdigest()
    assert f"{WHEEL.stem}.cdx.json" == BILL.name
    assert "timestamp" not in bill["metadata"]


def test_crates_are_those_that_are_linked(bill: dict) -> None:
    found = crates(bill)
    assert set(found) >= {"arrow-array", "lz4_flex", "pyo3", "rayon", "serde_json"}
    # tests, benchmarks, macros, build scripts
    unlinked = {"autocfg", "criterion", "proptest", "pyo3-build-config", "pyo3-macros", "syn"}
    assert not unlinked & set(found)


def test_versions_and_hashes_are_the_locked_ones(bill: dict) -> None:
    locked = tomllib.loads(Path("Cargo.lock").read_text())["package"]
    sums = {(p["name"], p["version"]): p.get("checksum") for p in locked}
    for component in crates(bill).values():
        (digest,) = component["hashes"]
        assert digest["content"] == sums[component["name"], component["version"]]
        assert component["licenses"][0]["expression"]


def test_it_names_what_compiler_and_linker_add(bill: dict) -> None:
    names = {
        c["name"]: c["version"] for c in bill["components"] if c["purl"].startswith("pkg:generic/")
    }
    assert set(names) == {"llvm-libunwind", "rust-std"}
    assert all(version[0].isdigit() for version in names.values())


def test_requirements_are_those_of_the_metadata(bill: dict) -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        required = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist")
    listed = [c for c in bill["components"] if c["purl"].startswith("pkg:pypi/")]
    assert [c["properties"][0]["value"] for c in listed] == required
    assert {c["name"] for c in listed if c["scope"] == "required"} == {"polars", "pydantic"}


def test_every_component_hangs_on_the_wheel(bill: dict) -> None:
    edges = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    reached, rest = set(), [bill["metadata"]["component"]["bom-ref"]]
    while rest:
        reference = rest.pop()
        if reference not in reached:
            reached.add(reference)
            rest += edges.get(reference, [])
    assert {c["bom-ref"] for c in bill["components"]} <= reached


def test_licence_of_each_linked_crate_is_in_the_wheel(bill: dict) -> None:
    text = Path("THIRD_PARTY_LICENSES.txt").read_text()
    told = set(re.findall(r"^== (\S+) (\S+) \(.+\)$", text, re.MULTILINE))
    linked = {(name, crate["version"]) for name, crate in crates(bill).items()}
    assert linked - told == set()
