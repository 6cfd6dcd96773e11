"""What `status`, `doctor` and `jobs` look at."""

from __future__ import annotations

from dataclasses import dataclass

from lead_router.app.wiring import store_of, wire
from lead_router.core.duty import on_duty
from lead_router.core.rotation import who_is_next
from lead_router.errors import Transient
from lead_router.jobs import doubt, known_orgs
from lead_router.ports import Finding, JobStore, QueueView
from lead_router.salesforce.doctor import diagnose as examine
from lead_router.settings import Settings

NEXT_SHOWN = 3


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """A group as `status` shows it; `next_members` are the names of those who come next, in order."""

    key: str
    mode: str
    turn: int
    on_duty: int
    next_members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """Everything `status` shows; `org_fault` says why groups are missing, if they are."""

    queue: QueueView
    groups: tuple[GroupStatus, ...]
    warnings: tuple[str, ...]
    org_fault: str | None


def open_jobs(settings: Settings) -> JobStore:
    """The job store of the org that the database knows; of several, the one that the settings log in to."""
    orgs = known_orgs(settings.database)
    org_id = orgs[0] if len(orgs) == 1 else "" if not orgs else wire(settings).tokens.token().org_id
    return store_of(settings, org_id)


def status(settings: Settings) -> Status:
    """The queue, and the groups with who is next; without an answer of the org, the queue alone."""
    store = open_jobs(settings)
    try:
        queue = store.queue()
    finally:
        store.close()
    try:
        org = wire(settings).org
        configuration = org.configuration()
        snapshot = org.snapshot(configuration, (), ())
    except Transient as fault:
        return Status(queue, (), (), str(fault))
    groups = tuple(
        GroupStatus(
            key=group.key,
            mode=group.mode,
            turn=group.turn,
            on_duty=len(on_duty(group)),
            next_members=tuple(member.name for member in who_is_next(group, NEXT_SHOWN)),
        )
        for group in sorted(snapshot.groups.values(), key=lambda group: group.key)
    )
    return Status(queue, groups, configuration.warnings, None)


def diagnose(settings: Settings) -> list[Finding]:
    """Every finding of the doctor, the database among them."""
    findings = [_database(settings)]
    wired = wire(settings)
    return [*findings, *examine(wired.rest, wired.tokens, wired.org)]


def _database(settings: Settings) -> Finding:
    store = open_jobs(settings)
    try:
        queue = store.queue()
    finally:
        store.close()
    risk = doubt(settings.database)
    if risk is not None:
        return Finding("job database", ok=False, detail=risk, remedy="use a local disk or PostgreSQL", warning=True)
    return Finding("job database", ok=True, detail=f"reachable, {queue.queued} queued, {queue.dead} dead")
