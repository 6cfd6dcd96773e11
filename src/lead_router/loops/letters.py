"""Letters: a notice in words. Nothing of the lead is shown but its link, unless its channel names fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lead_router.core.model import Lead
from lead_router.ports.notices import Letter, NewNotice, NoticeKind

VALUE_MAX: Final = 80
"""Characters that are shown of a field."""

_TITLES: Final = {
    NoticeKind.ASSIGNED: "New lead",
    NoticeKind.FALLBACK: "New lead",
    NoticeKind.MATCHED: "New lead",
    NoticeKind.DUPLICATE: "Second lead of one submission",
    NoticeKind.REMINDER: "A lead is waiting",
}
# What somebody typed into a form must become neither a mention nor a link nor markup where it is shown.
_SHOWN = re.compile(r"[^\w .,'&()/+-]+")
_DOT = re.compile(r"\.(?=\S)")


def letter(notice: NewNotice, home: str, *, lead: Lead | None = None, fields: Sequence[str] = ()) -> Letter:
    """The notice as a letter; `home` is the org's address, `fields` of the lead are shown where it was read."""
    shown = [f"{name}: {_plain(lead.fields.get(name))}" for name in fields] if lead is not None else []
    title = _TITLES[notice.kind]
    return Letter(
        title=f"{title} for {notice.name}" if notice.name else title,
        lines=(notice.reason, *shown),
        link=f"{home.rstrip('/')}/lightning/r/Lead/{notice.lead_id}/view",
        lead_id=notice.lead_id,
        user_id=notice.user_id,
    )


def _plain(value: object) -> str:
    if value is None:
        return "-"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = _DOT.sub(". ", " ".join(_SHOWN.sub(" ", text).split()))
    return text if len(text) <= VALUE_MAX else text[: VALUE_MAX - 1] + "…"
