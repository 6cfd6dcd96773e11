"""Seals: who a browser is, by a cookie that nobody else can make, and the slip that each of its forms must bear."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

SIGNED_IN_S = 12 * 3600
"""How long a browser stays signed in: a night's watch."""

COOKIE_MAX = 200
_SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Visit:
    """One browser: `id` is its own for as long as its cookie lasts; `signed_in` says that it has shown the token."""

    id: str
    signed_in: bool


class Seals:
    """Makes and reads cookies and slips. `secret` is this process's own: a restart signs everybody out."""

    def __init__(self, now: Callable[[], float], secret: bytes | None = None) -> None:
        self._now = now
        self._secret = secret or secrets.token_bytes(32)

    def new(self, *, signed_in: bool = False) -> Visit:
        """A browser not seen before."""
        return Visit(secrets.token_urlsafe(18), signed_in)

    def sealed(self, visit: Visit) -> str:
        """The cookie of a visit, good for SIGNED_IN_S seconds from now."""
        told = _SEPARATOR.join((visit.id, str(int(visit.signed_in)), str(int(self._now()) + SIGNED_IN_S)))
        return f"{told}{_SEPARATOR}{self._mark('visit', told)}"

    def opened(self, cookie: str | None) -> Visit | None:
        """The visit of a cookie that this process made and that has not run out; None for any other."""
        if cookie is None or len(cookie) > COOKIE_MAX:
            return None
        told, _, mark = cookie.rpartition(_SEPARATOR)
        if not same(mark, self._mark("visit", told)):
            return None
        name, signed_in, ends = told.split(_SEPARATOR)
        return Visit(name, signed_in == "1") if int(ends) > self._now() else None

    def slip(self, visit: Visit) -> str:
        """What each form of this browser must bear to be acted on."""
        return self._mark("slip", f"{visit.id}{_SEPARATOR}{int(visit.signed_in)}")

    def _mark(self, what: str, told: str) -> str:
        return hmac.new(self._secret, f"{what}:{told}".encode(), hashlib.sha256).hexdigest()


def same(given: str, right: str) -> bool:
    """Whether two texts are equal, in a time that tells nothing of where they differ, nor of how long either is."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, right))
    return hmac.compare_digest(*digests)
