"""What a type checker finds in code that uses the installed package: its types, and mistakes."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MYPY = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "--config-file="]
ERROR = re.compile(r":(\d+): error: ")


def mypy(file: str) -> tuple[int, str]:
    done = subprocess.run([*MYPY, str(HERE / file)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_right_use_has_the_promised_types() -> None:
    code, report = mypy("right_use.py")
    assert code == 0, report


def test_wrong_use_is_found_line_by_line() -> None:
    code, report = mypy("wrong_use.py")
    lines = (HERE / "wrong_use.py").read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert code == 1, report
    assert {int(number) for number in ERROR.findall(report)} == marked, report
