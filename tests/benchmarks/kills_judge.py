"""What the org holds after the kills: counts that must be 0, shares, and how soon leads had owners again."""

from __future__ import annotations

import json
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from support.simulator import Simulator
from support.verdict import Books, books, lead_changes, promises_kept

PERSON_PREFIX = "005"


class Lived(Protocol):
    """A life of the router, in seconds since 1970."""

    @property
    def number(self) -> int:
        """Which life it is, from 0; `life<number>.log` is its log."""
        ...

    @property
    def started(self) -> float:
        """When its process was started."""
        ...

    @property
    def ended(self) -> float:
        """When it was killed or told to end."""
        ...

    @property
    def moment(self) -> str:
        """What it was doing then."""
        ...

    @property
    def code(self) -> int:
        """Its exit code."""
        ...

    @property
    def unanswered(self) -> bool:
        """Whether a commit was under way."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """`broken` is the first broken promise, empty when all were kept. Times in seconds, shares in leads."""

    leads: int
    lost: int
    twice: int
    holes: int
    off_share: float
    in_commit: int
    given_back: int
    drained: int
    barren: int
    start_to_owner_s: tuple[float, ...]
    kill_to_owner_s: tuple[float, ...]
    waits_s: tuple[float, ...]
    broken: str


def judged(org: Simulator, created: Collection[str], lives: Sequence[Lived], logs: Path) -> Judged:
    """Read everything from the org; `logs` is the folder with each life's own log."""
    seen = books(org)
    came, given = _instants(lead_changes(org))
    at = sorted(instant for instants in given.values() for instant in instants)
    starts, kills = resumed(lives, [_began(logs / f"life{life.number}.log") for life in lives], at)
    return Judged(
        leads=len(created),
        lost=len(lost(seen, created)),
        twice=len(twice(seen, given)),
        holes=holes(seen),
        off_share=round(off_share(seen), 3),
        in_commit=sum(life.unanswered for life in lives),
        given_back=_given_back(logs),
        drained=sum(life.moment == "SIGTERM" and life.code == 0 for life in lives),
        barren=len(lives) - len(starts),
        start_to_owner_s=tuple(starts),
        kill_to_owner_s=tuple(kills),
        waits_s=tuple(sorted(round(given[one][0] - came[one], 3) for one in created if one in given)),
        broken=_broken(org, created, lives),
    )


def _instants(changes: Sequence[Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, list[float]]]:
    """When each lead was created, and when it was given to a person, by the org's commit times."""
    came: dict[str, float] = {}
    given: dict[str, list[float]] = {}
    for change in changes:
        header = change["ChangeEventHeader"]
        for lead_id in header["recordIds"]:
            if header["changeType"] == "CREATE":
                came[lead_id] = header["commitTimestamp"] / 1000
            elif str(change.get("OwnerId", "")).startswith(PERSON_PREFIX):
                given.setdefault(lead_id, []).append(header["commitTimestamp"] / 1000)
    return came, given


def lost(seen: Books, created: Collection[str]) -> set[str]:
    """Leads without a person as owner, or without a ledger row."""
    owned = {lead_id for lead_id, lead in seen.leads.items() if str(lead["OwnerId"]).startswith(PERSON_PREFIX)}
    return set(created) - (owned & {row["Lead__c"] for row in seen.ledger})


def twice(seen: Books, given: Mapping[str, Collection[float]]) -> set[str]:
    """Leads with several ledger rows, or that were given to a person several times."""
    rows = Counter(row["Lead__c"] for row in seen.ledger)
    return {lead_id for lead_id, count in rows.items() if count > 1} | {
        lead_id for lead_id, instants in given.items() if len(instants) > 1
    }


def holes(seen: Books) -> int:
    """Turns of 1..n that nobody has, that two have, or that the group counts otherwise; of all groups together."""
    wrong = 0
    for group in seen.groups:
        turns = [int(row["Turn__c"]) for row in seen.ledger if row["Group__c"] == group["Id"] and row["Turn__c"]]
        wrong += len(set(range(1, len(turns) + 1)) ^ set(turns)) + len(turns) - len(set(turns))
        wrong += abs(int(group["Turn__c"]) - len(turns))
    return wrong


def off_share(seen: Books) -> float:
    """How many leads anybody is away from the fair share."""
    worst = 0.0
    for group in seen.groups:
        members = [member for member in seen.members if member["Group__c"] == group["Id"]]
        weight = sum(int(member["Weight__c"]) for member in members)
        for member in members:
            fair = int(group["Turn__c"]) * int(member["Weight__c"]) / weight
            worst = max(worst, abs(int(member["Leads_Received__c"] or 0) - fair))
    return worst


def resumed(
    lives: Sequence[Lived], began: Sequence[float], owned_at: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Ascending: from the start of each life that gave an owner to its first; from each outage's first kill to that.

    A life owns what came after it `began` to route: before that the org may still carry out a commit of the former one.
    """
    starts, kills = [], []
    down_since: float | None = None
    for number, life in enumerate(lives):
        until = lives[number + 1].started if number + 1 < len(lives) else float("inf")
        first = bisect_right(owned_at, began[number])
        if first < len(owned_at) and owned_at[first] < until:
            starts.append(round(owned_at[first] - life.started, 3))
            if down_since is not None:
                kills.append(round(owned_at[first] - down_since, 3))
            down_since = None
        down_since = life.ended if down_since is None else down_since
    return sorted(starts), sorted(kills)


def _began(log: Path) -> float:
    """When the life began to route, by its own log; never, if it did not come to that."""
    lines = [line for line in log.read_text("utf-8").splitlines() if '"router_started"' in line]
    return datetime.fromisoformat(json.loads(lines[0])["timestamp"]).timestamp() if lines else float("inf")


def _given_back(logs: Path) -> int:
    """Claims of killed lives that later ones gave back, as their logs tell."""
    lines = [line for log in logs.glob("*.log") for line in log.read_text("utf-8").splitlines()]
    return sum(json.loads(line)["jobs"] for line in lines if '"claims_abandoned"' in line and line.endswith("}"))


def _broken(org: Simulator, created: Collection[str], lives: Sequence[Lived]) -> str:
    if any(life.code != 0 for life in lives if life.moment in {"SIGTERM", "the last"}):
        return "a router that was told to end did not end with 0"
    try:
        promises_kept(org, created)
    except AssertionError as broken:
        return str(broken).splitlines()[0] if str(broken) else "a promise was broken"
    return ""


def table(rows: Sequence[tuple[str, float, Mapping[str, int], Judged]], moments: Sequence[str]) -> str:
    """One column per engine: how it was ended, what came of it, how soon it went on."""
    heads = ["", *(engine for engine, *_ in rows)]
    lines: list[list[str]] = [heads]
    lines += [[f"ended {moment}", *(str(kinds[moment]) for _, _, kinds, _ in rows)] for moment in moments]
    lines += [
        [name, *(show(verdict) for *_, verdict in rows)]
        for name, show in (
            ("commit unanswered at the end", lambda one: str(one.in_commit)),
            ("claims given back", lambda one: f"{one.given_back:,}"),
            ("leads", lambda one: f"{one.leads:,}"),
            ("lost", lambda one: str(one.lost)),
            ("assigned twice", lambda one: str(one.twice)),
            ("holes in turns", lambda one: str(one.holes)),
            ("off the fair share, at most", lambda one: f"{one.off_share:.2f} leads"),
            ("start to first owner, p50 / max", lambda one: _spread(one.start_to_owner_s)),
            ("kill to first owner, p50 / max", lambda one: _spread(one.kill_to_owner_s)),
            ("lead's wait, p50 / p95 / max", lambda one: _waits(one.waits_s)),
            ("promises", lambda one: one.broken or "kept"),
        )
    ]
    lines.append(["took", *(f"{took_s:.0f} s" for _, took_s, _, _ in rows)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.rjust(width) if place else text.ljust(width) for place, (text, width) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    )


def _spread(ascending: Sequence[float]) -> str:
    return f"{statistics.median(ascending):.2f} / {ascending[-1]:.2f} s" if ascending else "none"


def _waits(ascending: Sequence[float]) -> str:
    if not ascending:
        return "none"
    p95 = ascending[min(len(ascending) - 1, bisect_left(range(len(ascending)), len(ascending) * 95 // 100))]
    return f"{statistics.median(ascending):.2f} / {p95:.2f} / {ascending[-1]:.2f} s"
