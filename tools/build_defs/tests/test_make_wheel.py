"""The packer of wheels: what goes in comes out, and nothing of the machine comes with it."""

import subprocess
import sys
import time
import zipfile
from email.parser import Parser
from pathlib import Path

import make_wheel
import pytest

PYPROJECT = """[project]
name = "a_b"
description = "What it does"
requires-python = ">=3.10"
license = "Apache-2.0"
license-files = ["LICENSE"]
dependencies = ["x>=1"]
[project.optional-dependencies]
more = ["y"]
[project.scripts]
a-b = "a_b.cli:main"
"""


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    files = {
        "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
        "pyproject.toml": PYPROJECT,
        "README.md": "# a_b\n",
        "LICENSE": "Do.\n",
        "python/a_b/__init__.py": "",
        "out/a_b/_native.abi3.so": "native",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return [
        "--tag=cp310-abi3-any",
        *(f"--{name.lower()}={tmp_path / file}" for name, file in OPTIONS.items()),
        f"--root={tmp_path}/python/",
        f"--generated-root={tmp_path}/out/",
        f"{tmp_path}/python/a_b/__init__.py",
        f"{tmp_path}/out/a_b/_native.abi3.so",
    ]


OPTIONS = {
    "cargo": "Cargo.toml",
    "pyproject": "pyproject.toml",
    "readme": "README.md",
    "license": "LICENSE",
}


def packed(inputs: list[str], out: Path) -> Path:
    subprocess.run([sys.executable, make_wheel.__file__, f"--out={out}", *inputs], check=True)
    return out


def test_wheel_holds_package_native_module_and_metadata(inputs: list[str], tmp_path: Path) -> None:
    with zipfile.ZipFile(packed(inputs, tmp_path / "a.whl")) as archive:
        assert archive.namelist() == [
            "a_b/__init__.py",
            "a_b/_native.abi3.so",
            "a_b-1.2.3.dist-info/METADATA",
            "a_b-1.2.3.dist-info/WHEEL",
            "a_b-1.2.3.dist-info/entry_points.txt",
            "a_b-1.2.3.dist-info/licenses/LICENSE",
            "a_b-1.2.3.dist-info/RECORD",
        ]
        fields = Parser().parsestr(archive.read("a_b-1.2.3.dist-info/METADATA").decode())
    assert fields["Version"] == "1.2.3"
    assert fields.get_all("License-File") == ["LICENSE"]
    assert fields.get_all("Requires-Dist") == ["x>=1", 'y ; extra == "more"']


def test_same_inputs_at_another_time_give_the_same_bytes(inputs: list[str], tmp_path: Path) -> None:
    first = packed(inputs, tmp_path / "a.whl").read_bytes()
    time.sleep(2.1)  # the resolution of times in a ZIP archive is two seconds
    for name in ("python/a_b/__init__.py", "out/a_b/_native.abi3.so"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    assert packed(inputs, tmp_path / "b.whl").read_bytes() == first
