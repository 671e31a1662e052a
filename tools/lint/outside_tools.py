"""Runs one tool of others over the tree: `outside_tools.py ruff|format|mypy|stubs|shellcheck`.

The settings of the Python tools stand in pyproject.toml.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from main import default_root
from tree import Tree


def ruff_program() -> str:
    """The program of the installed package: in bin/ of the packages' folder, or of its parent."""
    import ruff

    packages = Path(ruff.__file__).resolve().parent.parent
    for program in (packages / "bin" / "ruff", packages.parent / "bin" / "ruff"):
        if program.exists():
            return str(program)
    return "ruff"


def command(tool: str, root: Path) -> list[str]:
    """The command line of a tool."""
    if tool == "ruff":
        return [ruff_program(), "check", "--no-cache", "."]
    if tool == "format":
        return [ruff_program(), "format", "--no-cache", "--diff", "."]
    if tool == "shellcheck":
        scripts = Tree.read(root).paths("tools/bazel", "tools/dev/*", ".ci/*")
        return ["shellcheck", "--external-sources", "--check-sourced", *scripts]
    if tool == "mypy":
        checked = ["python/dataset_rt", "benchmarks"]
        return [sys.executable, "-m", "mypy", "--cache-dir=/dev/null", *checked]
    allowlist = root / "tests" / "typing" / "stub_allowlist.txt"
    return [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "dataset_rt._native",
        "--allowlist",
        str(allowlist),
        "--concise",
    ]


def main() -> int:
    """Runs the tool and returns its exit code."""
    root = default_root()
    environment = dict(os.environ)
    # mypy and the processes it starts find packages where this process does
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.call(command(sys.argv[1], root), cwd=root, env=environment)


if __name__ == "__main__":
    sys.exit(main())
