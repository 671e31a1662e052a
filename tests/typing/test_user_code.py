"""What type checkers find in code that uses the installed package: its types, and mistakes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "--config-file="],
    "pyright": [
        sys.executable,
        "-m",
        "basedpyright",
        "--pythonpath",
        sys.executable,
        "--level=error",
    ],
}
ERROR = re.compile(r"\.py:(\d+)(?::\d+)?(?: -)?:? error: ")


def check(checker: str, file: str, folder: Path) -> tuple[int, str]:
    """The exit code and the report on a copy of a file, away from the settings of this checkout."""
    copy = folder / file
    copy.write_text((HERE / file).read_text())
    command = [*CHECKERS[checker], str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    return tmp_path


@pytest.mark.parametrize("checker", CHECKERS)
def test_right_use_has_the_promised_types(checker: str, folder: Path) -> None:
    code, report = check(checker, "right_use.py", folder)
    assert code == 0, report


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_use_is_found_line_by_line(checker: str, folder: Path) -> None:
    code, report = check(checker, "wrong_use.py", folder)
    lines = (HERE / "wrong_use.py").read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert code == 1, report
    assert {int(number) for number in ERROR.findall(report)} == marked, report
