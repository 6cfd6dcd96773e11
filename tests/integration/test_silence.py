"""A stream that is subscribed and brings nothing while leads come: an alarm, another subscription, and its end."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from lead_router.app import looking
from lead_router.cli.commands import _listening
from lead_router.loops import upkeep
from lead_router.loops.listening import KEEP_EVERY_S
from lead_router.ports import Hold, Kept, Silence
from support.databases import CHANNEL
from support.listeners import Process
from support.worker_rig import Rig

AFTER_S = 60.0
SWEEP_S = 301.0


class Org(Rig):
    """A rig whose sweeps judge the stream of its one process."""

    def begin(self):
        self.listener = Process(self, "host/1/listener")
        self.sweeper = self.upkeep(silent_after_s=AFTER_S, configuration_every_s=1e9)
        self.sweeper.step()
        self.goes_on(10)

    def goes_on(self, seconds=0.0):
        """Time passes; the listener keeps its channel and hears what there is to hear."""
        for part in range(int(seconds // KEEP_EVERY_S) + 1):
            self.clock.advance(KEEP_EVERY_S if part else 0.0)
            self.listener.steps(2)
        self.clock.advance(KEEP_EVERY_S)
        self.listener.steps(3)

    def swept(self):
        """A sweep, and what of the stream it put into the log."""
        with capture_logs() as logs:
            self.clock.advance(SWEEP_S)
            self.listener.steps(1)
            self.sweeper.step()
            self.goes_on(10)
        return [line for line in logs if line["event"] in {"stream_silent", "stream_heard"}]

    def shown(self):
        return _listening(self.store.queue())


@pytest.fixture
def org(tmp_path):
    made = Org(tmp_path)
    made.begin()
    yield made
    made.close()


def test_silence_while_leads_come_raises_one_alarm_and_subscribes_anew(org):
    """P47, A1, A9: a right lost in mid-stream; connects go on and bring nothing, and nobody says that all is well."""
    org.listener.streams[-1].deaf = org.listener.deaf = True
    subscribed = org.shown()
    since = org.clock.now()
    leads = [org.rest_org.lead() for _ in range(3)]
    (alarm,) = org.swept()
    leads.append(org.rest_org.lead())
    again = org.swept()

    assert (alarm["event"], alarm["log_level"], alarm["leads"]) == ("stream_silent", "warning", 3)
    assert datetime.fromisoformat(alarm["since"]) <= since
    assert "lead-router doctor" in alarm["remedy"]
    assert again == []
    assert len(org.listener.streams) == 3
    assert "subscribed" in subscribed
    assert "SILENT since" in org.shown()
    assert "4 leads" in org.shown()
    told = looking._router(org.store.queue())
    assert (told.ok, told.warning) == (False, True)
    assert "its stream is SILENT since" in told.detail
    assert "4 leads came without an event" in told.detail
    assert [job.lead_id for job in org.jobs()] == leads


def test_the_first_event_ends_a_silence(org):
    """The new subscription hears: the log says so, `status` is clean, and the next silence is another alarm."""
    org.listener.streams[-1].deaf = True
    org.rest_org.lead()
    first = org.swept()
    clean = org.shown()
    org.listener.streams[-1].deaf = True
    org.goes_on(10)
    org.rest_org.lead()
    second = org.swept()

    assert [line["event"] for line in first + second] == ["stream_silent", "stream_heard"] * 2
    assert "SILENT" not in clean


def test_what_is_no_silence_raises_no_alarm(org):
    """A fresh lead, one event that never came, and jobs that are known: the stream is not blamed for them."""
    org.rest_org.lead()
    org.goes_on()
    known = org.swept()
    org.listener.streams[-1].deaf = True
    org.rest_org.lead()
    org.store.request_sweep("by hand")
    with capture_logs() as fresh:
        org.sweeper.step()
    assert known == []
    assert [line["jobs"] for line in fresh if line["event"] == "leads_swept"] == [1]
    assert "stream_silent" not in {line["event"] for line in fresh}
    assert org.swept() == []


def test_a_lead_that_was_given_back_unheard_counts_by_its_change(org):
    """Created long ago, returned to the queue under a dead stream; our own writes on a lead count for nothing."""
    lead = org.rest_org.lead(OwnerId=org.rest_org.refs["ann"])
    org.goes_on(10)
    org.listener.streams[-1].deaf = True
    org.rest_org.update(lead, OwnerId=org.rest_org.queue("Lead_Intake"))
    alarm = org.swept()[0]

    assert (alarm["event"], alarm["leads"]) == ("stream_silent", 1)


def test_of_very_many_unheard_leads_the_latest_are_enough(org, monkeypatch):
    """What a sweep holds is bounded, however many leads wait; the alarm is raised, and each of them has its job."""
    monkeypatch.setattr(upkeep, "MOMENTS_MAX", 2)
    org.listener.streams[-1].deaf = True
    leads = [org.rest_org.lead() for _ in range(3)]
    alarm = org.swept()[0]

    assert (alarm["event"], alarm["leads"]) == ("stream_silent", 2)
    assert {job.lead_id for job in org.jobs()} == {*leads}


@pytest.fixture
def judged(database):
    """A store whose listener took the channel; `ago(s)` is a moment before now, in the database's time."""
    store = database.open()
    hold = store.hold(CHANNEL, "one", lease_s=10_000)
    assert isinstance(hold, Hold)

    def ago(seconds):
        now = database.now if database.embedded else time.time()
        return datetime.fromtimestamp(now - seconds, UTC)

    return store, hold, ago


def test_a_stream_is_judged_by_what_came_while_it_was_subscribed(database, judged):
    """On both databases, by their own time: neither what came before the subscription counts nor what is too fresh."""
    store, hold, ago = judged
    store.keep(hold, subscribed=False)
    database.wait(100)
    assert store.find_silence([ago(90)], after_s=AFTER_S) is None  # connecting is no claim to hear
    store.keep(hold, subscribed=True)
    database.wait(100)
    assert store.find_silence([ago(200), ago(30)], after_s=AFTER_S) is None
    found = store.find_silence([ago(200), ago(90), ago(80), ago(30)], after_s=AFTER_S)
    assert found is not None
    assert (found.channel, found.leads, found.begun) == (CHANNEL, 2, True)
    assert 95 < (ago(0) - found.since).total_seconds() < 110


def test_what_was_heard_behind_a_lead_speaks_for_the_stream(database, judged):
    """A filter or one lost event keeps a lead from us; the stream lives, and is left alone."""
    store, hold, ago = judged
    store.keep(hold, subscribed=True)
    database.wait(100)
    store.keep(hold, subscribed=True, heard=True)
    database.wait(100)
    assert store.find_silence([ago(150)], after_s=AFTER_S) is None
    found = store.find_silence([ago(150), ago(90)], after_s=AFTER_S)
    assert found is not None
    assert (found.leads, 95 < (ago(0) - found.since).total_seconds() < 110) == (1, True)


def test_an_episode_goes_on_over_subscriptions_until_something_is_heard(database, judged):
    """Each finding wishes for another subscription and adds its leads; only the first is the alarm."""
    store, hold, ago = judged
    silences = []
    for _ in range(2):
        assert store.keep(hold, subscribed=False) == Kept(len(silences), broke_silence=False, silent=bool(silences))
        store.keep(hold, subscribed=True)
        database.wait(100)
        silences.append(store.find_silence([ago(90)], after_s=AFTER_S))
    first, second = silences
    assert (first.begun, second.begun, second.leads) == (True, False, 2)
    (seen,) = store.queue().listeners
    assert (seen.subscribed, seen.silent_leads, seen.silent_since is not None) == (False, 2, True)
    assert store.keep(hold, subscribed=True, heard=True) == Kept(2, broke_silence=True)
    assert store.keep(hold, subscribed=True, heard=True) == Kept(2, broke_silence=False)
    (seen,) = store.queue().listeners
    assert (seen.subscribed, seen.silent_leads, seen.silent_since) == (True, 0, None)


def test_whoever_takes_over_begins_unsubscribed_and_inherits_the_silence(database, judged):
    """The next holder's stream is judged by its own subscription; who does not listen is not judged."""
    store, hold, ago = judged
    store.keep(hold, subscribed=True)
    database.wait(100)
    assert isinstance(store.find_silence([ago(90)], after_s=AFTER_S), Silence)
    store.keep(hold, subscribed=True)
    store.give_up(hold)
    assert store.find_silence([ago(0)], after_s=-1) is None
    later = store.hold(CHANNEL, "two", lease_s=10_000)
    assert store.find_silence([ago(0)], after_s=-1) is None
    assert store.keep(later, subscribed=True, heard=True) == Kept(1, broke_silence=True)
