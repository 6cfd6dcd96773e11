"""A witness: every commit of the org in order, and which router was in which step when it happened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.changes import RowChange
from simulation.hosts import Host, Router

if TYPE_CHECKING:
    from simulation.play import Play


Row: TypeAlias = "Mapping[str, Any]"
ENDS = ("status", "outcome")  # what only the attempt that holds the claim writes, once
WAITS = ("held: group", "held: waits behind")  # how a job says that its lead waits for members


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

    What the Apex does in one go within a transaction is a step of no router outside.
    """

    router: Router | None
    name: str
    at: datetime
    commits: int
    waiting: Mapping[str, tuple[str, int]]


class Witness:
    """Sees all and changes nothing."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.commits: list[Seen] = []
        self.steps: list[Begun] = []
        self.faults: list[str] = []
        self._stack: list[int] = []
        self._done: dict[tuple[str, int], Row] = {}
        self._looked_at: dict[str, int] = {}
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
                self.steps.append(Begun(None, "trigger", part[0].at, len(self.commits), self._held()))
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
            rows = sum(change.sobject == "Lead_Assignment__c" for change in changes)
            self._play.counts[f"ledger: {'outside' if first.user_id in self._users else 'inside'}"] += rows
        self.commits.append(Seen(len(self.commits), first.at, ours, tuple(changes), step))
        for change in changes:
            self._states.setdefault(change.id, []).append((len(self.commits) - 1, change.after))
            if change.sobject in {"Lead", "Lead_Assignment__c"} and ours:
                after = change.after or {}
                self._play.note(f"> {change.sobject} {change.kind} {_shown(after)}")

    def during(self, router: Router, name: str) -> bool:
        """One step, watched."""
        works = router.alive and name.startswith("worker")
        waiting = self._looked(router.host) if works else {}
        wished = self._sweeps(router) if router.alive and name == "upkeep" else None
        self.steps.append(Begun(router, name, self._play.clock.now(), len(self.commits), waiting))
        self._stack.append(len(self.steps) - 1)
        try:
            return router.step(name)
        finally:
            self._stack.pop()
            if works and self._stack:  # within another's step: what this one ended, that one must leave alone
                self._looked(router.host)
            if wished is not None and router.alive and len(self.steps) == wished[0] + 1:
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
            elif former is not None and any(job[name] != former[name] for name in ENDS):
                told = [(one["status"], one["outcome"]) for one in (former, job)]
                self.faults.append(f"job {job['id']} of {host.name} had ended, and was ended again: {told}")
            if job["status"] in {"queued", "working"} and (job["last_error"] or "").startswith(WAITS):
                told = datetime.fromisoformat(json.loads(job["payload"])["event_at"])
                waiting[job["lead_id"]] = (job["held_group"] or "", int(told.timestamp() * 1000))
        # A step in whose middle this look happens may still end a job by what it read at its beginning.
        self._looked_at[host.name] = min([len(self.commits), *(self.steps[place].commits for place in self._stack)])
        return waiting

    def _sweeps(self, router: Router) -> tuple[int, str | None, int, int]:
        """Steps so far; why a sweep is asked for; sweeps that failed, and faults of databases."""
        [row] = router.host.look("SELECT requested FROM sweep WHERE org_id = :org_id") or [{}]
        spoiled = sum(count for name, count in self._play.counts.items() if name.startswith("database"))
        return len(self.steps), row.get("requested"), 0 if router.org is None else router.org.failed, spoiled

    def _kept_wish(self, router: Router, before: tuple[int, Any, int, int], after: tuple[int, Any, int, int]) -> None:
        """A sweep that was asked for and could not be made is asked for still, unless the database failed too."""
        failed, sound = after[2] > before[2], after[3] == before[3]
        if before[1] is not None and after[1] is None and failed and sound:
            self.faults.append(f"{router.name} was asked to sweep, {before[1]}, failed, and forgot it")

    def _left_behind(self, host: Host, job: Row) -> None:
        """A job just done leaves its lead in the intake, although nobody touched it since the last look."""
        company, lead_id = self._play.company, job["lead_id"]
        since = self._looked_at.get(host.name, 0)
        lead = company.row(lead_id)
        if job["outcome"].endswith("already routed") or lead is None or lead["IsConverted"]:
            return
        if lead["OwnerId"] in company.intakes and self.still(lead_id, since, len(self.commits)):
            self.faults.append(f"job {job['id']} of {host.name} is done, {job['outcome']}, and {lead_id} has no owner")

    def owned(self) -> bool:
        """Whether no lead waits in an intake."""
        company = self._play.company
        return not any(lead["OwnerId"] in company.intakes and not lead["IsConverted"] for lead in company.rows("Lead"))

    def settled(self) -> bool:
        """Whether nobody waits any more: no lead in an intake, no job open."""
        if not self.owned():
            return False
        return all(job["status"] in {"done", "dead"} for host in self._play.hosts for job in host.jobs())


def _shown(row: Mapping[str, Any]) -> str:
    names = ("Id", "OwnerId", "Routing_Status__c", "Lead_Key__c", "Turn_Key__c", "Outcome__c", "Assigned_To__c")
    return " ".join(str(row[name]) for name in names if row.get(name))
