"""`explain`: what was decided about a lead, what would be decided now, and what its jobs say."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC
from typing import Any

from lead_router import app
from lead_router.app.departed import Departed
from lead_router.app.explaining import Explained
from lead_router.app.naming import group_told
from lead_router.app.rounds import Round, Thought
from lead_router.app.wiring import now
from lead_router.app.worded import (
    awaits,
    job_told,
    left_alone,
    match_told,
    named,
    no_rule_asked,
    standing,
    target_told,
    verdict,
    whole_decision,
)
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json, table
from lead_router.core.explain import GroupAccount

UNMET_SHOWN = 20
"""Rules that the lead does not meet are told one by one up to so many; then only counted."""


def explain(words: argparse.Namespace) -> int:
    """`explain`: the ledger's rounds, then every rule, every group asked, and every member."""
    told = app.explained(settings_of(words), words.lead, at=words.at)
    match told:
        case Explained():
            print(as_json(_plain(told)) if words.json else _account(told))
        case Departed():
            print(as_json(_left_plain(told)) if words.json else _left(told))
    return 0


def _left(told: Departed) -> str:
    """What is left of a lead that is not there any more."""
    lines = [
        f"lead {told.lead} {told.fate}",
        "",
        *_rounds(told.history, told.names),
        *_thoughts(told.observed, told.names),
        *_jobs(told),
    ]
    return "\n".join(lines)


def _left_plain(told: Departed) -> dict[str, Any]:
    return {"lead": told.lead, "fate": told.fate, **_known(told)}


def _known(told: Explained | Departed) -> dict[str, Any]:
    return {
        "history": [{**asdict(row), "owner": told.names.get(row.owner_id)} for row in told.history],
        "observed": [{**asdict(one), "owner": told.names.get(one.owner_id or "")} for one in told.observed],
        "jobs": [{"job": one.id, "status": one.status, "told": job_told(one, now())} for one in told.jobs or ()],
        "jobs_fault": told.jobs_fault,
    }


def _rounds(history: Sequence[Round], names: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for row in history:
        when = f" at {row.committed_at:%Y-%m-%d %H:%M:%SZ}" if row.committed_at else ""
        to = named(row.owner_id, names)
        lines += [f"round {row.number}{when}: {row.outcome.lower()} to {to}", f"  {row.explanation}"]
    return lines


def _plain(told: Explained) -> dict[str, Any]:
    """The account without the lead's own fields."""
    account = told.account
    return {
        "lead": told.lead,
        "owner_id": told.owner_id,
        "owner": told.names.get(told.owner_id),
        "unassigned": told.owner_is_intake,
        "status": told.status,
        **_known(told),
        "discarded": None if told.discarded is None else told.discarded.id,
        "dead": None if told.dead is None else told.dead.id,
        "first_touch": told.first_touch,
        "at": account.at,
        "settled": account.settled,
        "provided": account.provided or None,
        "former": sorted(account.former),
        "notes": account.notes,
        "rules": [
            {
                "name": one.rule.name,
                "precedence": one.rule.precedence,
                "criteria": one.rule.criteria,
                "target": target_told(one, told),
                "met": one.met,
                "decided": one.decided,
            }
            for one in account.rules
        ],
        "matches": [{**asdict(one.match), "reason": one.reason} for one in account.matches],
        "groups": [asdict(one) for one in account.groups],
        "decision": whole_decision(told),
    }


def _account(told: Explained) -> str:
    account = told.account
    owner = "an intake owner, so it is unassigned" if told.owner_is_intake else named(told.owner_id, told.names)
    lines = [f"lead {told.lead}: status {told.status or '-'}, owned by {owner}", ""]
    lines += [*_rounds(told.history, told.names), *_thoughts(told.observed, told.names), *_jobs(told)]
    lines += [*filter(None, (told.first_touch,)), ""]
    as_of = f"as of {account.at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"
    if account.settled:
        provided = account.provided[:1].upper() + account.provided[1:]
        lines.append(f"{as_of} nothing would be done: {account.settled}. {provided}:")
    elif told.dead is not None:
        lines.append(f"{as_of} nothing will be done: {awaits(told.dead)}. Were it retried:")
    elif told.discarded is not None:
        lines.append(f"{as_of} nothing will be done: {left_alone(told.discarded)}. Were it asked for:")
    else:
        lines.append(f"{as_of}:")
    lines += ["", *account.notes, *_rules(told), *(line for group in account.groups for line in _group(group))]
    lines += [f"\ndecision: {whole_decision(told)}"]
    return "\n".join(lines)


def _thoughts(observed: Sequence[Thought], names: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for one in observed:
        what = (
            "nobody could have had it" if one.owner_id is None else f"would have gone to {named(one.owner_id, names)}"
        )
        lines += [f"observed at {one.at:%Y-%m-%d %H:%M:%SZ} by group '{one.group}': {what}", f"  {one.explanation}"]
    return lines


def _jobs(told: Explained | Departed) -> list[str]:
    if told.jobs_fault is not None:
        beside = "; nor is it known which older leads of its submission wait for an owner"
        return [f"jobs: not looked at: {told.jobs_fault}{beside}"]
    none = [] if told.jobs is None else ["jobs: none is known of this lead"]
    return [job_told(one, now()) for one in told.jobs or ()] or none


def _rules(told: Explained) -> list[str]:
    unmet = [one for one in told.account.rules if not one.met]
    decided = next((one.rule.precedence for one in told.account.rules if one.decided), None)
    follows = no_rule_asked(told)
    hidden = {one.rule.id for one in unmet[UNMET_SHOWN:]}
    rows = [
        (
            one.rule.precedence,
            one.rule.name,
            verdict(one, decided, asked=not follows),
            one.rule.criteria or "every lead",
            target_told(one, told),
        )
        for one in told.account.rules
        if one.rule.id not in hidden
    ]
    lines = [table(("rule", "name", "verdict", "criteria", "target"), rows) if rows else "there are no rules"]
    if hidden:
        lines.append(f"and {len(hidden)} rules more whose criteria it does not meet")
    lines += [follows] if follows else []
    return [*lines, *(match_told(one) for one in told.account.matches)]


def _group(group: GroupAccount) -> list[str]:
    head = f"\ngroup {group_told(group.key, group.name)} ({group.mode}), turn {group.next_turn} is next:"
    if not group.members:
        return [head, "it has no members"]
    rows = [(one.name, standing(one), one.available_at if one.reason else "now") for one in group.members]
    return [head, table(("member", "standing", "on duty from"), rows)]
