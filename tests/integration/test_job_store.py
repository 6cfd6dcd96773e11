"""What every job store promises: one suite, run against SQLite and against PostgreSQL."""

from __future__ import annotations

import re
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lead_router.core.model import Submission
from lead_router.jobs import ATTEMPTS_MAX, CLAIM_MAX, known_orgs, open_store
from lead_router.ports import (
    Bury,
    Done,
    NewJob,
    Observation,
    Position,
    Recorded,
    Release,
    Retry,
    Unreadable,
)
from support.databases import CHANNEL, ORG, Database, lead_id, new_job


@pytest.fixture
def store(database):
    return database.open()


def claim(store, *, worker="w1", limit=CLAIM_MAX, lease_s=60.0):
    return store.claim(worker, limit=limit, lease_s=lease_s)


def leads(jobs):
    return [job.lead_id for job in jobs]


class TestRecord:
    def test_the_same_event_makes_one_job(self, store):
        """An event makes one job, however often it is handed in, in one batch or in several (C10)."""
        job = new_job(1)
        assert store.record([job, job, new_job(2)]) == Recorded(created=2, known=1)
        assert store.record([job]) == Recorded(created=0, known=1)
        assert len(claim(store)) == 2

    def test_an_event_of_a_finished_job_stays_known(self, store):
        """A key is unique for ever, not only while its job is open."""
        store.record([new_job(1)])
        store.end([(job, Done("assigned")) for job in claim(store)])
        assert store.record([new_job(1)]) == Recorded(created=0, known=1)
        assert claim(store) == []

    def test_a_later_event_of_a_working_lead_is_kept(self, store):
        """While a lead's job runs, its next event is queued behind it, not dropped (C11)."""
        store.record([new_job(1, lead=7)])
        (first,) = claim(store)
        assert store.record([new_job(2, lead=7)]) == Recorded(created=1, known=0)
        assert claim(store) == []
        store.end([(first, Done("assigned"))])
        assert leads(claim(store)) == [lead_id(7)]

    def test_a_job_comes_back_as_it_was_recorded(self, store):
        """Every field survives the database unchanged, text of any script included."""
        payload = {"LeadSource": "Web", "nested": {"a": [1, None, True]}, "text": "Zoë 東京 \0 🎈", "lone": "\ud800"}
        store.record([NewJob("key", lead_id(1), "order", payload, submission=Submission("ab" * 16, "cd" * 16))])
        (job,) = claim(store)
        assert (job.idempotency_key, job.lead_id, job.ordering_key) == ("key", lead_id(1), "order")
        assert (job.payload, job.submission) == (payload, Submission("ab" * 16, "cd" * 16))
        assert (job.attempts, job.max_attempts) == (1, ATTEMPTS_MAX)

    def test_ids_that_differ_in_case_alone_are_two(self, store):
        """Salesforce ids are case-sensitive: neither keys nor ordering keys fold (E5)."""
        lower, upper = "00Q00000000000aAAA", "00Q00000000000AAAA"
        jobs = [NewJob(f"k.{lead}", lead, lead, {}) for lead in (lower, upper)]
        assert store.record(jobs) == Recorded(created=2, known=0)
        assert leads(claim(store)) == [lower, upper]
        assert store.open_leads([upper, upper.lower()]) == {upper}

    def test_orgs_share_a_database_and_nothing_else(self, database, store):
        """The same key in another org is another job; no verb reaches over."""
        other = database.open(org_id="00D000000000002AAA")
        store.record([new_job(1)], position=Position(CHANNEL, b"1"), sweep="gap")
        assert other.record([new_job(1)]) == Recorded(created=1, known=0)
        (mine,) = claim(store)
        store.end([(mine, Bury("no"))])
        assert other.position(CHANNEL) is None
        assert (other.queue().dead, other.queue().queued, other.queue().sweep_requested) == (0, 1, None)
        assert (other.revive(mine.id), other.discard(mine.id, "no"), other.job(mine.id)) == (False, False, None)
        assert len(claim(other)) == 1

    @pytest.mark.parametrize("replay_id", [b"\x00\x00\xff\x80\x00", b"", bytes(range(256))])
    def test_a_replay_id_survives_byte_for_byte(self, database, store, replay_id):
        """Zero bytes and bytes over 0x7f included (A16)."""
        store.record([], position=Position(CHANNEL, b"before"))
        store.record([], position=Position(CHANNEL, replay_id))
        assert database.open().position(CHANNEL) == Position(CHANNEL, replay_id)
        assert store.position("/event/Other__e") is None

    def test_a_recording_is_kept_whole_or_not_at_all(self, database, store):
        """A job that the database refuses leaves position, quarantine and sweep as they were (A26, A28)."""
        store.record([], position=Position(CHANNEL, b"7"))
        refused = NewJob("key", None, "order", {})  # type: ignore[arg-type]
        with pytest.raises(Exception, match="LEAD_ROUTER_DATABASE"):
            store.record(
                [new_job(1), refused],
                position=Position(CHANNEL, b"8"),
                unreadable=[Unreadable(CHANNEL, b"?", "not JSON")],
                sweep="gap",
            )
        view = database.open().queue()
        assert (view.queued, view.quarantined, view.sweep_requested) == (0, 0, None)
        assert store.position(CHANNEL) == Position(CHANNEL, b"7")
        assert store.record([new_job(1)]) == Recorded(created=1, known=0)

    def test_an_unreadable_event_is_kept_with_its_bytes(self, database, store):
        """It is counted once however often it is delivered (A11)."""
        event = Unreadable(CHANNEL, b"\x00\xffnot json", "no JSON: \0")
        store.record([], unreadable=[event])
        store.record([], unreadable=[event, Unreadable(CHANNEL, b"other", "no JSON")], position=Position(CHANNEL, b"2"))
        assert store.queue().quarantined == 2
        rows = database.execute("SELECT body, deliveries FROM quarantine ORDER BY id")
        assert [(bytes(body), deliveries) for body, deliveries in rows] == [(event.body, 2), (b"other", 1)]


class TestClaim:
    def test_jobs_come_oldest_first(self, store):
        """In the order of their recording, limit by limit."""
        store.record([new_job(number) for number in (5, 3, 9)])
        store.record([new_job(number) for number in (1, 8)])
        assert leads(claim(store, limit=3)) == [lead_id(5), lead_id(3), lead_id(9)]
        assert leads(claim(store, limit=3)) == [lead_id(1), lead_id(8)]

    def test_a_claim_is_bounded(self, store):
        """At most 200 jobs, as many as one commit takes; none is asked for, none is taken."""
        store.record([new_job(number) for number in range(CLAIM_MAX + 5)])
        assert claim(store, limit=0) == []
        assert len(claim(store, limit=10_000)) == CLAIM_MAX
        assert len(claim(store)) == 5

    def test_each_claim_has_its_own_token(self, database, store):
        """No two jobs, and no two claims of a job, share a token."""
        store.record([new_job(1), new_job(2)])
        first = claim(store)
        database.wait(61)
        second = claim(store)
        assert len({job.claim_token for job in first + second}) == 4

    def test_one_head_per_ordering_key(self, store):
        """Two jobs of a lead are never claimed together, and never starve other leads (C5, C8)."""
        store.record([new_job(1, lead=1), new_job(2, lead=1), new_job(3, lead=2), new_job(4, lead=3)])
        heads = claim(store, limit=10)
        assert [job.idempotency_key for job in heads] == [
            new_job(n, lead=lead).idempotency_key for n, lead in ((1, 1), (3, 2), (4, 3))
        ]
        assert claim(store, limit=10) == []

    def test_a_later_job_does_not_overtake_one_in_backoff(self, database, store):
        """It waits until the earlier one is done or dead; other leads go on (C19)."""
        store.record([new_job(1, lead=1)])
        store.end([(job, Retry(60, "locked")) for job in claim(store)])
        store.record([new_job(2, lead=1), new_job(3, lead=2)])
        assert leads(claim(store, lease_s=600)) == [lead_id(2)]
        database.wait(61)
        (first,) = claim(store)
        assert (first.idempotency_key, first.attempts) == (new_job(1).idempotency_key, 2)
        store.end([(first, Bury("refused"))])
        assert [job.idempotency_key for job in claim(store)] == [new_job(2, lead=1).idempotency_key]

    def test_poison_does_not_starve_the_rest(self, store):
        """A job that fails fast comes after all that were due before it (C20)."""
        store.record([new_job(number) for number in range(101)])
        order = []
        while len(order) < 103:
            (job,) = claim(store, limit=1)
            order.append(job.lead_id)
            store.end([(job, Retry(0, "poison") if job.lead_id == lead_id(0) else Done("assigned"))])
        assert order.index(lead_id(0), 1) == 101
        assert store.queue().done == 100

    def test_what_is_known_of_the_claimed_job(self, database, store):
        """Its age is the database's, its time of creation is aware UTC."""
        store.record([new_job(1)])
        database.wait(90)
        (job,) = claim(store)
        assert 90 <= job.age_s < 120
        assert job.created_at.utcoffset() == timedelta(0)
        view = store.job(job.id)
        assert (view.status, view.locked_by) == ("working", "w1")
        assert (
            timedelta(seconds=55) < view.lease_until - view.created_at - timedelta(seconds=90) < timedelta(seconds=90)
        )


class TestLease:
    def test_a_live_lease_is_nobody_elses(self, database, store):
        """A job in work is not claimed again while its lease runs or is renewed (C1)."""
        store.record([new_job(1)])
        jobs = claim(store, lease_s=60)
        for _ in range(3):
            database.wait(50)
            assert claim(store, worker="w2") == []
            assert store.renew(jobs, lease_s=60) == {jobs[0].id}
        database.wait(61)
        assert len(claim(store, worker="w2")) == 1

    def test_an_expired_lease_is_claimable_and_comes_first(self, database, store):
        """A killed worker's job is found by its own row, at the latest when its lease ends (C2, C8, C22)."""
        store.record([new_job(1), new_job(2)])
        (lost,) = claim(store, limit=1, lease_s=60)
        store.record([new_job(3, lead=1)])
        assert leads(claim(store, limit=1)) == [lead_id(2)]
        assert claim(store) == []
        database.wait(61)
        again = claim(store, worker="w2", limit=1)
        assert [(job.id, job.attempts) for job in again] == [(lost.id, 2)]

    def test_a_late_worker_cannot_end_what_was_taken_over(self, database, store):
        """Its ending changes no row, and the second worker's stands (C7)."""
        store.record([new_job(1)])
        (slow,) = claim(store, worker="slow", lease_s=60)
        database.wait(61)
        (fast,) = claim(store, worker="fast", lease_s=60)
        for ending in (Done("assigned"), Retry(0, "x"), Release(0, "x"), Bury("x")):
            assert store.end([(slow, ending)]) == frozenset()
        assert store.renew([slow], lease_s=600) == frozenset()
        assert store.end([(fast, Done("assigned by fast"))]) == {fast.id}
        assert store.end([(fast, Done("again"))]) == frozenset()
        assert store.job(fast.id).outcome == "assigned by fast"

    def test_a_lease_that_nobody_took_over_can_still_be_ended(self, database, store):
        """Being late alone loses nothing: the work is not done twice for it."""
        store.record([new_job(1)])
        (job,) = claim(store, lease_s=60)
        database.wait(61)
        assert store.renew([job], lease_s=60) == {job.id}
        database.wait(61)
        assert store.end([(job, Done("assigned"))]) == {job.id}

    def test_an_attempt_is_counted_when_it_begins(self, database):
        """A job whose worker dies each time is dead after the allowed attempts, with the reason (C23)."""
        store = database.open(max_attempts=5)
        store.record([new_job(1, lead=1), new_job(2, lead=1)])
        for attempt in range(1, 6):
            (job,) = claim(store, worker="fragile", limit=1)
            assert (job.idempotency_key, job.attempts) == (new_job(1).idempotency_key, attempt)
            database.wait(61)
        (following,) = claim(store)
        assert following.idempotency_key == new_job(2, lead=1).idempotency_key
        (dead,) = store.jobs(status="dead")
        assert (dead.attempts, dead.locked_by, dead.lease_until) == (5, None, None)
        assert dead.last_error.startswith("crashed: fragile")

    def test_the_last_attempt_is_left_to_end(self, database):
        """It is not taken for a crash while its lease runs (C23)."""
        store = database.open(max_attempts=1)
        store.record([new_job(1)])
        (job,) = claim(store)
        assert claim(store) == []
        assert store.end([(job, Done("assigned"))]) == {job.id}

    def test_a_crash_keeps_the_earlier_error(self, database):
        """A dead job tells its whole story."""
        store = database.open(max_attempts=2)
        store.record([new_job(1)])
        store.end([(job, Retry(0, "row locked")) for job in claim(store)])
        claim(store)
        database.wait(61)
        assert claim(store) == []
        assert store.jobs(status="dead")[0].last_error.endswith("before that: row locked")


class TestEnd:
    def test_done(self, store):
        """A finished job keeps its outcome, its time and the last error on the way."""
        store.record([new_job(1)])
        store.end([(job, Retry(0, "row locked")) for job in claim(store)])
        (job,) = claim(store)
        assert store.end([(job, Done("duplicate"))]) == {job.id}
        view = store.job(job.id)
        assert view.last_error == "row locked"
        assert (view.status, view.outcome, view.locked_by, view.lease_until) == ("done", "duplicate", None, None)
        assert view.completed_at >= view.created_at

    def test_retry_waits_and_counts(self, database, store):
        """The delay is kept to, the attempt is used, the error is told."""
        store.record([new_job(1)])
        (job,) = claim(store)
        store.end([(job, Retry(30, "row locked"))])
        view = store.job(job.id)
        assert (view.status, view.attempts, view.last_error) == ("queued", 1, "row locked")
        database.wait(28)
        assert claim(store) == []
        database.wait(3)
        assert [job.attempts for job in claim(store)] == [2]

    def test_release_waits_and_does_not_count(self, database, store):
        """A fault of the service costs the job no attempt, however often it happens (C28)."""
        store.record([new_job(1)])
        for _ in range(2 * ATTEMPTS_MAX):
            (job,) = claim(store)
            assert job.attempts == 1
            assert store.end([(job, Release(30, "no token"))]) == {job.id}
            assert claim(store) == []
            database.wait(31)
        assert store.job(job.id).attempts == 0

    def test_a_retry_of_the_last_attempt_is_dead(self, database):
        """It could never be claimed again, and would hold back its lead for ever (C4)."""
        store = database.open(max_attempts=1)
        store.record([new_job(1, lead=1), new_job(2, lead=1)])
        (job,) = claim(store)
        assert store.end([(job, Retry(5, "timed out"))]) == {job.id}
        view = store.job(job.id)
        assert (view.status, view.last_error, view.completed_at is None) == ("dead", "timed out", False)
        assert [job.idempotency_key for job in claim(store)] == [new_job(2, lead=1).idempotency_key]

    def test_a_retry_beside_a_queued_job_of_the_lead(self, store):
        """No constraint stands in the way of a failed job's return to the queue (C4)."""
        store.record([new_job(1, lead=1), new_job(2, lead=1)])
        (job,) = claim(store)
        assert store.end([(job, Retry(0, "x"))]) == {job.id}
        assert [again.id for again in claim(store)] == [job.id]

    def test_a_whole_batch_ends_at_once(self, database, store):
        """Each job by its own ending; those no longer held are left out, the others end all the same."""
        store.record([new_job(number) for number in range(6)])
        (lost,) = claim(store, limit=1)
        database.wait(61)
        held = claim(store)
        done, retried, released, buried, untouched = (job for job in held if job.id != lost.id)
        ended = store.end(
            [
                (lost, Done("late")),
                (buried, Bury("refused")),
                (done, Done("assigned")),
                (retried, Retry(9, "locked")),
                (released, Release(9, "limit")),
            ]
        )
        assert ended == {done.id, retried.id, released.id, buried.id}
        states = {job.id: store.job(job.id).status for job in held}
        assert states == {
            lost.id: "working",
            done.id: "done",
            retried.id: "queued",
            released.id: "queued",
            buried.id: "dead",
            untouched.id: "working",
        }
        assert store.end([]) == store.renew([], lease_s=1) == frozenset()

    def test_any_error_text_can_be_stored(self, store):
        """Neither NUL nor half a character nor a page of HTML keeps a job from ending."""
        store.record([new_job(1)])
        (job,) = claim(store)
        assert store.end([(job, Bury("\0\ud800" + "x" * 100_000))]) == {job.id}
        assert store.job(job.id).last_error.startswith("\N{REPLACEMENT CHARACTER}?xxx")


class TestPeople:
    @pytest.fixture
    def dead(self, store):
        store.record([new_job(1, lead=1)])
        (job,) = claim(store)
        store.end([(job, Bury("refused"))])
        return job

    def test_revive(self, store, dead):
        """A dead job is queued at once with fresh attempts, before later jobs of its lead, and keeps its last error."""
        store.record([new_job(2, lead=1)])
        assert store.revive(dead.id) is True
        assert store.revive(dead.id) is False
        (job,) = claim(store)
        assert (job.id, job.attempts) == (dead.id, 1)
        assert store.job(dead.id).last_error == "refused"

    def test_a_revived_job_waits_for_the_one_in_work(self, store, dead):
        """Two jobs of a lead never run together, though the revived one is the earlier."""
        store.record([new_job(2, lead=1)])
        (working,) = claim(store)
        store.revive(dead.id)
        assert claim(store) == []
        store.end([(working, Done("assigned"))])
        assert [job.id for job in claim(store)] == [dead.id]

    def test_discard(self, store, dead):
        """A discarded job is done and keeps its story."""
        assert store.discard(dead.id, "tested by hand") is True
        assert store.discard(dead.id, "again") is False
        view = store.job(dead.id)
        assert (view.status, view.outcome, view.last_error) == ("done", "discarded: tested by hand", "refused")

    def test_only_dead_jobs_are_a_persons(self, store):
        """Neither a queued nor a working nor an absent job can be revived or discarded."""
        store.record([new_job(1), new_job(2)])
        claim(store, limit=1)
        for view in store.jobs():
            assert (store.revive(view.id), store.discard(view.id, "x")) == (False, False)
        assert (store.revive(99), store.discard(99, "x"), store.job(99)) == (False, False, None)

    def test_open_leads(self, store):
        """Leads with a queued, working or dead job; a lead whose jobs are done is not among them."""
        store.record([new_job(number) for number in range(4)])
        done, dead, _ = claim(store, limit=3)
        store.end([(done, Done("assigned")), (dead, Bury("x"))])
        asked = [lead_id(number) for number in range(9)]
        assert store.open_leads(asked) == {lead_id(1), lead_id(2), lead_id(3)}
        assert store.open_leads([]) == frozenset()

    def test_jobs_are_shown_newest_first(self, store):
        """All, or those of a status, up to a limit; an unknown status is an error."""
        store.record([new_job(number, colour="red") for number in range(4)])
        claim(store, limit=1)
        assert leads(store.jobs(limit=2)) == [lead_id(3), lead_id(2)]
        assert leads(store.jobs(status="working")) == [lead_id(0)]
        assert store.jobs(status="dead") == store.jobs(status="done") == []
        assert store.jobs(status="queued")[0].payload == {"colour": "red"}
        with pytest.raises(ValueError, match="'lost' is no status"):
            store.jobs(status="lost")


class TestQueue:
    def test_a_leads_jobs_are_shown_newest_first(self, store):
        """Of one lead alone, whatever their state, up to a limit."""
        store.record([new_job(1, lead=1), new_job(2, lead=2)])
        first, _ = claim(store)
        store.end([(first, Done("assigned"))])
        store.record([new_job(3, lead=1)])
        seen = store.jobs_of(lead_id(1), limit=9)
        assert [(one.status, one.outcome) for one in seen] == [("queued", None), ("done", "assigned")]
        assert store.jobs_of(lead_id(1), limit=1) == seen[:1]
        assert store.jobs_of(lead_id(7), limit=9) == []

    def test_an_empty_queue(self, store):
        """Nothing is counted, no age is made up."""
        view = store.queue()
        assert (view.queued, view.due, view.working, view.done, view.dead, view.quarantined) == (0, 0, 0, 0, 0, 0)
        assert (view.oldest_open_age_s, view.last_sweep_age_s, view.sweep_requested, view.streams) == (None,) * 3 + (
            (),
        )

    def test_the_queue_at_a_glance(self, database, store):
        """Every state is counted; ages are seconds by the database's clock."""
        store.record([new_job(number) for number in range(6)], position=Position(CHANNEL, b"\xff"))
        database.wait(100)
        done, dead, waiting, _ = claim(store, limit=4)
        store.end([(done, Done("assigned")), (dead, Bury("x")), (waiting, Retry(60, "x"))])
        store.record([new_job(7)], position=Position("/event/Lead_Routing_Requested__e", b"1"), sweep="gap")
        view = store.queue()
        assert (view.queued, view.due, view.working, view.done, view.dead) == (4, 3, 1, 1, 1)
        assert 100 <= view.oldest_open_age_s < 130
        first, second = view.streams
        assert (first.channel, first.replay_id, 100 <= first.age_s < 130) == (CHANNEL, b"\xff", True)
        assert (second.replay_id, second.age_s < 30) == (b"1", True)
        assert (view.sweep_requested, view.last_sweep_age_s) == ("gap", None)

    def test_a_sweep_is_asked_for_with_the_end_of_a_job(self, store):
        """In one transaction: a process that dies leaves the job open, or the wish behind."""
        store.record([new_job(1), new_job(2)])
        first, second = claim(store)
        assert store.end([(first, Done("assigned"))]) == {first.id}
        assert store.queue().sweep_requested is None
        assert store.end([(second, Done("already routed"))], sweep="given back") == {second.id}
        assert store.queue().sweep_requested == "given back"

    def test_held_jobs_are_counted_and_may_be_asked_at_once(self, database, store):
        """What they waited for may have come; a job that waits for another reason keeps its time."""
        store.record([new_job(number) for number in range(3)])
        first, second, third = claim(store, limit=3)
        store.end([(first, Release(60, "held: no rule")), (second, Release(60, "x")), (third, Retry(60, "held up"))])
        assert (store.queue().queued, store.queue().due, store.queue().held) == (3, 0, 1)
        assert (store.ask_held(), store.ask_held()) == (1, 0)
        assert (store.queue().due, leads(claim(store, limit=3))) == (1, [first.lead_id])

    def test_forget_deletes_what_is_done_and_old(self, database, store):
        """The longest done first, up to the limit; open and dead jobs stay whatever their age."""
        store.record([new_job(number) for number in range(6)])
        jobs = claim(store, limit=5)
        for job in (jobs[1], jobs[0]):
            store.end([(job, Done("assigned"))])
            database.wait(500)
        store.end([(jobs[2], Done("assigned")), (jobs[3], Bury("x"))])
        assert store.forget(older_than_s=400, limit=1) == 1
        assert leads(store.jobs(status="done")) == [lead_id(2), lead_id(0)]
        assert store.forget(older_than_s=400, limit=100) == 1
        assert store.forget(older_than_s=400, limit=100) == 0
        assert leads(store.jobs(status="done")) == [lead_id(2)]
        assert store.queue().dead == 1

    def test_a_discarded_job_is_remembered_for_a_year(self, database, store):
        """It says that its lead is not wanted: forgotten with the others, the next sweep would bring the lead again."""
        store.record([new_job(1), new_job(2)])
        first, second = claim(store, limit=2)
        store.end([(first, Bury("no")), (second, Done("assigned"))])
        store.discard(first.id, "a test lead")
        database.wait(364 * 86_400)
        assert store.forget(older_than_s=86_400, limit=100) == 1
        assert set(store.discards([lead_id(1), lead_id(2)])) == {lead_id(1)}
        database.wait(2 * 86_400)
        assert store.forget(older_than_s=86_400, limit=100) == 1
        assert store.discards([lead_id(1)]) == {}

    def test_a_forgotten_event_makes_a_new_job_with_a_new_number(self, store):
        """Forgetting a job forgets its key; numbers are not used again."""
        store.record([new_job(1)])
        (job,) = claim(store)
        store.end([(job, Done("assigned"))])
        assert store.forget(older_than_s=-1, limit=1) == 1
        assert store.record([new_job(1)]) == Recorded(created=1, known=0)
        assert claim(store)[0].id > job.id


class Reading:
    """An engine that can only be read."""

    def __init__(self, inner):
        self.read = inner.read


class TestSweep:
    def test_the_first_is_due_at_once_and_then_each_interval(self, database, store):
        """One taker per interval."""
        assert store.take_sweep(every_s=600) == "first start"
        assert store.take_sweep(every_s=600) is None
        store.end_sweep("first start")
        database.wait(590)
        assert database.open().take_sweep(every_s=600) is None
        database.wait(11)
        assert store.take_sweep(every_s=600) == "interval"
        assert store.queue().last_sweep_age_s < 30

    def test_one_whose_taker_died_is_due_again_after_a_minute(self, database, store):
        """C2, P44: each sign of life counts, and one that was asked for anew is another one's."""
        store.take_sweep(every_s=600)
        database.wait(50)
        store.keep_sweep("first start")
        database.wait(50)
        assert database.open().take_sweep(every_s=600) is None
        database.wait(11)
        left = database.open().take_sweep(every_s=600)
        assert left == "the last one was not ended"
        store.end_sweep("first start")
        database.wait(61)
        assert store.take_sweep(every_s=600) == left
        store.end_sweep(left)
        store.keep_sweep(left)
        database.wait(61)
        assert store.take_sweep(every_s=600) is None

    def test_who_asks_in_vain_writes_nothing(self, store):
        """It is asked all the time, and a lead's job may be waiting to be written."""
        store.take_sweep(every_s=600)
        store._engine, engine = Reading(store._engine), store._engine
        assert store.take_sweep(every_s=600) is None
        store._engine = engine

    def test_a_request_is_answered_once(self, store):
        """With the first reason that was not yet answered, whether asked for alone or with a recording (A25)."""
        store.take_sweep(every_s=600)
        store.record([], sweep="gap event")
        store.request_sweep("replay id expired")
        assert store.queue().sweep_requested == "gap event"
        assert store.take_sweep(every_s=600) == "gap event"
        assert store.take_sweep(every_s=600) is None
        store.request_sweep("replay id expired")
        assert store.take_sweep(every_s=600) == "replay id expired"

    def test_a_request_before_the_first_sweep(self, store):
        """Its reason is told instead of the first start's."""
        store.request_sweep("gap event")
        assert store.take_sweep(every_s=600) == "gap event"


class TestSetBack:
    """C17: the database's clock goes back by an hour."""

    def test_no_job_waits_for_the_former_clock_to_come_again(self, database, store):
        """New, tried again, held or claimed by one that died: each is claimed when it would have been, or sooner."""
        store.record([new_job(number) for number in range(4)])
        retried, held, crashed, _ = store.claim("w", limit=4, lease_s=120)
        store.end([(retried, Retry(90, "busy")), (held, Release(900, "held: nobody", "g1"))])
        store.take_sweep(every_s=300)
        database.wait(-3600)
        store.record([new_job(4)])
        early = leads(claim(store, lease_s=500))
        reason = store.take_sweep(every_s=300) or ""
        store.end_sweep(reason)
        again = leads(claim(store, lease_s=500))
        database.wait(125)

        assert (early, sorted(again)) == ([lead_id(4)], [lead_id(0), lead_id(1)])
        assert re.fullmatch(r"clock set back by at least (3600|35\d\d) s", reason)
        assert sorted(leads(claim(store))) == [crashed.lead_id, lead_id(3)]
        assert store.take_sweep(every_s=300) is None

    def test_a_change_told_during_a_claim_is_kept(self, database, store):
        """The job that was changed at work is asked again at once when it ends by being held."""
        store.record([new_job(1)])
        store.take_sweep(every_s=300)
        (job,) = claim(store)
        store.record([], changed=[job.lead_id])
        database.wait(-3600)
        store.take_sweep(every_s=300)
        store.end([(job, Release(900, "held: nobody", "g1"))])

        assert leads(claim(store)) == [job.lead_id]

    def test_what_a_person_does_to_a_dead_or_discarded_jobs_lead_counts_at_once(self, database, store):
        """P32: its end lies in the past again, and in no other's: what was done with is left as it is."""
        store.record([new_job(number) for number in range(3)])
        store.take_sweep(every_s=300)
        dead, discarded, done = claim(store)
        store.end([(dead, Bury("never")), (discarded, Bury("never")), (done, Done("assigned"))])
        store.discard(discarded.id, "spam")
        leads = [dead.lead_id, discarded.lead_id]
        database.wait(-3600)
        store.take_sweep(every_s=300)
        ends = {**store.deaths(leads), **store.discards(leads)}

        assert sorted(ends) == leads
        assert store.job(done.id).completed_at > max(ends.values()) + timedelta(minutes=59)

    @pytest.mark.parametrize(("back_s", "noticed"), [(50, False), (70, True)])
    def test_a_minute_is_waited_out(self, database, store, back_s, noticed):
        """Two that sweep at a time, of which one waited for the other, are no clock set back."""
        store.take_sweep(every_s=300)
        database.wait(-back_s)

        assert (store.take_sweep(every_s=300) is not None) is noticed

    @pytest.mark.parametrize("back_s", [90, 200, 3600])
    def test_no_job_waits_longer_than_a_minute_however_old_the_last_sweep(self, database, store, back_s):
        """P44: who asks for a sweep each second sees also a clock set back by less than the time since the last one."""
        store.end_sweep(store.take_sweep(every_s=300) or "")
        in_vain = []
        for _ in range(24):
            database.wait(10)
            in_vain.append(store.take_sweep(every_s=300))
        store.record([new_job(1)])
        database.wait(-back_s)
        early = claim(store)
        reason = store.take_sweep(every_s=300) or ""

        assert (in_vain, early) == ([None] * 24, [])
        assert reason.startswith("clock set back by at least ")
        assert back_s - 16 <= int(reason.split()[-2]) <= back_s
        assert leads(claim(store)) == [lead_id(1)]

    def test_a_long_sweep_hides_no_clock_set_back(self, database, store):
        """Its taker tells that it goes on by the new clock, too; what was seen of the former one stays."""
        reason = store.take_sweep(every_s=300) or ""
        for _ in range(12):
            database.wait(20)
            store.keep_sweep(reason)
        database.wait(-200)
        store.keep_sweep(reason)

        assert (store.take_sweep(every_s=300) or "").startswith("clock set back by at least ")

    def test_another_org_is_left_alone(self, database, store):
        """Each org's own sweep sets its jobs right, so that none is missed."""
        other = database.open(org_id="00D000000000002AAA")
        for one in (store, other):
            one.record([new_job(1)])
            one.take_sweep(every_s=300)
        database.wait(-3600)
        store.take_sweep(every_s=300)
        before = claim(other)
        other.take_sweep(every_s=300)

        assert (before, leads(claim(store)), leads(claim(other))) == ([], [lead_id(1)], [lead_id(1)])


class TestOrgs:
    def test_the_orgs_of_a_database(self, database):
        """Those whose routers have begun to look for unassigned leads, in order."""
        assert known_orgs(database.url) == ()
        for org_id in ("00D000000000002AAA", ORG):
            database.open(org_id=org_id).take_sweep(every_s=600)
        assert known_orgs(database.url) == (ORG, "00D000000000002AAA")


class TestTime:
    def test_times_are_the_databases(self, database, store):
        """Due times, leases and ages all come from one clock (C17)."""
        store.record([new_job(1)])
        (view,) = store.jobs()
        if database.embedded:
            now = datetime.fromtimestamp(database.now, UTC)
        else:
            ((now,),) = database.execute("SELECT now()")
        assert abs(view.created_at - now) < timedelta(seconds=30)
        assert view.next_run_at == view.created_at

    @pytest.mark.postgres
    def test_hosts_whose_clocks_differ_share_one_time(self, shared):
        """C17: hosts ten minutes early and late: no live lease is taken, and what is due is due for all of them."""
        early, right, late = (
            open_store(shared.url, org_id=ORG, clock=lambda off=off: time.time() + off) for off in (-600, 0, 600)
        )
        with closing(early), closing(right), closing(late):
            late.record([new_job(1)])
            early.record([new_job(2)])
            held = claim(early, worker="early", lease_s=120, limit=1)
            (other,) = claim(right, worker="right", lease_s=120)
            assert leads([*held, other]) == [lead_id(1), lead_id(2)]
            assert claim(late, worker="late", lease_s=120) == []
            early.end([(held[0], Retry(60, "locked"))])
            assert claim(late, worker="late") == []
            shared.wait(61)
            assert leads(claim(early, worker="early")) == [lead_id(1)]
            shared.wait(61)
            assert sorted(leads(claim(late, worker="late"))) == [lead_id(1), lead_id(2)]

    @pytest.mark.parametrize("jump_s", [600, -600])
    def test_a_jump_of_the_one_host_s_clock_costs_no_second_end(self, embedded, jump_s):
        """C17: on SQLite a lease may end early or late by it; two claims are kept apart by their tokens."""
        store = embedded.open()
        store.record([new_job(1)])
        (first,) = claim(store, lease_s=120)
        embedded.now += jump_s
        again = claim(store, worker="w2", lease_s=120)
        assert bool(again) is (jump_s > 0)
        late, holder = (first, again[0]) if again else (None, first)
        assert late is None or store.end([(late, Done("late"))]) == frozenset()
        assert store.end([(holder, Done("in time"))]) == {holder.id}
        assert store.end([(first, Done("late"))]) == frozenset()
        assert store.job(first.id).outcome == "in time"

    def test_the_org_is_the_stores(self, database, store):
        """Rows bear the org they were recorded for."""
        store.record([new_job(1)], position=Position(CHANNEL, b"1"), sweep="x")
        for table in ("routing_job", "stream_position", "sweep"):
            assert database.execute(f"SELECT org_id FROM {table}") == [(ORG,)]


def test_the_claims_of_a_dead_worker_are_claimed_at_once(database: Database) -> None:
    """C2, C8: who knows that a worker died need not wait for its leases; its fence stays, its attempt is counted."""
    store = database.open()
    store.record([new_job(1), new_job(2)])
    (dead,) = store.claim("dead", limit=1, lease_s=600)
    (other,) = store.claim("other", limit=1, lease_s=600)
    assert store.holders() == {"dead", "other"}
    assert (store.abandon("dead"), store.abandon("nobody")) == (1, 0)
    (again,) = store.claim("heir", limit=10, lease_s=600)

    assert (again.id, again.attempts, store.holders()) == (dead.id, 2, {"heir", "other"})
    assert store.end([(dead, Done("late")), (other, Done("well"))]) == {other.id}


def test_deaths_are_told_of_leads_without_an_open_job(database: Database) -> None:
    """A lead whose job died and that has another one waiting is not dead."""
    store = database.open()
    store.record([new_job(1), new_job(2), new_job(3), new_job(4, lead=2, event="later")])
    claimed = store.claim("w", limit=10, lease_s=60)
    store.end([(job, Bury("no")) for job in claimed if job.id in (1, 2)])

    assert set(store.deaths([lead_id(1), lead_id(2), lead_id(3), lead_id(9)])) == {lead_id(1)}


def test_discards_are_told_with_the_time_of_the_last(database: Database) -> None:
    """Neither dead jobs nor those that did their work are among them, nor another lead's."""
    store = database.open()
    store.record([new_job(1), new_job(2), new_job(3), new_job(4, lead=1, event="later")])
    store.end([(job, Done("assigned") if job.id == 3 else Bury("no")) for job in claim(store, limit=10)])
    store.discard(1, "a test lead")
    database.wait(60)
    store.end([(job, Bury("no")) for job in claim(store, limit=10)])
    store.discard(4, "still one")
    found = store.discards([lead_id(1), lead_id(2), lead_id(3), lead_id(9)])

    assert found == {lead_id(1): store.job(4).completed_at}


def test_jobs_of_leads_given_by_hand_are_told_apart(database: Database) -> None:
    """Whatever became of them; neither other jobs of these leads nor other leads' are among them."""
    store = database.open()
    hand = "0055f000000AAAAAA0"
    store.record([new_job(1), new_job(2, lead=1, given_by=hand), new_job(3, lead=2, given_by=hand)])
    store.end([(job, Done("skipped: already owned")) for job in claim(store, limit=10)])
    store.record([new_job(4, lead=1, given_by=hand)])
    store.end([(job, Done("skipped: already owned")) for job in claim(store, limit=1)])
    found = store.by_hand([lead_id(1), lead_id(9)])

    assert [(one.id, one.status, one.payload) for one in found] == [
        (2, "done", {"given_by": hand}),
        (4, "queued", {"given_by": hand}),
    ]
    assert store.by_hand([]) == []


class TestWaiting:
    """Leads that wait for members keep their place until something else becomes of them."""

    SINCE = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)

    def held(self, store, *waits):
        """Jobs held for members, as `(number, group, minutes)`: of what happened so many minutes after SINCE."""
        store.record([new_job(number, event_at=str(number)) for number, _, _ in waits])
        places = {lead_id(number): (group, minutes) for number, group, minutes in waits}
        endings = []
        for job in claim(store):
            group, minutes = places[job.lead_id]
            endings.append((job, Release(600, "held: away", group, self.SINCE + timedelta(minutes=minutes))))
        store.end(endings)

    def test_the_longest_waiting_of_each_group_come_first(self, store):
        """No group with many hides another one's, however few are asked for."""
        self.held(store, (1, "g1", 5), (2, "g1", 1), (3, "g1", 2), (4, "g2", 9), (5, "g2", 8))

        assert leads(store.waiting(limit=10)) == [lead_id(number) for number in (2, 5, 3, 4, 1)]
        assert leads(store.waiting(limit=3)) == [lead_id(number) for number in (2, 5, 3)]

    def test_what_is_known_of_a_waiting_job(self, database, store):
        """Enough to ask its question: what it is, since when, with what."""
        self.held(store, (1, "g1", 0))
        database.wait(30)
        (one,) = store.waiting(limit=10)
        (view,) = store.jobs()

        assert (one.id, one.idempotency_key, one.group_id) == (view.id, view.idempotency_key, "g1")
        assert (one.payload, one.created_at) == (view.payload, view.created_at)
        assert 30 <= one.age_s < 60

    def test_a_job_held_for_another_reason_does_not_wait_for_members(self, store):
        """No rule matches, no member is asked: nothing waits behind it."""
        store.record([new_job(1)])
        store.end([(job, Release(600, "held: no rule matches")) for job in claim(store)])

        assert store.waiting(limit=10) == []

    def test_a_claim_says_whether_its_lead_waited_for_members(self, database, store):
        """Who takes such a lead by hand took one that the router itself had seen unassigned."""
        self.held(store, (1, "g1", 0), (2, None, 0))
        database.wait(601)

        assert [job.held for job in claim(store)] == [True, False]

    def test_a_claim_keeps_the_place_and_every_end_that_decides_gives_it_up(self, database, store):
        """While it is asked again no newer lead overtakes it; then it is done, failed, dead or waits for no member.

        Put back for a fault of the service it waits on as before.
        """
        self.held(store, *((number, "g1", number) for number in range(1, 6)))
        database.wait(601)
        jobs = claim(store)
        during = len(store.waiting(limit=10))
        away = Release(1, "Unreachable", keeps_place=True)
        ends = (Done("assigned"), Retry(1, "no"), Bury("no"), Release(1, "held: no rule matches"), away)
        store.end(list(zip(jobs, ends, strict=True)))

        assert (during, leads(store.waiting(limit=10))) == (5, [lead_id(5)])

    def test_some_leads_are_asked_at_once(self, database, store):
        """Those that are held for whatever reason; the others rest on, and so does what failed and is tried again."""
        self.held(store, (1, "g1", 1), (2, "g1", 2))
        store.record([new_job(3), new_job(4)])
        kept, failed = claim(store)
        store.end([(kept, Release(600, "held: no rule matches")), (failed, Retry(600, "RowLocked"))])

        assert store.ask_leads([lead_id(number) for number in (2, 3, 4, 9)]) == 2
        assert (leads(claim(store)), store.ask_leads([])) == ([lead_id(2), lead_id(3)], 0)

    def test_orgs_do_not_wait_for_each_other(self, database, store):
        """Nor do they wake each other's leads."""
        self.held(store, (1, "g1", 1))
        other = database.open(org_id="00D000000000002AAA")

        assert (other.waiting(limit=10), other.ask_leads([lead_id(1)])) == ([], 0)
        assert (other.record([], changed=[lead_id(1)]).asked, claim(store)) == (0, [])


class TestChanged:
    """A recording tells of leads that others changed: what is held is asked again, with the jobs and the position."""

    CHANGED = tuple(map(lead_id, range(1, 5)))

    def test_held_jobs_of_changed_leads_are_due_now(self, store):
        """Held for members or for anything else; one that failed rests on, and so does what was not changed."""
        store.record([new_job(number) for number in (1, 2, 3, 9)])
        endings = (Release(900, "held: away", "g1", datetime.now(UTC)), Release(900, "held: no rule matches"))
        store.end(list(zip(claim(store), (*endings, Retry(900, "RowLocked"), endings[1]), strict=True)))

        assert store.record([new_job(4)], changed=self.CHANGED) == Recorded(created=1, known=0, asked=2)
        assert leads(claim(store)) == [lead_id(number) for number in (1, 2, 4)]

    def test_a_claim_is_kept_and_being_held_is_asked_again_at_its_end(self, database, store):
        """Its lead may have been read before the change; only once, and the lease runs on as it did."""
        store.record([new_job(1)])
        (job,) = claim(store)
        before = store.job(job.id)
        store.record([], changed=self.CHANGED)
        during = store.job(job.id)
        database.wait(1)
        assert (during.status, during.locked_by, during.lease_until) == ("working", "w1", before.lease_until)
        assert store.end([(job, Release(900, "held: no rule matches"))]) == {job.id}
        (again,) = claim(store)
        store.end([(again, Release(900, "held: no rule matches"))])

        assert (again.attempts, claim(store)) == (1, [])

    @pytest.mark.parametrize("ending", [Retry(900, "RowLocked"), Release(900, "RateLimited"), Bury("no"), Done("x")])
    def test_every_other_end_of_a_claim_is_as_ever(self, store, ending):
        """What is done stays done, and the org's trouble is given its time."""
        store.record([new_job(1)])
        (job,) = claim(store)
        store.record([], changed=self.CHANGED)
        store.end([(job, ending)])

        assert claim(store) == []

    def test_a_claim_that_is_lost_is_taken_over_as_ever(self, database, store):
        """Its lease decides, whatever was changed meanwhile."""
        store.record([new_job(1)])
        claim(store)
        store.record([], changed=self.CHANGED)
        early = claim(store, worker="w2")
        database.wait(61)

        assert (early, leads(claim(store, worker="w2"))) == ([], [lead_id(1)])


class TestSiblings:
    """Jobs that are not over are found by either key of their leads' submissions."""

    ONE, NEXT, LATER = Submission("e1", "o1"), Submission("e2", "o1"), Submission("e2", "o2")

    def come(self, store, *submissions):
        for number, submission in enumerate(submissions, start=1):
            store.record([replace(new_job(number), submission=submission)])

    def found(self, store, submission):
        return sorted(leads(store.siblings([submission.even, submission.odd])))

    def test_one_shared_key_is_enough_and_it_may_be_the_odd_one(self, store):
        """Neighbouring buckets share one key; two buckets apart share none."""
        self.come(store, self.ONE, None)

        assert self.found(store, self.NEXT) == [lead_id(1)]
        assert (self.found(store, self.LATER), store.siblings([])) == ([], [])

    def test_of_each_key_the_first_job_is_told(self, store):
        """However many leads a form sent twice a second made."""
        self.come(store, *[self.ONE] * 5, self.LATER)

        assert self.found(store, self.NEXT) == [lead_id(1), lead_id(6)]

    def test_what_is_over_is_no_sibling_and_what_waits_or_is_at_work_is(self, database, store):
        """Done and dead jobs hold up nobody."""
        for end, told in (
            (None, 1),
            (Release(60, "held: away"), 1),
            (Retry(60, "x"), 1),
            (Done("x"), 0),
            (Bury("x"), 0),
        ):
            self.come(store, self.ONE)
            (job,) = claim(store)
            if end is not None:
                store.end([(job, end)])
            assert len(self.found(store, self.ONE)) == told, end
            database.execute("DELETE FROM routing_job")

    def test_the_keys_are_those_of_the_lead_as_it_was_last_read(self, database, store):
        """An event may tell none; a release that read no lead keeps what was known."""
        self.come(store, None)
        for submission in (self.ONE, None):
            (job,) = claim(store)
            store.end([(job, Release(0, "held: away", submission=submission))])
            database.wait(1)
        (one,) = store.siblings([self.ONE.odd])
        (view,) = store.jobs()

        assert (one.submission_keys, one.payload) == (("e1", "o1"), view.payload)
        assert (one.id, one.idempotency_key, one.created_at) == (view.id, view.idempotency_key, view.created_at)
        assert 2 <= one.age_s < 60

    def test_other_orgs_have_none(self, database, store):
        """Orgs share a database and nothing else."""
        self.come(store, self.ONE)

        assert database.open(org_id="00D000000000002AAA").siblings(["e1", "o1"]) == []


def observation(number, owner, group="g1"):
    at = datetime(2026, 11, 29, 20, 0, 0, 500_000, tzinfo=UTC)
    return Observation(f"key-{number}", lead_id(number), group, group, owner, "said so", at)


class TestObservations:
    """What groups that only observe would have done, until it is forgotten."""

    def test_an_observation_comes_back_as_it_was(self, store):
        """With the time at which its job ended, once it has."""
        job = new_job(1)
        store.record([job])
        what = Observation(job.idempotency_key, lead_id(1), "g1", "emea", None, "nobody", observation(1, None).event_at)
        store.observe([what], {})
        (before,) = store.observations(limit=9)
        store.end([(one, Done("observed")) for one in claim(store)])
        (after,) = store.observations(limit=9)

        assert (before.what, before.owned_at) == (what, None)
        assert after.owned_at == store.jobs()[0].completed_at is not None

    def test_the_first_owner_stands_and_until_then_the_latest_word(self, store):
        """Held first, then given: given. Asked again: as given."""
        for owner in (None, "005A", "005B"):
            store.observe([observation(1, owner), observation(2, None)], {})

        assert store.observed(["key-1", "key-2", "key-3"]) == {"key-1": "005A", "key-2": None}
        assert store.observed([]) == {}

    def test_a_leads_observations_are_its_own(self, store):
        """Newest first, of that lead alone."""
        store.observe([observation(1, "005A"), observation(2, None)], {})

        assert [one.what.owner_id for one in store.observations_of(lead_id(1), limit=9)] == ["005A"]
        assert store.observations_of(lead_id(3), limit=9) == []

    def test_rotations_are_the_latest(self, database, store):
        """By group; other orgs have their own."""
        store.observe([], {"g1": {"turn": 1}, "g2": {"turn": 5}})
        store.observe([], {"g1": {"turn": 2}})

        assert store.rotations() == {"g1": {"turn": 2}, "g2": {"turn": 5}}
        assert database.open(org_id="00D000000000002AAA").rotations() == {}

    def test_old_observations_are_forgotten_with_old_jobs(self, database, store):
        """F10: the table does not grow without end. The oldest first, up to the limit."""
        for number in (1, 2):
            store.observe([observation(number, "005A")], {})
            database.wait(100)
        store.observe([observation(3, "005A")], {})

        assert store.forget_observations(older_than_s=50, limit=1) == 1
        assert [one.what.lead_id for one in store.observations(limit=9)] == [lead_id(3), lead_id(2)]
        assert store.forget_observations(older_than_s=50, limit=9) == 1
        assert store.forget_observations(older_than_s=50, limit=9) == 0
        assert [one.what.lead_id for one in store.observations(limit=9)] == [lead_id(3)]


def test_leads_asked_lately_have_a_job_at_work_or_just_done(database: Database) -> None:
    """Not those that wait, are dead, or were done long ago."""
    store = database.open()
    store.record([new_job(1)])
    store.end([(job, Done("assigned")) for job in store.claim("w", limit=9, lease_s=60)])
    database.wait(100)
    store.record([new_job(number) for number in (2, 3, 4, 5)])
    ends = (Done("assigned"), Bury("no"), Release(60, "held: later"))
    claimed = store.claim("w", limit=9, lease_s=60)
    store.end(list(zip(claimed, ends, strict=False)))
    asked = [lead_id(number) for number in range(1, 7)]

    assert store.asked_lately(asked, within_s=50) == {lead_id(2), lead_id(5)}
    assert store.asked_lately(asked, within_s=150) == {lead_id(1), lead_id(2), lead_id(5)}
    assert store.asked_lately([], within_s=150) == frozenset()
