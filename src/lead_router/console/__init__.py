"""The console: a page set for the operator at 3 a.m. and the RevOps lead on Monday, beside a running router."""

from __future__ import annotations

from importlib.util import find_spec

from lead_router.errors import Misconfigured
from lead_router.ports.extras import install
from lead_router.settings import Settings

INSTALL = install("operations")


def serve(settings: Settings, address: str) -> int:
    """Serve until SIGTERM or SIGINT; the answer is the exit code. Raises Misconfigured naming what to change."""
    if missing := lack():
        raise Misconfigured(missing)
    from lead_router.console.serving import served  # noqa: PLC0415 - an extra

    return served(settings, address)


def lack() -> str:
    """What of the extra is not installed; empty where nothing is."""
    return f"the console needs jinja2, which is not installed: {INSTALL}" if find_spec("jinja2") is None else ""
