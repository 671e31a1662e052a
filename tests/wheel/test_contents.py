"""What the wheel holds and promises: tags, metadata, files, and symbols of its native module."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import tomllib
from elftools.elf.elffile import ELFFile

WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
VERSION = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["version"]
DIST_INFO = f"dataset_rt-{VERSION}.dist-info"
GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")


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
    expected |= {
        f"{DIST_INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")
    }
    if PROJECT.get("scripts"):
        expected.add(f"{DIST_INFO}/entry_points.txt")
    assert names == expected
    assert "dataset_rt/_native.pyi" in names
    assert archive.read(f"{DIST_INFO}/licenses/LICENSE") == Path("LICENSE").read_bytes()


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


def test_native_module_needs_the_c_library_of_the_tag_and_no_newer(
    archive: zipfile.ZipFile,
) -> None:
    promised = re.search(r"manylinux_(\d+)_(\d+)_", WHEEL.name)
    assert promised, "this test reads the symbols of Linux wheels"
    elf = ELFFile(io.BytesIO(archive.read("dataset_rt/_native.abi3.so")))
    versions = elf.get_section_by_name(".gnu.version_r").iter_versions()
    needed = [auxiliary.name for _, auxiliaries in versions for auxiliary in auxiliaries]
    libc = [tuple(map(int, found.groups())) for name in needed if (found := GLIBC.match(name))]
    assert max(libc) == tuple(map(int, promised.groups()))


def test_native_module_needs_only_system_libraries(archive: zipfile.ZipFile) -> None:
    elf = ELFFile(io.BytesIO(archive.read("dataset_rt/_native.abi3.so")))
    tags = elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")
    libraries = {tag.needed.split(".so")[0] for tag in tags}
    assert libraries <= {"ld-linux-x86-64", "libc", "libgcc_s", "libm", "libpthread", "libdl"}


def test_native_module_keeps_to_the_stable_abi() -> None:
    command = [sys.executable, "-m", "abi3audit", "--strict", "--summary", str(WHEEL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 ABI version mismatches and 0 ABI violations" in done.stdout + done.stderr
