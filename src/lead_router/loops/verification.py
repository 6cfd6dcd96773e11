"""Verification: the whole ledger read once, and everything that stands for it held against it.

Routers work meanwhile. A group and its members are judged as they were at one moment, and by the rows up to its turn
then; what is beyond counts only if the group stands behind it still after the last page was read. A lead is read after
its row, and one that was routed again since is judged by that later row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lead_router.core.drift import Drift, Drifted, Entry, Stamp, Sum, Verdict
from lead_router.core.keys import lead_key
from lead_router.core.model import Group
from lead_router.core.rebuild import judged
from lead_router.core.stamps import ROUTED, judged_stamp, unproved
from lead_router.core.tally import Tally, key_of
from lead_router.errors import Misconfigured
from lead_router.ports import JobStore, JobView
from lead_router.ports.books import Books, Look

LOOKS_MAX = 8  # a group that gives out leads all the time stands still for one of them
JOBS_PAGE = 1_000
OPEN_FOR = timedelta(hours=1)  # a job whose lead's row is older should have found it
NAMED_MAX = 100  # leads or jobs that are named one by one

_OPEN = frozenset({"queued", "working"})
_DELETED = "its row of the ledger was deleted"
_ENDED_LATE = "the router has not come back to it: see `lead-router status`"
_DIED = "it died after its lead was written: `lead-router jobs retry` finds that, and ends it"


@dataclass(frozen=True, slots=True)
class Report:
    """What was found and noticed; how much was read; the groups (by key) that never stood still, and were not judged.

    `seen` are the groups as they were judged, by id, `jobs` None where no job database was at hand.
    """

    findings: tuple[Drifted, ...]
    notes: tuple[str, ...]
    groups: int
    rows: int
    leads: int
    jobs: int | None
    unsteady: tuple[str, ...]
    seen: Mapping[str, Group] = field(default_factory=dict)


def verify(
    books: Books,
    store: JobStore | None,
    *,
    now: Callable[[], datetime],
    group: str | None = None,
    since: datetime | None = None,
) -> Report:
    """Everything, or one group by its key. Rows, and jobs that ended, before `since` may be gone.

    Raises Transient, and Misconfigured where there is no group of that key.
    """
    look = steady(books, group)
    only = None if group is None else _id_of(books, look, group)
    tallies = {one.id: Tally(one.epoch, one.turn, since) for one in look.groups.values()}
    leads = Leads(books)
    rows = 0
    for page in books.rows(only):
        rows += len(page)
        for entry in page:
            if entry.group_id in tallies:
                tallies[entry.group_id].add(entry)
        leads.judge(page)
    verdicts = [judged(look.groups[one], tally) for one, tally in _settled(books, tallies).items()]
    jobs = None if store is None or only is not None else Jobs(books, store, now, since)
    if jobs is not None:
        jobs.judge_all()
    return Report(
        findings=tuple(_found(verdicts, leads.ended(), [] if jobs is None else jobs.findings)),
        notes=tuple(note for verdict in verdicts for note in verdict.notes),
        groups=len(verdicts),
        rows=rows,
        leads=leads.read,
        jobs=None if jobs is None else jobs.read,
        unsteady=tuple(sorted(key for one, key in look.keys.items() if one not in look.groups)),
        seen=look.groups,
    )


def steady(books: Books, group: str | None = None, *, sums: bool = False, looks: int = LOOKS_MAX) -> Look:
    """Groups as they stood still for a moment each, of as many looks as that takes; of one group, only that one."""
    look = books.look(sums=sums)
    for _ in range(looks - 1):
        wanted = {one for one, key in look.keys.items() if group in {None, key}}
        moving = wanted - look.groups.keys()
        if not moving:
            break
        again = books.look(sums=sums)
        found = {one: again.groups[one] for one in moving & again.groups.keys()}
        of_them = [one for one in again.sums or () if one.group_id in found]
        kept = None if look.sums is None else (*(one for one in look.sums if one.group_id not in found), *of_them)
        look = Look({**look.groups, **found}, look.stands, look.keys, kept)
    wanted = {one for one, key in look.keys.items() if group in {None, key}}
    keys = {one: look.keys[one] for one in wanted}
    return Look({one: seen for one, seen in look.groups.items() if one in wanted}, look.stands, keys, look.sums)


def _id_of(books: Books, look: Look, group: str) -> str:
    found = next((one for one, key in look.keys.items() if key == group), None)
    if found is None:
        every = books.look()
        named = next((one.key for one in every.groups.values() if one.name == group), None)
        keys = ", ".join(sorted(filter(None, every.keys.values()))) or "none"
        hint = f"there are: {keys}" if named is None else f"the group of that name has the key '{named}'"
        raise Misconfigured(f"there is no group with the key '{group}'; {hint}")
    return found


def _settled(books: Books, tallies: Mapping[str, Tally]) -> Mapping[str, Tally]:
    """The tallies, without rows that are newer than the group was as it was read."""
    beyond = [one for one in tallies.values() if one.beyond_last is not None]
    if beyond:
        stands = books.look().stands
        for group_id, tally in tallies.items():
            if tally.beyond_last is not None and stands.get(group_id, tally.beyond_last) >= tally.beyond_last:
                tally.forget_beyond()
    return tallies


def suspected(group: Group, sums: Iterable[Sum], former: Group | None, since: datetime | None) -> Verdict:
    """One group, judged by numbers of rows alone: whether anything is wrong, not yet from which turn on."""
    tally = Tally(group.epoch, group.turn, since)
    for one in sums:
        if one.group_id == group.id:
            tally.add_sum(one)
    return judged(group, tally, former)


def confirmed(books: Books, group: Group, former: Group | None, since: datetime | None) -> Verdict:
    """One group, judged by each of its rows."""
    tally = Tally(group.epoch, group.turn, since)
    for page in books.rows(group.id):
        for entry in page:
            tally.add(entry)
    _settled(books, {group.id: tally})
    return judged(group, tally, former)


def _found(verdicts: Iterable[Verdict], *more: Iterable[Drifted]) -> Iterator[Drifted]:
    for verdict in verdicts:
        yield from verdict.findings
    for several in more:
        yield from several


class Leads:
    """Leads held against their rows, page by page."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._later: dict[str, tuple[Stamp, str]] = {}
        self._found: dict[str, Drifted] = {}
        self.read = 0

    def judge(self, page: Sequence[Entry]) -> None:
        """The leads of a page, in one call for each 2,000."""
        ids = sorted({entry.lead_id for entry in page if entry.lead_id is not None})
        stamps = self._books.stamps(ids) if ids else {}
        self.read += len(stamps)
        for entry in page:
            stamp = stamps.get(entry.lead_id or "")
            if stamp is None:
                continue
            self._note(judged_stamp(entry, stamp))
            if stamp.round > entry.round and stamp.lead_id in (stamp.idempotency_key or ""):
                self._later[lead_key(stamp.lead_id, stamp.round)] = (stamp, key_of(entry) or "")
            self._later.pop(entry.lead_key, None)

    def _note(self, found: Drifted | None) -> None:
        """A lead behind its last round is no lead with a wrong stamp, which an earlier row takes it for."""
        if found is None or (found.record not in self._found and len(self._found) == NAMED_MAX):
            return
        former = self._found.get(found.record)
        if former is None or former.kind is Drift.STAMP:
            self._found[found.record] = found

    def ended(self) -> list[Drifted]:
        """All pages were judged: which leads are in rounds of which no row tells?"""
        known = self._books.rounds(sorted(self._later)) if self._later else frozenset()
        unknown = [one for key, one in self._later.items() if key not in known]
        return [*self._found.values(), *(unproved(stamp, group) for stamp, group in unknown[:NAMED_MAX])]


class Jobs:
    """Jobs held against the rows that bear their keys."""

    def __init__(
        self, books: Books, store: JobStore, now: Callable[[], datetime], since: datetime | None = None
    ) -> None:
        self._books = books
        self._store = store
        self._now = now
        self._since = since
        self.findings: list[Drifted] = []
        self.read = 0

    def judge_all(self) -> None:
        """Every job, in the order of their numbers."""
        after = 0
        while page := self._store.jobs_after(after, limit=JOBS_PAGE):
            self.judge(page)
            after = page[-1].id

    def judge(self, page: Sequence[JobView]) -> None:
        """A page of jobs, in a call or two."""
        self.read += len(page)
        told = [one for one in page if one.status != "done" or (one.outcome in ROUTED and not self._older(one))]
        rows = self._books.routed([one.idempotency_key for one in told]) if told else {}
        for one in told:
            found = self._judged(one, rows.get(one.idempotency_key))
            if found is not None and len(self.findings) < NAMED_MAX:
                self.findings.append(found)

    def _older(self, job: JobView) -> bool:
        return self._since is not None and job.completed_at is not None and job.completed_at < self._since

    def _judged(self, job: JobView, row_at: datetime | None) -> Drifted | None:
        if job.status == "done":
            text = f"it ended as '{job.outcome}', and no row bears its key"
            return _of(job, text, _DELETED) if row_at is None else None
        again = self._store.job(job.id) if row_at is not None else None
        if row_at is None or again is None:
            return None
        if job.status == again.status == "dead":
            return _of(job, "it is dead, and a row bears its key: its lead was given out", _DIED)
        if {job.status, again.status} <= _OPEN and self._now() - row_at >= OPEN_FOR:
            text = f"it is {job.status}, and its lead was given out at {row_at:%Y-%m-%d %H:%M:%SZ}"
            return _of(job, text, _ENDED_LATE)
        return None


def _of(job: JobView, text: str, cause: str) -> Drifted:
    return Drifted(Drift.JOB, "", None, None, str(job.id), f"lead {job.lead_id}: {text}", cause)
