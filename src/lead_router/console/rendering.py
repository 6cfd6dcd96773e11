"""Rendering: templates that escape whatever they show, for leads' names come from the public web."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from lead_router import __version__
from lead_router.app.shares import GroupShare
from lead_router.core.ages import age

NOTHING = "\N{EN DASH}"
_SECOND_MS = 1000
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_TEENS = (11, 12, 13)
_CODE = re.compile(r"`([^`]+)`")
_LEAD_ID = re.compile(r"\b00Q[A-Za-z0-9]{15}\b")
_TENS_MS = 10_000


def duration(milliseconds: float | None) -> str:
    """A wait in the unit a person would use: `59 ms`, `1.5 s`, `42 s`, `7 min`."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < _SECOND_MS:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _TENS_MS:
        return f"{milliseconds / _SECOND_MS:.1f} s"
    return age(milliseconds / _SECOND_MS)


def instant(at: datetime | None) -> str:
    """A moment in UTC, to the second."""
    return NOTHING if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def minute(at: datetime | None) -> str:
    """A moment in UTC, to the minute, as what is planned is told."""
    return NOTHING if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%MZ}"


def apart(leads: float | None) -> str:
    """So many leads, with their sign."""
    if leads is None:
        return NOTHING
    shown = round(leads, 1)
    return f"{shown:+.1f}".replace("-", "\N{MINUS SIGN}") if shown else "0"


def ordinal(place: int) -> str:
    """A place among those who come: `next`, `2nd`, `11th`."""
    if place == 1:
        return "next"
    ending = "th" if place % 100 in _TEENS else _ENDINGS.get(place % 10, "th")
    return f"{place}{ending}"


def linked(text: str) -> Markup:
    """A text, escaped, in which the ids of leads lead to their stories."""
    return Markup(_LEAD_ID.sub(r'<a href="/lead/\g<0>">\g<0></a>', str(escape(text))))  # noqa: S704 - escaped before


def longest(group: GroupShare) -> float:
    """What a full bar stands for in a group: the most turns that one of it had, or should have had."""
    return max(1.0, *(max(float(one.turns), one.fair or 0.0) for one in group.members))


def coded(text: str) -> Markup:
    """A text, escaped, in which what stands between backticks is code, and ids of leads lead to their stories."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(linked(text))))  # noqa: S704 - escaped before


_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "age": age,
    "apart": apart,
    "coded": coded,
    "duration": duration,
    "instant": instant,
    "linked": linked,
    "minute": minute,
    "ordinal": ordinal,
}


class Paper:
    """All templates, read once."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("lead_router.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(_FILTERS)
        self._templates.globals.update(version=__version__, longest=longest)

    def text(self, template: str, **shown: Any) -> str:
        """The page's HTML."""
        return self._templates.get_template(template).render(**shown)

    def page(self, template: str, *, status: int = 200, **shown: Any) -> web.Response:
        """The page."""
        return web.Response(text=self.text(template, **shown), status=status, content_type="text/html")
