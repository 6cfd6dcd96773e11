"""Elders: older leads of a submission that still wait for an owner, though none of this round's asks is theirs."""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.core.model import Ask
from lead_router.core.reopening import Wanted, want_of
from lead_router.core.table import Case, Table, age, routed_before


def line_up_elders(table: Table, asks: Sequence[Ask]) -> None:
    """Of each submission key the oldest of the snapshot's elders that waits, but for leads that are asked for now."""
    asked = {ask.lead_id for ask in asks}
    for elder in sorted(table.snapshot.elders, key=lambda one: age(one.ask)):
        if elder.ask.lead_id not in asked and _waits(table, elder.ask):
            for key in elder.keys:
                table.elders.setdefault(key, elder.ask)


def elder_of(table: Table, case: Case) -> str | None:
    """The lead that this one waits for, if an older one of its submission has no owner yet."""
    keys = () if case.submission is None else (case.submission.even, case.submission.odd)
    found = [table.elders[key] for key in keys if key in table.elders]
    older = [ask for ask in found if age(ask) < age(case.ask) and ask.lead_id != case.lead.id]
    return min(older, key=age).lead_id if older else None


def _waits(table: Table, ask: Ask) -> bool:
    """A lead that was not read waits, unless it is known to be gone; one that was routed before is in the ledger."""
    if ask.lead_id in table.snapshot.gone:
        return False
    lead = table.snapshot.leads.get(ask.lead_id)
    return lead is None or (not routed_before(table, lead) and isinstance(want_of(table, ask, lead), Wanted))
