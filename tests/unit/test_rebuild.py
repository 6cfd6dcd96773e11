"""Rebuild, case by case: what is drift, what is archived, what nobody can know."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.drift import Drift, Entry, Stamp
from lead_router.core.ids import to18
from lead_router.core.rebuild import judged
from lead_router.core.stamps import judged_stamp
from lead_router.core.tally import Epoch, tallied
from support.rotation_play import group, member

LEAD, OTHER = to18("00Q000000000001"), to18("00Q000000000002")
AT = datetime(2026, 3, 1, tzinfo=UTC)


def row(epoch, turn, who="A", **changes):
    plain = Entry(
        id=f"row{epoch}.{turn}",
        group_id="g",
        member_id=who,
        lead_id=LEAD,
        lead_key=f"{LEAD}.1",
        round=1,
        idempotency_key=f"00D.{LEAD}.create",
        outcome="Assigned",
        epoch=epoch,
        turn=turn,
        turn_key=f"g.{epoch}.{turn}",
        created_at=AT,
    )
    return replace(plain, **changes)


def seen(rows, *, epoch=0, turn=None, since=None, **members):
    """The verdict on a group whose members have (last turn, leads received)."""
    turn = max((one.turn or 0 for one in rows if one.epoch == epoch), default=0) if turn is None else turn
    people = [
        member(name, last_turn=last, leads_received=received, next_turn=10**9 if received else None)
        for name, (last, received) in members.items()
    ]
    return judged(group(*people, epoch=epoch, turn=turn), tallied(epoch, turn, rows, since))


def kinds(verdict):
    return [(one.kind, one.epoch, one.turn) for one in verdict.findings]


def test_an_epoch_that_was_lowered_is_all_that_can_be_told():
    """Members are not held against an epoch that their group is not in."""
    verdict = seen([row(3, 1), row(3, 2)], epoch=2, turn=7, A=(9, 9))
    assert kinds(verdict) == [(Drift.EPOCH, 3, 1)]
    assert verdict.findings[0].changes == ()


def test_whose_turn_a_deleted_row_was_is_told_where_the_member_says_so():
    """The member is right, then, and stays as it is."""
    (one,) = seen([row(0, 1), row(0, 3)], A=(3, 2), B=(2, 1)).findings
    assert (one.kind, one.turn) == (Drift.MISSING, 2)
    assert one.cause == "rows of the ledger were deleted; member B says that one of them was theirs"


def test_a_group_without_any_row_is_archived_or_new():
    """A dormant group whose rows were all taken away is none to wake somebody for."""
    verdict = seen([], turn=12, A=(12, 12))
    assert (verdict.findings, len(verdict.notes)) == ((), 1)


def test_epochs_that_were_archived_as_a_whole_are_told_by_their_members():
    """Where most count more leads than they have rows, no hand did it; where one of many does, one did."""
    rows = [row(2, 1, "A"), row(2, 2, "B")]
    verdict = seen(rows, epoch=2, A=(1, 10), B=(2, 11), C=(None, 0))
    assert (verdict.findings, len(verdict.notes)) == ((), 1)
    assert kinds(seen(rows, epoch=2, A=(1, 10), B=(2, 1), C=(None, 0))) == [(Drift.RECEIVED, 2, 1)]
    assert seen(rows, epoch=2, since=AT, A=(1, 10), B=(2, 1), C=(None, 0)).findings == ()


def test_with_a_date_rows_may_be_missing_before_it_and_not_after():
    """As where an archive takes the rows of leads that were closed, wherever they stand."""
    early = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [row(0, 1, created_at=early), row(0, 3, created_at=early), row(0, 5), row(0, 7)]
    verdict = seen(rows, since=datetime(2026, 2, 1, tzinfo=UTC), A=(7, 9))
    assert kinds(verdict) == [(Drift.MISSING, 0, 6)]
    assert len(verdict.notes) == 2


def test_a_first_turn_that_lacks_in_a_later_epoch_was_not_archived():
    """Whoever archives takes the oldest first."""
    assert kinds(seen([row(0, 1), row(1, 2)], epoch=1, A=(2, 2))) == [(Drift.MISSING, 1, 1)]
    assert kinds(seen([row(0, 1)], epoch=1, turn=2, A=(2, 3))) == [(Drift.MISSING, 1, 1)]


def test_a_turn_that_a_deleted_member_had_may_be_anybodys():
    """Whose row it was is not known once the member is gone; another member's last turn may be that."""
    rows = [row(0, 1, "A"), row(0, 2, None)]
    assert seen(rows, A=(1, 1)).findings == ()
    assert seen(rows, A=(2, 2)).findings == ()
    assert kinds(seen(rows, A=(1, 3))) == [(Drift.RECEIVED, 0, 1)]


def test_a_cloned_member_is_found():
    """Salesforce's own button copies what the router wrote."""
    found = seen([row(0, 1)], A=(1, 1), B=(1, 1)).findings
    assert {one.record for one in found} == {"B"}
    assert {one.kind for one in found} == {Drift.LAST_TURN, Drift.RECEIVED, Drift.NEXT_TURN}


def test_a_row_without_a_key_is_counted_by_its_fields():
    """Somebody blanked it: another turn of that number is not refused any more."""
    assert kinds(seen([row(0, 1), row(0, 2, turn_key=None)], A=(2, 2))) == [(Drift.EDITED, 0, 2)]


@pytest.mark.parametrize("missing", [(4095,), (4096,), (4097, 4098), (8191, 8192), (9999,)])
def test_a_million_turns_are_looked_through_in_stretches(missing):
    """Full stretches are passed as a whole; what lacks at their edges is seen."""
    epoch = Epoch()
    for turn in range(1, 10_000):
        if turn not in missing:
            epoch.note(turn)
            epoch.widen(1, turn, turn)
    assert epoch.spans(10_000) == [
        *([(missing[0], missing[-1])] if missing != (9999,) else []),
        (9999 if missing == (9999,) else 10_000, 10_000),
    ]


@pytest.mark.parametrize(
    ("stamp", "kind"),
    [
        ({}, None),
        ({"round": 2, "idempotency_key": f"00D.{LEAD}.sweep.2.1"}, None),
        ({"round": 0, "idempotency_key": None}, None),
        ({"round": 0}, None),
        ({"idempotency_key": f"00D.{OTHER}.create", "round": 1}, None),
        ({"idempotency_key": f"00D.{LEAD}.sweep.1.7"}, Drift.STAMP),
        ({"group_key": "other"}, Drift.SHOWN_GROUP),
        ({"group_key": None}, None),
        ({"owner_id": "005X"}, None),
    ],
)
def test_what_a_lead_says_beside_its_row(stamp, kind):
    """Blanked by a person, routed again since, of another owner, or merged: no drift. Another stamp or group: drift."""
    plain = Stamp(LEAD, "005A", 1, f"00D.{LEAD}.create", "g")
    found = judged_stamp(row(0, 1), replace(plain, **stamp))
    assert (None if found is None else found.kind) == kind


def test_a_lead_taken_by_hand_bears_nothing_and_one_in_a_lower_round_is_behind():
    """A merged lead's rows are its master's now, and tell of another lead."""
    behind = Stamp(LEAD, "005A", 1, f"00D.{LEAD}.create", "g")
    later = row(0, 1, round=2, idempotency_key=f"00D.{LEAD}.sweep.2.1")
    found = judged_stamp(later, behind)
    assert found is not None
    assert (found.kind, [one.new for one in found.changes]) == (Drift.ROUND, [2, later.idempotency_key])
    assert judged_stamp(replace(later, outcome="Manual"), behind) is None
    assert judged_stamp(replace(later, lead_key=f"{OTHER}.2"), behind) is None


def test_a_turn_whose_row_was_deleted_since_the_look_before_excuses_whoever_may_have_had_it():
    """Their place, last turn and number moved as that turn moved them: what lacks is the row."""
    former = group(
        member("A", last_turn=1, leads_received=1, next_turn=10**9),
        member("B", last_turn=2, leads_received=1, next_turn=10**9),
        turn=2,
    )
    now = group(
        member("A", last_turn=3, leads_received=2, next_turn=2 * 10**9),
        member("B", last_turn=4, leads_received=2, next_turn=2 * 10**9),
        turn=4,
        clock=10**9,
    )
    rows = [row(0, 1), row(0, 2, "B"), row(0, 4, "B")]
    assert kinds(judged(now, tallied(0, 4, rows), former)) == [(Drift.MISSING, 0, 3)]
