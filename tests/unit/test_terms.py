"""Terms: when a lead is to be touched, whether it was, and who has it next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lead_router.core.decide import decide
from lead_router.core.hours import windows
from lead_router.core.ids import to18
from lead_router.core.keys import untouched_key, untouched_round
from lead_router.core.model import (
    ALL_LIVE,
    Ask,
    Assign,
    Cause,
    FirstTouch,
    Group,
    Hold,
    Hours,
    LedgerRow,
    Mode,
    Outcome,
    Rollout,
    Skip,
    Snapshot,
    Switch,
)
from lead_router.core.terms import Running, Stopped, handed_on, ripe, running, term_of, told, watched
from support.decide_scene import NOW, configuration, lead, lead_id, pool, rep, row, user

ORG = to18("00D000000000001")
BEGAN = NOW - timedelta(minutes=20)
OPEN = {"Status": "New"}
NINE_TO_FIVE = Hours("h", "Office", "UTC", (windows(540, 1020),) * 5 + ((), ()))


def group(members: Any = "ABC", **changes: Any) -> Group:
    return pool("emea", members, accept_within=15, manager_id=user("M"), **changes)


def settings(one: Group | None = None, **changes: Any) -> Any:
    """The clock is live, and asks for new leads."""
    terms = {"rollout": ALL_LIVE, "first_touch": FirstTouch("Status = 'New'"), "roster": (one or group(),)}
    return configuration(**terms | {"lead_fields": frozenset({"Email", "Country", "Status"})} | changes)


def given(number: int = 1, **changes: Any) -> Any:
    """A lead that A was given twenty minutes ago, and that nobody has changed since."""
    own = {"owner_id": user("A"), "round": 1, "routed_at": BEGAN, "routed_by": "emea", "changed_at": BEGAN} | OPEN
    return lead(number, **own | changes)


def turned(owner: str = "A", round_: int = 1, number: int = 1, **changes: Any) -> LedgerRow:
    plain = {"outcome": "Assigned", "group_id": "g1", "turn": round_, "assigned_to": user(owner), "created_at": BEGAN}
    return row(number, user(owner), round_, **plain | changes)


def by_clock(owner: str, round_: int, outcome: str = "Assigned") -> LedgerRow:
    key = untouched_key(ORG, lead_id(1), round_ - 1)
    return turned(owner, round_, idempotency_key=key, outcome=outcome)


def seen(*rows: LedgerRow, of: Any = None, one: Group | None = None, **changes: Any) -> Snapshot:
    found = of or given()
    return Snapshot(NOW, {"g1": one or group()}, {found.id: found}, rows or (turned(),), **changes)


def late(round_: int = 1) -> Ask:
    key = untouched_key(ORG, lead_id(1), round_)
    return Ask(1, key, lead_id(1), BEGAN + timedelta(minutes=15), cause=Cause.UNTOUCHED)


def decided(snapshot: Snapshot, round_: int = 1, config: Any = None) -> Any:
    (found,) = decide(config or settings(), snapshot, [late(round_)])
    return found


def test_the_key_tells_the_round_and_no_other_key_does():
    """One deadline a round: the round is what the ledger and the job store refuse to see twice."""
    key = untouched_key(ORG, lead_id(1), 12)
    others = (f"{ORG}.{lead_id(1)}.create", f"{key}.4", "untouched.x", "")

    assert (untouched_round(key), [untouched_round(one) for one in others]) == (12, [None] * 4)


@pytest.mark.parametrize(
    ("since", "remind_at", "due_at"),
    [
        ("2026-03-04T10:00", "2026-03-04T10:30", "2026-03-04T11:00"),
        ("2026-03-04T16:30", "2026-03-04T17:00", "2026-03-05T09:30"),
        ("2026-03-06T18:00", "2026-03-09T09:30", "2026-03-09T10:00"),
        ("2026-03-04T03:00", "2026-03-04T09:30", "2026-03-04T10:00"),
    ],
    ids=["in the day", "over the night", "over the week-end", "before it opens"],
)
def test_a_term_is_counted_in_the_hours_of_the_group(since: str, remind_at: str, due_at: str):
    """Half the time is half the working time."""
    one = group(hours_id="h")
    one = replace(one, accept_within=60)
    found = term_of(settings(one, hours={"h": NINE_TO_FIVE}), one, utc(since))

    assert found is not None
    assert (found.remind_at, found.due_at) == (utc(remind_at), utc(due_at))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("minutes", [None, 0, -5])
def test_a_group_without_minutes_has_no_clock(minutes: int | None):
    assert term_of(settings(), replace(group(), accept_within=minutes), NOW) is None


def test_hours_that_are_not_known_or_never_open_stop_the_clock():
    """In doubt the lead stays where it is."""
    never = Hours("h", "Never", "UTC", ((),) * 7)

    assert term_of(settings(), group(hours_id="h"), NOW) is None
    assert term_of(settings(hours={"h": never}), group(hours_id="h"), NOW) is None


def test_without_a_share_nobody_is_reminded():
    found = term_of(settings(first_touch=FirstTouch(reminder=0.0)), group(), NOW)

    assert found is not None
    assert (found.remind_at, found.first_at) == (None, NOW + timedelta(minutes=15))


def test_only_live_groups_with_minutes_are_watched_and_none_where_it_is_off():
    assert list(watched(settings())) == ["emea"]
    assert watched(settings(rollout=Rollout())) == {}
    assert watched(settings(group(mode=Mode.OBSERVE))) == {}
    assert watched(settings(replace(group(), accept_within=None))) == {}


def test_only_leads_of_which_something_may_be_due_are_looked_at():
    """By what the lead shows alone: half the time has passed, and it is of a group with a clock."""
    fresh = given(2, routed_at=NOW - timedelta(minutes=7))
    leads = [given(), fresh, given(3, routed_by="apac"), given(4, routed_at=None), given(5, is_converted=True)]

    assert [one.id for one in ripe(settings(), [group()], leads, NOW)] == [lead_id(1)]
    assert len(ripe(settings(), [group()], leads, NOW + timedelta(seconds=30))) == 2


@pytest.mark.parametrize(
    ("changes", "rows", "more", "reason"),
    [
        ({"is_converted": True}, (), {}, "converted"),
        ({"owner_id": user("B")}, (), {}, "its owner was changed"),
        ({"round": 2}, (), {}, "no turn of a group gave it out last"),
        ({}, (turned(turn=None),), {}, "no turn of a group gave it out last"),
        ({}, (turned(outcome="Manual"),), {}, "no turn of a group gave it out last"),
        ({}, (turned(group_id="g9"),), {}, "the group that gave it out is not live"),
        ({"Status": "Working"}, (), {}, "touched: its status is 'Working'"),
        ({"LastModifiedById": user("A")}, (), {}, "touched: its owner changed it"),
        ({}, (), {"touches": {lead_id(1): NOW}}, "touched: there is an activity"),
        ({}, (), {"blind": True}, "whether it was touched cannot be told: this user may not read activities"),
        ({"routed_at": None}, (turned(created_at=None),), {}, "group 'emea' has no first-touch clock"),
    ],
)
def test_the_clock_stops_for_whatever_is_not_a_lead_that_lies(changes, rows, more, reason):
    """Each for its own reason, and in doubt too."""
    status = changes.pop("Status", None)
    one = given(**changes)
    one = replace(one, status=status, fields={**one.fields, "Status": status}) if status else one
    snapshot = seen(*rows, of=one, **more)

    assert running(settings(), snapshot, one) == Stopped(reason)


def test_a_clause_that_cannot_be_read_stops_the_clock():
    config = settings(first_touch=FirstTouch("Status ="))

    found = running(config, seen(), given())
    assert isinstance(found, Stopped)
    assert found.reason.startswith("which leads are untouched cannot be told")


def test_the_next_member_has_it_with_a_turn_and_a_reason():
    found = decided(seen())

    assert isinstance(found, Assign)
    assert (found.owner_id, found.round, found.outcome) == (user("B"), 2, Outcome.ASSIGNED)
    assert found.explanation == (
        "Routed anew: not touched within 15 minutes by A. Turn 1 of group 'emea' went to B. "
        "Passed over: A: had this lead before."
    )


def test_nobody_has_it_twice_though_nobody_else_is_left():
    """Elsewhere a lead that all have had goes round; here the manager has it."""
    found = decided(seen(one=group("A")))

    assert isinstance(found, Assign)
    assert (found.owner_id, found.turn, found.outcome) == (user("M"), None, Outcome.FALLBACK)
    assert found.explanation == (
        "Not touched within 15 minutes by A; group 'emea': nobody can take it: A: had this lead before. "
        "The manager of group 'emea' has the lead."
    ).replace("group 'emea': nobody", "nobody")


def test_after_as_many_moves_in_a_row_as_may_be_the_manager_has_it():
    rows = (turned(), by_clock("B", 2), by_clock("C", 3))
    third = given(owner_id=user("C"), round=3)
    found = decided(seen(*rows, of=third, one=group("ABCD")), 3)

    assert isinstance(found, Assign)
    assert found.owner_id == user("M")
    assert found.explanation.startswith("Not touched within 15 minutes by C; it was routed anew 2 times. The manager")


def test_a_return_in_between_begins_a_new_chain():
    """What a person did is no move of the clock."""
    rows = (turned(), by_clock("B", 2), turned("C", 3))

    assert (handed_on(rows[:2]), handed_on(rows), handed_on((*rows, by_clock("D", 4)))) == (1, 0, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"manager_id": None}, "has none"),
        ({"manager_active": False}, "has an inactive one"),
        ({"manager_id": user("A")}, "has one who had it before"),
    ],
)
def test_without_a_manager_to_give_it_to_it_stays(changes: dict[str, Any], reason: str):
    found = decided(seen(one=replace(group("A"), **changes)))

    assert isinstance(found, Skip)
    assert found.reason.endswith(f"as manager group 'emea' {reason}")


@pytest.mark.parametrize("position", [Switch.OFF, Switch.OBSERVE])
def test_a_clock_that_is_not_live_takes_nothing(position: Switch):
    found = decided(seen(), config=settings(rollout=Rollout(first_touch=position)))

    assert (type(found), found.reason) == (Skip, "the first-touch clock is not live")


def test_a_job_of_another_round_is_settled():
    """The clock ran out for a round that is over."""
    rows = (turned(), turned("B", 2))
    second = given(owner_id=user("B"), round=2)

    assert decided(seen(*rows, of=second), 1).reason == "it was routed since"


def test_a_time_that_was_prolonged_is_waited_for():
    """The job is not lost: it is asked again when the time is over, and nothing is written meanwhile."""
    longer = replace(group(), accept_within=60)
    found = decided(seen(one=longer), config=settings(longer))

    assert isinstance(found, Hold)
    assert (found.shown, found.retry_s, found.group_id) == (False, 900.0, None)


def test_a_lead_that_was_changed_a_moment_ago_is_asked_again():
    found = decided(seen(of=given(changed_at=NOW - timedelta(seconds=2))))

    assert isinstance(found, Hold)
    assert (found.reason, found.retry_s, found.shown) == ("it was changed a moment ago", 5.0, False)


def test_what_is_told_of_a_lead_names_the_times():
    assert told(settings(), seen(), given()) == (
        "first touch was due at 2026-03-04 11:55:00Z, 15 minutes from 2026-03-04 11:40:00Z, "
        "a reminder at 2026-03-04 11:47:30Z"
    )
    observing = settings(rollout=Rollout(first_touch=Switch.OBSERVE), first_touch=FirstTouch("Status = 'New'", 0.0))
    fresh = given(routed_at=NOW)
    assert told(observing, seen(of=fresh), fresh) == (
        "first touch due at 2026-03-04 12:15:00Z, 15 minutes from 2026-03-04 12:00:00Z; the clock only observes"
    )
    assert told(settings(), seen(), given(owner_id=user("B"))) == "no first-touch clock runs: its owner was changed"
    assert told(settings(), seen(), given(routed_by="apac")) is None


def test_a_member_who_is_away_is_passed_over():
    found = decided(seen(one=group([rep("A"), rep("B", active=False), rep("C")])))

    assert isinstance(found, Assign)
    assert found.owner_id == user("C")
    assert found.passed_over == ("Inactive", "Had it before")


def test_running_names_the_round_that_it_is_about():
    found = running(settings(), seen(), given())

    assert isinstance(found, Running)
    assert (found.row.round, found.term.due_at) == (1, BEGAN + timedelta(minutes=15))


def test_outside_the_hours_of_the_group_nothing_is_done():
    """What ran out as they closed waits for their opening: nobody is there at night, and the manager is not either."""
    one = group(hours_id="h")
    night = datetime(2026, 3, 4, 17, 0, tzinfo=UTC)
    given_at = night - timedelta(minutes=15)
    snapshot = replace(seen(of=given(routed_at=given_at, changed_at=given_at), one=one), taken_at=night)
    found = decided(snapshot, config=settings(one, hours={"h": NINE_TO_FIVE}))

    assert isinstance(found, Hold)
    assert (found.reason, found.retry_s, found.shown) == ("its group is closed", 900.0, False)
