"""Fixtures that every folder of tests may ask for."""

from __future__ import annotations

import pytest

from lead_router.log import configure

pytest_plugins = ["support.chromium", "support.apex", "support.postgres", "support.databases", "support.router"]


@pytest.fixture(scope="session", autouse=True)
def _log_as_in_production():
    """Tests log as the product does: one JSON line per fact, captured by pytest."""
    configure("info")
