"""Rows of history to stories: pairs of rows, changes of one second, users who are gone, tracking that began late."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from lead_router.audit import gather
from lead_router.audit.judging.doubles import doubles
from lead_router.audit.judging.roles import Roles, handovers
from lead_router.core.roster import Hours
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person
from org_simulator.ids import make_id

QUEUE, ANA, BEN, ROUTER = make_id("00G", 1), make_id("005", 1), make_id("005", 2), make_id("005", 3)
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
AT = START.timestamp()


@dataclass
class Told:
    """A past of a few rows."""

    seen: list[LeadSeen]
    rows: list[OwnerRow] = field(default_factory=list)
    known: list[Person] = field(default_factory=list)
    place: str = "Europe/Paris"

    def extent(self, _since: datetime) -> Extent:
        return Extent(len(self.seen), len(self.rows), 0)

    def people(self):
        return iter(self.known)

    def leads(self, _since: datetime):
        return iter(self.seen)

    def owner_rows(self, _since: datetime):
        return iter(self.rows)

    def hours(self) -> Hours | None:
        return None

    def zone(self) -> str:
        return self.place

    def lacking(self) -> tuple[str, ...]:
        return ()


def lead(number: int, *, owner: str = ANA, at: float = AT) -> LeadSeen:
    return LeadSeen(make_id("00Q", number), at, owner, ROUTER, "Web", (0, 0), converted=False)


def row(of: LeadSeen, old: str, new: str, *, after_s: float = 5.0, by: str = ROUTER) -> OwnerRow:
    return OwnerRow("", of.id, of.created + after_s, by, old, new)


def gathered(told: Told):
    return gather(told, START, None, hours=None, zone="")


def test_two_rows_are_one_change_and_name_who_is_gone():
    """The row with names tells those of ids that no user has any more."""
    one = lead(1)

    past = gathered(Told([one], [row(one, "Old Queue", "Ana Gone"), row(one, QUEUE, ANA)]))

    (story,) = past.stories
    assert [(step.old, step.new) for step in story.steps] == [(QUEUE, ANA)]
    assert (past.name(ANA), past.name(QUEUE), past.name(ROUTER)) == ("Ana Gone", "Old Queue", ROUTER)


def test_changes_of_one_second_are_put_end_to_end():
    """In whatever order their rows come; the double among them is seen."""
    one = lead(1, owner=BEN)
    rows = [row(one, ANA, BEN), row(one, QUEUE, ANA)]

    for order in (rows, rows[::-1]):
        (story,) = gathered(Told([one], list(order))).stories
        assert [step.new for step in story.steps] == [ANA, BEN]
        known = Roles(frozenset({ROUTER}), frozenset({QUEUE}))
        assert len(doubles([handovers(story, known)], known)) == 1


def test_names_alone_are_enough():
    """A report has no ids: names that one user bears are that user, others are themselves."""
    one, two = lead(1, owner="Ana"), lead(2, owner="Ben")
    people = [
        Person(ANA, "Ana"),
        Person(BEN, "Ben"),
        Person(make_id("005", 9), "Ben"),
        Person(QUEUE, "Queue", queue=True),
    ]

    past = gathered(Told([one, two], [row(one, "Queue", "Ana", by="Ben")], people))

    assert [(story.first, story.owner) for story in past.stories] == [(QUEUE, ANA), ("Ben", "Ben")]
    assert past.stories[0].steps[0].by == "Ben"


def test_leads_of_before_the_tracking_are_left_out():
    """Their owners' changes are in no row, so they would seem to have had one at once."""
    early = [lead(number, at=AT + number) for number in range(60)]
    late = [lead(100 + number, at=AT + 9 * 86_400 + number) for number in range(5)]

    past = gathered(Told([*early, *late], [row(one, QUEUE, ANA) for one in late]))

    assert len(past.stories) == 5
    assert past.told[0].startswith("60 leads are left out that were created before the first change of owner")


def test_without_any_change_tracking_is_asked_about():
    """No wait is told of then, and rows of other leads are counted."""
    stranger = lead(7)

    past = gathered(Told([lead(1)], [row(stranger, QUEUE, ANA)], place=""))

    assert not past.history
    assert past.told[0].startswith("left out: 1 change of owner of leads that are not among those read")
    assert "Set History Tracking" in past.told[1]
    assert past.told[2].startswith("the org's time zone is not told: UTC")
    assert past.hours.zone == "UTC"
