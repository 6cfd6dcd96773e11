"""Addresses: a lead's e-mail address and its domain, as records are matched by them."""

from __future__ import annotations

import re

from lead_router.core.keys import EMAIL
from lead_router.core.model import Lead

_ADDRESS = re.compile(r"[^\s@]+@(?P<domain>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]*[a-z0-9])+)")


def address(lead: Lead) -> tuple[str, str] | None:
    """The lead's e-mail address and its domain in lower case; None where it has none that can be asked for."""
    found = _ADDRESS.fullmatch(written(lead))
    return None if found is None else (found[0], found["domain"])


def written(lead: Lead) -> str:
    """What stands in the lead's e-mail field, in lower case; empty where nothing does."""
    return str(lead.fields.get(EMAIL) or "").strip().lower()
