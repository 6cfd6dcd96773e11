"""Who gives leads away by machine, who only holds them for a moment, and who works on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lead_router.audit.judging.figures import percentile
from lead_router.audit.past import Past, Story
from lead_router.core.ids import QUEUE
from lead_router.ports.history import Person

WRITES_MIN = 10  # changes of owner; who wrote fewer is taken for a person
FIRST_WITHIN_S = 3600.0  # median from queue to rep: the slowest poller that is looked for
AGAIN_WITHIN_S = 900.0  # median from one rep to another
PARKED_MIN = 20  # leads
PARKED_PART = 0.8  # of the leads that a user owned at creation were moved on

RULE = (
    "A writer counts as a machine where Salesforce says so (a user type or licence without a person), or where it "
    f"wrote {WRITES_MIN} owners or more, was never given a lead itself, and its median write came within "
    f"{FIRST_WITHIN_S / 60:.0f} minutes of the lead's creation for leads nobody worked on, or within "
    f"{AGAIN_WITHIN_S / 60:.0f} minutes of the change before for leads that a rep had. All others count as people. A "
    f"user who owned {PARKED_MIN} or more leads at creation, of which {PARKED_PART:.0%} moved on, and who was never "
    "given one, counts as a place where leads wait, as a queue does."
)


@dataclass(frozen=True, slots=True)
class Roles:
    """`machines` write owners; `parked` are queues, machines and users that only hold leads until someone has them."""

    machines: frozenset[str]
    parked: frozenset[str]

    def works(self, owner: str) -> bool:
        """Whether the owner is someone who works on leads."""
        return bool(owner) and owner not in self.parked and not owner.startswith(QUEUE)


@dataclass(frozen=True, slots=True)
class Given:
    """A lead comes to someone who works on it. `first` is the first time; `made` says that it was created so."""

    story: Story
    at: float
    owner: str
    by: str
    first: bool
    made: bool
    since: float
    """When the lead came to who had it before, or was created."""


def roles(past: Past) -> Roles:
    """Who is who, by the rule that RULE tells."""
    people = past.people
    given = {step.new for story in past.stories for step in story.steps}
    owned: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for story in past.stories:
        owned[story.first] += 1
        moved[story.first] += any(step.new != story.first for step in story.steps[:1])
    parking = {
        one
        for one, many in owned.items()
        if many >= PARKED_MIN and one not in given and moved[one] >= PARKED_PART * many
    }
    robots = {one.id for one in people.values() if one.robot}
    queues = {one.id for one in people.values() if one.queue}
    parked = queues | robots | parking
    machines = robots | set(_quick(past, given, parked, people))
    return Roles(frozenset(machines), frozenset(parked | machines))


def _quick(past: Past, given: set[str], parked: Iterable[str], people: Mapping[str, Person]) -> Iterator[str]:
    """Writers whose median write comes sooner than people's do."""
    held = set(parked)
    first: dict[str, list[float]] = defaultdict(list)
    again: dict[str, list[float]] = defaultdict(list)
    for story in past.stories:
        since = story.created
        for step in story.steps:
            waited = held.__contains__(step.old) or step.old.startswith(QUEUE)
            (first if waited else again)[step.by].append(step.at - since)
            since = step.at
    for writer in first.keys() | again.keys():
        known = people.get(writer)
        if not writer or writer in given or (known is not None and known.queue):
            continue
        many = len(first[writer]) + len(again[writer])
        kinds = ((first[writer], FIRST_WITHIN_S), (again[writer], AGAIN_WITHIN_S))
        waits, limit = max(kinds, key=lambda kind: len(kind[0]))
        if many >= WRITES_MIN and percentile(sorted(waits), 0.5) <= limit:
            yield writer


def handovers(story: Story, known: Roles) -> list[Given]:
    """Each time the lead came to someone else who works on leads, in order of time."""
    found: list[Given] = []
    has = ""
    since = story.created
    if known.works(story.first):
        has = story.first
        found.append(Given(story, story.created, has, story.creator, first=True, made=True, since=since))
    for step in story.steps:
        if known.works(step.new) and step.new != has:
            has = step.new
            found.append(Given(story, step.at, has, step.by, first=not found, made=False, since=since))
        since = step.at
    return found
