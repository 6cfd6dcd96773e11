"""No history is taken for drift: production's verification, at the end of a play, and its judgement amid the storm.

Whatever admins do to weights, epochs and members while routers and triggers write, what `lead-router verify` would
alarm somebody of never was.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lead_router.core.drift import Entry, Sum
from lead_router.core.model import Group, Member, Mode
from lead_router.core.rebuild import judged
from lead_router.core.tally import Tally
from lead_router.jobs import SqlJobStore
from lead_router.loops.verification import Jobs, verify
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.books import SalesforceBooks
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.wire.adapter import OrgAdapter

if TYPE_CHECKING:
    from simulation.company import Company
    from simulation.play import Play

Row = Mapping[str, Any]
APART = 3  # commits between two looks
NAMES = ("Round_Robin_Group__c", "Round_Robin_Member__c", "Lead_Assignment__c")


class Looks:
    """Looks at the rotations between two steps, each held against the last one, as a running router does."""

    def __init__(self) -> None:
        self._former: dict[str, Group] = {}
        self._seen = 0
        self.faults: list[str] = []

    def look(self, firm: Company, commits: int) -> None:
        """Rows as the org has them after so many commits; each group is judged by all of them, and by their sums."""
        if commits < self._seen + APART:
            return
        self._seen = commits
        groups, members, ledger = (firm.rows(name) for name in NAMES)
        for row in groups:
            group = _group(row, [one for one in members if one["Group__c"] == row["Id"]])
            whole, sums = Tally(group.epoch, group.turn), Tally(group.epoch, group.turn)
            entries = [_entry(one) for one in ledger if one["Group__c"] == group.id and one["Turn_Key__c"]]
            for entry in entries:
                whole.add(entry)
            for one in _sums(entries):
                sums.add_sum(one)
            for tally in (whole, sums):
                found = judged(group, tally, self._former.get(group.id)).findings
                self.faults += [f"{one.kind} at turn {one.turn}: {one.text}" for one in found]
            self._former[group.id] = group


def nothing_drifted(play: Play) -> Iterator[str]:
    """Neither amid the storm nor at the end, when leads and jobs are held against the ledger, too."""
    yield from play.looks.faults
    world = play.worlds[0]
    session = open_session(world.base_url, adapter=OrgAdapter(world))
    login = Login(world.base_url, world.app.client_id, world.app.client_secret)
    tokens = TokenHolder(login, session, now=play.clock.now, sleep=play.elapse, dice=random.Random(1))
    books = SalesforceBooks(Rest(tokens, session))
    first, *others = (SqlJobStore(host.disk, org_id=play.org.org_id) for host in play.hosts)
    seen = verify(books, first, now=play.clock.now)
    found = list(seen.findings)
    for store in others:
        jobs = Jobs(books, store, play.clock.now)
        jobs.judge_all()
        found += jobs.findings
    yield from (f"{one.kind}, {one.record}, turn {one.turn}: {one.text}" for one in found)
    if seen.groups != len(play.company.groups) or seen.notes or seen.unsteady:
        yield f"{seen.groups} groups were judged; {seen.notes}"


def _group(row: Row, members: list[Row]) -> Group:
    return Group(
        id=row["Id"],
        key=row["Key__c"],
        name=row["Name"],
        mode=Mode.LIVE,
        epoch=int(row["Epoch__c"] or 0),
        turn=int(row["Turn__c"] or 0),
        clock=int(row["Clock__c"] or 0),
        fallback_queue=None,
        members=tuple(_member(one) for one in members),
    )


def _member(row: Row) -> Member:
    return Member(
        id=row["Id"],
        user_id=row["User__c"],
        name="",
        weight=int(row["Weight__c"]),
        sort_order=0,
        active=True,
        user_active=True,
        next_turn=None if row["Next_Turn__c"] is None else int(row["Next_Turn__c"]),
        last_turn=None if row["Last_Turn__c"] is None else int(row["Last_Turn__c"]),
        leads_received=int(row["Leads_Received__c"] or 0),
    )


def _entry(row: Row) -> Entry:
    return Entry(
        id=row["Id"],
        group_id=row["Group__c"],
        member_id=row["Member__c"],
        lead_id=row["Lead__c"],
        lead_key=row["Lead_Key__c"],
        round=int(row["Round__c"]),
        idempotency_key=row["Idempotency_Key__c"],
        outcome=row["Outcome__c"],
        epoch=int(row["Epoch__c"]),
        turn=int(row["Turn__c"]),
        turn_key=row["Turn_Key__c"],
    )


def _sums(entries: list[Entry]) -> Iterator[Sum]:
    turns: dict[tuple[int, str | None], list[int]] = {}
    for one in entries:
        turns.setdefault((one.epoch or 0, one.member_id), []).append(one.turn or 0)
    for (epoch, member), found in turns.items():
        yield Sum("", epoch, member, len(found), min(found), max(found))
