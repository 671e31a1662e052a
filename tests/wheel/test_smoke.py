"""The wheel, installed into a fresh virtual environment without network."""

import importlib.metadata
import sys

import dataset_rt


def test_import_finds_the_installed_package() -> None:
    assert dataset_rt.__file__.startswith(sys.prefix)


def test_version_agrees_with_the_metadata() -> None:
    assert dataset_rt.__version__ == importlib.metadata.version("dataset_rt")
