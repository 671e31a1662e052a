"""Runs one pytest file as a Bazel test: here, or in a fresh virtual environment with the wheel.

Usage: pytest_main.py FILE [--wheel=WHEEL]. Paths are relative to the runfiles root of the
workspace, where Bazel starts tests. A file in which no test was found fails (pytest's code 5).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path


def pytest_arguments(file: str) -> list[str]:
    """Arguments for pytest: no cache, its report and its temporary files where Bazel wants them."""
    arguments = [
        file,
        "-p",
        "no:cacheprovider",
        "-q",
        "-c",
        "pyproject.toml",
        "--rootdir=.",
    ]
    arguments.append(f"--basetemp={Path(os.environ['TEST_TMPDIR']) / 'pytest'}")
    if report := os.environ.get("XML_OUTPUT_FILE"):
        arguments.append(f"--junitxml={report}")
    if importlib.util.find_spec("hypothesis"):
        # the same examples every time, and no verdict on how fast this machine is
        arguments.append("--hypothesis-profile=ci")
    if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        arguments += ["-k", only]
    return arguments


def library_folders() -> list[str]:
    """Folders of this path with locked packages, the interpreter's own, and libraries of tests."""
    tests = Path.cwd() / "tests"
    return [
        entry
        for entry in sys.path
        if Path(entry).name in {"site-packages", "dist-packages"}
        or Path(entry).is_relative_to(tests)
    ]


def install(wheel: Path, folder: Path) -> Path:
    """Installs the wheel without network into a new environment; returns its interpreter.

    A .pth file puts the locked packages on its path: pip finds every dependency there or fails.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    purelib = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    ).strip()
    Path(purelib, "locked.pth").write_text("\n".join(library_folders()) + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-index", "--no-cache-dir", str(wheel)], check=True
    )
    return python


def main() -> int:
    """Runs the file and returns pytest's exit code."""
    file, *options = sys.argv[1:]
    os.environ.setdefault("HOME", os.environ["TEST_TMPDIR"])
    arguments = pytest_arguments(file)
    for option in options:
        wheel = Path(option.removeprefix("--wheel="))
        python = install(wheel, Path(os.environ["TEST_TMPDIR"]) / "venv")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.call([python, "-m", "pytest", *arguments], env=environment)
    import pytest

    return int(pytest.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
