"""`lead-router plan`: what would become of a batch of leads by the live rules and rotation, without any write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lead_router.app.batch import is_given, listed, queried, snapshot_of
from lead_router.app.beside import at_hand, hopped, own_asks, with_elders
from lead_router.app.naming import groups_told, names_of
from lead_router.app.wiring import Wired, now, wire
from lead_router.core.anew import as_new
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Count,
    Decision,
    Follow,
    Hold,
    Lead,
    Mode,
    Observed,
    Rule,
    Skip,
    Snapshot,
    Switch,
    ToMatched,
)
from lead_router.core.terms import term_of, watched
from lead_router.loops.capping import REROUTES_MAX, decided_with_limit
from lead_router.ports import JobStore
from lead_router.rulefiles import read_sheet
from lead_router.settings import PREFIX, Settings

_LEFT_OUT = f"never routed: the setting {PREFIX}UNASSIGNED leaves it out"
_LEAD_ID = re.compile(r"\b00Q\w{15}\b")


@dataclass(frozen=True, slots=True)
class Planned:
    """One lead's decision; `decision` is a word of the glossary: assign, follow, count, hold, skip, observe.

    `line` is the file's, None for a lead of the org; `owner` is a name where one is known. Whom an observing group
    would choose stands in `owner`, though the lead would stay where it is. `group` is a key. Where the group has a
    first-touch clock, `touch_by` is when the owner must have touched the lead, were it given out at the plan's instant.
    """

    lead: str
    line: int | None
    decision: str
    owner_id: str | None
    owner: str | None
    group: str | None
    turn: int | None
    rule: str | None
    reason: str
    touch_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """How many leads an owner would get, by way of a group (None: by name, or behind another lead)."""

    owner_id: str
    owner: str
    group: str | None
    leads: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole batch, in its order, and what each owner would get, the most first.

    `anew` says that each lead was taken as though it had just come in; `owned` is how many were left out because they
    have owners. `groups` are by key how people know them.
    """

    at: datetime
    anew: bool
    leads: tuple[Planned, ...]
    shares: tuple[Share, ...]
    counts: Mapping[str, int]
    owned: int
    warnings: tuple[str, ...]
    groups: Mapping[str, str]


def plan(
    settings: Settings,
    *,
    csv: Path | None,
    soql: str | None,
    at: datetime | None,
    anew: bool,
    wired: Wired | None = None,
) -> Plan:
    """The decisions for the leads of a file or a query; `at` is the instant at which hours and caps are judged.

    With `anew` each lead counts as unassigned and never routed, whoever has it now.
    """
    wired = wired or wire(settings)
    found = at_hand(settings, wired)
    most = settings.reroutes_max
    with nullcontext() if isinstance(found, str) else closing(found):
        return plan_in(wired, csv=csv, soql=soql, at=at, anew=anew, reroutes_max=most, jobs=found)


def plan_in(
    wired: Wired,
    *,
    csv: Path | None,
    soql: str | None,
    at: datetime | None,
    anew: bool = False,
    reroutes_max: int = REROUTES_MAX,
    jobs: JobStore | str = "no job store was given",
) -> Plan:
    """The same for an org within reach, with its router's job store or why that cannot be looked at.

    Raises Misconfigured naming the setting, record, line or column at fault.
    """
    configuration = wired.org.configuration()
    leads, lines = _batch(wired, configuration, csv=csv, soql=soql, at=at)
    snapshot = _seen(wired, configuration, leads, at=at, anew=anew, store=None if isinstance(jobs, str) else jobs)
    asks = _asks(configuration, snapshot, leads, None if anew or isinstance(jobs, str) else jobs)
    decisions = [_told(one, anew=anew) for one in decided_with_limit(configuration, snapshot, asks, reroutes_max)]
    live = _were_live(configuration, snapshot, asks, decisions, reroutes_max)
    owners = (one.owner_id for one in decisions if isinstance(one, Assign | Count | Follow))
    found = (match for several in snapshot.matches.values() for match in several)
    names = names_of(wired.rest, configuration, owners, found)
    names |= {lead.id: f"of line {line}" for lead, line in zip(leads, lines, strict=True) if line is not None}
    told = tuple(
        _planned_or_off(decision, live.get(place), line, configuration, names)
        for place, (decision, line) in enumerate(zip(decisions, lines, strict=True))
    )
    return Plan(
        at=snapshot.taken_at,
        anew=anew,
        leads=_clocked(told, decisions, configuration, snapshot.taken_at),
        shares=_shares(told),
        counts=dict(Counter(one.decision for one in told).most_common()),
        owned=sum(1 for one in decisions if isinstance(one, Skip) and not anew),
        warnings=(*configuration.warnings, *_unseen(snapshot, jobs), *_unmatched(configuration, leads)),
        groups=groups_told(configuration),
    )


def _seen(
    wired: Wired,
    configuration: Configuration,
    leads: Sequence[Lead],
    *,
    at: datetime | None,
    anew: bool,
    store: JobStore | None,
) -> Snapshot:
    """All that the decisions look at, as the router with that store would see it."""
    snapshot = snapshot_of(wired.org, configuration, leads, at=at)
    if store is not None:
        snapshot = with_elders(wired.org, store, configuration, snapshot)
    snapshot = as_new(configuration, snapshot, [lead.id for lead in leads]) if anew else snapshot
    return hopped(store, configuration, snapshot)


def _batch(
    wired: Wired, configuration: Configuration, *, csv: Path | None, soql: str | None, at: datetime | None
) -> tuple[list[Lead], Sequence[int | None]]:
    """The leads of the file or the query, and the line of each, None for a lead of the org."""
    if csv is not None:
        sheet = read_sheet(csv, configuration.field_types)
        return listed(sheet, configuration, at or now()), sheet.lines
    leads = queried(wired.rest, configuration, soql or "")
    return leads, [None] * len(leads)


def _told(decision: Decision, *, anew: bool) -> Decision:
    """Of leads that have just come in none is owned: what is skipped, the router would never look at."""
    return replace(decision, reason=_LEFT_OUT) if anew and isinstance(decision, Skip) else decision


def _unmatched(configuration: Configuration, leads: Iterable[Lead]) -> tuple[str, ...]:
    """Matching records are looked for by the org's own leads: told of all the others, whichever rules they reach."""
    looked_for = configuration.rollout.matched_owner is not Switch.OFF
    matching = looked_for and any(isinstance(rule.target, ToMatched) for rule in configuration.rules)
    without = sum(1 for lead in leads if not is_given(lead.id)) if matching else 0
    many = "1 lead has" if without == 1 else f"{without} leads have"
    told = f"{many} no Id, so no matching records were looked for: rules for matched owners fall through there"
    return (told,) if without else ()


def _unseen(snapshot: Snapshot, jobs: JobStore | str) -> tuple[str, ...]:
    told = f"older leads of a submission that wait and are not in this batch are not known: {jobs}"
    return (told,) if isinstance(jobs, str) and snapshot.submission_keys_read else ()


def _asks(configuration: Configuration, snapshot: Snapshot, leads: Sequence[Lead], store: JobStore | None) -> list[Ask]:
    """One per lead, in their order; with a store, as the leads' own jobs would ask."""
    seen = [snapshot.leads[lead.id] for lead in leads]
    asks = [Ask(at, f"plan.{at}", lead.id, lead.created_at, held=lead.held) for at, lead in enumerate(seen, start=1)]
    return asks if store is None else own_asks(store, configuration, snapshot, asks)


def _planned(decision: Decision, line: int | None, configuration: Configuration, names: Mapping[str, str]) -> Planned:
    lead = decision.ask.lead_id
    match decision:
        case Assign(owner_id=owner, rule=rule, group_id=group, turn=turn, explanation=said):
            number = None if turn is None else turn.number
            key = configuration.group_keys.get(group or "")
            named = _lined(said, names)
            return Planned(lead, line, "assign", owner, names.get(owner), key, number, _name(rule), named)
        case Count(owner_id=owner, rule=rule, turn=turn, explanation=said):
            named = _lined(said, names)
            return Planned(lead, line, "count", owner, names.get(owner), turn.group.key, turn.number, rule.name, named)
        case Follow(owner_id=owner, explanation=said):
            return Planned(lead, line, "follow", owner, names.get(owner), None, None, None, _lined(said, names))
        case Hold(reason=reason, group_id=group, rule=rule):
            key = configuration.group_keys.get(group or "")
            return Planned(lead, line, "hold", None, None, key, None, _name(rule), _lined(reason, names))
        case Skip(reason=reason):
            return Planned(lead, line, "skip", None, None, None, None, None, reason)
        case Observed(would=would, group_id=group):
            inner = _planned(would, line, configuration, names)
            key = configuration.group_keys.get(group)
            said = f"group '{key}' only observes; it would {inner.decision}: {inner.reason}"
            return Planned(lead, line, "observe", inner.owner_id, inner.owner, key, inner.turn, inner.rule, said)


def _were_live(
    configuration: Configuration,
    snapshot: Snapshot,
    asks: Sequence[Ask],
    decisions: Sequence[Decision],
    reroutes_max: int,
) -> dict[int, Decision]:
    """By place, what would become of the leads that wait for groups that are off, were all of these groups live."""
    off = {key for key, group in snapshot.groups.items() if group.mode is Mode.OFF}
    waiting = {
        place: one.group_id for place, one in enumerate(decisions) if isinstance(one, Hold) and one.group_id in off
    }
    if not waiting:
        return {}
    asked = set(waiting.values())
    groups = {key: replace(one, mode=Mode.LIVE) if key in asked else one for key, one in snapshot.groups.items()}
    made = decided_with_limit(configuration, replace(snapshot, groups=groups), asks, reroutes_max)
    return {place: made[place] for place in waiting}


def _planned_or_off(
    hold: Decision, live: Decision | None, line: int | None, configuration: Configuration, names: Mapping[str, str]
) -> Planned:
    """What is decided; of a lead that waits for a group that is off, also what the group would do, `live`."""
    if live is None:
        return _planned(hold, line, configuration, names)
    now, then = _planned(hold, line, configuration, names), _planned(live, line, configuration, names)
    told = f"{now.reason}: nothing is given out until its Mode is Live; then it would {then.decision}: {then.reason}"
    return replace(now, reason=told)


def _clocked(
    told: Sequence[Planned], decisions: Sequence[Decision], configuration: Configuration, at: datetime
) -> tuple[Planned, ...]:
    """Each with until when it is to be touched."""
    both = zip(told, decisions, strict=True)
    return tuple(replace(one, touch_by=_touch_by(decision, configuration, at)) for one, decision in both)


def _touch_by(decision: Decision, configuration: Configuration, at: datetime) -> datetime | None:
    """In the group's hours; None for a lead that no clock would run for."""
    if not isinstance(decision, Assign) or decision.turn is None:
        return None
    group = decision.turn.group
    term = term_of(configuration, group, at) if group.key in watched(configuration) else None
    return None if term is None else term.due_at


def _lined(said: str, names: Mapping[str, str]) -> str:
    """The sentence with the lines of a file instead of ids that no org gave."""
    return _LEAD_ID.sub(lambda found: names.get(found[0], found[0]), said)


def _name(rule: Rule | None) -> str | None:
    return None if rule is None else rule.name


def _shares(told: Sequence[Planned]) -> tuple[Share, ...]:
    given = [one for one in told if one.decision in {"assign", "follow"} and one.owner_id is not None]
    counted = Counter((one.owner_id or "", one.owner or one.owner_id or "", one.group) for one in given)
    rows = [Share(owner_id, owner, group, leads) for (owner_id, owner, group), leads in counted.items()]
    return tuple(sorted(rows, key=lambda row: (-row.leads, row.group or "", row.owner)))
