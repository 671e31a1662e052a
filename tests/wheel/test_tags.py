"""Which interpreters take the wheel, by the rules that pip decides by."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.tags import Tag, cpython_tags
from packaging.utils import parse_wheel_filename

WHEEL = Path(os.environ["DATASET_RT_WHEEL"])
TAGS = parse_wheel_filename(WHEEL.name)[3]
(PLATFORM,) = {tag.platform for tag in TAGS}


def taken(version: tuple[int, int], abi: str, platform: str = PLATFORM) -> bool:
    supported: set[Tag] = set(cpython_tags(version, [abi], [platform]))
    return not TAGS.isdisjoint(supported)


@pytest.mark.parametrize("minor", range(10, 20))
def test_every_cpython_from_3_10_on_takes_it(minor: int) -> None:
    assert taken((3, minor), f"cp3{minor}")


def test_older_cpython_and_other_platforms_refuse_it() -> None:
    assert not taken((3, 9), "cp39")
    assert not taken((3, 14), "cp314", "win_amd64")
    assert not taken((3, 14), "cp314", "musllinux_1_2_x86_64")


@pytest.mark.parametrize("minor", [13, 14, 15])
def test_free_threaded_cpython_refuses_it(minor: int) -> None:
    assert not taken((3, minor), f"cp3{minor}t")
