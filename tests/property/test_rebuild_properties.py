"""Rebuild: no history is taken for drift, whatever people do; any field that is tampered with is, from its turn on."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.drift import Drift, Sum
from lead_router.core.rebuild import judged
from lead_router.core.tally import Tally, tallied
from support.histories import History, changed

SEEDS = st.integers(0, 10**9)


def whole(history, group=None, rows=None, former=None):
    group = history.group if group is None else group
    rows = history.rows if rows is None else rows
    return judged(group, tallied(group.epoch, group.turn, rows), former)


def sums(history):
    tally = Tally(history.group.epoch, history.group.turn)
    turns = {}
    for row in history.rows:
        turns.setdefault((row.epoch, row.member_id), []).append(row.turn)
    for (epoch, member), found in turns.items():
        tally.add_sum(Sum("g", epoch, member, len(found), min(found), max(found)))
    return tally


@given(SEEDS, st.integers(0, 80), st.sampled_from((0, 1, 4)))
@settings(max_examples=100, deadline=None)
def test_no_history_is_drift(seed, events, epoch):
    """Read as rows in any order or as sums, and beside any former look."""
    history = History(random.Random(seed), epoch).live(events)
    rows = random.Random(seed).sample(history.rows, len(history.rows))

    assert whole(history, rows=rows).findings == ()
    assert judged(history.group, sums(history)).findings == ()
    for former in history.seen[:: max(1, events // 5)]:
        assert whole(history, rows=rows, former=former).findings == ()
        assert judged(history.group, sums(history), former).findings == ()


def lived(seed, events=60, epoch=0):
    """A history whose epoch has turns, of members who all stay."""
    history = History(random.Random(seed), epoch, leavers=False).live(events)
    while sum(row.epoch == history.group.epoch for row in history.rows) < 3:
        history.live(5)
    return history


def applied(group, changes):
    """The group as a repair leaves it."""
    for one in changes:
        name = {"Next Turn": "next_turn", "Last Turn": "last_turn", "Leads Received": "leads_received"}.get(one.field)
        group = changed(group, one.record_id, **{name: one.new}) if name else group
        group = group if name else replace(group, **{one.field.lower(): one.new})
    return group


def found_and_mended(history, group, kind, former=None):
    """The first finding of that kind; what is proposed leaves nothing to be found, and nothing else was found."""
    found = whole(history, group, former=former).findings
    (one,) = (each for each in found if each.kind is kind)
    assert [each for each in found if not each.changes] == []
    mended = applied(group, [change for each in found for change in each.changes])
    assert whole(history, mended, former=former).findings == ()
    return one


@given(SEEDS, st.data())
@settings(max_examples=100, deadline=None)
def test_a_row_that_is_deleted_is_missed_at_its_turn(seed, data):
    """The first turns of the oldest epoch aside, which may have been archived; whose it was is told where it shows."""
    history = lived(seed)
    first = min((row.epoch, row.turn) for row in history.rows)
    gone = data.draw(st.sampled_from([row for row in history.rows if (row.epoch, row.turn) != first]))
    last = max(row.turn for row in history.rows if row.epoch == gone.epoch)
    rows = [row for row in history.rows if row is not gone]
    before = data.draw(st.sampled_from(history.seen), "seen before, when the row was there or not yet")
    found = whole(history, rows=rows, former=before)

    if gone.epoch < history.group.epoch and gone.turn == last:
        return  # of a former epoch nobody knows how far it went
    assert [(one.kind, one.epoch, one.turn) for one in found.findings] == [(Drift.MISSING, gone.epoch, gone.turn)]
    assert found.findings[0].changes == ()


@given(SEEDS, st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_rows_that_were_archived_are_told_and_are_no_drift(seed, many):
    """As many of the first as anybody likes; where an epoch begins with the rest, one must say that there were more."""
    history = lived(seed)
    rows = history.rows[min(many, len(history.rows) - 1) :]
    since = datetime(2026, 1, 1, tzinfo=UTC)

    assert judged(history.group, tallied(history.group.epoch, history.group.turn, rows, since)).findings == ()
    if rows[0].turn > 1:
        found = whole(history, rows=rows)
        assert (found.findings, len(found.notes)) == ((), 1)


@given(SEEDS, st.data())
@settings(max_examples=100, deadline=None)
def test_a_group_behind_its_ledger_is_found_at_its_next_turn(seed, data):
    """It is to be set to the last turn that has a row."""
    history = lived(seed)
    turn = data.draw(st.integers(0, history.group.turn - 1))
    one = found_and_mended(history, replace(history.group, turn=turn), Drift.TURN)

    assert (one.turn, one.changes[0].new) == (turn + 1, history.group.turn)


@given(SEEDS, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_a_group_ahead_of_its_ledger_lacks_the_rows_between(seed, by):
    """No row says that they were not deleted, so nothing is written."""
    history = lived(seed)
    (one,) = whole(history, replace(history.group, turn=history.group.turn + by)).findings

    assert (one.kind, one.turn, one.changes) == (Drift.MISSING, history.group.turn + 1, ())


@given(SEEDS, st.data())
@settings(max_examples=60, deadline=None)
def test_a_member_who_tells_another_story_than_the_rows_is_found_at_their_last_turn(seed, data):
    """Last turn, number of leads, and a place that no history can lead to."""
    history = lived(seed)
    members = [one for one in history.group.members if any(row.member_id == one.id for row in history.rows)]
    one = data.draw(st.sampled_from(members))
    last = max((row.epoch, row.turn) for row in history.rows if row.member_id == one.id)
    field = data.draw(st.sampled_from(("last_turn", "leads_received", "next_turn")))
    kind = {"last_turn": Drift.LAST_TURN, "leads_received": Drift.RECEIVED, "next_turn": Drift.NEXT_TURN}[field]
    value = data.draw(st.integers(-3, 10**6).filter(lambda new: new not in {getattr(one, field), 0}))
    group = changed(history.group, one.id, **{field: value})
    if field == "next_turn" and last[0] < history.group.epoch:
        return  # an epoch that began anew tells nothing of places
    found = found_and_mended(history, group, kind)

    assert (found.record, found.epoch, found.turn) == (one.id, *last)


@given(SEEDS, st.data())
@settings(max_examples=60, deadline=None)
def test_beside_a_former_look_every_field_of_the_rotation_is_exact(seed, data):
    """A place or clock that moved without a turn, by however little."""
    history = lived(seed)
    one = data.draw(st.sampled_from(history.group.members))
    by = data.draw(st.integers(-(10**9), 10**9).filter(bool))
    place = max((one.next_turn or 0) + by, 1)
    if place != one.next_turn:
        found_and_mended(history, changed(history.group, one.id, next_turn=place), Drift.NEXT_TURN, history.group)
    group = replace(history.group, clock=history.group.clock - abs(by))
    assert found_and_mended(history, group, Drift.CLOCK, history.group).turn == history.group.turn
    ahead = replace(history.group, clock=history.group.clock + abs(by))
    kinds = {each.kind for each in whole(history, ahead, former=history.group).findings}
    assert kinds <= {Drift.CLOCK, Drift.NEXT_TURN}
    assert kinds


@given(SEEDS, st.data())
@settings(max_examples=100, deadline=None)
def test_an_edited_or_copied_row_is_found_at_the_turn_of_its_key(seed, data):
    """The key is what no program changes: the rotation is reckoned from it."""
    history = lived(seed)
    at = data.draw(st.integers(0, len(history.rows) - 1))
    row = history.rows[at]
    edited = [*history.rows[:at], replace(row, turn=row.turn + 7), *history.rows[at + 1 :]]
    copied = [*history.rows, replace(row, id="copy")]

    (one,) = whole(history, rows=edited).findings
    assert (one.kind, one.record, one.epoch, one.turn) == (Drift.EDITED, row.id, row.epoch, row.turn)
    assert (Drift.TWICE, "copy", row.turn) in {
        (each.kind, each.record, each.turn) for each in whole(history, rows=copied).findings
    }


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_sums_alone_tell_that_something_is_wrong(seed):
    """Which turn it is, the rows tell: these are read only then."""
    history = lived(seed)
    gone = history.rows.pop(len(history.rows) // 2)
    seen = judged(history.group, sums(history))
    edge = gone.turn == 1 or all(row.turn < gone.turn for row in history.rows if row.epoch == gone.epoch)

    assert edge or any(one.kind is Drift.MISSING for one in seen.findings)
