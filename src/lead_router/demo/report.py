"""The report: what became of the leads, judged by what the org holds and by nothing that the router says."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lead_router.demo.witness import USER_PREFIX

GAP_MAX = 1.0  # leads that a rep may be away from the fair share of its group

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Books:
    """The rows that the org holds at the end, as it stores them."""

    leads: Sequence[Row]
    ledger: Sequence[Row]
    groups: Sequence[Row]
    members: Sequence[Row]
    users: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Share:
    """A rep's turns beside the fair share: its weight's part of its group's turns."""

    group: str
    rep: str
    weight: int
    turns: int
    fair: float


@dataclass(frozen=True, slots=True)
class Latency:
    """From a lead's creation to its owner, in milliseconds."""

    p50: int
    p95: int
    max: int


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the books do not tell: counted by those who played."""

    seed: int
    dead: int
    crashes: int
    waiting_at_crash: int
    api_calls: int
    took_s: float


@dataclass(frozen=True, slots=True)
class Report:
    """`twice`: leads with two ledger rows, and buyers who used two turns. `lost`: leads without owner, held or not."""

    leads: int
    routed: int
    followed: int
    twice: int
    lost: int
    held: int
    shares: tuple[Share, ...]
    latency: Latency
    around: Circumstances


def judge(books: Books, waits_ms: Sequence[int], around: Circumstances) -> Report:
    """The report of a play; `waits_ms` are the leads' waits for an owner, ascending."""
    routed = sum(1 for lead in books.leads if str(lead["OwnerId"]).startswith(USER_PREFIX))
    return Report(
        leads=len(books.leads),
        routed=routed,
        followed=sum(1 for row in books.ledger if row.get("Outcome__c") == "Duplicate"),
        twice=_twice(books),
        lost=len(books.leads) - routed,
        held=sum(1 for lead in books.leads if lead.get("Routing_Status__c") == "Held"),
        shares=_shares(books),
        latency=Latency(*(percentile(waits_ms, part) for part in (50, 95, 100))),
        around=around,
    )


def percentile(ascending: Sequence[int], part: int) -> int:
    """The nearest-rank percentile; 0 of nothing."""
    return ascending[max(0, math.ceil(len(ascending) * part / 100) - 1)] if ascending else 0


def share_gap_max(report: Report) -> float:
    """The largest distance of a rep from its fair share, in leads."""
    return max((abs(share.turns - share.fair) for share in report.shares), default=0.0)


def kept(report: Report) -> bool:
    """Whether the promises held: nothing twice, lost or dead, and every rep within one lead of the fair share."""
    return report.twice == report.lost == report.around.dead == 0 and share_gap_max(report) <= GAP_MAX


def as_json(report: Report) -> str:
    """One line with one object; `latency_ms` in whole milliseconds, `share_gap_max` in leads."""
    latency = report.latency
    told = {
        "seed": report.around.seed,
        "leads": report.leads,
        "routed": report.routed,
        "twice": report.twice,
        "lost": report.lost,
        "held": report.held,
        "dead": report.around.dead,
        "share_gap_max": round(share_gap_max(report), 3),
        "latency_ms": {"p50": latency.p50, "p95": latency.p95, "max": latency.max},
        "api_calls": report.around.api_calls,
        "crashes": report.around.crashes,
    }
    return json.dumps(told)


def as_text(report: Report) -> str:
    """The same for a person, with each rep's share."""
    around, latency = report.around, report.latency
    in_turn = sum(share.turns for share in report.shares)
    counts = (
        ("leads", report.leads, f"seed {around.seed}, played in {around.took_s:.0f} s"),
        ("routed", report.routed, f"{in_turn:,} in turn, {report.followed:,} sent again and given to the same rep"),
        ("twice", report.twice, ""),
        ("lost", report.lost, ""),
        ("held", report.held, ""),
        ("dead", around.dead, ""),
        (
            "crashes",
            around.crashes,
            f"kill -9 while {around.waiting_at_crash} leads waited",
        ),
        ("API calls", around.api_calls, "of the router, log-ins not counted"),
    )
    lines = [f"{name:<10} {count:>6,}   {note}".rstrip() for name, count, note in counts]
    lines += ["", "creation to owner, by the org's own commit times", f"  p50 {latency.p50:,} ms"]
    lines[-1] += f"   p95 {latency.p95:,} ms   max {latency.max:,} ms, the crash included"
    lines += ["", f"{'group':<16}{'rep':<8}{'weight':>6}{'turns':>8}{'fair share':>12}{'off by':>9}"]
    lines += [
        f"{one.group:<16}{one.rep:<8}{one.weight:>6}{one.turns:>8}{one.fair:>12.2f}{one.turns - one.fair:>+9.2f}"
        for one in report.shares
    ]
    return "\n".join([*lines, "", _verdict(report)])


def _verdict(report: Report) -> str:
    if kept(report):
        return "Every lead has one owner, and every rep is within one lead of the fair share."
    return "A promise was broken: twice, lost and dead must be 0, and no rep off by more than one lead."


def _twice(books: Books) -> int:
    rows = Counter(row["Lead__c"] for row in books.ledger)
    buyers = {lead["Id"]: str(lead["Email"]).lower() for lead in books.leads}
    turns = Counter(
        buyers.get(row["Lead__c"], row["Lead__c"]) for row in books.ledger if row.get("Turn__c") is not None
    )
    return sum(1 for count in rows.values() if count > 1) + sum(1 for count in turns.values() if count > 1)


def _shares(books: Books) -> tuple[Share, ...]:
    names = {user["Id"]: str(user["LastName"]) for user in books.users}
    turns = Counter(row["Member__c"] for row in books.ledger if row.get("Turn__c") is not None)
    found: list[Share] = []
    for group in books.groups:
        members = [member for member in books.members if member["Group__c"] == group["Id"]]
        weight = sum(int(member["Weight__c"]) for member in members)
        taken = sum(turns[member["Id"]] for member in members)
        for member in sorted(members, key=lambda member: int(member["Sort_Order__c"])):
            fair = taken * int(member["Weight__c"]) / weight
            rep, own = names[member["User__c"]], turns[member["Id"]]
            found.append(Share(str(group["Name"]), rep, int(member["Weight__c"]), own, fair))
    return tuple(found)
