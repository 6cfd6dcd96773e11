"""Addresses: a lead's e-mail address and its domain, as records are matched by them."""

from __future__ import annotations

import re

from lead_router.core.keys import EMAIL
from lead_router.core.model import Lead

_PUBLIC = """gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr ymail.com outlook.com hotmail.com hotmail.co.uk
    hotmail.fr live.com msn.com icloud.com me.com mac.com aol.com gmx.com gmx.de gmx.net web.de t-online.de freenet.de
    orange.fr wanadoo.fr free.fr laposte.net libero.it protonmail.com proton.me mail.com mail.ru yandex.ru yandex.com
    qq.com 163.com 126.com naver.com comcast.net verizon.net att.net zoho.com fastmail.com hey.com"""
PUBLIC_DOMAINS = frozenset(_PUBLIC.split())
"""Domains whose addresses say nothing about whom their holder works for."""

_ADDRESS = re.compile(r"[^\s@]+@(?P<domain>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]*[a-z0-9])+)")


def address(lead: Lead) -> tuple[str, str] | None:
    """The lead's e-mail address and its domain in lower case; None where it has none that can be asked for."""
    found = _ADDRESS.fullmatch(written(lead))
    return None if found is None else (found[0], found["domain"])


def written(lead: Lead) -> str:
    """What stands in the lead's e-mail field, in lower case; empty where nothing does."""
    return str(lead.fields.get(EMAIL) or "").strip().lower()
