"""The command ``dataset-rt``: caches looked at, checked, measured and converted in a shell.

Owns words on a screen and exit codes; every fact comes from the public names of dataset_rt.
Nothing here is imported by ``import dataset_rt``, and typer, rich and matplotlib only once a
command runs.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: fine; damage, or a cache that can't be opened; wrong arguments; Ctrl-C."""


def main() -> int:
    """Run the command that the arguments of the process name.

    Returns:
        The exit code.
    """
    try:
        try:
            from dataset_rt.cli.app import run
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "dataset_rt":
                raise
            print(
                f"dataset-rt: {error.name} is missing; the command needs the packages of the "
                "extra cli: pip install typer rich matplotlib",
                file=sys.stderr,
            )
            return USAGE
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
