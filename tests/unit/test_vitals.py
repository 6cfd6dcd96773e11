"""What the loops tell of themselves makes live and ready, and neither is said where it is not so."""

from __future__ import annotations

import threading

import pytest

from lead_router.errors import (
    BadCriteria,
    BadRules,
    ContractMismatch,
    LoginRefused,
    Misconfigured,
    Rejected,
    StoreUnavailable,
)
from lead_router.loops.vitals import Ear, Fault, Vitals
from lead_router.salesforce.codes import Trouble, surprise

HEARD = Ear("subscribed")


class _Watch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch():
    return _Watch()


@pytest.fixture
def vitals(watch):
    """A running process with two loops that are well, and a stream that is heard."""
    made = Vitals(watch, patience_s=60)
    made.stage = "running"
    made.ear = lambda: HEARD
    made.pulse("intake").well()
    made.pulse("upkeep").well(rest_s=1000)
    return made


def test_all_is_well(vitals):
    """Both answers are yes, and say how the stream is heard."""
    health = vitals.health()
    assert (health.live, health.ready, health.stream) == (True, True, "subscribed")
    assert (health.dying, health.waiting) == ((), ())


def test_a_start_is_live_for_as_long_as_it_takes_and_not_ready(watch):
    """F14: a migration of ten minutes is left alone; what it waits for is told."""
    made = Vitals(watch, patience_s=60)
    watch.now += 600
    health = made.health()
    assert (health.stage, health.live, health.ready) == ("starting", True, False)
    made.start_waits = "Unreachable: no route"
    assert made.health().waiting == (Fault("start", "Unreachable: no route"),)


def test_a_loop_without_a_sign_of_life_is_not_live(vitals, watch):
    """F7: a receiver that hangs in a step is red after the patience, not before; a rest is no silence."""
    vitals.pulse("intake").beat()
    watch.now += 60
    assert vitals.health().ready
    watch.now += 1
    health = vitals.health()
    assert (health.live, health.ready) == (False, False)
    assert health.dying == (Fault("intake", "it has given no sign of life for 61 s"),)


def test_progress_within_a_step_is_a_sign_of_life_of_its_own_loop(vitals, watch):
    """A sweep of an hour beats with each answer of the org; the answer to another loop is no help to it."""

    def in_thread(name):
        thread = threading.Thread(target=vitals.beat, name=name)
        thread.start()
        thread.join()

    watch.now += 61
    in_thread("worker-1")
    assert not vitals.health().live
    in_thread("intake")
    assert vitals.health().live


def test_an_outage_is_no_death_and_a_fault_of_the_code_is(vitals):
    """F7, F8: a restart mends no outage; of a fault that nobody foresaw the kind alone is told."""
    pulse = vitals.pulse("intake")
    for _ in range(50):
        pulse.failed(StoreUnavailable("the database is away"))
    away = vitals.health()
    assert (away.live, away.ready) == (True, False)
    assert away.waiting == (Fault("intake", "StoreUnavailable: the database is away (50 times in a row)"),)
    assert pulse.failed(LoginRefused("frozen")) == 51
    assert vitals.health().live
    assert pulse.failed(KeyError("ada@example.com")) == 1
    broken = vitals.health()
    assert (broken.live, broken.ready) == (False, False)
    assert broken.dying == (Fault("intake", "it failed 1 times in a row: KeyError, told in the log"),)
    pulse.well()
    assert vitals.health().ready


def test_a_fault_that_names_its_remedy_tells_it(vitals):
    """F8: of a setting that is wrong the words are the program's own, also once the loop has ended by it."""
    pulse = vitals.pulse("worker-1")
    pulse.failed(Misconfigured("bring the file back"))
    assert vitals.health().dying == (
        Fault("worker-1", "it failed 1 times in a row: Misconfigured: bring the file back"),
    )
    pulse.died()
    assert vitals.health().dying == (Fault("worker-1", "it died: Misconfigured: bring the file back"),)


@pytest.mark.parametrize(
    "fault",
    [
        BadRules("rule 'Ada Lovelace'"),
        BadCriteria("unknown word Lovelace"),
        ContractMismatch("MALFORMED_QUERY: WHERE LastName = 'Lovelace'"),
        Rejected("bad value Lovelace", codes=("STRING_TOO_LONG",)),
        surprise([Trouble("STORAGE_LIMIT_EXCEEDED", "no room for Lovelace")], write=True),
        ValueError("Lovelace"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_fault_that_quotes_others_is_told_by_its_kind_alone(vitals, fault):
    """F1: whoever asks how the router is reads no clause, no rule file and no answer of Salesforce."""
    vitals.pulse("upkeep").failed(fault)
    (told,) = vitals.health().dying
    assert told.reason == f"it failed 1 times in a row: {type(fault).__name__}, told in the log"


def test_a_dead_loop_stays_dead_while_the_others_drain(vitals):
    """F8: the process that ends for it is never green again."""
    vitals.pulse("upkeep").died()
    vitals.stage = "stopping"
    health = vitals.health()
    assert (health.live, health.dying) == (False, (Fault("upkeep", "it died"),))


def test_a_drain_is_live_and_not_ready(vitals):
    """SIGTERM: nobody kills it in the middle, and nobody counts on it."""
    vitals.stage = "stopping"
    assert (vitals.health().live, vitals.health().ready) == (True, False)


@pytest.mark.parametrize(
    ("ear", "ready"),
    [
        (HEARD, True),
        (Ear("standby: host/2 listens"), True),
        (Ear("connecting", "it is connecting"), False),
        (Ear("silent", "leads came"), False),
    ],
)
def test_who_is_ready_hears_or_waits_for_another_to(vitals, ear, ready):
    """A standby is ready as such and says so; a stream that is not heard is red whatever else is well."""
    vitals.ear = lambda: ear
    health = vitals.health()
    assert (health.live, health.ready, health.stream) == (True, ready, ear.told)


def test_a_refused_routing_is_not_ready(vitals):
    """The last commit failed: the process lives, and no lead is routed."""
    vitals.refusal = lambda: "RateLimited: REQUEST_LIMIT_EXCEEDED"
    health = vitals.health()
    assert (health.live, health.ready) == (True, False)
    assert health.waiting == (Fault("routing", "RateLimited: REQUEST_LIMIT_EXCEEDED"),)
