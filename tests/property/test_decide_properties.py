"""Decide: what holds for any batch of leads."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.decide import batches, decide
from lead_router.core.keys import submission_of
from lead_router.core.model import Assign, Follow, Hold, Mode, Observed, Skip, ToGroup
from support.decide_scene import (
    FALLBACK,
    INTAKE,
    ask,
    configuration,
    lead,
    pool,
    rep,
    row,
    rule,
    snapshot,
    user,
)

RULES = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2, "Country != 'XX'"))
OWNERS = st.sampled_from([INTAKE, INTAKE, INTAKE, user("A"), FALLBACK])


@st.composite
def scenes(draw):
    """Some leads (owned, converted, gone, duplicates), groups in any mode, and what the ledger already holds."""
    numbers = range(1, draw(st.integers(1, 12)) + 1)
    leads, rows = [], []
    for number in numbers:
        mail = draw(st.sampled_from([None, "a@x.com", "b@x.com"]))
        made = lead(
            number,
            mail,
            owner_id=draw(OWNERS),
            round=draw(st.integers(0, 2)),
            is_converted=draw(st.integers(0, 9)) == 0,
            Country=draw(st.sampled_from(["JP", "FR", None, "XX"])),
            CreatedDate=f"2026-03-04T12:{draw(st.sampled_from(['09', '10', '25']))}:00Z",
        )
        if draw(st.integers(0, 9)):
            leads.append(made)
        if draw(st.integers(0, 4)) == 0:
            keys = submission_of(made.fields, RULES)
            key = {"idempotency_key": f"job-{number}"} if draw(st.booleans()) else {}
            owner = draw(st.one_of(st.none(), OWNERS))
            both = {"submission_even": keys.even, "submission_odd": keys.odd} if keys else {}
            rows.append(row(number, owner, draw(st.integers(1, 3)), **both, **key))
    mode = st.sampled_from([Mode.LIVE, Mode.LIVE, Mode.OFF, Mode.OBSERVE])
    groups = [
        pool("emea", ["A", rep("B", weight=3), rep("C", active=False)], mode=draw(mode), turn=7),
        pool("apac", [rep("X", user_active=draw(st.booleans()))], mode=draw(mode), fallback_queue="Lost_Leads"),
    ]
    order = draw(st.permutations(list(numbers)))
    return snapshot(leads, groups, rows), [ask(number, draw(st.sampled_from([0.0, 900.0]))) for number in order]


@settings(max_examples=150, deadline=None)
@given(scenes())
def test_the_same_snapshot_and_asks_give_the_same_decisions(scene):
    """No dice, no clock: twice the same; one decision per ask, in order."""
    seen, asks = scene
    decisions = decide(RULES, seen, asks)
    assert [decision.ask for decision in decisions] == asks
    assert decide(RULES, seen, asks) == decisions


@settings(max_examples=150, deadline=None)
@given(scenes())
def test_turns_have_no_hole_and_keys_no_repeat(scene):
    """What the org's unique indexes would refuse is never asked for: turns, rounds, idempotency and submission keys."""
    seen, asks = scene
    writes = [one for one in decide(RULES, seen, asks) if isinstance(one, Assign | Follow)]
    turns = Counter((one.group_id, one.turn.number) for one in writes if isinstance(one, Assign) and one.turn)
    for group, start in (("g1", 7), ("g2", 0)):
        given_out = sorted(number for key, number in turns if key == group)
        assert given_out == list(range(start + 1, start + 1 + len(given_out)))
    assert len({one.ask.idempotency_key for one in writes} - {held.idempotency_key for held in seen.ledger}) == len(
        writes
    )
    lead_keys = {(held.lead_id, held.round) for held in seen.ledger}
    assert all((one.lead.id, one.round) not in lead_keys for one in writes)
    stored = [one.submission for one in writes if isinstance(one, Assign) and one.submission]
    held = {key for one in seen.ledger for key in (one.submission_even, one.submission_odd)}
    evens, odds = [one.even for one in stored], [one.odd for one in stored]
    assert len(set(evens)) == len(evens)
    assert len(set(odds)) == len(odds)
    assert held.isdisjoint({*evens, *odds})


@settings(max_examples=150, deadline=None)
@given(scenes())
def test_every_write_gives_a_waiting_lead_to_someone_who_may_have_it(scene):
    """No owned or converted lead is written; the owner is on duty, followed or the fallback queue."""
    seen, asks = scene
    decisions = decide(RULES, seen, asks)
    for decision in decisions:
        match decision:
            case Assign(lead=chosen, turn=turn, owner_id=owner):
                assert chosen.owner_id == INTAKE
                assert not chosen.is_converted
                assert owner == (turn.member.user_id if turn else FALLBACK)
                assert turn is None or (turn.member.active and turn.member.user_active)
            case Follow(lead=chosen, owner_id=owner):
                assert chosen.owner_id == INTAKE
                assert owner.startswith("005")
            case Observed(would=would, retry_s=retry_s):
                assert isinstance(would, Assign | Hold)
                assert retry_s > 0
            case Hold(reason=reason, retry_s=retry_s):
                assert reason
                assert retry_s > 0
            case Skip(reason=reason):
                assert reason in {"gone", "converted", "already routed", "already owned"}
    found = batches(decisions)
    written = [write for batch in found for write in batch.writes]
    assert sorted(one.ask.job_id for one in written) == sorted(
        one.ask.job_id for one in decisions if isinstance(one, Assign | Follow)
    )
    for batch in found:
        turns = [one.turn for one in batch.writes if isinstance(one, Assign) and one.turn]
        assert (batch.before, batch.after) == ((turns[0].before, turns[-1].group) if turns else (None, None))
        assert len({one.group_id for one in batch.writes if isinstance(one, Assign) and one.turn}) <= 1
