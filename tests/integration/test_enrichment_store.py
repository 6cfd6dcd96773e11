"""What is asked of providers, and what they answered, on both databases: paid once, kept with the job it makes due."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lead_router.ports import Again, EnrichmentView, Found, Known, Over, Release, Retry, Wanted
from support.databases import lead_id, new_job

WAIT = Wanted(wait_s=2.0)
RESULT = {"Industry": "Steel", "NumberOfEmployees": 40}


@pytest.fixture
def store(database):
    return database.open()


def due(store, *, worker="w"):
    """The leads of the jobs that are due; their claims are given back."""
    jobs = store.claim(worker, limit=200, lease_s=60)
    store.end([(job, Release(0, "looked at")) for job in jobs])
    return [job.lead_id for job in jobs]


def take(store, stage="asked", limit=10):
    return store.take_enrichments(stage, limit=limit, lease_s=60)


def test_a_job_waits_for_the_answer_and_no_longer_than_its_deadline(database, store):
    """It is due as soon as the answer is kept; another lead's job at its deadline; one that wants nothing, at once."""
    store.record([new_job(1), new_job(2)], wanted=WAIT)
    store.record([new_job(3)])
    assert due(store) == [lead_id(3)]

    taken = {one.lead_id: one for one in take(store)}
    assert taken.keys() == {lead_id(1), lead_id(2)}
    assert store.settle([(taken[lead_id(1)], Found("i", RESULT, 5.0))]) == 1
    assert lead_id(1) in due(store)
    assert lead_id(2) not in due(store)
    database.wait(2.1)
    assert lead_id(2) in due(store)


def test_an_answer_is_kept_and_a_later_job_of_its_lead_waits_for_nothing(store):
    """Paid once: whatever asks for the lead again finds the answer, and the claim is told of it."""
    store.record([new_job(1)], wanted=WAIT)
    (taken,) = take(store)
    store.settle([(taken, Found("i", RESULT, 0.0))])
    assert store.enrichments([lead_id(1), lead_id(9)]) == {lead_id(1): Known("found", RESULT)}
    (found,) = take(store, "found")
    store.settle([(found, Over("written"))])
    store.end([(job, Retry(0, "again")) for job in store.claim("w", limit=9, lease_s=60)])

    store.record([new_job(2, lead=1)], wanted=WAIT)
    (again,) = take(store)
    assert (again.inputs, again.result, again.attempts) == ("i", RESULT, 1)
    assert store.enrichments([lead_id(1)])[lead_id(1)].result == RESULT
    store.record([new_job(3, lead=1)], wanted=WAIT)
    (latest,) = store.jobs(limit=1)
    assert latest.next_run_at == latest.created_at


def test_the_same_event_asks_nobody_anew(store):
    """A delivery that comes again finds its job, done or not: the lead stays as it is."""
    store.record([new_job(1)], wanted=WAIT)
    (taken,) = take(store)
    store.settle([(taken, Over("nothing to ask by"))])
    store.record([new_job(1)], wanted=WAIT)
    assert store.enrichments([lead_id(1)]) == {lead_id(1): Known("done", None)}
    assert take(store) == []


def test_two_jobs_of_a_lead_in_one_delivery_ask_once(store):
    """Created and changed within one poll."""
    store.record([new_job(1), new_job(2, lead=1)], wanted=WAIT)
    assert [one.lead_id for one in take(store)] == [lead_id(1)]


def test_a_claim_of_before_settles_nothing(database, store):
    """It outlasted its lease, another one asked: the later claim's answer stands."""
    store.record([new_job(1)], wanted=WAIT)
    (slow,) = take(store)
    database.wait(61)
    (quick,) = take(store)
    store.settle([(quick, Found("i", RESULT, 5.0))])
    store.settle([(slow, Over("given up", failed=True))])
    assert store.enrichments([lead_id(1)]) == {lead_id(1): Known("found", RESULT)}


def test_attempts_count_where_they_are_the_lead_s_own(database, store):
    """A provider's outage uses up none; an answer begins the next stage's count."""
    store.record([new_job(1)], wanted=WAIT)
    for pause, counts in ((3.0, True), (1.0, False), (1.0, True)):
        (taken,) = take(store)
        store.settle([(taken, Again(pause, "status 500", counts=counts))])
        assert take(store) == []
        database.wait(pause)
    (taken,) = take(store)
    assert taken.attempts == 3
    store.settle([(taken, Found("i", RESULT, 0.0))])
    assert take(store, "found")[0].attempts == 1


def test_the_newest_lead_is_asked_for_first(database, store):
    """After an outage those whose jobs still wait come before those that were routed long ago."""
    for number in (1, 2, 3):
        store.record([new_job(number)], wanted=WAIT)
        database.wait(10)
    assert [one.lead_id for one in take(store, limit=2)] == [lead_id(3), lead_id(2)]


def test_a_job_that_was_tried_or_is_held_is_not_made_due(store):
    """An answer is no reason to look sooner at what waits for something else."""
    store.record([new_job(1), new_job(2)])
    jobs = store.claim("w", limit=9, lease_s=60)
    store.end([(jobs[0], Retry(900, "refused")), (jobs[1], Release(900, "held: no rule matches"))])
    store.record([new_job(3, lead=1), new_job(4, lead=2)], wanted=WAIT)
    store.settle([(one, Over("nothing to ask by")) for one in take(store)])
    assert due(store) == []


def test_the_same_request_is_answered_from_what_is_kept(database, store):
    """For as long as it is told to be good for, whichever lead it was asked for; an age adds to the next one's."""
    store.record([new_job(1)], wanted=WAIT)
    (taken,) = take(store)
    store.settle([(taken, Found("i", RESULT, 0.0, age_s=30.0))])
    database.wait(10)
    (found, age_s) = store.answered(["i", "j"], within_s=60)["i"]
    assert (found, 40 <= age_s < 50) == (RESULT, True)
    assert store.answered(["i"], within_s=35) == {}
    assert store.answered(["i"], within_s=0) == {}


def test_several_routers_take_each_lead_once(database):
    """Claims do not overlap."""
    store = database.open()
    store.record([new_job(number) for number in range(40)], wanted=WAIT)
    stores = [database.open() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda one: take(one, limit=15), stores))
    assert sorted(one.lead_id for some in taken for one in some) == [lead_id(number) for number in range(40)]


def test_a_score_alone_is_written_later_and_holds_up_no_job(database, store):
    """Nobody is asked: the job is due at once."""
    store.record([new_job(1)], wanted=Wanted("found", delay_s=5.0))
    assert due(store) == [lead_id(1)]
    assert take(store, "found") == []
    database.wait(5.1)
    assert [one.result for one in take(store, "found")] == [None]


def test_it_is_seen_at_a_glance_and_forgotten_by_age(database, store):
    """What holds a person's values does not outlive the jobs, whatever became of it."""
    store.record([new_job(1), new_job(2), new_job(3)], wanted=WAIT)
    one, two, _ = take(store)
    store.settle([(one, Found("i", RESULT, 0.0)), (two, Over("12 tries", failed=True))])
    assert store.enrichment() == EnrichmentView(asked=1, found=1, failed=1)
    assert store.forget_enrichments(older_than_s=60, limit=10) == 0
    database.wait(61)
    assert store.forget_enrichments(older_than_s=60, limit=2) == 2
    assert store.forget_enrichments(older_than_s=60, limit=2) == 1
    assert store.enrichment() == EnrichmentView(0, 0, 0)
