"""`verify`: what drifted from the ledger, and its repair."""

from __future__ import annotations

import argparse

from lead_router import app
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json
from lead_router.core.drift import Drifted
from lead_router.errors import Misconfigured


def verify(words: argparse.Namespace) -> int:
    """`verify`: 0 where everything is as the ledger has it, 1 where something drifted, or is left of it."""
    if words.yes and not words.repair:
        raise Misconfigured("--yes goes with --repair: alone, `verify` writes nothing")
    seen = app.verified(settings_of(words), group=words.group, since=words.since, write=words.yes)
    if not words.repair:
        seen = app.Verified(seen.findings, seen.notes, seen.groups, seen.rows, seen.leads, seen.jobs)
    if words.json:
        print(as_json(seen))
        return int(bool(seen.findings))
    for one in seen.findings:
        print(f"DRIFT {_place(one)}: {one.kind}: {one.text}\n      cause: {one.cause}")
    for note in seen.notes:
        print(f"note  {note}")
    if words.repair:
        print(_changes(seen))
    print(_summary(seen))
    return int(bool(seen.findings))


def _place(one: Drifted) -> str:
    if not one.group:
        return f"job {one.record}" if one.record.isdigit() else f"lead {one.record}"
    where = [f"group '{one.group}'"]
    where += [f"epoch {one.epoch}"] if one.epoch is not None and one.turn is not None else []
    where += [f"turn {one.turn}"] if one.turn is not None else []
    return f"{', '.join(where)}, {one.record}"


def _changes(seen: app.Verified) -> str:
    lines = [
        f"{'FAIL ' if one.refused else 'write'} {one.record} {one.field}: {_told(one.old)} → {_told(one.new)}"
        + (f"  not written: {one.refused}" if one.refused else f"  ({one.reason})")
        for one in seen.changes
    ]
    made = sum(1 for one in seen.changes if not one.refused)
    if not seen.changes:
        return "nothing to write" + ": what is left of drift, the ledger alone cannot put right" * bool(seen.findings)
    if seen.written:
        return "\n".join([*lines, f"{made} of {len(seen.changes)} changes written; judged again since"])
    return "\n".join([*lines, f"{len(seen.changes)} changes, nothing was written: add --yes to write"])


def _summary(seen: app.Verified) -> str:
    jobs = "no jobs" if seen.jobs is None else f"{seen.jobs} jobs"
    drift = len(seen.findings)
    found = "no drift" if not drift else "1 drift" if drift == 1 else f"{drift} drifts"
    return (
        f"{seen.groups} group{'s' * (seen.groups != 1)}, {seen.rows} ledger rows, {seen.leads} leads, {jobs}: {found}"
    )


def _told(value: int | str | None) -> str:
    return "blank" if value is None else str(value)
