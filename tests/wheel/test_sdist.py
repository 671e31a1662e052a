"""The source distribution: whole, of the same version, and nothing of the machine in it."""

from __future__ import annotations

import importlib
import os
import re
import sys
import sysconfig
import tarfile
import types
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import tomllib

SDIST = Path(os.environ["DATASET_RT_SDIST"])
WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
VERSION = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["version"]
ROOT = f"dataset_rt-{VERSION}"
HOOKS = (
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    with tarfile.open(SDIST) as archive:
        members = archive.getmembers()
        assert all(member.isfile() for member in members)
        assert all(member.name.startswith(f"{ROOT}/") for member in members)
        return {
            member.name.removeprefix(f"{ROOT}/"): archive.extractfile(member).read()
            for member in members
        }


def test_name_and_metadata_are_those_of_the_wheel(files: dict[str, bytes]) -> None:
    assert SDIST.name == f"{ROOT}.tar.gz"
    with zipfile.ZipFile(WHEEL) as wheel:
        assert files["PKG-INFO"] == wheel.read(f"{ROOT}.dist-info/METADATA")
    assert Parser().parsestr(files["PKG-INFO"].decode())["Version"] == VERSION


def test_python_files_are_those_of_the_wheel(files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        packed = {
            f"python/{name}": wheel.read(name)
            for name in wheel.namelist()
            if name.startswith("dataset_rt/") and not name.endswith(".so")
        }
    ours = {name: files[name] for name in files if name.startswith("python/dataset_rt/")}
    assert ours == packed


def test_every_crate_of_the_workspace_is_there(files: dict[str, bytes]) -> None:
    workspace = tomllib.loads(files["Cargo.toml"].decode())["workspace"]
    for member in workspace["members"]:
        manifest = tomllib.loads(files[f"{member}/Cargo.toml"].decode())
        assert manifest["package"]["version"] == {"workspace": True}
        assert f"{member}/src/lib.rs" in files
        for kind in ("bench", "test"):
            for target in manifest.get(kind, []):
                # Cargo wants the file of a target, unless its path is written out
                assert "path" in target or f"{member}/{kind}es/{target['name']}.rs" in files
    assert "Cargo.lock" in files


def test_only_sources_are_there(files: dict[str, bytes]) -> None:
    allowed = re.compile(
        r"(python|rust)/.*\.(py|pyi|rs|toml)|python/dataset_rt/py\.typed"
        r"|(Cargo|pyproject)\.toml|Cargo\.lock|LICENSE|THIRD_PARTY_LICENSES\.txt|README\.md|PKG-INFO"
    )
    assert [name for name in files if not allowed.fullmatch(name)] == []


def test_archive_depends_on_nothing_but_its_content() -> None:
    assert SDIST.read_bytes()[4:8] == bytes(4)  # the time of a gzip file
    with tarfile.open(SDIST) as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    facts = {(m.mtime, m.mode, m.uid, m.gid, m.uname, m.gname) for m in members}
    assert facts == {(315532800, 0o644, 0, 0, "", "")}


@pytest.fixture
def backend(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> types.ModuleType:
    """The build backend of the archive, with something else in the place of maturin."""
    project = tomllib.loads(files["pyproject.toml"].decode())
    name = project["build-system"]["build-backend"]
    (tmp_path / f"{name}.py").write_bytes(files[f"python/{name}.py"])
    monkeypatch.syspath_prepend(tmp_path)
    maturin = types.SimpleNamespace(**{hook: lambda _=None: ["maturin"] for hook in HOOKS})
    monkeypatch.setitem(sys.modules, "maturin", maturin)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def test_backend_has_every_hook_of_maturin(backend: types.ModuleType) -> None:
    assert all(callable(getattr(backend, hook)) for hook in HOOKS)
    assert backend.get_requires_for_build_wheel() == ["maturin"]


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_backend_refuses_free_threaded_interpreters(
    backend: types.ModuleType, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED") or None
    )
    with pytest.raises(SystemExit) as told:
        getattr(backend, f"get_requires_for_build_{kind}")()
    assert "free-threaded" in str(told.value)
