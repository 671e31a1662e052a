"""maturin as pip calls it, and a clear answer where the module cannot work.

The native module keeps to the stable ABI of CPython 3.10, which free-threaded builds of CPython do
not have. maturin would build something else for them, which nobody has tried.
"""

from __future__ import annotations

import sysconfig
from typing import Any

import maturin

build_editable = maturin.build_editable
build_sdist = maturin.build_sdist
build_wheel = maturin.build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel


def _refuse_free_threaded() -> None:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit(
            "dataset_rt cannot be built for free-threaded CPython: it uses the stable ABI of "
            "CPython 3.10, which that build does not have. Use the ordinary build of CPython."
        )


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What building a wheel needs: the first question of pip, so the refusal comes at once."""
    _refuse_free_threaded()
    required: list[str] = maturin.get_requires_for_build_wheel(config_settings)
    return required


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What an editable installation needs, asked first as well."""
    _refuse_free_threaded()
    required: list[str] = maturin.get_requires_for_build_editable(config_settings)
    return required
