"""What the wheel holds and promises: tags, metadata and files."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import tomllib

WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
VERSION = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["version"]
DIST_INFO = f"dataset_rt-{VERSION}.dist-info"
LICENCES = ("LICENSE", "THIRD_PARTY_LICENSES.txt")


@pytest.fixture(scope="module")
def archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(WHEEL)


def text(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(name).decode()


def test_file_name_and_wheel_file_carry_the_same_tag(archive: zipfile.ZipFile) -> None:
    distribution, version, tag = WHEEL.stem.split("-", 2)
    fields = Parser().parsestr(text(archive, f"{DIST_INFO}/WHEEL"))
    assert (distribution, version) == ("dataset_rt", VERSION)
    assert tag.startswith("cp310-abi3-")
    assert fields.get_all("Tag") == [tag]
    assert fields["Root-Is-Purelib"] == "false"


def test_metadata_is_that_of_the_project(archive: zipfile.ZipFile) -> None:
    fields = Parser().parsestr(text(archive, f"{DIST_INFO}/METADATA"))
    assert fields["Name"] == PROJECT["name"]
    assert fields["Version"] == VERSION
    assert fields["Summary"] == PROJECT["description"]
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == PROJECT["requires-python"]
    required = [entry for entry in fields.get_all("Requires-Dist") if "extra ==" not in entry]
    assert required == PROJECT["dependencies"]
    assert fields.get_all("Provides-Extra") == sorted(PROJECT["optional-dependencies"])
    assert fields.get_payload().strip() == Path("README.md").read_text().strip()


def test_command_and_what_it_needs_are_declared(archive: zipfile.ZipFile) -> None:
    entries = text(archive, f"{DIST_INFO}/entry_points.txt")
    assert entries == "[console_scripts]\ndataset-rt = dataset_rt.cli:main\n"
    fields = Parser().parsestr(text(archive, f"{DIST_INFO}/METADATA"))
    extra = [entry for entry in fields.get_all("Requires-Dist") if entry.endswith('"cli"')]
    assert {re.split("[>=]", entry)[0] for entry in extra} == {"matplotlib", "rich", "typer"}


def test_package_is_whole_and_typed(archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    package = Path("python/dataset_rt")
    sources = {str(path.relative_to("python")) for path in package.rglob("*.py*")}
    sources = {name for name in sources if "__pycache__" not in name}
    expected = sources | {"dataset_rt/_native.abi3.so", "dataset_rt/py.typed"}
    expected |= {f"{DIST_INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL")}
    expected |= {f"{DIST_INFO}/licenses/{name}" for name in LICENCES}
    if PROJECT.get("scripts"):
        expected.add(f"{DIST_INFO}/entry_points.txt")
    assert names == expected
    assert "dataset_rt/_native.pyi" in names
    for name in LICENCES:
        assert archive.read(f"{DIST_INFO}/licenses/{name}") == Path(name).read_bytes()


def test_record_lists_every_file_with_its_hash(archive: zipfile.ZipFile) -> None:
    rows = list(csv.reader(io.StringIO(text(archive, f"{DIST_INFO}/RECORD"))))
    assert [row[0] for row in rows] == archive.namelist()
    for name, digest, size in rows[:-1]:
        content = archive.read(name)
        encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={encoded}", str(len(content)))


def test_archive_depends_on_nothing_but_its_content(archive: zipfile.ZipFile) -> None:
    for info in archive.infolist():
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
        assert info.external_attr >> 16 == 0o100644
    *names, last = archive.namelist()
    assert last == f"{DIST_INFO}/RECORD"
    assert names == sorted(names, key=lambda name: (name.startswith(DIST_INFO), name))
