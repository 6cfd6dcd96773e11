"""Who writes owners: machines and people, and of people's writes, who took, who handed on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Past

RIVAL_PART = 0.1  # of a source's first givings
RIVAL_LEADS = 20

RULE = (
    f"Rivals are two machines that each give out {RIVAL_PART:.0%} or more, and {RIVAL_LEADS} leads or more, of one "
    "source."
)


@dataclass(slots=True)
class Writer:
    """What a user wrote: `took` leads for itself, `handed` own leads to others, `moved` leads between others.

    `first` are leads that nobody had had before; `at_creation` those that it created with another as owner.
    """

    writer: str
    machine: bool
    writes: int = 0
    first: int = 0
    at_creation: int = 0
    took: int = 0
    handed: int = 0
    moved: int = 0
    leads: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Written:
    """A writer's row of the report."""

    writer: str
    machine: bool
    leads: int
    writes: int
    first: int
    at_creation: int
    took: int
    handed: int
    moved: int


@dataclass(frozen=True, slots=True)
class Rivals:
    """Two machines that give out the same source; leads of it that each gave out first."""

    source: str
    one: str
    one_leads: int
    other: str
    other_leads: int


def written(past: Past, given: Iterable[Sequence[Given]], known: Roles) -> tuple[Written, ...]:
    """A row for each who wrote an owner, the most leads first."""
    rows: dict[str, Writer] = {}

    def row(writer: str) -> Writer:
        if writer not in rows:
            rows[writer] = Writer(writer, writer in known.machines)
        return rows[writer]

    for story in past.stories:
        for step in story.steps:
            one = row(step.by)
            one.leads.add(story.id)
            one.writes += 1
            one.took += step.new == step.by
            one.handed += step.old == step.by != step.new
            one.moved += step.by not in {step.new, step.old}
    for each in given:
        for first in each[:1]:
            if first.made and first.owner == first.by:
                continue
            one = row(first.by)
            one.leads.add(first.story.id)
            one.first += not first.made
            one.at_creation += first.made
    told = [
        Written(
            one.writer,
            one.machine,
            len(one.leads),
            one.writes,
            one.first,
            one.at_creation,
            one.took,
            one.handed,
            one.moved,
        )
        for one in rows.values()
    ]
    return tuple(sorted(told, key=lambda one: (-one.leads, one.writer)))


def rivals(firsts: Iterable[Given], known: Roles) -> list[Rivals]:
    """Sources that more than one machine gives out."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in firsts:
        if one.by in known.machines:
            counts[one.story.source][one.by] += 1
    found: list[Rivals] = []
    for source, writers in sorted(counts.items()):
        least = max(RIVAL_LEADS, RIVAL_PART * sum(writers.values()))
        large = sorted(((many, writer) for writer, many in writers.items() if many >= least), reverse=True)
        if len(large) > 1:
            (many, busy), (fewer, other) = large[:2]
            found.append(Rivals(source, busy, many, other, fewer))
    return found
