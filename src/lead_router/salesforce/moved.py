"""Redirects: an org whose address has changed. None is followed: a token is for the host that the login named."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import requests

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_HOST = re.compile(r"[\w.:-]{1,255}")
_ELSEWHERE: Final = "another address"
_REMEDY: Final = "set LEAD_ROUTER_LOGIN_URL to the org's present My Domain address and restart this router"


class Moved(Exception):
    """The host of a token redirects; its text is a sentence with both hosts, and nothing else of either address."""


def led_to(answer: requests.Response) -> str | None:
    """The host that an answer redirects to, in words where it names none; None where it is no redirect."""
    if answer.status_code not in REDIRECTS:
        return None
    try:
        host = urlsplit(answer.headers.get("Location", "")).netloc
    except ValueError:
        return _ELSEWHERE
    return host if _HOST.fullmatch(host) else _ELSEWHERE


def redirected(url: str, to: str) -> str:
    """What happened to a request."""
    return f"{urlsplit(url).netloc} redirects to {to}, where no token is sent"


def login_redirected(url: str, to: str) -> str:
    """Why there is no login."""
    return f"the login to {urlsplit(url).netloc} is redirected to {to}, where no secret is sent: {_REMEDY}"


def still_there(why: str, instance_url: str) -> str:
    """Why a new login is of no help."""
    host = urlsplit(instance_url).netloc
    return f"{why}, and a new login leads to {host} again: if the org's My Domain was changed, {_REMEDY}"
