"""`audit`: what it prints, and where the report goes."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path

from lead_router import app, log
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json
from lead_router.core.roster import Hours, Window
from lead_router.core.zones import zone_of
from lead_router.errors import Misconfigured

DAYS_DEFAULT = 90
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS = re.compile(
    r"(?P<first>[a-z]{3})[a-z]*(?:\s*-\s*(?P<last>[a-z]{3})[a-z]*)?\s+"
    r"(?P<start>\d{1,2})(?::(?P<start_min>\d\d))?\s*-\s*(?P<end>\d{1,2})(?::(?P<end_min>\d\d))?"
)


def audit(words: argparse.Namespace) -> int:
    """`audit`: measure an org's past; a report where one is asked for, else a summary."""
    zone = words.zone or ""
    if zone:
        zone_of(zone)
    if words.csv is not None and words.days is not None:
        raise Misconfigured("--days is for an org: of exported files all leads are taken; export fewer")
    asked = app.Asked(
        days=words.days or DAYS_DEFAULT,
        hours=hours(words.hours, zone) if words.hours else None,
        zone=zone,
        day_first=words.day_first,
        assumed=app.Assumed(reaction_min=words.reaction),
    )
    if words.html is not None:
        _check(words.html, force=words.force)
    if words.csv is not None:
        made = app.audit_files(words.csv, asked)
    else:
        with log.quiet():
            made = app.audit_org(settings_of(words), asked, lambda text: print(text, file=sys.stderr))
    if words.html is not None:
        _write(words.html, app.audit_page(made))
    print(as_json(made) if words.json else app.audit_summary(made))
    if words.html is not None:
        print(f"the report is in {words.html}", file=sys.stderr)
    return 0


def _check(path: Path, *, force: bool) -> None:
    """Before anything is read, which may take minutes and calls: raises Misconfigured where no report can be put."""
    try:
        if path.is_dir():
            raise Misconfigured(f"--html {path}: that is a folder; name a file in it")
        if path.exists() and not force:
            raise Misconfigured(f"--html {path}: it is there already; name another file, or add --force to replace it")
        with _beside(path).open("w", encoding="utf-8"):
            pass
        _beside(path).unlink()
    except OSError as fault:
        raise Misconfigured(f"--html {path}: it cannot be written: {fault.strerror}") from None


def _write(path: Path, text: str) -> None:
    """At once or not at all: no half a report is left by a full disk, and none is lost."""
    try:
        _beside(path).write_text(text, encoding="utf-8")
        _beside(path).replace(path)
    except OSError as fault:
        with suppress(OSError):
            _beside(path).unlink()
        raise Misconfigured(f"--html {path}: it cannot be written: {fault.strerror}") from None


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def hours(text: str, zone: str) -> Hours:
    """Hours as `Mon-Fri 9-17` or `Mon-Thu 8:30-17:00, Fri 8:30-15:00`, in the zone; raises Misconfigured."""
    if not zone:
        raise Misconfigured("--hours needs the time zone it is in: add --zone, as in --zone Europe/Paris")
    week: list[list[Window]] = [[] for _ in DAYS]
    for part in text.lower().split(","):
        found = _HOURS.fullmatch(part.strip())
        first = DAYS.index(found["first"]) if found and found["first"] in DAYS else None
        last = (
            first
            if found is None or not found["last"]
            else DAYS.index(found["last"])
            if found["last"] in DAYS
            else None
        )
        if found is None or first is None or last is None:
            raise Misconfigured(
                "--hours wants days and hours, as in 'Mon-Fri 9-17' or 'Mon-Thu 8:30-17:00, Fri 8:30-15:00'"
            )
        start = int(found["start"]) * 60 + int(found["start_min"] or 0)
        end = int(found["end"]) * 60 + int(found["end_min"] or 0)
        if not start < end <= 24 * 60:
            raise Misconfigured(f"--hours: '{part.strip()}' does not end after it starts")
        for day in range(first, last + 1 if last >= first else last + 1 + len(DAYS)):
            week[day % len(DAYS)].append((start, end))
    return Hours("", text, zone, tuple(tuple(day) for day in week))
