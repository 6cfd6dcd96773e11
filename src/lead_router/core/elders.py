"""Elders: older leads of a submission that still wait for an owner, though none of this round's asks is theirs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from lead_router.core.ids import is_user
from lead_router.core.keys import submission_of
from lead_router.core.model import Ask, Elder, Lead
from lead_router.core.reopening import Wanted, want_of
from lead_router.core.rules import is_unassigned
from lead_router.core.siblings import WAITS_FOR
from lead_router.core.table import Case, Table, age, routed_before

_AWAITED: Final = re.compile(rf"{WAITS_FOR}(00Q\w{{15}})\b")


def line_up_elders(table: Table, asks: Sequence[Ask]) -> None:
    """Of each submission key the oldest of the snapshot's elders that waits, but for leads that are asked for now."""
    asked = {ask.lead_id for ask in asks}
    for elder in sorted(table.snapshot.elders, key=lambda one: age(one.ask)):
        if elder.ask.lead_id not in asked and _waits(table, elder.ask):
            for key in _keys(table, elder):
                table.elders.setdefault(key, elder.ask)


def elder_of(table: Table, case: Case) -> str | None:
    """The lead that this one waits for, if an older one of its submission has no owner yet."""
    keys = () if case.submission is None else (case.submission.even, case.submission.odd)
    found = [table.elders[key] for key in keys if key in table.elders]
    older = [ask for ask in found if age(ask) < age(case.ask) and ask.lead_id != case.lead.id]
    return min(older, key=age).lead_id if older else None


def awaited_by(lead: Lead) -> str | None:
    """The first lead of its submission that this one waits for, by what it shows itself."""
    found = _AWAITED.match(lead.told) if lead.held else None
    return None if found is None else found[1]


def ended(table: Table, lead: Lead) -> str:
    """What became of the first that this lead waited for, where that is known and its submission goes no further."""
    first_id = awaited_by(lead)
    if first_id is None:
        return ""
    if first_id in table.snapshot.gone:
        master = table.snapshot.gone[first_id]
        return _said(first_id, "was deleted" if master is None else f"was merged into lead {master}")
    first = table.snapshot.leads.get(first_id)
    if first is None or routed_before(table, first):
        return ""
    if first.is_converted:
        return _said(first_id, "was converted before it was routed")
    unassigned = is_unassigned(table.book, first, table.snapshot.taken_at, routed_before=False)
    return (
        "" if unassigned or not is_user(first.owner_id) else _said(first_id, "was taken by hand before it was routed")
    )


def _said(first_id: str, fate: str) -> str:
    return f"Lead {first_id} of the same submission, for which it waited, {fate}; so it is routed by itself."


def _keys(table: Table, elder: Elder) -> Collection[str]:
    """Those of the lead as it was read: its address may have been corrected since its job was last put back."""
    lead = table.snapshot.leads.get(elder.ask.lead_id)
    if lead is None:
        return elder.keys
    submission = submission_of(lead.fields, table.configuration)
    return () if submission is None else (submission.even, submission.odd)


def _waits(table: Table, ask: Ask) -> bool:
    """A lead that was not read waits, unless it is known to be gone; one that was routed before is in the ledger."""
    if ask.lead_id in table.snapshot.gone:
        return False
    lead = table.snapshot.leads.get(ask.lead_id)
    return lead is None or (not routed_before(table, lead) and isinstance(want_of(table, ask, lead), Wanted))
