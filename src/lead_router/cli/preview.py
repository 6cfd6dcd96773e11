"""`plan` and `explain`: what would be decided, and why."""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import asdict, fields
from typing import Any

from lead_router import app
from lead_router.app.explaining import Explained
from lead_router.app.planning import Plan, Planned
from lead_router.cli.commands import settings_of
from lead_router.cli.show import age, as_json, table
from lead_router.core.explain import GroupAccount, MatchAccount, MemberAccount, RuleAccount
from lead_router.core.model import Assign, Count, Decision, Follow, Hold, Observed, Skip, ToGroup, ToMatched, ToOwner

UNMET_SHOWN = 20
"""Rules that the lead does not meet are told one by one up to so many; then only counted."""


def plan(words: argparse.Namespace) -> int:
    """`plan`: each lead's decision, and what each owner would get."""
    made = app.plan(settings_of(words), csv=words.csv, soql=words.soql, at=words.at)
    match words.format:
        case "json":
            print(as_json(made))
        case "csv":
            rows = csv.writer(sys.stdout, lineterminator="\n")
            names = [one.name for one in fields(Planned)]
            rows.writerow(names)
            rows.writerows([getattr(one, name) for name in names] for one in made.leads)
        case _:
            print(_table(made))
    return 0


def _table(made: Plan) -> str:
    heads = ("lead", "decision", "owner", "group", "turn", "reason")
    rows = [
        (f"line {one.line}" if one.line else one.lead, one.decision, one.owner, one.group, one.turn, one.reason)
        for one in made.leads
    ]
    shares = [(one.owner, one.group, one.leads) for one in made.shares]
    counts = ", ".join(f"{count} {word}" for word, count in made.counts.items()) or "no leads"
    parts = [
        table(heads, rows) if rows else "",
        table(("owner", "group", "leads"), shares) if shares else "",
        f"{len(made.leads)} leads as of {made.at:%Y-%m-%d %H:%M:%S%z}: {counts}; nothing was written",
        "\n".join(f"warning: {warning}" for warning in made.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def observe(words: argparse.Namespace) -> int:
    """`observe report`: each observing group's decisions, beside what really happened."""
    reports = app.observe_report(settings_of(words))
    print(as_json(reports) if words.json else "\n\n".join(map(_observed, reports)) or "nothing was observed yet")
    return 0


def _observed(one: app.GroupReport) -> str:
    agreement = "nothing to compare yet" if one.agreement is None else f"{one.agreement:.0%} the same owner"
    lines = [
        f"group {one.group}: {one.leads} leads observed; {agreement} ({one.agreed} agreed, {one.differed} differed)",
        f"{one.held} nobody could have had, {one.unowned} without an owner still, {one.gone} gone",
        f"median time: decided after {age(one.decided_s)}, seen to be owned after {age(one.owned_s)}",
    ]
    reps = [(rep.owner, rep.would, rep.got) for rep in one.reps]
    return "\n".join([*lines, *([table(("owner", "would have got", "got"), reps)] if reps else [])])


def explain(words: argparse.Namespace) -> int:
    """`explain`: the ledger's rounds, then every rule, every group asked, and every member."""
    told = app.explained(settings_of(words), words.lead, at=words.at)
    print(as_json(_plain(told)) if words.json else _account(told))
    return 0


def _plain(told: Explained) -> dict[str, Any]:
    """The account without the lead's own fields."""
    account = told.account
    return {
        "lead": told.lead,
        "owner_id": told.owner_id,
        "unassigned": told.owner_is_intake,
        "status": told.status,
        "history": [asdict(row) for row in told.history],
        "at": account.at,
        "settled": account.settled,
        "former": sorted(account.former),
        "rules": [
            {
                "name": one.rule.name,
                "precedence": one.rule.precedence,
                "criteria": one.rule.criteria,
                "target": _target(one, told),
                "met": one.met,
                "decided": one.decided,
            }
            for one in account.rules
        ],
        "matches": [{**asdict(one.match), "reason": one.reason} for one in account.matches],
        "groups": [asdict(one) for one in account.groups],
        "decision": _decision(account.decision),
    }


def _account(told: Explained) -> str:
    account = told.account
    owner = "an intake owner, so it is unassigned" if told.owner_is_intake else told.owner_id
    lines = [f"lead {told.lead}: status {told.status or '-'}, owned by {owner}", ""]
    for row in told.history:
        when = f" at {row.committed_at:%Y-%m-%d %H:%M:%SZ}" if row.committed_at else ""
        lines += [f"round {row.number}{when}: {row.outcome.lower()} to {row.owner_id}", f"  {row.explanation}"]
    lines += [""] if told.history else []
    now = f"as of {account.at:%Y-%m-%d %H:%M:%S%z}"
    if account.settled:
        lines.append(f"{now} nothing would be done: {account.settled}. Had it just come in:")
    else:
        lines.append(f"{now}:")
    lines += ["", *_rules(told), *(line for group in account.groups for line in _group(group))]
    lines += [f"\ndecision: {_decision(account.decision)}"]
    return "\n".join(lines)


def _rules(told: Explained) -> list[str]:
    unmet = [one for one in told.account.rules if not one.met]
    decided = next((one.rule.precedence for one in told.account.rules if one.decided), None)
    hidden = {one.rule.id for one in unmet[UNMET_SHOWN:]}
    rows = [
        (
            one.rule.precedence,
            one.rule.name,
            _verdict(one, decided),
            one.rule.criteria or "every lead",
            _target(one, told),
        )
        for one in told.account.rules
        if one.rule.id not in hidden
    ]
    lines = [table(("rule", "name", "verdict", "criteria", "target"), rows) if rows else "there are no rules"]
    if hidden:
        lines.append(f"and {len(hidden)} rules more whose criteria it does not meet")
    return [*lines, *(_match(one) for one in told.account.matches)]


def _match(one: MatchAccount) -> str:
    match, why = one.match, one.reason or "could have it"
    return f"matching {match.on} {match.record_id} by {match.by} of {match.name}: {why}"


def _verdict(one: RuleAccount, decided: int | None) -> str:
    if one.decided or not one.met:
        return "decides" if one.decided else "not met"
    if decided is None:
        return "met"  # no rule decided: another lead did, or something before any rule
    return "met, fell through" if one.rule.precedence < decided else "met, not reached"


def _target(one: RuleAccount, told: Explained) -> str:
    match one.rule.target:
        case ToGroup(group_id=group_id):
            return f"group {told.groups.get(group_id, group_id)}"
        case ToOwner(name=name):
            return name
        case ToMatched(on=on, by=by):
            return f"owner of {' or '.join(on)} by {by}"


def _group(group: GroupAccount) -> list[str]:
    head = f"\ngroup {group.key} ({group.mode}), turn {group.next_turn} is next:"
    if not group.members:
        return [head, "it has no members"]
    rows = [(one.name, _standing(one), one.available_at if one.reason else None) for one in group.members]
    return [head, table(("member", "standing", "on duty from"), rows)]


def _standing(one: MemberAccount) -> str:
    return one.reason or ("picked" if one.picked else "could take it")


def _decision(decision: Decision) -> str:
    match decision:
        case Assign(owner_id=owner, explanation=said):
            return f"assign to {owner}. {said}"
        case Count(owner_id=owner, explanation=said):
            return f"count for {owner}. {said}"
        case Follow(owner_id=owner, explanation=said):
            return f"follow to {owner}. {said}"
        case Hold(reason=reason, until=until):
            return f"hold: {reason}" + (f"; until {until:%Y-%m-%d %H:%M:%SZ}" if until else "")
        case Skip(reason=reason):
            return f"skip: {reason}"
        case Observed(would=would):
            return f"observe only; it would {_decision(would)}"
