"""Rows to stories: the two rows of a change made one, changes put in order, names and ids brought together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from sys import intern

from lead_router.audit.judging.opening import guess
from lead_router.audit.past import Past, Step, Story
from lead_router.core.counted import counted
from lead_router.core.ids import QUEUE, USER, is_id
from lead_router.core.roster import Hours
from lead_router.errors import Misconfigured
from lead_router.ports.history import History, LeadSeen, OwnerRow, Person

YOUNG_S = 86_400.0
OLDER_MIN = 50  # leads
UNTRACKED = (
    "no owner ever changed: either all leads are created with their owners, or the field Lead Owner is not tracked "
    "(Setup, Object Manager, Lead, Fields & Relationships, Set History Tracking)"
)
OLDER = (
    "left out: {} of leads that are not among those read, as they were created before the span, deleted, or exported "
    "at another time"
)
NEWER = (
    "{} left out that were created after the last change of owner in the history, of {}: the history was exported "
    "earlier than the leads; export both at one time"
)
OTHER = (
    "{} now have another owner than the history ends with: leads and history were exported at different times, or "
    "owners were written without history"
)
EARLY = (
    "LeadHistory: of {} of {} the first change of owner came before the creation (as of lead {}): leads and history "
    "are of different time zones; name that of the dates without a zone by --zone"
)
EARLY_S, EARLY_PART, EARLY_MIN = 60.0, 0.02, 3  # minutes cut off, and the hour that a clock is set back, are less
NEWER_MIN, OTHER_PART = 20, 0.05
QUIET_GAPS = 20  # usual times between two changes of owner; a longer rest is no rest of an org's own


def gather(history: History, since: datetime, until: datetime | None, *, hours: Hours | None, zone: str) -> Past:
    """All that the audit looks at; without `until` the last instant that is told of is its end.

    `hours` and `zone` are the asker's own word; blank, the org's or a guess counts.
    """
    why_not = history.extent(since).why_not
    people = {person.id: person for person in history.people()}
    by_name = _by_name(people.values())
    leads = list(history.leads(since))
    rows, names, strange = _rows(history.owner_rows(since), {lead.id for lead in leads}, people)
    people |= {one: Person(one, name) for one, name in names.items()}
    told = [f"the history of owners cannot be read: {why_not}"] if why_not else []
    if strange:
        told.append(OLDER.format(counted(strange, "change of owner", "changes of owner")))
    tracked = bool(rows)
    if leads and not tracked and not why_not:
        told.append(UNTRACKED)
    _check_order(leads, rows)
    stories, cut = _tracked([_story(lead, rows.pop(lead.id, ()), by_name) for lead in leads])
    if until is None:
        stories, more = _of_one_time(stories)
        cut += more
    open_hours, placed, guessed = _hours(history, hours, zone)
    told += history.lacking()
    seen = [story.steps[-1].at if story.steps else story.created for story in stories]
    last = until.timestamp() if until else max(seen, default=0.0)
    first = min((story.created for story in stories), default=last)
    return Past(stories, people, first, last, open_hours, tracked, (*told, *cut, *guessed), placed)


def _hours(history: History, hours: Hours | None, zone: str) -> tuple[Hours, bool, list[str]]:
    """The hours that count, whether their time zone is told, and what was guessed."""
    told: list[str] = []
    place = zone or history.zone()
    placed = bool(place)
    if not place:
        place = "UTC"
        told.append("the org's time zone is not told: UTC is taken (--zone says another)")
    found = hours or history.hours()
    if found is None:
        found = guess(place)
        told.append(f"business hours are a guess: Monday to Friday, 9 to 17, {place} (--hours says others)")
    return found, placed, told


def _check_order(leads: Iterable[LeadSeen], rows: Mapping[str, Sequence[Step]]) -> None:
    """Raises Misconfigured where changes come before their leads in such numbers that clocks alone do not do it."""
    early = [
        lead.id
        for lead in leads
        if (steps := rows.get(lead.id)) and min(step.at for step in steps) < lead.created - EARLY_S
    ]
    if len(early) >= max(EARLY_MIN, EARLY_PART * len(rows)):
        raise Misconfigured(EARLY.format(f"{len(early):,}", counted(len(rows), "lead"), early[0]))


def _of_one_time(stories: Sequence[Story]) -> tuple[tuple[Story, ...], list[str]]:
    """The stories up to the last change of owner, where many are newer: files of a history that was exported before."""
    times = [step.at for story in stories for step in story.steps]
    last = max(times, default=0.0)
    quiet_s = max(YOUNG_S, QUIET_GAPS * (last - min(times, default=0.0)) / max(1, len(times)))
    told: list[str] = []
    kept = tuple(
        story
        for story in stories
        if not last or story.steps or story.created <= last + quiet_s or story.owner.startswith(QUEUE)
    )
    if len(stories) - len(kept) >= NEWER_MIN:
        newer = len(stories) - len(kept)
        on = f"{datetime.fromtimestamp(last, UTC):%Y-%m-%d}"
        told.append(NEWER.format(f"{newer:,} leads are", on))
    else:
        kept = tuple(stories)
    moved = [story for story in kept if story.steps]
    other = sum(story.owner != (new := story.steps[-1].new) and is_id(story.owner) == is_id(new) for story in moved)
    if other >= max(EARLY_MIN, OTHER_PART * len(moved)):
        told.append(OTHER.format(f"{other:,} of {counted(len(moved), 'lead')} with a change of owner"))
    return kept, told


def _tracked(stories: Sequence[Story]) -> tuple[tuple[Story, ...], list[str]]:
    """The stories from the first change of owner on, where many are older: tracking was switched on only then."""
    first = min((step.at for story in stories for step in story.steps), default=0.0)
    older = sum(story.created < first - YOUNG_S for story in stories)
    if older < OLDER_MIN:
        return tuple(stories), []
    on = f"{datetime.fromtimestamp(first, UTC):%Y-%m-%d}"
    told = f"{older:,} leads are left out that were created before the first change of owner in the history, of {on}"
    return tuple(story for story in stories if story.created >= first - YOUNG_S), [told]


def _rows(
    rows: Iterable[OwnerRow], known: set[str], people: Mapping[str, Person]
) -> tuple[dict[str, list[Step]], dict[str, str], int]:
    """By lead its changes, names of ids that nobody else names, and how many changes are of other leads.

    A change's two rows stand for each other: one has the name of the very owner whose id the other has.
    """
    found: dict[str, list[Step]] = {}
    names: dict[str, str] = {}
    strange = 0
    for row in rows:
        if row.lead not in known:
            strange += _is_owner(row.new)
            continue
        steps = found.setdefault(row.lead, [])
        step = Step(row.at, intern(row.old), intern(row.new), intern(row.by))
        if steps and (steps[-1].at, steps[-1].by) == (step.at, step.by):
            _name(names, steps[-1], step, people)
        steps.append(step)
    return found, names, strange


def _name(names: dict[str, str], one: Step, other: Step, people: Mapping[str, Person]) -> None:
    """Take down the names of two rows of one change, if one has ids and the other names."""
    if _is_owner(one.new) == _is_owner(other.new):
        return
    ided, named = (one, other) if _is_owner(one.new) else (other, one)
    both = ((ided.old, named.old), (ided.new, named.new))
    names.update({owner: name for owner, name in both if owner and owner not in people})


def _is_owner(value: str) -> bool:
    return value[:3] in {USER, QUEUE} and is_id(value)


def _by_name(people: Iterable[Person]) -> Mapping[str, str]:
    """Ids by name, of names that only one bears."""
    found: dict[str, str] = {}
    for person in people:
        found[person.name] = "" if person.name in found else person.id
    return {name: one for name, one in found.items() if one and name}


def _story(lead: LeadSeen, steps: Sequence[Step], by_name: Mapping[str, str]) -> Story:
    """The lead with its steps by ids where there are ids, else by the names' ids, else by names.

    A change that is exported twice is one; one that a clock puts before the creation came with it.
    """
    ided = [step for step in steps if _is_owner(step.new) or _is_owner(step.old)]
    kept = ided or [
        Step(step.at, by_name.get(step.old, step.old), by_name.get(step.new, step.new), by_name.get(step.by, step.by))
        for step in steps
    ]
    ordered = _chained(
        [step if step.at >= lead.created else replace(step, at=lead.created) for step in dict.fromkeys(kept)]
    )
    owner = by_name.get(lead.owner, lead.owner)
    first = ordered[0].old if ordered else owner
    creator = by_name.get(lead.creator, lead.creator)
    return Story(lead.id, lead.created, first, creator, lead.source, lead.buyer, lead.converted, owner, tuple(ordered))


def _chained(steps: Sequence[Step]) -> list[Step]:
    """In order of time; changes of one second so that each begins with the owner that the one before ended with."""
    ordered = sorted(steps, key=lambda step: step.at)
    for at in range(len(ordered) - 1):
        if ordered[at].at != ordered[at + 1].at:
            continue
        before = ordered[at - 1].new if at else ""
        tied = [place for place in range(at, len(ordered)) if ordered[place].at == ordered[at].at]
        olds, news = [ordered[place].old for place in tied], {ordered[place].new for place in tied}
        start = before if before in olds else next((old for old in olds if old not in news), olds[0])
        place = next(place for place in tied if ordered[place].old == start)
        ordered[at], ordered[place] = ordered[place], ordered[at]
    return ordered
