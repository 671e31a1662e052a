"""The screen of a notebook, for progress that the core renders."""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["notebook_sink"]


def notebook_sink() -> Callable[[str, int, int], None] | None:
    """Find the output cell of a running notebook.

    Returns:
        A function that shows a text, and a bar of the sources done, in place of the last ones;
        or None outside notebooks, where the core writes to standard error by itself.
    """
    if "ipykernel" not in sys.modules:
        return None
    shell = getattr(import_module("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    display = import_module("IPython.display").display
    handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(text: str, done: int, sources: int) -> None:
        bar = f'<progress value="{done}" max="{sources}"></progress>' if sources > 1 else ""
        handle.update(
            {"text/plain": text, "text/html": f"{bar} <code>{escape(text)}</code>"}, raw=True
        )

    return show
