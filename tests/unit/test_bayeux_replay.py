"""When a replay id is complete, and what a stored position is worth."""

from __future__ import annotations

import pytest

from lead_router.ports import Delivery, Position
from lead_router.salesforce.replay import Numbers, Opaque, Progress

CHANNEL = "/data/LeadChangeEvent"


def at(replay_id):
    return Position(CHANNEL, str(replay_id).encode())


def progress_at(replay_id):
    progress = Progress(CHANNEL, Numbers())
    assert progress.loaded(at(replay_id))
    return progress


def test_the_last_id_waits_for_another_one():
    """Several events may bear one id, the last of them in the next answer."""
    progress = progress_at(4)
    assert progress.behind([5, 6, 6]) == at(5)
    progress.stored(at(5))
    assert progress.behind([6]) is None
    assert progress.behind([7]) == at(6)


def test_a_single_id_moves_nothing_until_the_server_is_silent():
    """A connect that has waited long enough behind it proves the id complete; one just sent does not."""
    progress = progress_at(4)
    assert progress.behind([5]) is None
    assert progress.settled(before=100.0) == Delivery()
    progress.awaiting(10.0)
    assert progress.settled(before=9.0) == Delivery()
    assert progress.settled(before=10.0) == Delivery(position=at(5))
    progress.stored(at(5))
    assert progress.settled(before=10.0) == Delivery()


def test_a_lost_session_proves_nothing():
    """Silence of a connect that was lost does not complete an id: the answer may have died with it."""
    progress = progress_at(4)
    progress.behind([5])
    progress.awaiting(10.0)
    progress.awaiting(None)
    assert progress.settled(before=100.0) == Delivery()


def test_what_a_lost_session_left_open_is_not_completed_by_what_comes_again():
    """A19: the next session begins behind the stored id, and an earlier one says nothing of the rest of the last."""
    progress = progress_at(3)
    assert progress.behind([5]) is None
    assert progress.start() == (3, "stored")
    assert progress.behind([4]) is None
    assert progress.behind([5, 5]) == at(4)


def test_without_any_position_the_first_id_is_taken_at_once():
    """A position that may repeat is better than none, which would lose what comes during a crash."""
    assert Progress(CHANNEL, Numbers()).behind([5]) == at(5)


def test_a_quiet_answer_confirms():
    """The server had nothing more to say: the open id is complete, else the stored one still holds."""
    progress = progress_at(4)
    assert progress.confirmed() == Delivery(position=at(4))
    progress.behind([5])
    assert progress.confirmed() == Delivery(position=at(5))
    assert Progress(CHANNEL, Numbers()).confirmed() == Delivery()


def test_an_expired_id_is_replaced_in_memory_and_in_the_store():
    """The dead id is not asked for again, and the delivery that tells of the gap makes the store forget it too."""
    progress = progress_at(4)
    progress.expired()
    assert progress.start() == (-2, "retained")
    assert progress.behind([]) == at(-2)
    progress.stored(at(-2))
    assert progress.behind([]) is None
    assert progress.behind([9, 10]) == at(9)


@pytest.mark.parametrize(
    ("stored", "replay_id"),
    [
        (b"42", 42),
        (b"-2", -2),
        (b"0", 0),
        (b"-1", None),
        (b"", None),
        (b"4x", None),
        (b"\x00\xff", None),
        (b" 4", None),
    ],
)
def test_only_digits_are_a_position(stored, replay_id):
    """Another stream's bytes are not taken for a number."""
    assert Numbers().read(stored) == replay_id


def test_a_foreign_position_means_everything_retained():
    """Whatever the default start, a position that cannot be used says that events may have been missed."""
    progress = Progress(CHANNEL, Numbers())
    assert not progress.loaded(Position(CHANNEL, b"\x00\x01"))
    assert progress.start() == (-2, "retained")


def test_the_start_and_its_origin():
    """A22: where a subscription starts, and why."""
    assert Progress(CHANNEL, Numbers()).start() == (None, "default")
    assert progress_at(7).start() == (7, "stored")


def test_ids_are_taken_as_they_come_and_never_reckoned_with():
    """P40: with holes, and lower than before once the org has moved: the position is the last one that is complete."""
    progress = progress_at(900)
    assert progress.behind([905, 950]) == at(905)
    assert progress.behind([12, 30]) == at(12)


@pytest.mark.parametrize("replay_id", [b"\x00\x00\x00\x00\x01e\x14\xab", b"\xff" * 8, b"\x00\x80"])
def test_opaque_ids_are_stored_as_they_came(replay_id):
    """A16: zero bytes and bytes over 0x7f included; none at all is all that is retained."""
    progress = Progress(CHANNEL, Opaque())
    assert progress.loaded(Position(CHANNEL, replay_id))
    assert progress.start() == (replay_id, "stored")
    assert progress.reached(b"\x01") == Delivery(position=Position(CHANNEL, b"\x01"))
    progress.expired()
    assert progress.start() == (b"", "retained")
