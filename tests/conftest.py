"""Fixtures that every folder of tests may ask for."""

from __future__ import annotations

import pytest
import structlog

from lead_router.log import configure

pytest_plugins = ["support.chromium", "support.apex", "support.postgres", "support.databases", "support.router"]

_configure = structlog.configure


def _unbound(**settings):
    """No logger is bound for good to the log that is set up when it is first used."""
    _configure(**{**settings, "cache_logger_on_first_use": False})


@pytest.fixture(scope="session", autouse=True)
def _log_as_in_production():
    """Tests log as the product does: one JSON line per fact, captured by pytest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structlog, "configure", _unbound)
        configure("info")
        yield


@pytest.fixture(autouse=True)
def _log_is_put_back():
    """A log that one test sets up is not that of the tests after it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)
