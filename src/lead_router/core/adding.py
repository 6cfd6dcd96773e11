"""Adding: what hops know of leads beside the org, for rules and members' criteria to see. Pure.

What makes a lead unassigned, and two leads one submission, is asked of the org's own values alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from lead_router.core.enrichment import to_fill
from lead_router.core.model import Configuration, Lead, Snapshot
from lead_router.core.rules import rulebook
from lead_router.core.scoring import score, told


def with_added(
    configuration: Configuration, snapshot: Snapshot, answers: Mapping[str, Mapping[str, Any] | None]
) -> Snapshot:
    """The snapshot with leads as their hops leave them. `answers` are results by lead id, None where none came yet.

    Of a lead that is not among them nobody was asked.
    """
    if configuration.scoring is None and configuration.enrichment is None:
        return snapshot
    leads = {key: _added(configuration, lead, answers, snapshot.taken_at) for key, lead in snapshot.leads.items()}
    return replace(snapshot, leads=leads)


def _added(
    configuration: Configuration, lead: Lead, answers: Mapping[str, Mapping[str, Any] | None], at: datetime
) -> Lead:
    enriched, notes = dict(lead.fields), []
    asking, scoring = configuration.enrichment, configuration.scoring
    if asking is not None and lead.id in answers:
        answer = answers[lead.id]
        new = to_fill(asking, answer or {}, lead.fields)
        enriched |= new
        notes.append(_note(answer, new))
    if scoring is not None:
        found = score(scoring, enriched, at, rulebook(configuration).types)
        enriched |= dict.fromkeys(scoring.names, found.points)
        notes.append(told(found))
    return replace(lead, enriched=enriched, notes=tuple(notes))


def _note(answer: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    if answer is None:
        return "Routed before enrichment answered."
    return f"Enriched: {', '.join(sorted(new))}." if new else "Enrichment knew nothing new."
