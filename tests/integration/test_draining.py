"""A router that is told to end: what is under way ends, nothing more is begun, nothing is left claimed (C22)."""

from __future__ import annotations

import threading
import time

import pytest

from lead_router.errors import Ending
from lead_router.loops import upkeep as upkeep_loops
from lead_router.loops.runner import Loop, Runner
from lead_router.loops.vitals import Vitals
from support.worker_rig import Interrupted, Rig


class Told:
    """A router of one worker, run by the production runner, that is told to end at an instant of the test's choice."""

    def __init__(self, rig: Rig) -> None:
        self._ending = threading.Event()
        self.client: Interrupted = rig.connect(self._ending.is_set)
        worker = rig.worker(self.client, name="told")
        vitals = Vitals(time.monotonic, patience_s=60)
        self._runner = Runner(lambda _wake: (Loop("worker", lambda: worker, 3_600),), vitals)

    def end(self) -> None:
        """What a SIGTERM does."""
        self._ending.set()
        self._runner.stop()

    def end_in_a_commit(self, number: int = 1) -> None:
        """The next commit is on its way when it is told, or the one after it."""
        send, writes = self.client._rest.composite, iter(range(1, number + 1))

        def sent(*parts, write, **options):
            if write and next(writes, number) == number:
                self.end()
            return send(*parts, write=write, **options)

        self.client._rest.composite = sent

    def run(self) -> int:
        return self._runner.run()


@pytest.fixture
def rig(tmp_path):
    """One org, one job database."""
    made = Rig(tmp_path)
    yield made
    made.close()


def test_what_was_only_read_is_given_back(rig: Rig):
    """C22: told to end during a snapshot, which may take long, it begins no commit that would take as long again.

    The claims are given back at once, without an attempt, for whoever comes next.
    """
    leads = rig.leads(3)
    told = Told(rig)
    told.client.after_read.append(told.end)
    code = told.run()
    left = [(job.status, job.attempts, job.locked_by) for job in rig.jobs()]
    given = rig.turns()
    rig.drain()

    assert (code, given, left) == (0, [], [("queued", 0, None)] * 3)
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann"]


def test_a_commit_under_way_ends_and_the_next_is_not_begun(rig: Rig):
    """C22: of two groups' leads, written apart, those of the first commit are done, and those of the second wait."""
    other = rig.rest_org.insert("Round_Robin_Group__c", Name="Other", Key__c="other", Mode__c="Live")
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=other, User__c=rig.rest_org.refs["bob"])
    rule = {"Criteria__c": "Country = 'Spain'", "Active__c": True, "Target_Group__c": other}
    rig.rest_org.insert("Routing_Rule__c", Name="Spain", Precedence__c=1, **rule)
    rig.leads(1)
    rig.leads(1, Country="Spain")
    rig.rest_org.fault("lock_timeout", path="/composite", body="Turn_Key__c")
    told = Told(rig)
    told.end_in_a_commit(2)
    code = told.run()
    ended = sorted(job.status for job in rig.jobs())
    rig.drain()

    together, first, not_begun = 2, 1, 1
    assert (code, ended) == (0, ["done", "queued"])
    assert len(told.client.batches) == together + first + not_begun
    assert (rig.outcomes(), len(rig.ledger())) == (["assigned", "assigned"], 2)


def test_a_lost_answer_is_looked_up_by_the_next_one(rig: Rig):
    """C22, B13: told to end while the answer to a commit was lost, it asks no more; its next start finds it done."""
    rig.leads(2)
    told = Told(rig)
    rig.rest_org.fault("drop_after", body='"PATCH"')
    told.end_in_a_commit()
    code = told.run()
    left = [(job.status, job.attempts) for job in rig.jobs()]
    rig.drain()

    assert (code, left, rig.turns()) == (0, [("queued", 0)] * 2, [1, 2])
    assert rig.outcomes() == ["skipped: already routed"] * 2


def test_a_sweep_that_is_broken_off_is_asked_for_again(rig: Rig, monkeypatch):
    """P44: told to end between two pages, it asks for no third; the next router's first sweep finds every lead."""
    monkeypatch.setattr(upkeep_loops, "PAGE", 2)
    leads = [rig.rest_org.lead() for _ in range(5)]
    ending = threading.Event()
    client = rig.connect(ending.is_set)
    upkeep = rig.upkeep(org=client)
    pages = client.unassigned

    def page_by_page(*asked):
        for page in pages(*asked):
            yield page
            ending.set()

    client.unassigned = page_by_page
    with pytest.raises(Ending):
        upkeep.step()
    found = len(rig.jobs())
    rig.upkeep().step()
    rig.drain()

    assert (found, [rig.owner(lead) for lead in leads]) == (2, ["Ann", "Bob", "Ann", "Bob", "Ann"])
