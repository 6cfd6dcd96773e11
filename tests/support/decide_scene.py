"""Builds what `decide` looks at: configuration, leads, groups, ledger rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lead_router.core.ids import to18
from lead_router.core.keys import lead_key
from lead_router.core.model import (
    Ask,
    Configuration,
    Group,
    Lead,
    LedgerRow,
    Member,
    Mode,
    Rule,
    Snapshot,
    ToGroup,
)

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
INTAKE = to18("00G000000000001")
FALLBACK = to18("00G000000000002")


def user(name: str) -> str:
    """The id of the user behind the member of that one-letter name."""
    return to18(f"00500000000000{name}")


def lead_id(number: int) -> str:
    return to18(f"00Q{number:012d}")


def rule(name: str, precedence: int, criteria: str = "", target: Any = None) -> Rule:
    return Rule(name, name, precedence, criteria, target or ToGroup("g1"))


def configuration(*rules: Rule, **changes: Any) -> Configuration:
    """One catch-all to group g1 unless told otherwise; duplicates are looked for within ten minutes."""
    fields: dict[str, Any] = {
        "rules": rules or (rule("all", 1),),
        "group_keys": {"g1": "emea", "g2": "apac"},
        "queues": {"Lead_Intake": INTAKE, "Lost_Leads": FALLBACK},
        "intake_owners": frozenset({INTAKE}),
        "unassigned": "",
        "form_field": None,
        "submission_window_s": 600,
        "follow_wait_s": 600,
        "integration_user_id": user("R"),
        "lead_fields": frozenset({"Email", "Country"}),
    }
    return Configuration(**(fields | changes))


def rep(name: str, **changes: Any) -> Member:
    """A member on duty, of weight 1, whose id and name are the letter."""
    fields: dict[str, Any] = {
        "id": name,
        "user_id": user(name),
        "name": name,
        "weight": 1,
        "sort_order": 0,
        "active": True,
        "user_active": True,
        "next_turn": None,
        "last_turn": None,
    }
    return Member(**(fields | changes))


def pool(key: str, members: str | Iterable[Member], **changes: Any) -> Group:
    """Group g1 for `emea`, g2 for `apac`; members by their letters."""
    rows = tuple(rep(one) if isinstance(one, str) else one for one in members)
    fields: dict[str, Any] = {
        "id": {"emea": "g1", "apac": "g2"}[key],
        "key": key,
        "name": key.upper(),
        "mode": Mode.LIVE,
        "epoch": 0,
        "turn": 0,
        "clock": 0,
        "fallback_queue": None,
        "members": rows,
    }
    return Group(**(fields | changes))


def lead(number: int, email: str | None = None, **changes: Any) -> Lead:
    """A new lead of the intake queue, created now."""
    own = {name: changes.pop(name) for name in list(changes) if name[0].isupper()}
    owner = changes.get("owner_id", INTAKE)
    fields: dict[str, Any] = {
        "id": lead_id(number),
        "owner_id": owner,
        "created_at": NOW,
        "round": 0,
        "stamp": None,
        "status": "New",
        "is_converted": False,
        "fields": {"Email": email, "CreatedDate": "2026-03-04T12:00:00.000+0000", "OwnerId": owner} | own,
    }
    return Lead(**(fields | changes))


def ask(number: int, waited_s: float = 0.0, key: str | None = None) -> Ask:
    return Ask(number, key or f"job-{number}", lead_id(number), NOW, waited_s)


def row(number: int, owner: str | None, round_: int = 1, **changes: Any) -> LedgerRow:
    """A ledger row of lead `number`, whose present owner is `owner`."""
    fields: dict[str, Any] = {
        "id": f"row-{number}-{round_}",
        "lead_id": lead_id(number),
        "lead_key": lead_key(lead_id(number), round_),
        "round": round_,
        "idempotency_key": f"row-key-{number}-{round_}",
        "submission_even": None,
        "submission_odd": None,
        "assigned_to": owner or user("Z"),
        "outcome": "Assigned",
        "lead_owner_id": owner,
    }
    return LedgerRow(**(fields | changes))


def snapshot(
    leads: Iterable[Lead], groups: Iterable[Group], ledger: Iterable[LedgerRow] = (), **changes: Any
) -> Snapshot:
    return Snapshot(
        taken_at=NOW,
        groups={group.id: group for group in groups},
        leads={one.id: one for one in leads},
        ledger=tuple(ledger),
        **changes,
    )
