"""Anew: leads as they would be, had they just come in: without owner, rounds, ledger rows or routing fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from lead_router.core.ids import is_user
from lead_router.core.model import Configuration, Lead, Snapshot

_OURS = "Routing_"  # begins the names of the fields that routing alone writes


def as_new(configuration: Configuration, snapshot: Snapshot, lead_ids: Collection[str]) -> Snapshot:
    """The snapshot as it would be, had these leads just come in; what else was given out, and to whom, stays.

    Their owner is an intake owner, a queue rather than a person; a status that makes leads unassigned is theirs where
    there are such. Where nothing counts as unassigned, owner and status are as they were.
    """
    ids = frozenset(lead_ids)
    leads = {key: _new(configuration, lead) if key in ids else lead for key, lead in snapshot.leads.items()}
    return replace(snapshot, leads=leads, ledger=tuple(row for row in snapshot.ledger if row.lead_id not in ids))


def _new(configuration: Configuration, lead: Lead) -> Lead:
    owner = min(configuration.intake_owners, key=lambda one: (is_user(one), one), default=lead.owner_id)
    status = min(configuration.intake_statuses, default=lead.status)
    known: Mapping[str, Any] = {"OwnerId": owner, "Status": status, "IsConverted": False}
    fields = {name: None if name.startswith(_OURS) else known.get(name, value) for name, value in lead.fields.items()}
    if isinstance(fields.get("Owner"), Mapping) and owner != lead.owner_id:
        fields["Owner"] = {"Type": "User" if is_user(owner) else "Queue"}
    changed = {name: value for name, value in fields.items() if value != lead.fields.get(name)}
    return replace(
        lead,
        enriched=None if lead.enriched is None else {**lead.enriched, **changed},
        owner_id=owner,
        status=status,
        round=0,
        stamp=None,
        is_converted=False,
        fields=fields,
        held=False,
        queued=False,
        failed=False,
        unmarked=True,
        overridden_at=None,
        told="",
    )
