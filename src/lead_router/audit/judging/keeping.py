"""Leads with people who are gone, and leads given out while the office was closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lead_router.audit.judging.opening import Opening
from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Past

RULE = (
    "Gone is a user who is inactive now. When that came about is in no field of the user: leads that came behind the "
    "user's last log-in are counted beside. Off hours is a lead that first came to a rep outside the business hours; "
    "its wait then lasts until they open."
)


@dataclass(frozen=True, slots=True)
class Left:
    """Open leads of a user who is inactive; `unseen` of them came behind the user's last log-in."""

    owner: str
    leads: tuple[str, ...]
    unseen: int


@dataclass(frozen=True, slots=True)
class Off:
    """Leads that a rep was given off hours, with the seconds from creation to the next opening; by local hour."""

    leads: tuple[str, ...]
    waits: tuple[float, ...]
    by_hour: tuple[int, ...]


def left(past: Past, known: Roles) -> list[Left]:
    """Users who are gone and have open leads still, the most first."""
    kept: dict[str, list[str]] = {}
    unseen: Counter[str] = Counter()
    for story in past.stories:
        owner = past.people.get(story.owner)
        if (
            story.converted
            or owner is None
            or owner.active is not False
            or owner.queue
            or story.owner in known.machines
        ):
            continue
        kept.setdefault(owner.id, []).append(story.id)
        came = story.steps[-1].at if story.steps else story.created
        unseen[owner.id] += owner.seen_at is not None and came > owner.seen_at
    rows = (Left(owner, tuple(leads), unseen[owner]) for owner, leads in kept.items())
    return sorted(rows, key=lambda one: (-len(one.leads), one.owner))


def off_hours(firsts: Iterable[Given], opening: Opening) -> Off:
    """First handovers outside the business hours; a rep who took or made the lead chose the hour."""
    found = [one for one in firsts if one.by != one.owner and not opening.is_open(one.at)]
    hours = Counter(opening.local(one.at).hour for one in found)
    return Off(
        tuple(one.story.id for one in found),
        tuple(opening.next_open(one.at) - one.story.created for one in found),
        tuple(hours[hour] for hour in range(24)),
    )
