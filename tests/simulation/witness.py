"""A witness: every commit of the org in order, and which router was in which step when it happened."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from lead_router.errors import Transient
from lead_router.loops.overriding import GIVEN_BY
from org_simulator.changes import RowChange
from simulation.hosts import Host, Router

if TYPE_CHECKING:
    from simulation.play import Play


Row: TypeAlias = "Mapping[str, Any]"
LEDGER, ABSENCE = "Lead_Assignment__c", "Member_Absence__c"
ENDS = ("status", "outcome")  # what only the attempt that holds the claim writes, once
WAITS = ("held: group", "held: waits behind")  # how a job says that its lead waits for members
OUTAGES = {"LoginRefused", *(kind.__name__ for kind in Transient.__subclasses__())}
UNSEEN = ("skipped: gone", "skipped: deleted")  # a sweep that sees the lead after all begins such a job anew
LONG = timedelta(seconds=1)  # a breaker may have opened in such a step, and closed
LEASE_MS = 1_000  # by which the lease of a sweep is over in earnest


@dataclass(frozen=True, slots=True)
class Seen:
    """One commit. `ours` says that the router's user made it; `step` numbers the step that it was made in."""

    number: int
    at: datetime
    ours: bool
    changes: tuple[RowChange, ...]
    step: int | None

    def of(self, sobject: str) -> list[RowChange]:
        """The changes of one object."""
        return [change for change in self.changes if change.sobject == sobject]


@dataclass(frozen=True, slots=True)
class Begun:
    """A step: when it began, which leads its router knew to wait for a group, and how many commits there had been.

    `given` tells when a person last gave a lead to someone, as far as its router had heard. `configured` numbers
    the first commit that its router had not read of when it read its configuration last. What the Apex does in one go
    within a transaction is a step of no router outside.
    """

    router: Router | None
    name: str
    at: datetime
    commits: int
    waiting: Mapping[str, tuple[str, int]]
    configured: int
    given: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class Sweeps:
    """How sweeps stand on one host, as a router sees it that is about to do its upkeep, or was.

    `requested` says why one is asked for, `left` that one's lease is over; `failed` counts those of the router that
    failed, `spoiled` the faults of databases; `rests` says that the router spares the org.
    """

    steps: int
    requested: str | None
    begun_at: int | None
    left: bool
    failed: int
    spoiled: int
    rests: bool


class Witness:
    """Sees all and changes nothing."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.commits: list[Seen] = []
        self.absences: list[str] = []
        self.steps: list[Begun] = []
        self.faults: list[str] = []
        self._stack: list[int] = []
        self._done: dict[tuple[str, int], Row] = {}
        self._looked_at: dict[str, int] = {}
        self._waits: dict[tuple[str, int], tuple[str, int]] = {}
        self._users = frozenset(play.company.users)
        self._states: dict[str, list[tuple[int, Row | None]]] = {
            record_id: [(-1, row)]
            for name in ("user", "round_robin_member__c", "round_robin_group__c")
            for record_id, row in play.org.store.tables[name].rows.items()
        }
        play.org.listeners.append(self._saw)

    def _saw(self, changes: list[RowChange]) -> None:
        ours, trigger = changes[0].user_id in self._users, self._play.trigger
        if ours or trigger is None:
            self._told(changes, ours=ours, step=self._stack[-1] if self._stack and ours else None)
            return
        for part, by_apex in trigger.parts(changes):
            if by_apex:
                number = len(self.commits)
                self.steps.append(Begun(None, "trigger", part[0].at, number, self._held(), number, {}))
            self._told(part, ours=by_apex, step=len(self.steps) - 1 if by_apex else None)

    def _held(self) -> dict[str, tuple[str, int]]:
        """Who showed that they wait, before what is told next: the Apex has no jobs to know them by."""
        states = [self.state(lead_id, len(self.commits)) for lead_id in self._play.company.leads]
        held = [lead for lead in states if lead is not None and lead["Routing_Status__c"] == "Held"]
        came = {lead["Id"]: datetime.fromisoformat(lead["CreatedDate"]) for lead in held}
        return {lead_id: ("", int(at.timestamp() * 1000)) for lead_id, at in came.items()}

    def _told(self, changes: list[RowChange], *, ours: bool, step: int | None) -> None:
        first = changes[0]
        if ours and self._play.trigger is not None:
            rows = sum(change.sobject == LEDGER for change in changes)
            self._play.counts[f"ledger: {'outside' if first.user_id in self._users else 'inside'}"] += rows
        self.commits.append(Seen(len(self.commits), first.at, ours, tuple(changes), step))
        for change in changes:
            self._states.setdefault(change.id, []).append((len(self.commits) - 1, change.after))
            if change.sobject == ABSENCE and change.before is None:
                self.absences.append(change.id)
            if change.sobject in {"Lead", LEDGER} and ours:
                after = change.after or {}
                self._play.note(f"> {change.sobject} {change.kind} {_shown(after)}")

    def during(self, router: Router, name: str) -> bool:
        """One step, watched."""
        works = router.alive and name.startswith("worker")
        waiting = self._looked(router.host) if works else {}
        wished = self._sweeps(router) if router.alive and name == "upkeep" else None
        known = 0 if router.org is None else router.org.configured
        given = _given(router.host.jobs()) if works else {}
        self.steps.append(Begun(router, name, self._play.clock.now(), len(self.commits), waiting, known, given))
        self._stack.append(len(self.steps) - 1)
        try:
            return router.step(name)
        finally:
            self._stack.pop()
            if works and self._stack:  # within another's step: what this one ended, that one must leave alone
                self._looked(router.host)
            if wished is not None and router.alive and len(self.steps) == wished.steps + 1:
                self._kept_wish(router, wished, self._sweeps(router))

    def state(self, record_id: str, before: int) -> Row | None:
        """A record as it was before the commit of this number; None where it was not, or was deleted."""
        found = [row for number, row in self._states.get(record_id, ()) if number < before]
        return found[-1] if found else None

    def states(self, record_id: str, since: int, before: int) -> list[Row | None]:
        """A record as it was before the commit `since`, and after each one that changed it before that of `before`."""
        later = [row for number, row in self._states.get(record_id, ()) if since <= number < before]
        return [self.state(record_id, since), *later]

    def always(self, record_id: str, flag: str) -> bool:
        """Whether a checkbox of the record was never off."""
        return all(row is not None and row[flag] for _, row in self._states.get(record_id, ()))

    def still(self, record_id: str, since: int, before: int) -> bool:
        """Whether no commit from `since` on touched the record before that of the number `before`."""
        return not any(since <= number < before for number, _ in self._states.get(record_id, ()))

    def _looked(self, host: Host) -> dict[str, tuple[str, int]]:
        """Who waits for members by the host's disk. On the way: what is done stays done, and leaves nobody behind."""
        waiting: dict[str, tuple[str, int]] = {}
        jobs = host.jobs()
        open_leads = {job["lead_id"] for job in jobs if job["status"] != "done"}
        for job in jobs:
            known = (host.name, job["id"])
            former = self._done.get(known)
            if former is None and job["status"] == "done":
                self._done[known] = job
                if job["lead_id"] not in open_leads:
                    self._left_behind(host, job)
            elif former is not None and former["outcome"] in UNSEEN and job["status"] != "done":
                del self._done[known]
            elif former is not None and former["outcome"] in UNSEEN:
                self._done[known] = job
            elif former is not None and any(job[name] != former[name] for name in ENDS):
                told = [(one["status"], one["outcome"]) for one in (former, job)]
                self.faults.append(f"job {job['id']} of {host.name} had ended, and was ended again: {told}")
            place = self._place(known, job)
            if place is not None:
                waiting[job["lead_id"]] = place
        # A step in whose middle this look happens may still end a job by what it read at its beginning.
        self._looked_at[host.name] = min([len(self.commits), *(self.steps[place].commits for place in self._stack)])
        return waiting

    def _place(self, known: tuple[str, int], job: Row) -> tuple[str, int] | None:
        """The group that the job's lead waits for, and since when. Who asked it in vain, for want of an answer of
        Salesforce or of the database, took nothing from it.
        """
        why = job["last_error"] or ""
        if job["status"] in {"queued", "working"} and why.startswith(WAITS):
            told = datetime.fromisoformat(json.loads(job["payload"])["event_at"])
            self._waits[known] = (job["held_group"] or "", int(told.timestamp() * 1000))
        elif job["status"] not in {"queued", "working"} or why.partition(":")[0] not in OUTAGES:
            self._waits.pop(known, None)
        elif job["status"] == "queued" and self._waits.get(known, ("", 0))[0] and job["held_group"] is None:
            self.faults.append(f"job {job['id']} of {known[0]} was asked in vain, {why}, and lost its place")
        return self._waits.get(known)

    def _sweeps(self, router: Router) -> Sweeps:
        """How sweeps stand on the router's host."""
        # By the database's own clock, which is not the play's on a server.
        [row] = router.host.look("SELECT *, {now} AS told_at FROM sweep WHERE org_id = :org_id") or [{}]
        spoiled = sum(count for name, count in self._play.counts.items() if name.startswith("database"))
        left = (row.get("kept_until") or sys.maxsize) < row.get("told_at", 0) - LEASE_MS
        failed = 0 if router.org is None else router.org.failed
        rests = router.breaker is not None and router.breaker.open_s() > 0
        return Sweeps(len(self.steps), row.get("requested"), row.get("begun_at"), left, failed, spoiled, rests)

    def _kept_wish(self, router: Router, before: Sweeps, after: Sweeps) -> None:
        """A sweep that was asked for and could not be made is asked for still, unless the database failed too. One that
        nobody ended is begun anew by whoever comes by, unless the org is spared; of a long step nobody knows whether it
        was.
        """
        if after.spoiled != before.spoiled:
            return
        if before.requested is not None and after.requested is None and after.failed > before.failed:
            self.faults.append(f"{router.name} was asked to sweep, {before.requested}, failed, and forgot it")
        spared = before.rests or after.rests or self._play.clock.now() - self.steps[before.steps].at > LONG
        if before.left and after.begun_at == before.begun_at and not spared:
            self.faults.append(f"{router.name} came by a sweep that nobody had ended, and left it")

    def _left_behind(self, host: Host, job: Row) -> None:
        """A job just done leaves its lead in the intake, although nobody touched it since the last look."""
        company, lead_id = self._play.company, job["lead_id"]
        since = self._looked_at.get(host.name, 0)
        lead = company.row(lead_id)
        if lead is None or lead["IsConverted"]:
            return
        if job["outcome"].endswith(("already routed", "its owner was changed")):  # the latter of the first-touch clock
            self._not_looked_for(host, job, lead)
            return
        if lead["OwnerId"] in company.intakes and self.still(lead_id, since, len(self.commits)):
            self.faults.append(f"job {job['id']} of {host.name} is done, {job['outcome']}, and {lead_id} has no owner")

    def _not_looked_for(self, host: Host, job: Row, lead: Row) -> None:
        """A job finds its lead routed, or with another owner, and given back by now: as long as it was open, no sweep
        took that for news.
        """
        [row] = host.look("SELECT * FROM sweep WHERE org_id = :org_id") or [{}]
        keys = {one["Idempotency_Key__c"] for one in self._play.company.rows(LEDGER)}
        stands = job["idempotency_key"] in keys or not job["outcome"].endswith("already routed")
        since = self._looked_at.get(host.name, 0)
        untouched = self.still(job["lead_id"], since, len(self.commits))
        looked_for = row.get("requested") or row.get("kept_until") or (row.get("begun_at") or 0) >= job["completed_at"]
        if stands and untouched and lead["OwnerId"] in self._play.company.intakes and not looked_for:
            self.faults.append(f"{job['lead_id']} was given back, job {job['id']} ended on it, and no sweep is due")

    def owned(self) -> bool:
        """Whether no lead waits in an intake."""
        return not self._in_intakes()

    def waiting(self) -> frozenset[str]:
        """Who waits: leads in an intake, with an open job, or that ask by their status and were never routed."""
        jobs = [job for host in self._play.hosts for job in host.jobs()]
        asked = {job["lead_id"] for job in jobs if job["status"] not in {"done", "dead"}}
        return self._in_intakes() | self._unheeded() | asked

    def _unheeded(self) -> frozenset[str]:
        firm = self._play.company
        routed = {row["Lead_Key__c"].partition(".")[0] for row in firm.rows(LEDGER)}
        asking = (lead for lead in firm.rows("Lead") if lead["Status"] in firm.intake_statuses)
        return frozenset(lead["Id"] for lead in asking if not lead["IsConverted"] and lead["Id"] not in routed)

    def _in_intakes(self) -> frozenset[str]:
        company = self._play.company
        waits = (lead for lead in company.rows("Lead") if lead["OwnerId"] in company.intakes)
        return frozenset(lead["Id"] for lead in waits if not lead["IsConverted"])


def _given(jobs: Iterable[Row]) -> dict[str, datetime]:
    """When people gave leads to someone, the last time of each."""
    told = [(job["lead_id"], json.loads(job["payload"])) for job in jobs if GIVEN_BY in job["payload"]]
    every = [(datetime.fromisoformat(payload["event_at"]), lead_id) for lead_id, payload in told]
    return {lead_id: at for at, lead_id in sorted(every)}


def _shown(row: Mapping[str, Any]) -> str:
    names = ("Id", "OwnerId", "Routing_Status__c", "Lead_Key__c", "Turn_Key__c", "Outcome__c", "Assigned_To__c")
    return " ".join(str(row[name]) for name in names if row.get(name))
