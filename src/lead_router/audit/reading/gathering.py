"""Rows to stories: the two rows of a change made one, changes put in order, names and ids brought together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from sys import intern

from lead_router.audit.judging.opening import guess
from lead_router.audit.past import Past, Step, Story
from lead_router.core.ids import QUEUE, USER, is_id
from lead_router.core.roster import Hours
from lead_router.ports.history import History, LeadSeen, OwnerRow, Person

YOUNG_S = 86_400.0
OLDER_MIN = 50  # leads
UNTRACKED = (
    "no owner ever changed: either all leads are created with their owners, or the field Lead Owner is not tracked "
    "(Setup, Object Manager, Lead, Fields & Relationships, Set History Tracking)"
)
OLDER = "left out: changes of owner of leads that were created before the span or deleted, {} of them"


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
        told.append(OLDER.format(f"{strange:,}"))
    tracked = bool(rows)
    if leads and not tracked and not why_not:
        told.append(UNTRACKED)
    stories, cut = _tracked([_story(lead, rows.pop(lead.id, ()), by_name) for lead in leads])
    open_hours, guessed = _hours(history, hours, zone)
    seen = [story.steps[-1].at if story.steps else story.created for story in stories]
    last = until.timestamp() if until else max(seen, default=0.0)
    first = min((story.created for story in stories), default=last)
    return Past(stories, people, first, last, open_hours, tracked, (*told, *cut, *guessed))


def _hours(history: History, hours: Hours | None, zone: str) -> tuple[Hours, list[str]]:
    """The hours that count, and what was guessed."""
    told: list[str] = []
    place = zone or history.zone()
    if not place:
        place = "UTC"
        told.append("the org's time zone is not told: UTC is taken (--zone says another)")
    found = hours or history.hours()
    if found is None:
        found = guess(place)
        told.append(f"business hours are a guess: Monday to Friday, 9 to 17, {place} (--hours says others)")
    return found, told


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
    """The lead with its steps by ids where there are ids, else by the names' ids, else by names."""
    ided = [step for step in steps if _is_owner(step.new) or _is_owner(step.old)]
    kept = ided or [
        Step(step.at, by_name.get(step.old, step.old), by_name.get(step.new, step.new), by_name.get(step.by, step.by))
        for step in steps
    ]
    ordered = _chained(kept)
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
