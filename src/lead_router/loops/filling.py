"""Filling: what providers answered, and scores, are written on the leads; never over what somebody typed meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from lead_router.core.backoff import backoff_s
from lead_router.core.enrichment import to_fill
from lead_router.core.model import Configuration, Lead
from lead_router.core.rules import rulebook
from lead_router.core.scoring import fields_of, score
from lead_router.core.terms import watched
from lead_router.core.touch import CHANGED_BY
from lead_router.errors import LeadRouterError
from lead_router.loops.current import Current
from lead_router.loops.marking import FRESH
from lead_router.ports import (
    Again,
    Fill,
    JobStore,
    LeadMoved,
    Org,
    Over,
    Settlement,
    Taken,
    Touched,
    TouchMark,
    Unfilled,
)

_log = structlog.get_logger(__name__)

FILL_AFTER_S = 8.0  # most leads are routed by then and were not changed since, and many are written by one call
FILLS_MAX = 200  # leads of one read
LEASE_S = 300.0  # longer than one read and eight calls
TRIES_MAX = 20
PARTS_MAX = 8  # refused fields that a lead's others are tried without: an answer may name one at a time
BACKOFF_FIRST_S, BACKOFF_CAP_S = 2.0, 1_800.0


class Filling:
    """One step writes on at most FILLS_MAX leads what they lack; a lead that refuses it is left as it is, and told."""

    def __init__(self, org: Org, store: JobStore, current: Current, *, now: Callable[[], datetime]) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._now = now

    def step(self) -> bool:
        """False where nothing is due."""
        rows = self._store.take_enrichments("found", limit=FILLS_MAX, lease_s=LEASE_S)
        if not rows:
            return False
        configuration = self._current.get()
        scoring = configuration.scoring
        writes_score = scoring is not None and scoring.field is not None
        wanted = [row for row in rows if row.result or writes_score]
        settled: list[tuple[Taken, Settlement]] = [(row, Over("nothing to write")) for row in rows if row not in wanted]
        try:
            settled += self._written(configuration, wanted) if wanted else []
        except LeadRouterError as fault:
            why = f"not written: {type(fault).__name__}"
            self._store.settle([*settled, *((row, _again(row, why)) for row in wanted)])
            raise
        self._store.settle(settled)
        return True

    def _written(self, configuration: Configuration, rows: Sequence[Taken]) -> list[tuple[Taken, Settlement]]:
        leads = self._org.leads(_reading(configuration), [row.lead_id for row in rows])
        now = self._now()
        settled: list[tuple[Taken, Settlement]] = []
        fills: list[tuple[Taken, Fill]] = []
        for row in rows:
            lead = leads.get(row.lead_id)
            if lead is None or lead.is_converted:
                settled.append((row, Over("gone" if lead is None else "converted")))
            elif lead.changed_at is None or lead.changed_at > now - FRESH:
                # A change within the same second would not be seen by the condition of the write.
                settled.append((row, _again(row, "it was changed just now", FRESH.total_seconds() + 1.0)))
            elif values := _values(configuration, row.result or {}, lead, now):
                fills.append((row, Fill(lead, values)))
            else:
                settled.append((row, Over("nothing to write")))
        self._keep_touches(configuration, [fill.lead for _, fill in fills], now)
        faults = self._filled([fill for _, fill in fills])
        return [*settled, *((row, _settled(row, fill, faults.get(row.lead_id))) for row, fill in fills)]

    def _keep_touches(self, configuration: Configuration, leads: Sequence[Lead], at: datetime) -> None:
        """Our write becomes the last change of a lead: that its owner's was, the first-touch clock has to know."""
        groups = watched(configuration)
        marks = [
            TouchMark(lead.id, lead.round, Touched.TOUCHED, groups[lead.routed_by].id, lead.owner_id, at)
            for lead in leads
            if lead.routed_by in groups and lead.fields.get(CHANGED_BY) == lead.owner_id
        ]
        if marks:
            self._store.mark_touches(marks)

    def _filled(self, fills: Sequence[Fill]) -> Mapping[str, LeadMoved | Unfilled]:
        """The last word on each lead that was not filled; fields that are at fault do not keep the others away."""
        faults = dict(self._org.fill(fills)) if fills else {}
        parts = list(fills)
        told: Mapping[str, LeadMoved | Unfilled] = faults
        for _ in range(PARTS_MAX):
            parts = [left for part in parts if (left := _rest(part, told.get(part.lead.id))) is not None]
            if not parts:
                break
            told = self._org.fill(parts)
            for part in parts:
                if part.lead.id in told:
                    faults[part.lead.id] = _both(faults[part.lead.id], told[part.lead.id])
        return faults


def _rest(fill: Fill, fault: LeadMoved | Unfilled | None) -> Fill | None:
    """What is left to write where the answer names some of the fields."""
    if not isinstance(fault, Unfilled):
        return None
    left = {name: value for name, value in fill.values.items() if name not in fault.fields}
    return Fill(fill.lead, left) if 0 < len(left) < len(fill.values) else None


def _both(first: LeadMoved | Unfilled, later: LeadMoved | Unfilled) -> LeadMoved | Unfilled:
    """All the fields that were refused, and why; a lead that somebody changed meanwhile is looked at again."""
    if isinstance(first, Unfilled) and isinstance(later, Unfilled):
        text = first.text if later.text in first.text else f"{first.text}, {later.text}"
        return Unfilled(later.lead_id, first.fields | later.fields, text)
    return later


def _settled(row: Taken, fill: Fill, fault: LeadMoved | Unfilled | None) -> Settlement:
    match fault:
        case None:
            _log.info("lead_enriched", lead=row.lead_id, fields=sorted(fill.values))
            return Over("written")
        case LeadMoved():
            return _again(row, "it was changed meanwhile", FRESH.total_seconds() + 1.0)
        case Unfilled(fields=fields, text=text):
            _log.warning("lead_not_enriched", lead=row.lead_id, fields=sorted(fields), error=text)
            return Over(f"refused: {text}", failed=True)


def _again(row: Taken, reason: str, at_least_s: float = 0.0) -> Settlement:
    if row.attempts >= TRIES_MAX:
        _log.warning("lead_not_enriched", lead=row.lead_id, fields=[], error=reason)
        return Over(reason, failed=True)
    wait_s = backoff_s(row.attempts, row.lead_id, first_s=BACKOFF_FIRST_S, cap_s=BACKOFF_CAP_S)
    return Again(max(at_least_s, wait_s), reason)


def _reading(configuration: Configuration) -> Configuration:
    """The same, to read leads with all fields that are written or scored by; none that Lead does not have."""
    fields: frozenset[str] = frozenset()
    if configuration.enrichment is not None:
        fields = frozenset(one.field for one in configuration.enrichment.fields)
    if configuration.scoring is not None and configuration.scoring.field is not None:
        types = rulebook(configuration).types
        fields |= {configuration.scoring.field} | fields_of(configuration.scoring, types)
    return replace(configuration, lead_fields=configuration.lead_fields | frozenset(_known(configuration, fields)))


def _known(configuration: Configuration, fields: frozenset[str]) -> frozenset[str]:
    return fields & configuration.field_types.keys() if configuration.field_types else fields


def _values(configuration: Configuration, result: Mapping[str, Any], lead: Lead, at: datetime) -> dict[str, Any]:
    filled = to_fill(configuration.enrichment, result, lead.fields)
    values = {name: filled[name] for name in _known(configuration, frozenset(filled))}
    scoring = configuration.scoring
    if scoring is not None and scoring.field is not None:
        points = score(scoring, {**lead.fields, **filled}, at, rulebook(configuration).types).points
        if lead.fields.get(scoring.field) != points:
            values[scoring.field] = points
    return values
