"""What the router tells Prometheus of itself: from the loops, from the org's answers, and from the queue."""

from __future__ import annotations

import io
import json
import threading
import time
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection

import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families

from lead_router import log
from lead_router.app import gauges, hops, metering
from lead_router.app.answering import PROMETHEUS, answering
from lead_router.app.assembly import Assembly
from lead_router.app.hops import Hops
from lead_router.app.metering import Metering
from lead_router.app.metrics import Metrics
from lead_router.app.queuelook import QueueLook
from lead_router.app.wiring import Wired
from lead_router.core.keys import create_key
from lead_router.core.model import Mode
from lead_router.errors import StoreUnavailable
from lead_router.hops.http_json import HttpJson
from lead_router.loops.breaker import Breaker
from lead_router.loops.runner import Loop, Runner
from lead_router.loops.vitals import Ear, Vitals
from lead_router.ports import NewJob, Usage
from lead_router.ports.meter import NO_METER
from lead_router.ports.notices import Declined
from lead_router.settings import Settings
from support.hop_rig import HopRig
from support.loudly import loudly
from support.notice_rig import Mailbox, NoticeRig, to_team
from support.provider import provider
from support.router import until
from support.worker_rig import Rig

CHANNEL = "/data/LeadChangeEvent"
SOON_S = 10.0


@pytest.fixture
def metrics():
    return Metrics()


@pytest.fixture
def vitals():
    made = Vitals(time.monotonic, patience_s=60)
    made.stage = "running"
    made.ear = lambda: Ear("subscribed")
    return made


@pytest.fixture
def rig(tmp_path):
    return Rig(tmp_path)


def told(metrics):
    """Every sample by its name without the prefix and its labels' values in the order of their names."""
    text = metrics if isinstance(metrics, bytes) else metrics.text()
    return {
        (one.name.removeprefix("lead_router_"), *(one.labels[name] for name in sorted(one.labels))): one.value
        for family in text_string_to_metric_families(text.decode())
        for one in family.samples
    }


def assembled(rig, path, vitals):
    """The parts of a process with a health address and a provider, as the program puts them together; and its meter."""
    settings = Settings(health_address="0", database=f"sqlite:///{path / 'process.db'}")
    org = rig.rig.rest_org
    wired = Wired(org.holder, org.rest, org.client, Hops(None, rig.asking, HttpJson(rig.headers, timeout_s=5.0)))
    meter = Metering(settings, vitals)
    watched = {"breaker": Breaker(time.monotonic), "vitals": vitals, "meter": meter.meter, "breakers": {}}
    return Assembly(settings, wired, rig.current, rig.rig.org.org_id, wake=lambda *_: None, **watched), meter


@contextmanager
def asked(address="0", **parts):
    """A running server; calls `ask(path)`."""
    with answering(address, **parts) as place:
        port = int(place.rpartition(":")[2])

        def ask(path):
            with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", path)
                answer = connection.getresponse()
                return answer.status, answer.getheader("Content-Type"), answer.read()

        yield ask


_HOLDS = [
    pytest.param("all", "Active__c", False, True, id="no rule"),
    pytest.param("emea", "Mode__c", Mode.OFF.value, Mode.LIVE.value, id="mode"),
    pytest.param("emea", "Mode__c", Mode.OBSERVE.value, Mode.LIVE.value, id="observed"),
]


def test_what_became_of_leads_is_counted_by_outcome_and_group(rig, metrics):
    """An assigned lead, a second of its submission, one that is owned, one that nobody may have."""
    router = rig.worker(meter=metrics)
    rig.leads(2, Email="ada@example.com")
    owned = rig.leads(1)[0]
    rig.rest_org.update(owned, OwnerId=rig.rest_org.refs["bob"])
    router.step()
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c=Mode.OFF.value)
    rig.leads(1)
    rig.worker(meter=metrics).step()

    found = told(metrics)
    assert {key[1:]: value for key, value in found.items() if key[0] == "leads_total" and value} == {
        ("emea", "assigned"): 1,
        ("", "duplicate"): 1,
        ("", "skipped"): 1,
        ("emea", "held"): 1,
    }


def test_the_stages_of_a_lead_add_up_to_the_time_until_it_had_an_owner(rig, metrics):
    """From the event to the record, to the claim, to the commit: by one clock each, so that none is counted twice."""
    router = rig.worker(meter=metrics)
    rig.leads(1)
    rig.clock.advance(8.0)
    router.step()

    found = told(metrics)
    took = {key[2]: value for key, value in found.items() if key[0] == "stage_seconds_sum"}
    assert set(took) == {"event_recorded", "recorded_claimed", "claimed_committed", "event_owner"}
    assert took["event_owner"] == pytest.approx(8.0, abs=1.0)
    assert took["event_owner"] == pytest.approx(sum(took.values()) / 2, abs=0.05)
    assert found["stage_seconds_count", "no", "event_owner"] == 1


@pytest.mark.parametrize(("what", "field", "away", "back"), _HOLDS)
def test_a_lead_that_was_held_for_whatever_reason_is_counted_apart_when_it_is_given(
    rig, metrics, what, field, away, back
):
    """Of both figures `held` says the same: a wait for a rule or a mode is no slowness of the router's."""
    held = rig.rest_org.refs[what]
    rig.rest_org.update(held, **{field: away})
    rig.leads(1)
    rig.worker(meter=metrics).step()
    assert rig.store.depths().oldest_held_s is not None
    rig.rest_org.update(held, **{field: back})
    rig.clock.advance(135.0)
    rig.store.ask_held()
    rig.worker(meter=metrics).step()

    found = told(metrics)
    assert found["stage_seconds_count", "yes", "event_owner"] == 1
    assert ("stage_seconds_count", "no", "event_owner") not in found


def test_a_dead_job_is_counted(rig, metrics):
    """A lead that Salesforce refuses for good."""
    router = rig.worker(meter=metrics)
    rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    router.step()

    assert told(metrics)["leads_total", "", "dead"] == 1


def test_sweeps_tell_what_no_event_brought(rig, metrics):
    """Leads that the stream never told of are counted by why the sweep was due."""
    rig.rest_org.lead()
    rig.clock.advance(61)
    upkeep = rig.upkeep(meter=metrics)
    upkeep.step()
    rig.rest_org.lead()
    rig.clock.advance(301)
    upkeep.step()

    found = told(metrics)
    assert {key: value for key, value in found.items() if key[0].startswith("sweep") and value} == {
        ("sweeps_total", "start"): 1,
        ("sweep_finds_total", "start"): 1,
        ("sweeps_total", "interval"): 1,
        ("sweep_finds_total", "interval"): 1,
    }


def test_a_lead_whose_event_is_on_its_way_or_that_somebody_mended_is_no_find_of_a_sweep(rig, metrics):
    """A busy org has leads in flight at each sweep, and who mends a dead job's lead counts on it: no alarm comes."""
    (dead,) = rig.leads(1)
    rig.forbid("ISBLANK(Title)", "Say who that is")
    rig.drain()
    upkeep = rig.upkeep(meter=metrics)
    upkeep.step()
    rig.rest_org.update(dead, Title="Buyer")
    rig.clock.advance(301)
    rig.rest_org.lead(Title="Buyer")
    upkeep.step()
    rig.drain()

    assert rig.outcomes().count("assigned") == 2
    assert {key: value for key, value in told(metrics).items() if key[0] == "sweep_finds_total" and value} == {}


def test_failed_steps_are_counted_by_loop_and_kind(metrics):
    """An outage is told apart from a fault of the program."""
    faults = [StoreUnavailable("away"), KeyError("odd")]
    runner = Runner(
        lambda _wake: (Loop("upkeep", lambda: stepper, 0.01),), Vitals(time.monotonic, patience_s=60), metrics
    )

    class Stepper:
        def step(self):
            if faults:
                raise faults.pop(0)
            runner.stop()
            return False

        def close(self):
            pass

    stepper = Stepper()
    runner.run()

    found = told(metrics)
    assert (found["loop_faults_total", "outage", "upkeep"], found["loop_faults_total", "fault", "upkeep"]) == (1, 1)


def test_each_warning_of_the_log_is_counted_by_its_event(metrics):
    """Whatever a part warns of can be an alert; its values stay in the log."""
    with loudly():
        log.configure("info", io.StringIO(), metrics)
        structlog.configure(cache_logger_on_first_use=False)
        logger = structlog.get_logger("a part")
        logger.warning("service_faulted", error="Bearer 00D")
        logger.info("lead_assigned", lead="00Q")

    assert {key: value for key, value in told(metrics).items() if key[0] == "log_events_total" and value} == {
        ("log_events_total", "service_faulted", "warning"): 1
    }


def test_groups_tell_how_far_they_are_from_fair(rig, metrics):
    """With all on duty nobody is ever a whole lead off; a member whose place was edited by hand is seen."""
    client = rig.client
    current = client.configuration()
    metrics.look_at(lambda: gauges.of_groups(client.groups(), current, rig.clock.now()))
    router = rig.worker(client, meter=metrics)
    rig.leads(5)
    router.step()
    client.glance()
    fair = told(metrics)["fairness_gap_leads", "emea"]
    rig.rest_org.update(rig.rest_org.refs["ann_emea"], Next_Turn__c=20_000_000_000)
    client.glance()
    found = told(metrics)
    for name in ("ann_emea", "bob_emea"):
        rig.rest_org.update(rig.rest_org.refs[name], Active__c=False)
    client.glance()
    empty = told(metrics)

    assert (empty["fairness_gap_leads", "emea"], empty["members_on_duty", "emea"]) == (0, 0)
    assert 0 < fair < 1
    assert found["fairness_gap_leads", "emea"] > 5
    assert found["members_on_duty", "emea"] == 2


def test_the_allowance_and_the_breakers_are_told(metrics):
    """Nothing is told of an allowance before Salesforce told it."""
    breaker, usage = Breaker(time.monotonic), [Usage(calls=2)]
    metrics.look_at(lambda: gauges.of_usage(usage[0]))
    metrics.look_at(lambda: gauges.of_breakers({"routing": breaker}))
    before = told(metrics)
    usage[0] = Usage(80, 100, 7)
    breaker.trip(30, why="away")
    after = told(metrics)

    assert ("api_left",) not in before
    assert (before["api_calls_total",], before["breaker_open", "routing"]) == (2, 0)
    assert (after["api_left",], after["api_used",], after["breaker_open", "routing"]) == (20, 80, 1)


def test_the_queue_is_told_and_read_seldom(rig, metrics):
    """Many who ask within seconds cost one reading."""
    rig.leads(3)
    opened = []

    def store():
        opened.append(rig.open())
        return opened[-1]

    queue = QueueLook(store, time.monotonic)
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    first = told(metrics)
    rig.leads(2)
    second = told(metrics)
    queue.close()

    assert (first["database_up",], first["queue_jobs", "queued"], first["queue_jobs", "due"]) == (1, 3, 3)
    assert first["oldest_open_seconds", "yes"] == 0
    assert second["queue_jobs", "queued"] == 3
    assert len(opened) == 1


def test_a_database_that_is_away_takes_its_figures_along_and_nothing_else(metrics, vitals):
    """F7: the last values vanish, `database_up` is 0, the rest is told."""
    metrics.look_at(lambda: gauges.of_process(vitals))

    def away():
        raise StoreUnavailable("nobody there")

    queue = QueueLook(away, time.monotonic)
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    found = told(metrics)
    queue.close()

    assert (found["database_up",], found["ready",]) == (0, 1)
    assert [key for key in found if key[0] == "queue_jobs"] == []


def test_figures_of_a_database_that_goes_away_are_not_told_on(rig, metrics):
    """F7: what was read before says nothing of now."""
    store, clock = rig.open(), [0.0]

    class Away:
        def depths(self):
            if clock[0]:
                raise StoreUnavailable("gone")
            return asked_once

        def close(self):
            pass

    asked_once = store.depths()
    queue = QueueLook(Away, lambda: clock[0])
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    before = told(metrics)
    clock[0] = 6.0
    after = told(metrics)
    queue.close()

    assert (before["database_up",], after["database_up",]) == (1, 0)
    assert [key for key in after if key[0] == "queue_jobs"] == []


def test_a_database_that_hangs_holds_up_no_scrape(metrics):
    """Who asks waits for a moment at most."""
    hangs = threading.Event()
    queue = QueueLook(lambda: hangs.wait(30) and None, time.monotonic)
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    began = time.monotonic()
    found = told(metrics)
    took = time.monotonic() - began
    hangs.set()
    queue.close()

    assert found["database_up",] == 0
    assert took < 3


def test_a_part_that_cannot_be_looked_at_takes_nothing_else_along(metrics, vitals):
    """One fault in what is looked at is no reason to tell nothing."""

    def broken():
        raise KeyError("odd")

    metrics.look_at(broken)
    metrics.look_at(lambda: gauges.of_process(vitals))

    assert told(metrics)["live",] == 1


def test_prometheus_is_answered_where_health_is(vitals):
    """In its text format, with this process's own memory and files, and the health of that moment."""
    meter = Metering(Settings(health_address="0"), vitals)
    with asked(vitals=vitals, metrics=meter.text) as ask:
        status, kind, body = ask("/metrics")

    found = told(body)
    assert (status, kind) == (200, PROMETHEUS)
    assert (found["live",], found["ready",], found["stream_subscribed",]) == (1, 1, 1)
    assert found["process_resident_memory_bytes",] > 0


def test_without_the_client_health_is_told_and_metrics_name_the_remedy(vitals, monkeypatch):
    """The package is an extra: without it everything else works, and nothing is counted."""
    monkeypatch.setattr(metering.importlib.util, "find_spec", lambda _name: None)
    meter = Metering(Settings(health_address="0"), vitals)
    with asked(vitals=vitals, metrics=meter.text) as ask:
        status, _, body = ask("/metrics")
        live = ask("/healthz")[0]

    assert (status, live, meter.meter) == (501, 200, NO_METER)
    assert "pip install 'lead-router[operations]'" in json.loads(body)["error"]


def test_nobody_is_metered_who_answers_nowhere(vitals):
    """Off by default, and without cost."""
    assert Metering(Settings(), vitals).meter is NO_METER


def test_notices_are_counted_by_what_came_of_them(tmp_path, metrics):
    """Sent, and one that the channel did not take and that is tried again."""
    rig = NoticeRig(tmp_path, channels=to_team)
    loop = rig.post(Mailbox([Declined("no")]), meter=metrics)
    rig.leads(1)
    rig.router.step()
    loop.step()
    rig.clock.advance(60)
    loop.step()

    found = told(metrics)
    assert (found["notices_total", "team", "unsent"], found["notices_total", "team", "sent"]) == (1, 1)


def test_a_channel_that_was_given_up_is_no_stream_without_a_listener(rig, metrics):
    """Its holder's row stays in the database when the setting names another channel: no alarm is to come of that."""
    store = rig.open()
    former = store.hold("/event/Former__chn", "a", lease_s=5.0)
    rig.clock.advance(3_600)
    hold = store.hold(CHANNEL, "b", lease_s=5.0)
    store.keep(hold, subscribed=True)
    queue = QueueLook(rig.open, time.monotonic)
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    found = told(metrics)
    queue.close()

    assert former.channel != CHANNEL
    assert {key: value for key, value in found.items() if key[0].startswith("listener")} == {
        ("listener_up", CHANNEL): 1,
        ("listener_subscribed", CHANNEL): 1,
    }


def test_the_router_s_own_loop_tells_monitoring_what_the_provider_answered(tmp_path, vitals):
    """As it is put together for a process: whoever scrapes finds the answers by outcome, and how long they took."""
    with provider() as outside:
        rig = HopRig(tmp_path, outside)
        outside.answer = {"company": {"industry": "Steel"}}
        parts, meter = assembled(rig, tmp_path, vitals)
        loop = parts.enriching()
        lead = rig.rig.rest_org.lead("ann@firm.example")
        job = NewJob(create_key(parts.org_id, lead), lead, lead, {"event_at": rig.clock.now().isoformat()})
        with (
            closing(parts.store()) as store,
            meter.looking(parts.wired, parts.current, parts.breakers, parts.store),
            asked(vitals=vitals, metrics=meter.text) as ask,
        ):
            before = told(ask("/metrics")[2])
            store.record([job], wanted=parts.wanted())
            until(lambda: loop.step() and outside.asked and not loop._calls, SOON_S, "the provider's answer")
            after = told(ask("/metrics")[2])
        loop.close()
        rig.close()

    assert {key[1]: value for key, value in before.items() if key[0] == "enrichments_total"} == dict.fromkeys(
        ("answered", "nothingknown", "pending", "unfit", "faulted", "known"), 0
    )
    assert (after["enrichments_total", "answered"], after["enrichment_seconds_count",]) == (1, 1)
    assert after["breaker_open", "enrichment"] == 0
    assert not any(lead in str(part) for key in after for part in key)


def test_the_provider_s_answers_are_counted_and_timed(metrics):
    """What was known already took no call, and no time."""
    measured = partial(hops.measured, metrics)
    measured("answered", 0.3)
    measured("known", 0.0)

    found = told(metrics)
    assert (found["enrichments_total", "answered"], found["enrichments_total", "known"]) == (1, 1)
    assert (found["enrichment_seconds_count",], found["enrichment_seconds_sum",]) == (1, 0.3)
