"""What the wheel's native module needs of a machine: no more than the wheel's tag says."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
MODULE = "dataset_rt/_native.abi3.so"
VERSION = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?")
TAG = re.compile(r"manylinux_(\d+)_(\d+)_(x86_64|aarch64)\.whl")
PROCESSORS = {"aarch64": "AArch64", "x86_64": "x64"}
SYSTEM_LIBRARIES = {"ld-linux-aarch64", "ld-linux-x86-64", "libc", "libdl", "libm", "libpthread"}


@pytest.fixture(scope="module")
def promised() -> re.Match[str]:
    found = TAG.search(WHEEL.name)
    assert found, "these tests read the symbols of Linux wheels"
    return found


@pytest.fixture(scope="module")
def module() -> ELFFile:
    with zipfile.ZipFile(WHEEL) as archive:
        return ELFFile(io.BytesIO(archive.read(MODULE)))


def symbols(module: ELFFile) -> list[tuple[str, str, bool]]:
    """Name, version and whether it is defined here, of each dynamic symbol."""
    versions = module.get_section_by_name(".gnu.version")
    needed = module.get_section_by_name(".gnu.version_r")
    names = {
        auxiliary["vna_other"]: auxiliary.name
        for _, auxiliaries in needed.iter_versions()
        for auxiliary in auxiliaries
    }
    return [
        (
            symbol.name,
            names.get(versions.get_symbol(number)["ndx"], ""),
            symbol["st_shndx"] != "SHN_UNDEF",
        )
        for number, symbol in enumerate(module.get_section_by_name(".dynsym").iter_symbols())
        if symbol.name
    ]


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_is_for_the_processor_of_the_tag(module: ELFFile, promised: re.Match[str]) -> None:
    assert module.get_machine_arch() == PROCESSORS[promised[3]]


def test_it_needs_the_c_library_of_the_tag_and_no_newer(
    module: ELFFile, promised: re.Match[str]
) -> None:
    needed = [VERSION.fullmatch(version) for _, version, _ in symbols(module)]
    assert max((int(v[1]), int(v[2])) for v in needed if v) == (int(promised[1]), int(promised[2]))


def test_every_version_it_needs_is_one_of_the_c_library(module: ELFFile) -> None:
    others = {v for _, v, _ in symbols(module) if v and not VERSION.fullmatch(v)}
    assert others == set()


def test_auditwheel_reads_the_same_tag_from_it(promised: re.Match[str]) -> None:
    told = json.loads(run("auditwheel", "show", "--json", str(WHEEL)))
    assert told["overall_tag"] + ".whl" == promised[0]
    assert told["external_libs"] == {}


def test_it_needs_only_libraries_of_the_system(module: ELFFile) -> None:
    tags = module.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")
    assert {tag.needed.split(".so")[0] for tag in tags} <= SYSTEM_LIBRARIES


def test_it_exports_its_entry_point_and_nothing_else(module: ELFFile) -> None:
    """An unwinder or an allocator of ours must not take the place of another module's."""
    assert [name for name, _, defined in symbols(module) if defined] == ["PyInit__native"]


def test_bytes_are_copied_by_the_c_library(module: ELFFile) -> None:
    """The linker has plain copies of these functions for systems without any: they are slow."""
    found = {name for name, version, _ in symbols(module) if version}
    assert found >= {"memcpy", "memmove", "memset", "memcmp"}


def test_it_keeps_to_the_stable_abi() -> None:
    told = run("abi3audit", "--strict", "--summary", str(WHEEL))
    assert "0 ABI version mismatches and 0 ABI violations" in " ".join(told.split())


def test_it_names_no_folder_of_the_machine_that_built_it() -> None:
    with zipfile.ZipFile(WHEEL) as archive:
        content = archive.read(MODULE)
    assert not re.findall(rb"/(?:root|home|tmp|work|var|proc/self/cwd)/[\w.+/-]+", content)
    assert b"sandbox" not in content
