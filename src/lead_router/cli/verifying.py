"""`verify`: what drifted from the ledger, and its repair."""

from __future__ import annotations

import argparse
import sys

from lead_router import app
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json
from lead_router.core.counted import counted
from lead_router.core.drift import Drifted
from lead_router.errors import Misconfigured

_NOBODY = "nothing was written: nobody is at a terminal to agree; add --yes to write"


def verify(words: argparse.Namespace) -> int:
    """`verify`: 0 where everything is as the ledger has it, 1 where something drifted, or is left of it."""
    if words.yes and not words.repair:
        raise Misconfigured("--yes goes with --repair: alone, `verify` writes nothing")
    if words.group is not None and not words.group.strip():
        raise Misconfigured("--group wants a group's key, as `lead-router status` shows it; without it all are judged")
    shown: list[app.Verified] = []

    def agree(seen: app.Verified) -> bool:
        if words.json:
            return bool(words.yes)
        shown.append(seen)
        print(f"{_found(seen)}\n{_changes(seen)}", flush=True)
        return bool(words.yes) or _asked(seen)

    seen = app.verified(settings_of(words), group=words.group, since=words.since, write=words.repair, agree=agree)
    if not words.repair:
        seen = app.Verified(seen.findings, seen.notes, seen.groups, seen.rows, seen.leads, seen.jobs, names=seen.names)
    if words.json:
        print(as_json(seen))
        return int(bool(seen.findings))
    if seen.written:
        print(_written(seen))
    told = [] if shown and not seen.written else [_found(seen)]
    if words.repair and not shown:
        left = ": what is left of drift, the ledger alone cannot put right"
        told.append("nothing to write" + left * bool(seen.findings))
    print("\n".join(filter(None, [*told, _summary(seen)])))
    return int(bool(seen.findings))


def _found(seen: app.Verified) -> str:
    drifts = [f"DRIFT {_place(one, seen)}: {one.kind}: {one.text}\n      cause: {one.cause}" for one in seen.findings]
    return "\n".join([*drifts, *(f"note  {note}" for note in seen.notes)])


def _place(one: Drifted, seen: app.Verified) -> str:
    if not one.group:
        return f"job {one.record}" if one.record.isdigit() else f"lead {one.record}"
    where = [f"group '{one.group}'"]
    where += [f"epoch {one.epoch}"] if one.epoch is not None and one.turn is not None else []
    where += [f"turn {one.turn}"] if one.turn is not None else []
    return f"{', '.join(where)}, {_record(one.record, seen)}"


def _record(record: str, seen: app.Verified) -> str:
    """A member by name, as `status` and `plan` have it, and by id; other records by their id."""
    name = seen.names.get(record)
    return record if name is None else f"member {name} ({record})"


def _changes(seen: app.Verified) -> str:
    return "\n".join(
        f"write {_record(one.record, seen)} {one.field}: {_told(one.old)} → {_told(one.new)}  ({one.reason})"
        for one in seen.changes
    )


def _asked(seen: app.Verified) -> bool:
    """Whether a person says yes; nothing else is one."""
    many = counted(len(seen.changes), "change")
    if not sys.stdin.isatty():
        print(f"{many}, {_NOBODY}")
        return False
    try:
        answer = input(f"{many}: write? The ledger and owners stay as they are. [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() in {"y", "yes"}:
        return True
    print("nothing was written")
    return False


def _written(seen: app.Verified) -> str:
    refused = [one for one in seen.changes if one.refused]
    lines = [f"FAIL  {_record(one.record, seen)} {one.field}: not written: {one.refused}" for one in refused]
    made, many = len(seen.changes) - len(refused), counted(len(seen.changes), "change")
    return "\n".join([*lines, f"{made} of {many} written; judged again since"])


def _summary(seen: app.Verified) -> str:
    jobs = "no jobs" if seen.jobs is None else counted(seen.jobs, "job")
    found = counted(len(seen.findings), "drift") if seen.findings else "no drift"
    read = (counted(seen.groups, "group"), counted(seen.rows, "ledger row"), counted(seen.leads, "lead"), jobs)
    return f"{', '.join(read)}: {found}"


def _told(value: int | str | None) -> str:
    return "blank" if value is None else str(value)
