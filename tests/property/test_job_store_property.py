"""Whatever happens to a queue, in whatever order: a model in plain Python and the store say the same."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from lead_router.ports import Bury, Done, Release, Retry
from support.databases import Database, lead_id, new_job

ATTEMPTS = 2
LEASE_S = 60.0
LEADS = st.integers(0, 3)
EVENTS = st.integers(0, 9)
DELAYS = st.sampled_from([0.0, 1.0, 59.0, 61.0, 300.0])
ENDINGS = st.one_of(
    st.just(Done("assigned")),
    st.just(Bury("refused")),
    st.builds(Retry, DELAYS, st.just("locked")),
    st.builds(Release, DELAYS, st.sampled_from(["limit", "held: nobody"])),
)


@dataclass
class Modelled:
    """A job as the model keeps it; times are the test's seconds."""

    id: int
    key: str
    lead: str
    due: float
    status: str = "queued"
    attempts: int = 0
    lease: float = 0.0
    token: str | None = None
    locked: float = 0.0
    discarded: bool = False
    held: bool = False
    asked: bool = False


class Queue(RuleBasedStateMachine):
    """Every rule is one verb by one of several stores on one file; claims may be ended late, twice or never."""

    claims = Bundle("claims")

    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.database = Database(f"sqlite:///{Path(self._folder.name) / 'jobs.db'}")
        self.database.now = 1_800_000_000.0
        self.stores = [self.database.open(max_attempts=ATTEMPTS) for _ in range(2)]
        self.jobs: dict[int, Modelled] = {}
        self.turn = 0

    def teardown(self):
        self.database.close()
        self._folder.cleanup()

    @property
    def store(self):
        """Each verb by the next store in turn: the state is in the file alone."""
        self.turn += 1
        return self.stores[self.turn % 2]

    @property
    def now(self):
        return self.database.now

    @rule(wanted=st.lists(st.tuples(LEADS, EVENTS), max_size=5))
    def record(self, wanted):
        """A known key changes nothing; a new one is queued at once."""
        jobs = [new_job(event, lead=lead) for lead, event in wanted]
        known = {job.key for job in self.jobs.values()}
        fresh = list(dict.fromkeys(job.idempotency_key for job in jobs if job.idempotency_key not in known))
        assert self.store.record(jobs).created == len(fresh)
        shown = {view.idempotency_key: view for view in self.store.jobs(limit=1000)}
        for key in fresh:
            self.jobs[shown[key].id] = Modelled(shown[key].id, key, shown[key].lead_id, self.now)

    @rule(leads=st.sets(LEADS))
    def others_change(self, leads):
        """Held jobs of the leads are due, and those at work as soon as they end by being held."""
        changed = set(map(lead_id, leads))
        self.store.record([], changed=changed)
        for job in self.jobs.values():
            if job.lead not in changed:
                continue
            if job.status == "working":
                job.asked, job.due = True, job.locked + 0.001
            elif job.status == "queued" and job.held:
                job.due = min(job.due, self.now)

    @rule(seconds=st.sampled_from([0.5, 1, 30, 60, 61, 400]))
    def wait(self, seconds):
        self.database.wait(seconds)

    @rule(target=claims, limit=st.integers(1, 4))
    def claim(self, limit):
        """The due heads, oldest first; exhausted crashes are buried first."""
        for job in self.jobs.values():
            if job.status == "working" and job.lease <= self.now and job.attempts >= ATTEMPTS:
                job.status, job.token, job.held = "dead", None, False
        heads = [job for job in self.jobs.values() if self._claimable(job)]
        expected = sorted(heads, key=lambda job: (job.due, job.attempts, job.id))[:limit]
        claimed = self.store.claim("w", limit=limit, lease_s=LEASE_S)
        assert [job.id for job in claimed] == [job.id for job in expected]
        for job, found in zip(expected, claimed, strict=True):
            assert found.claim_token not in {other.token for other in self.jobs.values()}
            job.status, job.token, job.lease = "working", found.claim_token, self.now + LEASE_S
            job.attempts, job.locked, job.asked = job.attempts + 1, self.now, False
            assert found.attempts == job.attempts
        return multiple(*claimed)

    def _claimable(self, job):
        rivals = [other for other in self.jobs.values() if other.lead == job.lead and other.id != job.id]
        first = all(other.id > job.id for other in rivals if other.status == "queued")
        alone = all(other.status != "working" for other in rivals)
        if job.status == "working":
            return job.lease <= self.now
        return job.status == "queued" and first and alone and job.due <= self.now

    @rule(claim=claims)
    def renew(self, claim):
        """Only the claim that holds the token gets more time."""
        job = self._held(claim)
        assert self.store.renew([claim], lease_s=LEASE_S) == ({claim.id} if job else frozenset())
        if job:
            job.lease = self.now + LEASE_S

    @rule(claim=consumes(claims), ending=ENDINGS, again=ENDINGS)
    def end(self, claim, ending, again):
        """Only the claim that holds the token ends the job, and only once."""
        job = self._held(claim)
        assert self.store.end([(claim, ending)]) == ({claim.id} if job else frozenset())
        assert self.store.end([(claim, again)]) == frozenset()
        if job:
            job.token = None
            match ending:
                case Done():
                    job.status = "done"
                case Bury():
                    job.status, job.held = "dead", False
                case Release(delay_s, reason):
                    job.held = reason.startswith("held:")
                    rest_s = 0.0 if job.held and job.asked else delay_s
                    job.status, job.due, job.attempts = "queued", self.now + rest_s, job.attempts - 1
                case Retry(delay_s):
                    job.held = False
                    job.status = "dead" if job.attempts >= ATTEMPTS else "queued"
                    job.due = self.now + delay_s

    def _held(self, claim):
        job = self.jobs.get(claim.id)
        return job if job and job.token == claim.claim_token else None

    @rule(number=st.integers(1, 12), back=st.booleans())
    def decide_on_a_dead_job(self, number, back):
        """A person's verbs touch dead jobs alone."""
        job = self.jobs.get(number)
        dead = job is not None and job.status == "dead"
        assert (self.store.revive(number) if back else self.store.discard(number, "x")) is dead
        if dead and back:
            job.status, job.attempts, job.due = "queued", 0, self.now
        elif dead:
            job.status, job.discarded = "done", True

    @rule()
    def forget(self):
        """Done jobs alone are forgotten; those that a person discarded are remembered for a year."""
        done = [job.id for job in self.jobs.values() if job.status == "done" and not job.discarded]
        assert self.store.forget(older_than_s=-1, limit=1000) == len(done)
        for number in done:
            del self.jobs[number]

    @invariant()
    def the_store_says_what_the_model_says(self):
        """Status and attempts of every job, and no job more."""
        shown = {view.id: (view.status, view.attempts) for view in self.stores[0].jobs(limit=1000)}
        assert shown == {job.id: (job.status, job.attempts) for job in self.jobs.values()}

    @invariant()
    def nobody_is_lost(self):
        """A lead with a job that is not done is known to be waited for, and nothing works without a lease (C4)."""
        views = self.stores[1].jobs(limit=1000)
        waiting = {view.lead_id for view in views if view.status != "done"}
        assert self.stores[1].open_leads([lead_id(number) for number in range(5)]) == waiting
        assert all((view.status == "working") == (view.lease_until is not None) for view in views)
        working = [view.lead_id for view in views if view.status == "working"]
        assert len(working) == len(set(working))


Queue.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueue = Queue.TestCase
