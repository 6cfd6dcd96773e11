"""What `status`, `doctor` and `jobs` look at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from lead_router.app.hops import Hops
from lead_router.app.noticing import notice_findings
from lead_router.app.streams import try_stream
from lead_router.app.wiring import Wired, rollout_of, store_of, wire
from lead_router.core.ages import age
from lead_router.core.counted import counted
from lead_router.core.duty import moment_of, on_duty
from lead_router.core.hidden import scrub
from lead_router.core.model import Configuration, Mode, Snapshot, Switch
from lead_router.core.rotation import who_is_next
from lead_router.errors import LeadRouterError, Misconfigured, Transient
from lead_router.jobs import Copy, back_up, damage, doubt, known_orgs, missing_file, whereabouts
from lead_router.loops.verification import suspected
from lead_router.ports import Finding, JobStore, ListenerView, QueueView
from lead_router.ports.books import Books
from lead_router.ports.notices import ChannelView
from lead_router.salesforce.activities import readable
from lead_router.salesforce.books import SalesforceBooks
from lead_router.salesforce.doctor import diagnose as examine
from lead_router.salesforce.hopfields import hop_fields
from lead_router.salesforce.names import Channels
from lead_router.settings import PREFIX, Settings

NEXT_SHOWN = 3
_MEND = (
    "stop the router, keep the file, and restore a copy or let `lead-router run` make a new one: the sweep finds every "
    "lead that is still unassigned, and the ledger keeps each from being given out twice"
)
_SILENT = (
    "that one more subscribes, as `stream` below says, is no proof that it hears: see in Setup that changes of "
    "leads are published (Change Data Capture), and the integration user read them; until then sweeps find what comes"
)
START_ROUTER = "start it: `lead-router run`, or its service; where one runs, its log says why it does not listen"


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """A group as `status` shows it: how many are on duty now, and the names of those who come next, in order."""

    key: str
    name: str
    mode: str
    turn: int
    on_duty: int
    next_members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """Everything `status` shows; `no_router` says why it seems that none runs, `org_fault` why groups are missing.

    `org_away`: Salesforce did not answer; False: a person must change something first. `not_ready`: what the running
    router says is not as it should be, where it can be asked.
    """

    database: str
    no_router: str | None
    queue: QueueView
    channels: tuple[ChannelView, ...]
    groups: tuple[GroupStatus, ...]
    warnings: tuple[str, ...]
    org_fault: str | None
    org_away: bool
    not_ready: tuple[str, ...] = ()


def open_jobs(settings: Settings, wired: Wired | None = None) -> JobStore:
    """The job store of the org that the database knows; of several, the one that the settings log in to.

    Whoever is `wired` already asks by that session.
    Raises Misconfigured where there is no file: whoever only looks must not make one, least of all in a wrong folder.
    """
    absent = missing_file(settings.database)
    if absent is not None:
        raise Misconfigured(
            f"no job database at {absent}: the router has not run yet (`lead-router run` makes it), or this is not its "
            f"folder: set {PREFIX}DATABASE, or name its settings file with --env-file"
        )
    orgs = known_orgs(settings.database)
    org_id = orgs[0] if len(orgs) == 1 else "" if not orgs else (wired or wire(settings)).tokens.token().org_id
    return store_of(settings, org_id)


def backup(settings: Settings, to: Path) -> Copy:
    """A copy of the SQLite job database, taken beside a router that runs; see `back_up`."""
    return back_up(settings.database, to)


def status(settings: Settings) -> Status:
    """The queue, and the groups with who is next; where the org or a record in it is at fault, the queue alone."""
    database = whereabouts(settings.database)
    with closing(open_jobs(settings)) as store:
        queue, channels = store.queue(), tuple(store.channels())
    dead = (f"{_dead(queue)}: `{_LIST_DEAD}`",) if queue.dead else ()
    try:
        wired = wire(settings)
        configuration = wired.org.configuration()
        snapshot = wired.org.snapshot(configuration, (), ())
        drift = drifted(SalesforceBooks(wired.rest), settings.ledger_since)
    except LeadRouterError as fault:
        told, away = scrub(str(fault)), isinstance(fault, Transient)
        return Status(database, no_router(queue), queue, channels, (), dead, told, org_away=away)
    groups = group_statuses(configuration, snapshot)
    warnings = (*_elsewhere(settings, wired), *dead, *drift, *configuration.warnings)
    return Status(database, no_router(queue), queue, channels, groups, warnings, None, org_away=False)


def _elsewhere(settings: Settings, wired: Wired) -> tuple[str, ...]:
    """Where the database knows one org, its jobs are shown, whatever org the settings log in to and show groups of."""
    org_id, known = wired.tokens.token().org_id, known_orgs(settings.database)
    if len(known) != 1 or org_id in known:
        return ()
    told = (
        f"the settings log in to org {org_id}, of which the job database knows nothing: jobs, stream and router are "
        "those of the org before, groups those of this one; is another org meant, restart the router, else see "
        f"{PREFIX}LOGIN_URL and {PREFIX}CLIENT_ID"
    )
    return (told,)


def drifted(books: Books, since: datetime | None) -> tuple[str, ...]:
    """What one look finds, a line for each group that has drifted; from which turn on, `verify` tells.

    It counts all rows of the ledger: where that takes too long, the rest of `status` stands all the same.
    """
    try:
        look = books.look(sums=True)
    except LeadRouterError as fault:
        return (f"rotations were not held against the ledger: {scrub(str(fault))}",)
    if look.sums is None:
        return ()
    keys = sorted(one.key for one in look.groups.values() if suspected(one, look.sums, None, since).findings)
    return tuple(f"group '{key}' is not as its ledger has it: `lead-router verify --group {key}`" for key in keys)


_LIST_DEAD = "lead-router jobs list --status dead"


def _dead(queue: QueueView) -> str:
    if queue.dead == 1:
        return "1 job is dead: its lead waits for a person, unless it was taken, routed or deleted since"
    return f"{queue.dead} jobs are dead: their leads wait for a person, but for those taken, routed or deleted since"


def no_router(queue: QueueView) -> str | None:
    """Why it seems that no router of this job database runs; None while one listens.

    One listens from its start to its end, whether Salesforce answers or not; killed, it is believed for six seconds.
    """
    if any(one.listens for one in queue.listeners):
        return None
    ended = [one.ended_age_s for one in queue.listeners if one.ended_age_s is not None]
    return f"nobody has listened for {age(min(ended))}" if ended else "none has listened on this job database yet"


def group_statuses(configuration: Configuration, snapshot: Snapshot) -> tuple[GroupStatus, ...]:
    """All groups, by key, as they were when the snapshot was taken."""
    moment = moment_of(configuration, snapshot.taken_at, snapshot.open_leads, snapshot.unfit)
    return tuple(
        GroupStatus(
            key=group.key,
            name=group.name,
            mode=group.mode,
            turn=group.turn,
            on_duty=len(on_duty(group, moment)),
            next_members=()
            if group.mode is Mode.OFF
            else tuple(member.name for member in who_is_next(group, NEXT_SHOWN, moment)),
        )
        for group in sorted(snapshot.groups.values(), key=lambda group: group.key)
    )


def diagnose(settings: Settings, exposed: Sequence[str] = ()) -> list[Finding]:
    """Every finding of the doctor, the database among them, and `exposed`: files of secrets that others may read."""
    wired = wire(settings)
    findings = [*_database(settings), *_secrets(exposed), _switches(settings), *notice_findings(settings, wired)]
    entities = Channels.CONFIGURATION if settings.configuration_events else ()
    found = examine(wired.rest, wired.tokens, wired.org, usernames=settings.intake_users, notices=entities)
    if all(finding.ok for finding in found if finding.name in {"login", "API version"}):
        clock = () if settings.first_touch is Switch.OFF else (readable(wired.rest),)
        found = [*found, try_stream(settings, wired), *hop_findings(settings, wired), *clock]
    return [*findings, *found]


def hop_findings(settings: Settings, wired: Wired) -> list[Finding]:
    """What of the hops is switched on, and whether it can work; nobody outside is asked."""
    if wired.hops == Hops():
        return []
    try:
        found = hop_fields(wired.rest, wired.hops.scoring, wired.hops.enrichment)
    except LeadRouterError as fault:
        away = isinstance(fault, Transient)
        return [Finding("hops", ok=False, detail=scrub(str(fault)), remedy="look again", warning=True, away=away)]
    if wired.hops.enrichment is None or missing_file(settings.database) is not None:
        return found
    with closing(store_of(settings, wired.tokens.token().org_id)) as store:
        seen = store.enrichment()
    told = f"waiting for an answer: {seen.asked}; to be written: {seen.found}; given up: {seen.failed}"
    return [*found, Finding("enriched leads", ok=True, detail=told)]


def _secrets(exposed: Sequence[str]) -> list[Finding]:
    parts = [told.rpartition(": ") for told in exposed]
    return [Finding("secrets", ok=False, detail=told, remedy=remedy, warning=True) for told, _, remedy in parts]


def _switches(settings: Settings) -> Finding:
    told = ", ".join(f"{name.replace('_', ' ')} {position}" for name, position in asdict(rollout_of(settings)).items())
    return Finding("switches", ok=True, detail=told)


def _database(settings: Settings) -> list[Finding]:
    name = "job database"
    absent = missing_file(settings.database)
    if absent is not None:
        if os.access(absent.parent, os.W_OK | os.X_OK):
            return [Finding(name, ok=True, detail=f"{absent} is not there yet: `lead-router run` makes it")]
        told = f"{absent} is not there, and this user may not write to its folder, or there is none"
        remedy = f"run this as the router's user, make the folder, or change {PREFIX}DATABASE"
        return [Finding(name, ok=False, detail=told, remedy=remedy)]
    wrong = damage(settings.database)
    if wrong is not None:
        told = f"{whereabouts(settings.database)} is damaged: {wrong}"
        return [Finding(name, ok=False, detail=told, remedy=_MEND)]
    try:
        with closing(open_jobs(settings)) as store:
            queue = store.queue()
    except LeadRouterError as fault:
        away = isinstance(fault, Transient)
        remedy = f"see that it runs and can be reached; change {PREFIX}DATABASE if it is elsewhere"
        return [Finding(name, ok=False, detail=scrub(str(fault)), remedy=remedy, away=away)]
    risk = doubt(settings.database)
    if risk is not None:
        doubted = Finding(name, ok=False, detail=risk, remedy="use a local disk or PostgreSQL", warning=True)
        return [doubted, _router(queue), *_dead_jobs(queue)]
    told = f"{whereabouts(settings.database)}, {queue.queued} queued, {queue.dead} dead"
    return [Finding(name, ok=True, detail=told), _router(queue), *_dead_jobs(queue)]


def silence(one: ListenerView) -> str:
    """Since when a stream that ought to bring events brings none."""
    came = counted(one.silent_leads, "lead")
    return f"SILENT since {one.silent_since:%Y-%m-%d %H:%M:%SZ}: {came} came without an event"


def _router(queue: QueueView) -> Finding:
    told = no_router(queue)
    for one in queue.listeners:
        if one.listens and one.silent_since is not None:
            detail = f"one listens, and its stream is {silence(one)}"
            return Finding("router", ok=False, detail=detail, remedy=_SILENT, warning=True)
    if told is None or not queue.listeners:  # before the first start there is nothing to put right
        return Finding("router", ok=True, detail=told or "one listens")
    return Finding("router", ok=False, detail=f"none runs: {told}", remedy=START_ROUTER, warning=True)


def _dead_jobs(queue: QueueView) -> list[Finding]:
    remedy = f"`{_LIST_DEAD}` tells why: mend the cause, then `lead-router jobs retry N`, which takes no lead away"
    return [Finding("dead jobs", ok=False, detail=_dead(queue), remedy=remedy, warning=True)] if queue.dead else []
