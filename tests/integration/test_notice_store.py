"""What the job store promises of notices: one suite, run against SQLite and against PostgreSQL."""

from __future__ import annotations

import threading

import pytest

from lead_router.ports import Done, Retry
from lead_router.ports.notices import (
    Dropped,
    GivenUp,
    NewNotice,
    NoticeKind,
    Sent,
    Unknown,
    Unsent,
)
from support.databases import lead_id, new_job

ANN, BOB = "005000000000001AAA", "005000000000002AAA"
LEASE_S = 30.0


def notice(number: int, *, lead: int = 1, user: str = ANN, of_round: int = 1, **options) -> NewNotice:
    options = {"reason": "Rule 'All', group 'emea', turn 1", "kind": NoticeKind.ASSIGNED, **options}
    return NewNotice(key=f"key.{number}", lead_id=lead_id(lead), user_id=user, round=of_round, **options)


def both(_notice):
    return ("team", "bell")


def team(_notice):
    return ("team",)


@pytest.fixture
def store(database):
    return database.open(channels=team)


def take(store, channel="team", *, pace_s=0.0):
    return store.take_notice(channel, lease_s=LEASE_S, pace_s=pace_s)


def sent(store, taken):
    assert store.sending(taken, lease_s=LEASE_S)
    assert store.end_notice(taken, Sent())


def statuses(store):
    return [one.status for one in reversed(store.notices())]


def errors(store):
    return [one.last_error for one in reversed(store.notices())]


class TestWriting:
    def test_a_notice_is_written_once_for_each_of_its_channels(self, database):
        """However often it is handed in under its key, in one call or in several, a channel has one row of it."""
        store = database.open(channels=both)
        assert store.notify([notice(1), notice(1), notice(2, lead=2)]) == 4
        assert store.notify([notice(1)]) == 0
        assert sorted(one.channel for one in store.notices()) == ["bell", "bell", "team", "team"]

    def test_nobody_is_told_where_no_channel_is(self, database):
        """Switched off, nothing is written at all."""
        store = database.open()
        assert not store.notifies
        assert store.notify([notice(1)]) == 0
        assert store.notices() == []

    def test_it_is_written_with_the_end_of_its_job(self, store):
        """The end of a job and its notices are one transaction."""
        store.record([new_job(1)])
        (job,) = store.claim("w", limit=1, lease_s=60.0)
        assert store.end([(job, Done("assigned", (notice(1),)))]) == {job.id}
        assert statuses(store) == ["queued"]

    def test_a_lost_claim_does_not_lose_its_notice(self, store, database):
        """What was committed is told, whoever holds the claim of its job by now; a replay adds nothing."""
        store.record([new_job(1)])
        (first,) = store.claim("w", limit=1, lease_s=1.0)
        database.wait(2.0)
        (second,) = store.claim("w", limit=1, lease_s=60.0)
        assert store.end([(first, Done("assigned", (notice(1),)))]) == frozenset()
        assert store.end([(second, Done("already routed", (notice(1),)))]) == {second.id}
        assert statuses(store) == ["queued"]

    def test_other_endings_tell_nothing(self, store):
        """A job that is tried again has nothing to tell."""
        store.record([new_job(1)])
        (job,) = store.claim("w", limit=1, lease_s=60.0)
        store.end([(job, Retry(1.0, "later"))])
        assert store.notices() == []

    def test_a_notice_comes_back_as_it_was_written(self, store):
        """Every field survives, text of any script included."""
        told = {"reason": "Rule 'Ü', group 'emea', turn 3", "kind": NoticeKind.FALLBACK}
        written = notice(1, name="Zoë 東京", group="emea", owner_id=BOB, of_round=4, **told)
        store.notify([written])
        assert take(store).what == written

    def test_a_later_round_drops_what_was_not_told(self, store):
        """A lead that was given out again is not announced to whom it was taken from; other leads are."""
        store.notify([notice(1), notice(2, lead=2)])
        store.notify([notice(3, user=BOB, of_round=2)])
        assert statuses(store) == ["dropped", "queued", "queued"]
        store.notify([notice(1)])
        assert statuses(store) == ["dropped", "queued", "queued"]

    def test_an_earlier_round_is_not_told_after_a_later_one(self, store):
        """A job that comes again late does not announce its lead to whom it was taken from."""
        store.notify([notice(3, user=BOB, of_round=2)])
        sent(store, take(store))
        assert store.notify([notice(1)]) == 0
        assert statuses(store) == ["sent"]

    def test_a_reminder_of_the_same_round_drops_nothing(self, store):
        """The reminder comes beside the first notice, not in its place."""
        store.notify([notice(1), notice(2, kind=NoticeKind.REMINDER)])
        assert statuses(store) == ["queued", "queued"]


class TestTaking:
    def test_each_channel_has_its_own(self, database):
        """What one channel has taken the other one still has to take."""
        store = database.open(channels=both)
        store.notify([notice(1)])
        assert take(store, "team") is not None
        assert take(store, "team") is None
        assert take(store, "bell") is not None

    def test_a_person_is_told_in_order(self, store, database):
        """While a person's first notice waits for another attempt their second one waits; other people's do not."""
        store.notify([notice(1), notice(2, lead=2), notice(3, lead=3, user=BOB)])
        first = take(store)
        assert store.sending(first, lease_s=LEASE_S)
        store.end_notice(first, Unsent(10.0, "busy"))
        assert take(store).what.user_id == BOB
        assert take(store) is None
        database.wait(11.0)
        assert take(store).what.key == "key.1"

    def test_the_pace_holds_for_all_who_send(self, store, database):
        """Of two processes that serve one channel neither may send before its pace allows another one."""
        other = database.open(channels=team)
        store.notify([notice(number, lead=number) for number in range(1, 4)])
        sent(store, take(store, pace_s=1.0))
        assert take(other, pace_s=1.0) is None
        database.wait(1.1)
        sent(other, take(other, pace_s=1.0))
        assert take(store, pace_s=1.0) is None

    def test_a_claim_that_was_not_used_comes_again(self, store, database):
        """Who died before the notice was being sent holds it up until the lease ends; then it is sent."""
        store.notify([notice(1)])
        lost = take(store)
        assert take(store) is None
        database.wait(LEASE_S + 1)
        again = take(store)
        assert again.id == lost.id
        assert not store.sending(lost, lease_s=LEASE_S)
        sent(store, again)

    def test_what_was_being_sent_is_never_sent_again(self, store, database):
        """Who died while it was being sent leaves it unknown: it is told twice in no case."""
        store.notify([notice(1)])
        taken = take(store)
        assert store.sending(taken, lease_s=LEASE_S)
        database.wait(LEASE_S + 1)
        assert take(store) is None
        assert statuses(store) == ["unknown"]

    def test_who_only_stalled_says_what_came_of_it(self, store, database):
        """A sender that comes back after its lease knows better than who gave the notice up for unknown."""
        store.notify([notice(1)])
        taken = take(store)
        assert store.sending(taken, lease_s=LEASE_S)
        database.wait(LEASE_S + 1)
        assert take(store) is None
        assert store.end_notice(taken, Sent())
        assert statuses(store) == ["sent"]

    def test_one_that_was_dropped_meanwhile_is_not_sent(self, store):
        """Between the claim and the sending the lead was given out again: nothing is sent."""
        store.notify([notice(1)])
        taken = take(store)
        store.notify([notice(2, user=BOB, of_round=2)])
        assert not store.sending(taken, lease_s=LEASE_S)
        assert statuses(store) == ["dropped", "queued"]

    def test_two_who_claim_at_once_never_get_the_same(self, database):
        """Two processes on one database share the notices of a channel, each to one of them."""
        stores = [database.open(channels=team) for _ in range(2)]
        stores[0].notify([notice(number, lead=number, user=f"005{number:012}AAA") for number in range(1, 41)])
        got: list[list[int]] = [[], []]
        barrier = threading.Barrier(2)

        def serve(place: int) -> None:
            barrier.wait()
            while (taken := take(stores[place])) is not None:
                got[place].append(taken.id)
                sent(stores[place], taken)

        threads = [threading.Thread(target=serve, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while (taken := take(stores[0])) is not None:
            got[0].append(taken.id)
            sent(stores[0], taken)
        assert len(got[0] + got[1]) == len(set(got[0] + got[1])) == 40


class TestEnding:
    @pytest.mark.parametrize(
        ("how", "status", "error"),
        [
            (Sent(), "sent", None),
            (GivenUp("no such channel"), "failed", "no such channel"),
            (Unknown("no answer"), "unknown", "no answer"),
            (Dropped("somebody took it"), "dropped", "somebody took it"),
            (Unsent(1.0, "busy"), "queued", "busy"),
        ],
        ids=lambda value: str(value) if isinstance(value, str) else "",
    )
    def test_each_end_is_kept_with_its_reason(self, store, how, status, error):
        """A person reads what became of a notice, and why."""
        store.notify([notice(1)])
        taken = take(store)
        assert store.sending(taken, lease_s=LEASE_S)
        assert store.end_notice(taken, how)
        assert (statuses(store), errors(store)) == ([status], [error])
        assert not store.end_notice(taken, Sent())

    def test_only_the_notices_own_attempts_count(self, store):
        """A channel that is away costs a notice none of its attempts."""
        store.notify([notice(1)])
        for how, attempts in ((Unsent(0.0, "away", counts=False), 0), (Unsent(0.0, "refused"), 1), (Sent(), 2)):
            taken = take(store)
            assert store.sending(taken, lease_s=LEASE_S)
            store.end_notice(taken, how)
            assert [one.attempts for one in store.notices()] == [attempts]

    def test_one_that_was_not_sent_can_be_dropped(self, store):
        """It ends without ever having been handed over, and without an attempt."""
        store.notify([notice(1)])
        assert store.end_notice(take(store), Dropped("somebody took it"))
        assert [(one.status, one.attempts) for one in store.notices()] == [("dropped", 0)]


class TestLooking:
    def test_leads_that_wait_long_are_told(self, store, database):
        """The owners of leads whose notices are late are asked for, the next ones first."""
        store.notify([notice(1), notice(2, lead=2)])
        database.wait(40.0)
        store.notify([notice(3, lead=3)])
        assert store.unsent_leads("team", older_than_s=30.0, limit=10) == [lead_id(1), lead_id(2)]
        assert store.unsent_leads("team", older_than_s=30.0, limit=1) == [lead_id(1)]

    def test_channels_are_counted(self, database):
        """How many notices there are by status, and how long the oldest unsent one has waited."""
        store = database.open(channels=both)
        store.notify([notice(1), notice(2, lead=2)])
        database.wait(5.0)
        sent(store, take(store, "team"))
        bell, of_team = store.channels()
        assert (bell.channel, bell.by_status) == ("bell", {"queued": 2})
        assert of_team.by_status == {"queued": 1, "sent": 1}
        assert 4.9 < of_team.oldest_age_s < 60.0

    def test_another_org_sees_nothing(self, store, database):
        """Rows of other orgs in the same database are neither seen nor touched."""
        other = database.open(org_id="00D000000000002AAA", channels=team)
        store.notify([notice(1)])
        assert other.notices() == []
        assert other.channels() == []
        assert take(other) is None
        assert other.notify([notice(1)]) == 1

    def test_old_ones_are_forgotten(self, store, database):
        """Those that are over for long, and those that nobody ever sent; none that is being sent."""
        store.notify([notice(1), notice(2, lead=2, user=BOB), notice(3, lead=3, user="005000000000003AAA")])
        sent(store, take(store))
        assert store.sending(take(store), lease_s=100_000.0)
        database.wait(1_000.0)
        assert store.forget_notices(older_than_s=2_000.0, limit=10) == 0
        assert store.forget_notices(older_than_s=500.0, limit=10) == 2
        assert statuses(store) == ["sending"]

    def test_a_lead_shows_its_own(self, store):
        """What was told of one lead, newest first."""
        store.notify([notice(1), notice(2, lead=2)])
        assert [one.key for one in store.notices_of(lead_id(1), limit=10)] == ["key.1"]
        with pytest.raises(ValueError, match="no status"):
            store.notices(status="lost")
