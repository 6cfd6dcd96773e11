"""A witness: every commit of the org in order, and which router was in which step when it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from org_simulator.changes import RowChange
from simulation.hosts import Host, Router

if TYPE_CHECKING:
    from simulation.play import Play


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
    """A step: which leads its router knew to wait for a group, and how many commits there had been."""

    router: Router
    name: str
    commits: int
    waiting: Mapping[str, tuple[str, int]]


class Witness:
    """Sees all and changes nothing."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.commits: list[Seen] = []
        self.steps: list[Begun] = []
        self.risen: list[str] = []
        self._stack: list[int] = []
        self._done: set[tuple[str, int]] = set()
        self._user = play.world.org.integration_user_id
        play.world.org.listeners.append(self._saw)

    def _saw(self, changes: list[RowChange]) -> None:
        first = changes[0]
        ours = first.user_id == self._user
        step = self._stack[-1] if self._stack and ours else None
        self.commits.append(Seen(len(self.commits), first.at, ours, tuple(changes), step))
        for change in changes:
            if change.sobject in {"Lead", "Lead_Assignment__c"} and ours:
                after = change.after or {}
                self._play.note(f"> {change.sobject} {change.kind} {_told(after)}")

    def during(self, router: Router, name: str) -> bool:
        """One step, watched."""
        waiting = self._looked(router.host) if router.alive and name.startswith("worker") else {}
        self.steps.append(Begun(router, name, len(self.commits), waiting))
        self._stack.append(len(self.steps) - 1)
        try:
            return router.step(name)
        finally:
            self._stack.pop()

    def _looked(self, host: Host) -> dict[str, tuple[str, int]]:
        """Who waits for members by the host's disk. On the way: a job that was done stays done."""
        waiting: dict[str, tuple[str, int]] = {}
        for job in host.look("SELECT id, lead_id, status, held_group, held_since FROM routing_job"):
            known = (host.name, job["id"])
            if job["status"] == "done":
                self._done.add(known)
            elif known in self._done:
                self.risen.append(f"job {job['id']} of {host.name} was done, and is {job['status']}")
            if job["status"] in {"queued", "working"} and job["held_group"] is not None:
                waiting[job["lead_id"]] = (job["held_group"], job["held_since"])
        return waiting

    def settled(self) -> bool:
        """Whether nobody waits any more: no lead in the intake, no job open."""
        company = self._play.company
        intake = company.intake
        if any(lead["OwnerId"] == intake and not lead["IsConverted"] for lead in company.rows("Lead")):
            return False
        return all(job["status"] in {"done", "dead"} for host in self._play.hosts for job in host.jobs())


def _told(row: Mapping[str, Any]) -> str:
    names = ("Id", "OwnerId", "Routing_Status__c", "Lead_Key__c", "Turn_Key__c", "Outcome__c", "Assigned_To__c")
    return " ".join(str(row[name]) for name in names if row.get(name))
