"""Every test gets lanes of its own: a program of one test must not merge those of the next."""

import pytest

from mpmd.runtime import lanes


@pytest.fixture(autouse=True)
def fresh_lanes():
    yield
    lanes.REGISTRY.shutdown()
