"""Histories by the hour: no lead for anyone off duty, caps exact, the oldest held lead first, shares fair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.decide import batches, decide
from lead_router.core.hours import windows
from lead_router.core.model import Absence, Ask, Assign, Hold, Hours, Member, ToGroup
from support.decide_scene import configuration, lead, lead_id, pool, rep, rule, snapshot, user

START = datetime(2026, 3, 6, 12, tzinfo=UTC)  # a Friday; New York changes its clock on the Sunday
STEP = timedelta(hours=1)
ZONES = ("UTC", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe")
ACCEPTS = ("", "", "Country = 'FR'", "Country != 'FR'")
HOURS = {
    f"{zone}{start}": Hours(f"{zone}{start}", zone, zone, (*(windows(start, end),) * 5, (), ()))
    for zone in ZONES
    for start, end in ((540, 1020), (1260, 300))
}


@st.composite
def members(draw) -> list[Member]:
    """Two members always on duty and without limits, A and B, and up to four others with hours, absences and caps."""
    found = [rep("A", weight=draw(st.integers(1, 3))), rep("B", weight=draw(st.integers(1, 3)))]
    return found + [
        rep(
            name,
            weight=draw(st.integers(0, 3)),
            hours_id=draw(st.sampled_from([None, *HOURS])),
            zone=draw(st.sampled_from(ZONES)),
            daily_cap=draw(st.one_of(st.none(), st.integers(0, 4))),
            open_cap=draw(st.one_of(st.none(), st.integers(0, 9))),
            accepts=draw(st.sampled_from(ACCEPTS)),
        )
        for name in "CDEF"[: draw(st.integers(0, 4))]
    ]


ABSENCE = st.tuples(st.sampled_from("CDEF"), st.integers(0, 72), st.integers(1, 30))
HISTORY = st.lists(st.lists(st.sampled_from(["FR", "DE"]), max_size=4), min_size=20, max_size=60)


def absences(drawn) -> dict[str, tuple[Absence, ...]]:
    found: dict[str, tuple[Absence, ...]] = {}
    for name, start, length in drawn:
        one = Absence(user(name), START + start * STEP, START + (start + length) * STEP)
        found[user(name)] = (*found.get(user(name), ()), one)
    return found


@dataclass
class History:
    """What happened: the group as it moves, leads given out as (hour, member), and those that wait, oldest first."""

    group: object
    rules: object
    given: list[tuple[datetime, Assign]] = field(default_factory=list)
    waiting: list[tuple[Ask, str]] = field(default_factory=list)
    open: dict[str, int] = field(default_factory=dict)
    number: int = 0

    def hour(self, now: datetime, countries: list[str]) -> None:
        """New leads come in and are asked for with all that wait."""
        for country in countries:
            self.number += 1
            self.waiting.append((Ask(self.number, f"job-{self.number}", lead_id(self.number), now), country))
        leads = [lead(ask.job_id, Country=country) for ask, country in self.waiting]
        seen = replace(snapshot(leads, [self.group], open_leads=dict(self.open)), taken_at=now)
        decisions = decide(self.rules, seen, [ask for ask, _ in self.waiting])
        for batch in batches(decisions):
            self.group = batch.after
        for decision in decisions:
            if isinstance(decision, Assign):
                self.given.append((now, decision))
                self.open[decision.owner_id] = self.open.get(decision.owner_id, 0) + 1
        settled = {one.ask.job_id for one in decisions if isinstance(one, Assign)}
        self.waiting = [one for one in self.waiting if one[0].job_id not in settled]


def played(some: list[Member], away, history) -> History:
    found = History(pool("emea", some), configuration(hours=HOURS, absences=absences(away)))
    for hour, countries in enumerate(history):
        found.hour(START + hour * STEP, countries)
    return found


def may(member: Member, now: datetime, away) -> bool:
    """Duty restated on local clocks, for whole hours: weight, absences and hours; caps are counted apart."""
    if member.weight == 0 or any(
        START + start * STEP <= now < START + (start + length) * STEP
        for name, start, length in away
        if name == member.name
    ):
        return False
    if member.hours_id is None:
        return True
    hours = HOURS[member.hours_id]
    there = now.astimezone(ZoneInfo(hours.zone))
    minute = there.hour * 60 + there.minute
    (start, end), weekday = hours.week[0][0], there.weekday()
    return (weekday < 5 and start <= minute < end) or ((weekday - 1) % 7 < 5 and minute + 1440 < end)


@settings(max_examples=30, deadline=None)
@given(members(), st.lists(ABSENCE, max_size=4), HISTORY)
def test_nobody_off_duty_ever_gets_a_lead_and_caps_are_exact(some, away, history):
    """D13, D16, P31, P66: by hours, absences, weights and criteria; caps by the member's own day and by open leads."""
    found = played(some, away, history)
    by_name = {member.name: member for member in some}
    days: dict[tuple[str, str], int] = {}
    for now, decision in found.given:
        member = by_name[decision.turn.member.name]
        assert may(member, now, away)
        country = decision.lead.fields["Country"]
        assert not member.accepts or (country == "FR") == (member.accepts == "Country = 'FR'")
        day = now.astimezone(ZoneInfo(member.zone)).date().isoformat()
        days[member.name, day] = days.get((member.name, day), 0) + 1
    for (name, _), count in days.items():
        assert by_name[name].daily_cap is None or count <= by_name[name].daily_cap
    for member in some:
        assert member.open_cap is None or found.open.get(member.user_id, 0) <= member.open_cap
    assert [decision.turn.number for _, decision in found.given] == list(range(1, len(found.given) + 1))
    assert not found.waiting  # A and B take everything


@settings(max_examples=30, deadline=None)
@given(members(), st.lists(ABSENCE, max_size=4), HISTORY)
def test_two_who_are_always_on_duty_never_differ_by_more_than_a_turn_each(some, away, history):
    """DESIGN 5: leads per weight of A and B within 1/a + 1/b at every instant, whatever the others do."""
    found = played(some, away, history)
    first, second = some[0], some[1]
    counts = {first.name: 0, second.name: 0}
    bound = 1 / first.weight + 1 / second.weight
    for _, decision in found.given:
        name = decision.turn.member.name
        counts[name] = counts.get(name, 0) + 1
        apart = counts[first.name] / first.weight - counts[second.name] / second.weight
        assert abs(apart) <= bound + 1e-9


@settings(max_examples=30, deadline=None)
@given(members(), st.lists(ABSENCE, max_size=4), HISTORY)
def test_held_leads_go_oldest_first_and_as_soon_as_their_hold_says(some, away, history):
    """P68: without A and B leads wait; of two that the same members accept, the older is never the later."""
    others = some[2:]
    found = played(others, away, history)
    order: dict[str, list[int]] = {}
    for _, decision in found.given:
        order.setdefault(decision.lead.fields["Country"], []).append(decision.ask.job_id)
    for country, jobs in order.items():
        assert jobs == sorted(jobs)
        left = [ask.job_id for ask, other in found.waiting if other == country]
        assert not left or not jobs or max(jobs) < min(left)


@settings(max_examples=30, deadline=None)
@given(members(), st.lists(ABSENCE, max_size=4), st.integers(0, 72))
def test_a_hold_ends_when_somebody_may_take_the_lead_and_not_before(some, away, hour):
    """D16: at `until` the lead is given out; at no hour before it is it, if nothing else changes."""
    now = START + hour * STEP
    group = pool("emea", some[2:])
    rules = configuration(rule("all", 1, "", ToGroup("g1")), hours=HOURS, absences=absences(away))

    def at(instant: datetime):
        seen = replace(snapshot([lead(1, Country="FR")], [group]), taken_at=instant)
        return decide(rules, seen, [Ask(1, "job-1", lead_id(1), START)])[0]

    decision = at(now)
    if isinstance(decision, Hold) and decision.until is not None:
        assert decision.until > now
        assert isinstance(at(decision.until), Assign)
        before = now
        while before < min(decision.until, now + 80 * STEP):
            assert isinstance(at(before), Hold)
            before += STEP
