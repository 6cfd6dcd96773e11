"""Questions of the audit on pasts of a few leads."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.audit import Assumed, judge
from lead_router.audit.judging.doubles import doubles, twins
from lead_router.audit.judging.figures import chi_square_tail, percentile, run_tail, uniform_distance
from lead_router.audit.judging.opening import Opening, guess
from lead_router.audit.judging.polling import polls
from lead_router.audit.judging.pools import pools
from lead_router.audit.judging.resets import is_unsure, resets, restarts
from lead_router.audit.judging.roles import Given, Roles, handovers, roles
from lead_router.audit.judging.shares import shares
from lead_router.audit.past import Past, Step, Story
from lead_router.ports.history import Person
from org_simulator.ids import make_id

QUEUE = make_id("00G", 9)
ROUTER, SYNC, MIA = make_id("005", 91), make_id("005", 92), make_id("005", 93)
REPS = tuple(make_id("005", number) for number in range(1, 7))
START = 1_790_000_000.0
MACHINES = Roles(frozenset({ROUTER, SYNC}), frozenset({ROUTER, SYNC, QUEUE}))


def story(number: int, *steps: Step, first: str = QUEUE, at: float = START, creator: str = SYNC, **more) -> Story:
    told = {"source": "Web", "buyer": (0, 0), "converted": False, **more}
    owner = steps[-1].new if steps else first
    return Story(make_id("00Q", number), at, first, creator, owner=owner, steps=steps, **told)


def given(owners: Sequence[str], *, by: str = ROUTER, apart_s: float = 600.0, waits: Sequence[float] | None = None):
    """Leads that came to these owners, one after the other."""
    found = []
    for number, owner in enumerate(owners):
        at = START + number * apart_s
        wait = waits[number] if waits else 3.0
        lead = story(number + 1, Step(at, QUEUE, owner, by), at=at - wait)
        found.append(Given(lead, at, owner, by, first=True, made=False, since=at - wait))
    return found


def past(*stories: Story, people: Sequence[Person] = ()) -> Past:
    until = max((one.steps[-1].at if one.steps else one.created for one in stories), default=START)
    return Past(stories, {one.id: one for one in people}, START - 1, until, guess("UTC"), history=True, told=())


class TestDoubles:
    """Two machines within minutes, and what is none."""

    @pytest.mark.parametrize(
        ("by", "apart_s", "told"),
        [
            (SYNC, 600.0, True),
            (SYNC, 601.0, False),
            ("", 60.0, True),
            (MIA, 60.0, False),
            (REPS[1], 60.0, False),
            (REPS[0], 60.0, False),
        ],
        ids=("machine", "later", "not told", "manager", "taken", "handed on"),
    )
    def test_the_second_writer_decides(self, by, apart_s, told):
        lead = story(1, Step(START, QUEUE, REPS[0], ROUTER), Step(START + apart_s, REPS[0], REPS[1], by))

        assert bool(doubles([handovers(lead, MACHINES)], MACHINES)) is told

    def test_a_rep_who_made_the_lead_did_not_lose_it(self):
        """Who creates a lead owns it until it is given away; with another as owner it was given."""
        away = Step(START + 5, REPS[0], REPS[1], ROUTER)
        own, other = story(1, away, first=REPS[0], creator=REPS[0]), story(2, away, first=REPS[0])

        found = doubles([handovers(own, MACHINES), handovers(other, MACHINES)], MACHINES)

        assert [one.lead for one in found] == [other.id]

    def test_back_through_a_queue_is_one_of_them(self):
        """From a rep into a queue and to another rep; the same rep again is none."""
        steps = (Step(START, QUEUE, REPS[0], ROUTER), Step(START + 60, REPS[0], QUEUE, SYNC))
        other = story(1, *steps, Step(START + 90, QUEUE, REPS[1], ROUTER))
        same = story(2, *steps, Step(START + 90, QUEUE, REPS[0], ROUTER))

        assert [one.lead for one in doubles([handovers(one, MACHINES) for one in (other, same)], MACHINES)] == [
            other.id
        ]

    def test_a_switchboard_is_no_buyer(self):
        """An address that many leads share, and two records far apart or with one rep, are none."""
        near = [story(number, at=START + number, buyer=(0, 7)) for number in range(1, 8)]
        far = [story(20, buyer=(5, 0)), story(21, at=START + 90_000, buyer=(5, 0))]
        pair = [story(30, buyer=(6, 0)), story(31, at=START + 50, buyer=(6, 0))]

        assert twins((one, REPS[at % 2]) for at, one in enumerate(near)) == []
        assert twins((one, REPS[at]) for at, one in enumerate(far)) == []
        assert twins((one, REPS[0]) for one in pair) == []
        assert [one.twin for one in twins((one, REPS[at]) for at, one in enumerate(pair))] == [pair[1].id]


class TestRoles:
    """Machines, people, and places where leads wait."""

    def test_a_manager_is_no_machine_and_a_licence_is_enough(self):
        """Moves of hours are a person's; Salesforce's own word counts without any write."""
        moved = [
            story(number, Step(START, QUEUE, REPS[0], ROUTER), Step(START + 9_000, REPS[0], REPS[1], MIA))
            for number in range(1, 30)
        ]

        known = roles(past(*moved, people=[Person(SYNC, "Sync", robot=True)]))

        assert known.machines == {ROUTER, SYNC}

    def test_a_default_owner_only_holds_leads(self):
        """A user with leads at creation that all move on, and who is never given one, is no rep."""
        kept = [story(number, Step(START + 5, MIA, REPS[0], ROUTER), first=MIA) for number in range(1, 30)]

        known = roles(past(*kept))

        assert MIA in known.parked
        assert not handovers(kept[0], known)[0].made


class TestOrders:
    """Rotations, shares and resets."""

    def test_a_reset_is_found_where_it_is_and_a_passed_over_rep_is_none(self):
        """Six reps in turn: after lead 50 from the first on; one passed over for good moves the order by one only."""
        turn = [REPS[at % 6] for at in range(51)] + [REPS[at % 6] for at in range(60)]
        passed = [REPS[at % 6] for at in range(50)] + [REPS[at % 6] for at in range(51, 120)]

        (pool,) = pools(given(turn))
        (reset,) = resets(pool)

        assert (reset.place, reset.rep, reset.due, reset.passed_over) == (51, REPS[0], REPS[3], 3)
        assert resets(pools(given(passed))[0]) == []

    @pytest.mark.parametrize("seed", range(6))
    def test_reps_who_are_off_duty_make_no_reset(self, seed):
        """Each is passed over in one of twelve turns, as at lunch: now and then two at once, which is no lost turn."""
        dice = random.Random(seed)
        turn, owners = 0, []
        while len(owners) < 600:
            if dice.random() > 1 / 12:
                owners.append(REPS[turn % 6])
            turn += 1
        (pool,) = pools(given(owners))

        assert len(pool.cycle) == 6
        assert (resets(pool), is_unsure(pool)) == ([], True)

    def test_two_who_are_passed_over_one_by_one_make_no_reset(self):
        """Behind both, the order has moved by two, in two steps: a reset is one leap."""
        owners = [REPS[at % 6] for at in range(400)]
        del owners[202], owners[200]
        (pool,) = pools(given(owners))

        assert (is_unsure(pool), resets(pool)) == (False, [])

    @pytest.mark.parametrize("seed", range(5))
    def test_chance_keeps_no_order_and_is_no_skew(self, seed):
        """Leads drawn at random: no rotation, so no reset; shares as even as chance makes them."""
        dice = random.Random(seed)
        (pool,) = pools(given([dice.choice(REPS) for _ in range(600)]))

        found = shares(pool)

        assert (pool.cycle, resets(pool), found.skewed, found.runs) == ((), [], False, False)

    def test_a_rotation_that_begins_anew_with_each_run_is_told(self):
        """Runs of four to fifteen leads, each from the first rep on; by chance one run ends where the next begins."""
        dice = random.Random(3)
        runs = [[REPS[at % 6] for at in range(dice.randrange(4, 16))] for _ in range(60)]

        (pool,) = pools(given([owner for run in runs for owner in run]))
        found = restarts(pool)

        assert found is not None
        assert (found.rep, found.times) == (REPS[0], found.breaks)
        assert found.times > 30

    @pytest.mark.parametrize("seed", range(12))
    def test_weights_are_no_resets(self, seed):
        """A rotation by weights leaves the plain order again and again, at even distances: that is its order."""
        dice = random.Random(seed)
        weights = [dice.choice((1, 2, 3, 4, 5)) for _ in REPS]
        owed = [0] * len(REPS)
        owners = []
        for _ in range(600):
            owed = [one + weight for one, weight in zip(owed, weights, strict=True)]
            best = max(range(len(REPS)), key=lambda rep: (owed[rep], -rep))
            owed[best] -= sum(weights)
            owners.append(REPS[best])

        for pool in pools(given(owners)):
            assert (resets(pool), restarts(pool)) == ([], None)
            assert not shares(pool).runs

    def test_small_numbers_do_not_shout(self):
        """Of 60 leads a rep with 15 instead of 10 is no finding; of 600 one with 150 is."""
        few = [REPS[0]] * 15 + [REPS[1 + at % 5] for at in range(45)]
        many = few * 10
        random.Random(1).shuffle(few)
        random.Random(1).shuffle(many)

        assert not shares(pools(given(few))[0]).skewed
        told = shares(pools(given(many))[0])
        assert told.skewed
        assert (told.reps[0].rep, told.reps[0].got) == (REPS[0], 150)
        assert told.reps[0].even == pytest.approx(100)

    def test_a_skew_is_large_and_more_than_chance(self):
        """60 of 100 among two may be chance; 2,150 of 6,000 among three is none, and matters to nobody."""
        dice = random.Random(1)
        two = dice.sample([REPS[0]] * 60 + [REPS[1]] * 40, 100)
        three = dice.sample([REPS[0]] * 2_150 + [REPS[1]] * 2_000 + [REPS[2]] * 1_850, 6_000)

        chance, small = (shares(pools(given(owners))[0]) for owners in (two, three))

        assert (chance.skewed, chance.chance > 0.01) == (False, True)
        assert (small.skewed, small.chance < 0.001) == (False, True)

    def test_who_is_away_for_a_while_is_not_short(self):
        """A third of the leads came while the fourth rep was away."""
        there, away = [REPS[at % 4] for at in range(120)], [REPS[at % 3] for at in range(120)]

        found = {one.rep: one for one in shares(pools(given([*there, *away, *there], apart_s=7_200))[0]).reps}

        assert found[REPS[3]].got == 60
        assert found[REPS[3]].even == pytest.approx(60, abs=2)

    def test_who_was_not_there_is_not_short(self):
        """A rep who comes for the last third has a third of an even share to get."""
        owners = [REPS[at % 3] for at in range(200)] + [REPS[at % 4] for at in range(120)]

        found = {one.rep: one for one in shares(pools(given(owners, apart_s=7_200))[0]).reps}

        assert found[REPS[3]].got == 30
        assert found[REPS[3]].even == pytest.approx(30, abs=2)

    def test_a_long_run_is_told(self):
        owners = [REPS[at % 6] for at in range(100)] + [REPS[2]] * 9 + [REPS[at % 6] for at in range(100)]

        found = shares(pools(given(owners))[0])

        assert (found.run, found.run_rep, found.runs) == (9, REPS[2], True)

    def test_sources_with_rotations_of_their_own_are_two_pools(self):
        """Among the same reps: taken together there would be no order."""
        dice = random.Random(5)
        turn = {"Web": 0, "Fair": 3}
        leads = []
        for one in given(REPS[:1] * 400):
            source = dice.choice(("Web", "Fair"))
            turn[source] += 1
            leads.append(replace(one, owner=REPS[turn[source] % 6], story=replace(one.story, source=source)))

        found = pools(leads)

        assert {(pool.sources, pool.regular) for pool in found} == {(("Web",), 1.0), (("Fair",), 1.0)}

    def test_who_is_alone_has_no_run(self):
        """Of two reps one is away for a week: the other gets all leads, as must be."""
        both = REPS[:2] * 30

        found = shares(pools(given([*both, *REPS[:1] * 80, *both], apart_s=7_200))[0])

        assert (found.runs, found.skewed) == (False, False)

    def test_leads_of_one_second_have_no_order_of_their_own(self):
        """A burst is read in the order of the cycle, not in that of ids, which here go backwards."""
        calm = [REPS[at % 6] for at in range(60)]
        leads = given([*calm, *reversed(calm[:24])])
        burst = [replace(one, at=START + 99_999) for one in leads[60:]]

        (pool,) = pools([*leads[:60], *burst])

        assert pool.regular == 1.0


class TestPolls:
    """Pollers of any minute, and what looks like one."""

    @pytest.mark.parametrize("period_s", [60.0, 302.4, 900.0, 3_600.0])
    def test_the_period_is_found(self, period_s):
        """Also where it drifts by the length of a round."""
        found = polls(self._polled(period_s, random.Random(4)))

        assert [one.period_s for one in found] == [pytest.approx(period_s, rel=0.01)]

    def _polled(self, period_s: float, dice: random.Random) -> list[Given]:
        """Leads at random times, each given away when the poller wakes next."""
        found = []
        wakes = START
        arrival = START
        for number in range(400):
            arrival += dice.expovariate(1 / 2_000)
            while wakes < arrival:
                wakes += period_s + dice.uniform(-0.2, 0.2)
            lead = story(number + 1, at=float(int(arrival)))
            found.append(
                Given(lead, float(int(wakes)), REPS[number % 6], ROUTER, first=True, made=False, since=lead.created)
            )
        return found

    def test_people_and_hourly_loads_are_none(self):
        """Waits by chance have no period; leads that are loaded on the hour wait all alike, not up to an hour."""
        dice = random.Random(2)
        slow = given([REPS[0]] * 500, apart_s=977.0, waits=[dice.expovariate(1 / 300) for _ in range(500)])
        jittered = [
            Given(one.story, one.at + dice.uniform(0, 900), one.owner, one.by, first=True, made=False, since=one.since)
            for one in slow
        ]
        assert polls(jittered) == []
        for wait in (2.0, 45.0):
            assert polls(given([REPS[0]] * 500, apart_s=3_600.0, waits=[wait] * 500)) == []


class TestFigures:
    """Against values from tables."""

    def test_tails(self):
        """Chi-square's 0.1 % points for 5 and 10 degrees of freedom are 20.515 and 29.588."""
        assert chi_square_tail(20.515, 5) == pytest.approx(0.001, rel=0.15)
        assert chi_square_tail(29.588, 10) == pytest.approx(0.001, rel=0.15)
        assert (chi_square_tail(0, 5), chi_square_tail(9, 0)) == (1.0, 1.0)

    def test_runs(self):
        """By the number of their beginnings."""
        assert run_tail(4, 100, 6) == pytest.approx(1 - math.exp(-100 * 5 / 6 / 6**3))
        assert (run_tail(1, 10, 6), run_tail(9, 10, 1)) == (1.0, 1.0)

    def test_others(self):
        assert [percentile([1, 2, 3, 4], part) for part in (0, 0.5, 0.9, 1)] == [1, 2, 4, 4]
        assert percentile([], 0.5) == 0
        assert uniform_distance([0.5], 1.0) == 0.5
        assert uniform_distance([at / 100 for at in range(1, 101)], 1.0) < 0.02


def test_working_time_counts_open_hours_alone():
    """Friday 16:30 to Monday 9:10 is 40 minutes; a clock that changes between does not matter."""
    friday = datetime(2026, 10, 23, 14, 30, tzinfo=UTC).timestamp()
    monday = datetime(2026, 10, 26, 8, 10, tzinfo=UTC).timestamp()
    opening = Opening(guess("Europe/Berlin"), friday, monday)

    assert [opening.local(at).strftime("%a %H:%M") for at in (friday, monday)] == ["Fri 16:30", "Mon 09:10"]
    assert opening.working_s(friday, monday) == 40 * 60
    assert opening.working_s(friday + 3_600, monday) == 10 * 60
    assert opening.next_open(friday + 3_600) == monday - 600
    assert (opening.is_open(friday), opening.is_open(friday + 3_600)) == (True, False)


def test_an_empty_org_has_no_findings():
    """Nothing divides by the number of its leads."""
    audit = judge(past(), Assumed())

    assert (audit.leads, audit.findings, audit.waits.elapsed.leads) == (0, (), 0)
