"""Leads that nobody touches, over random groups: no rep has one twice, none moves more often than it may, all end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.decide import decide
from lead_router.core.ids import to18
from lead_router.core.keys import untouched_key
from lead_router.core.model import ALL_LIVE, Ask, Assign, Cause, FirstTouch, Outcome, Skip, Snapshot
from support.decide_scene import NOW, configuration, lead, pool, rep, row, user

ORG = to18("00D000000000001")
MINUTES = 15


@st.composite
def scenes(draw):
    """A group, some of whose members are away, with or without a manager and a limit of its own."""
    names = "ABCDEF"[: draw(st.integers(1, 6))]
    members = [rep(name, active=draw(st.booleans()) or name == "A", weight=draw(st.integers(1, 3))) for name in names]
    manager = draw(st.sampled_from([None, user("M"), user("A"), user("B")]))
    group = pool("emea", members, accept_within=MINUTES, accept_chain=draw(st.sampled_from([None, 0, 1, 3])))
    return replace(group, manager_id=manager), draw(st.integers(0, 4))


@settings(max_examples=200, deadline=None)
@given(scenes())
def test_a_lead_that_nobody_touches_comes_to_rest_and_no_rep_has_it_twice(scene):
    """Round after round; it rests with the manager, or where there is nobody else to give it to."""
    group, most = scene
    limit = most if group.accept_chain is None else group.accept_chain
    terms = {"rollout": ALL_LIVE, "first_touch": FirstTouch("Status = 'New'", reroutes=most), "roster": (group,)}
    config = configuration(**terms, lead_fields=frozenset({"Status"}))
    at, owners, outcomes = NOW, [user("A")], []
    rows = [_row(1, user("A"), "first", "Assigned", at)]
    for round_ in range(1, 12):
        given_at, at = at, at + timedelta(minutes=MINUTES)
        own = {"round": round_, "routed_at": given_at, "routed_by": "emea", "changed_at": given_at, "Status": "New"}
        one = lead(1, owner_id=owners[-1], **own)
        snapshot = Snapshot(at, {"g1": group}, {one.id: one}, tuple(rows))
        key = untouched_key(ORG, one.id, round_)
        (found,) = decide(config, snapshot, [Ask(1, key, one.id, at, cause=Cause.UNTOUCHED)])
        if isinstance(found, Skip):
            break
        assert isinstance(found, Assign)
        owners.append(found.owner_id)
        outcomes.append(found.outcome)
        rows.append(_row(round_ + 1, found.owner_id, key, found.outcome.value, at, found.turn))
        if found.turn is not None:
            group = found.turn.group
    else:
        raise AssertionError("it does not come to rest")

    assert len(set(owners)) == len(owners)
    assert outcomes.count(Outcome.ASSIGNED) <= limit
    assert Outcome.FALLBACK not in outcomes[:-1]


def _row(round_, owner, key, outcome, at, turn=True):
    number = round_ if turn else None
    more = {"idempotency_key": key, "outcome": outcome, "group_id": "g1", "turn": number, "created_at": at}
    return row(1, owner, round_, assigned_to=owner, **more)
