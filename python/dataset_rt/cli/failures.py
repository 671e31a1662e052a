"""What went wrong, in one or two lines on standard error, and the exit code it gives."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from dataset_rt.cli import FAILED, INTERRUPTED, USAGE
from dataset_rt.cli.screen import clean
from dataset_rt.errors import DatasetError, InvalidConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["UsageError", "Verdict", "describe", "reported", "say"]

MOST_CHARACTERS = 600


class UsageError(Exception):
    """Arguments that do not fit each other or the caches."""


class Verdict:
    """The exit code of a command over several caches: one that fails hides no other."""

    def __init__(self) -> None:
        self.code = 0

    @contextmanager
    def keeping_on(self, entries: list[dict[str, object]], path: str) -> Iterator[None]:
        """Report a failure, give it a line among the JSON entries, and go on."""
        try:
            yield
        except (DatasetError, OSError) as error:
            self.code = max(self.code, FAILED)
            say(error)
            told = {"type": _class_name(error), "message": str(error)}
            entries.append({"path": path, "error": told})

    def leave(self) -> None:
        """End the command with the code, if it is not 0."""
        if self.code:
            raise typer.Exit(self.code)


@contextmanager
def reported() -> Iterator[None]:
    """Turn what a user can cause into lines and an exit code; a bug keeps its traceback."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # the reader of a pipe has seen enough; what is left in buffers goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (InvalidConfigError, UsageError) as error:
        say(error)
        raise typer.Exit(USAGE) from None
    except (DatasetError, OSError) as error:
        say(error)
        raise typer.Exit(FAILED) from None


def say(error: Exception) -> None:
    """Write an error's lines."""
    print(f"dataset-rt: {describe(error)}", file=sys.stderr)


def describe(error: Exception) -> str:
    """The sentence of an error; with the path, if it does not name it; no longer than a screen."""
    text = clean(str(error))
    path = getattr(error, "path", None)
    if isinstance(path, str) and clean(path) not in text:
        text = f"{clean(path)}: {text}"
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text


def _class_name(error: Exception) -> str:
    """The public class: private ones only add a built-in base."""
    return next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("_"))
