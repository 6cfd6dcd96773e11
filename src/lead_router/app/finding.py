"""Finding: which lead is meant, by id, e-mail address or name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lead_router.app.wiring import Wired
from lead_router.core.ids import is_id, to18
from lead_router.salesforce import queries
from lead_router.salesforce.names import LeadFields, Objects, Standard
from lead_router.salesforce.records import moment

FOUND_MAX = 50
SOUGHT_MAX = 120
"""Characters that are looked for; Salesforce's own names have at most 121, addresses 80."""

_COMPANY = "Company"
_OWNER = "Owner"
_FIELDS = (
    Standard.ID,
    Standard.NAME,
    _COMPANY,
    Standard.EMAIL,
    Standard.STATUS,
    f"{_OWNER}.{Standard.NAME}",
    LeadFields.STATUS,
    Standard.CREATED_AT,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A lead as a search shows it; its texts are as the public wrote them."""

    id: str
    name: str
    company: str
    email: str
    status: str
    owner: str
    routing: str
    created_at: datetime


def lead_id_of(text: str) -> str | None:
    """The 18-character id that the text is, 15 or 18 characters long; None for anything else."""
    return to18(text) if text.startswith("00Q") and is_id(text) else None


def find_leads(wired: Wired, text: str) -> tuple[Found, ...]:
    """Leads with that e-mail address, or whose name or last name begins so, newest first; at most FOUND_MAX."""
    sought = text.strip()[:SOUGHT_MAX]
    if not sought:
        return ()
    if "@" in sought:
        where = f"{Standard.EMAIL} = {queries.text(sought)}"
    else:
        begins = queries.like("{}%", sought)
        where = f"{Standard.NAME} LIKE {begins} OR LastName LIKE {begins}"
    tail = f"WHERE {where} ORDER BY {Standard.CREATED_AT} DESC, {Standard.ID} DESC LIMIT {FOUND_MAX}"
    return tuple(map(_found, wired.rest.query(queries.select(_FIELDS, Objects.LEAD, tail))))


def lead_named(wired: Wired, lead_id: str) -> Found | None:
    """The lead of an id, None where it is not there or this user cannot see it."""
    tail = f"WHERE {Standard.ID} = {queries.text(lead_id)}"
    return next(map(_found, wired.rest.query(queries.select(_FIELDS, Objects.LEAD, tail))), None)


def leads_named(wired: Wired, lead_ids: Sequence[str]) -> tuple[Found, ...]:
    """Of these leads, a few hundred at most, those that are there and that this user can see."""
    if not lead_ids:
        return ()
    tail = f"WHERE {queries.among(Standard.ID, lead_ids)}"
    return tuple(map(_found, wired.rest.query(queries.select(_FIELDS, Objects.LEAD, tail))))


def told(found: Found) -> str:
    """A lead as people know it."""
    return ", ".join(part for part in (found.name, found.company) if part)


def _found(row: Mapping[str, Any]) -> Found:
    return Found(
        id=str(row[Standard.ID]),
        name=row[Standard.NAME] or "",
        company=row[_COMPANY] or "",
        email=row[Standard.EMAIL] or "",
        status=row[Standard.STATUS] or "",
        owner=(row[_OWNER] or {}).get(Standard.NAME) or "",
        routing=row[LeadFields.STATUS] or "",
        created_at=moment(row[Standard.CREATED_AT]),
    )
