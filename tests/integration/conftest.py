"""Fixtures shared by the integration tests."""

import dataset_rt as drt
import pytest


@pytest.fixture(scope="session")
def runtime() -> drt.DatasetRuntime:
    """One pool of two threads for tests that do not care."""
    return drt.DatasetRuntime(num_workers=2)
