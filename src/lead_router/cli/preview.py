"""`plan` and `observe report`: what would be decided, and why."""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import fields
from datetime import UTC

from lead_router import app
from lead_router.app.planning import Plan, Planned
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json, table
from lead_router.core.ages import age
from lead_router.core.counted import counted


def plan(words: argparse.Namespace) -> int:
    """`plan`: each lead's decision, and what each owner would get."""
    made = app.plan(settings_of(words), csv=words.csv, soql=words.soql, at=words.at, anew=words.anew)
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
    clocked = any(one.touch_by is not None for one in made.leads)
    heads = ("lead", "decision", "owner", "group", "turn", *["first touch by"] * clocked, "reason")
    rows = [_row(one, made, clocked=clocked) for one in made.leads]
    shares = [(one.owner, _group(one.group, made), one.leads) for one in made.shares]
    counts = ", ".join(f"{count:,} {word}" for word, count in made.counts.items()) or "no leads"
    as_of = f"as of {made.at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}{', each as though it had just come in' * made.anew}"
    parts = [
        table(heads, rows) if rows else "",
        table(("owner", "group", "leads"), shares) if shares else "",
        f"{counted(len(made.leads), 'lead')} {as_of}: {counts}; nothing was written",
        _owned(made.owned) if made.owned else "",
        "\n".join(f"warning: {warning}" for warning in made.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def _row(one: Planned, made: Plan, *, clocked: bool) -> tuple[object, ...]:
    lead = f"line {one.line}" if one.line else one.lead
    return lead, one.decision, one.owner, _group(one.group, made), one.turn, *[one.touch_by] * clocked, one.reason


def _group(key: str | None, made: Plan) -> str | None:
    return None if key is None else made.groups.get(key, key)


def _owned(many: int) -> str:
    has = "1 lead has an owner" if many == 1 else f"{many} leads have owners"
    return f"{has} already: --anew shows who would get {'it' if many == 1 else 'them'}, had they just come in"


def observe(words: argparse.Namespace) -> int:
    """`observe report`: each observing group's decisions, beside what really happened."""
    reports = app.observe_report(settings_of(words))
    print(as_json(reports) if words.json else "\n\n".join(map(_observed, reports)) or "nothing was observed yet")
    return 0


def _observed(one: app.GroupReport) -> str:
    agreement = "nothing to compare yet" if one.agreement is None else f"{one.agreement:.0%} the same owner"
    observed = f"group '{one.group}': {counted(one.leads, 'lead')} observed"
    lines = [
        f"{observed}; {agreement} ({one.agreed} agreed, {one.differed} differed)",
        f"{one.held} nobody could have had, {one.unowned} without an owner still, {one.gone} gone",
        f"median time: decided after {age(one.decided_s)}, seen to be owned after {age(one.owned_s)}",
    ]
    if one.routed:
        lines.append(f"left out: {one.routed} that this router gave out itself after it had observed them")
    reps = [(rep.owner, rep.would, rep.got) for rep in one.reps]
    return "\n".join([*lines, *([table(("owner", "would have got", "got"), reps)] if reps else [])])
