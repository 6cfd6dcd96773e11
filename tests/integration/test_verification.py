"""Verification against the simulated org: drift is found with its turn and mended; routers at work are none."""

from __future__ import annotations

import pytest

from lead_router.app.verifying import proposed, verified_in
from lead_router.core.drift import Drift
from lead_router.errors import Misconfigured
from lead_router.loops.verification import LOOKS_MAX, verify
from lead_router.ports import Bury, Release
from lead_router.ports.books import Look
from lead_router.salesforce.books import SalesforceBooks
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.wire.adapter import OrgAdapter
from support.tampering import erase, tamper
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


class Meanwhile(SalesforceBooks):
    """The production client; something happens before the rows are read, and groups move at the first looks."""

    before_rows = staticmethod(lambda: None)
    after_stamps = staticmethod(lambda: None)
    moving = 0

    def rows(self, group_id=None, *, since=None):
        self.before_rows()
        yield from super().rows(group_id, since=since)

    def stamps(self, lead_ids):
        seen = super().stamps(lead_ids)
        self.after_stamps()
        return seen

    def look(self, *, sums=False):
        seen = super().look(sums=sums)
        self.moving -= 1
        return seen if self.moving < 0 else Look({}, seen.stands, seen.keys, seen.sums)


def books(rig):
    return Meanwhile(rig.rest_org.rest)


def report(rig, **options):
    return verify(options.pop("books", books(rig)), rig.store, now=rig.clock.now, **options)


def found(seen):
    return [(one.kind, one.epoch, one.turn) for one in seen.findings]


def routed(rig, count=10):
    leads = rig.leads(count)
    rig.drain()
    return leads


def row_of(rig, turn):
    return next(row for row in rig.ledger() if row["Turn__c"] == turn)


def test_what_was_routed_is_no_drift(rig):
    """All of it is read: groups, rows, leads and jobs."""
    routed(rig, 10)
    seen = report(rig)

    assert (seen.findings, seen.notes, seen.unsteady) == ((), (), ())
    assert (seen.groups, seen.rows, seen.leads, seen.jobs) == (1, 10, 10, 10)
    assert report(rig, group="emea").jobs is None
    with pytest.raises(Misconfigured, match="no group with the key 'apac'"):
        report(rig, group="apac")


def test_what_people_may_do_is_no_drift(rig):
    """Weights, members, epochs, owners, blanked stamps, deleted and merged leads, taken by hand or given back."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Count_Manual__c=True)
    rig.router = rig.worker(name="two")
    leads = routed(rig, 8)
    ann, bob, emea = (rig.rest_org.refs[name] for name in ("ann_emea", "bob_emea", "emea"))
    rig.rest_org.update(ann, Weight__c=5)
    rig.rest_org.update(leads[0], OwnerId=rig.rest_org.refs["bob"])
    rig.rest_org.update(leads[1], Routing_Round__c=None, Routing_Idem_Key__c=None)
    rig.rest_org.delete(leads[2])
    rig.org.merge_leads(leads[3], leads[4])
    rig.rest_org.update(leads[5], OwnerId=rig.rest_org.queue("Lead_Intake"))
    rig.clock.advance(1000)
    rig.upkeep().step()
    rig.drain()
    assert report(rig).findings == ()

    rig.rest_org.update(emea, Epoch__c=5, Turn__c=0)
    rig.rest_org.delete(bob)
    routed(rig, 5)
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=emea, User__c=rig.rest_org.refs["bob"], Weight__c=100)
    routed(rig, 5)
    assert report(rig).findings == ()


def test_three_drifts_are_found_with_their_turns_and_mended(rig):
    """A row deleted, a member who tells another story, a lead of another group; the ledger is never written."""
    leads = routed(rig, 20)
    erase(rig.org, row_of(rig, 7)["Id"])
    member = row_of(rig, 19)["Member__c"]
    tamper(rig.org, member, Last_Turn__c=3, Leads_Received__c=2, Next_Turn__c=None)
    lead = row_of(rig, 12)["Lead__c"]
    assert lead in leads
    tamper(rig.org, lead, Routing_Group__c="apac")
    seen = report(rig)

    assert [(one.kind, one.turn) for one in seen.findings] == [
        (Drift.MISSING, 7),
        (Drift.LAST_TURN, 19),
        (Drift.RECEIVED, 19),
        (Drift.NEXT_TURN, 19),
        (Drift.SHOWN_GROUP, 12),
        (Drift.JOB, None),
    ]
    shown = verified_in(books(rig), rig.store)
    assert not shown.written
    assert rig.rest_org.row(member)["Last_Turn__c"] == 3

    after = verified_in(books(rig), rig.store, write=True)
    assert [one.refused for one in after.changes] == [None] * len(after.changes)
    assert {one.kind for one in after.findings} == {Drift.MISSING, Drift.SHOWN_GROUP, Drift.JOB}
    assert rig.rest_org.row(member)["Last_Turn__c"] == 19


def test_a_group_that_was_set_back_goes_on_where_its_ledger_ends(rig):
    """Until then every commit is refused; afterwards the next turn is the next."""
    routed(rig, 9)
    emea = rig.rest_org.refs["emea"]
    tamper(rig.org, emea, Turn__c=5)
    assert found(report(rig)) == [(Drift.TURN, 1, 6)]

    after = verified_in(books(rig), rig.store, write=True)
    assert (after.findings, [one.new for one in after.changes]) == ((), [9])
    routed(rig, 3)
    assert rig.turns() == list(range(1, 13))
    assert report(rig).findings == ()


def test_a_lead_in_a_lower_round_is_set_to_the_round_of_its_row(rig):
    """Its owner stays who it is, and nobody is given it anew."""
    (lead,) = routed(rig, 1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    rig.clock.advance(1000)
    rig.upkeep().step()
    rig.drain()
    assert rig.lead(lead)["Routing_Round__c"] == 2
    owner, key = rig.lead(lead)["OwnerId"], rig.lead(lead)["Routing_Idem_Key__c"]
    tamper(rig.org, lead, Routing_Round__c=1)
    assert [(one.kind, one.turn, one.record) for one in report(rig).findings] == [(Drift.ROUND, 2, lead)]

    after = verified_in(books(rig), rig.store, write=True)
    assert after.findings == ()
    row = rig.lead(lead)
    assert (row["Routing_Round__c"], row["Routing_Idem_Key__c"], row["OwnerId"]) == (2, key, owner)


def test_stamps_and_groups_that_the_ledger_does_not_have_are_found(rig):
    """A stamp of the lead's own that is not its round's, another group, a round of which no row tells."""
    one, two, three = routed(rig, 3)
    tamper(rig.org, one, Routing_Idem_Key__c=f"{rig.org.org_id}.{one}.sweep.1.1")
    tamper(rig.org, two, Routing_Group__c="apac")
    tamper(rig.org, three, Routing_Round__c=4)
    seen = {one.record: (one.kind, one.changes) for one in report(rig).findings}

    assert seen == {one: (Drift.STAMP, ()), two: (Drift.SHOWN_GROUP, ()), three: (Drift.ROUND, ())}


def test_rows_that_routers_write_meanwhile_are_no_drift(rig):
    """A group is judged by the rows up to its turn as it was read; whatever comes while pages are read is newer."""
    routed(rig, 4)
    reader = books(rig)
    reader.before_rows = lambda: routed(rig, 6)
    seen = report(rig, books=reader)

    assert (seen.findings, seen.rows, seen.seen[rig.rest_org.refs["emea"]].turn) == ((), 10, 4)


class Torn(Rest):
    """The production client, whose composites see a moment for each part, as nobody promised that they do not."""

    between = staticmethod(lambda: None)

    def composite(self, parts, **options):
        answers = []
        for part in parts:
            answers += super().composite([part], **options)
            if part.reference == "groups":
                self.between()
        return answers


def test_a_group_that_moves_within_a_look_is_not_judged_by_it(rig):
    """Its members are of a later turn than itself: the second reading of the groups tells."""
    routed(rig, 4)
    torn = Torn(rig.rest_org.holder, open_session(rig.rest_org.world.base_url, adapter=OrgAdapter(rig.rest_org.world)))
    torn.between = lambda: routed(rig, 1)
    seen = SalesforceBooks(torn).look(sums=True)
    assert (list(seen.groups), seen.stands) == ([], {rig.rest_org.refs["emea"]: (1, 5)})

    torn.between = lambda: None
    assert SalesforceBooks(torn).look().groups.keys() == seen.stands.keys()


def test_a_group_is_looked_at_again_until_it_stands_still(rig):
    """One that never does is named, and not judged."""
    routed(rig, 4)
    reader = books(rig)
    reader.moving = 3
    assert report(rig, books=reader).groups == 1
    reader.moving = LOOKS_MAX
    seen = report(rig, books=reader)
    assert (seen.groups, seen.unsteady) == (0, ("emea",))


def test_a_repair_is_refused_where_the_group_moved_since(rig):
    """Nothing of it is written, also where the stored Expected Turn is that very text already."""
    routed(rig, 5)
    member = row_of(rig, 5)["Member__c"]
    for _ in range(2):
        tamper(rig.org, member, Leads_Received__c=40)
        reader = books(rig)
        seen = report(rig, books=reader)
        (group,) = seen.seen.values()
        changes = [change for one in seen.findings for change in one.changes]
        routed(rig, 2)
        tamper(rig.org, rig.rest_org.refs["emea"], Expected_Turn__c=f"{group.epoch}.{group.turn}")
        refused = reader.mend(group, changes)
        assert list(refused.refused) == [member]
        assert "Turn_Moved" in refused.refused[member]
        assert rig.rest_org.row(member)["Leads_Received__c"] >= 40
        assert verified_in(books(rig), rig.store, write=True).findings == ()


def test_a_lead_that_was_given_out_or_taken_since_is_not_mended(rig):
    """The rule that keeps routers apart keeps a repair apart, too."""
    (lead,) = routed(rig, 1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    rig.clock.advance(1000)
    rig.upkeep().step()
    rig.drain()
    tamper(rig.org, lead, Routing_Round__c=1)
    reader = books(rig)
    changes = [change for one in report(rig).findings for change in one.changes]
    tamper(rig.org, lead, Routing_Round__c=3)
    refused = reader.mend_leads(changes).refused

    assert refused == {lead: "it is in that round, or a higher one, by now"}
    tamper(rig.org, lead, Routing_Round__c=1, Routing_Idem_Key__c="another's")
    reader.after_stamps = lambda: tamper(rig.org, lead, Routing_Round__c=3)
    assert "Routing_Owner_Moved" in reader.mend_leads(changes).refused[lead]
    tamper(rig.org, lead, Routing_Round__c=1, Routing_Idem_Key__c="another's")
    reader.after_stamps = lambda: rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["ann"])
    assert "Routing_Owner_Moved" in reader.mend_leads(changes).refused[lead]
    rig.rest_org.delete(lead)
    reader.after_stamps = lambda: None
    assert reader.mend_leads(changes).refused == {lead: "it was deleted meanwhile"}


def test_jobs_are_held_against_the_ledger(rig):
    """Done without a row, dead and open long after with one; what is merely late is not told."""
    leads = routed(rig, 4)
    erase(rig.org, next(row["Id"] for row in rig.ledger() if row["Lead__c"] == leads[0]))
    again(rig, leads[1], Bury("no"))
    again(rig, leads[2], Release(0.0, "later"))
    kinds = [(one.kind, one.record) for one in report(rig).findings if one.kind is Drift.JOB]
    assert kinds == [(Drift.JOB, "1"), (Drift.JOB, "2")]

    rig.clock.advance(3601)
    assert [one.record for one in report(rig).findings if one.kind is Drift.JOB] == ["1", "2", "3"]
    since = rig.clock.now()
    assert [one.record for one in report(rig, since=since).findings] == ["2", "3"]


UNENDED = """
    UPDATE routing_job SET status = 'queued', completed_at = NULL, outcome = NULL, attempts = 0 WHERE lead_id = :lead
"""


def again(rig, lead_id, ending):
    """The lead's job, set back to what it was before it ended, and ended otherwise."""
    rig.store._engine.write([(UNENDED, {"lead": lead_id})])
    (job,) = rig.store.claim("w", limit=1, lease_s=60)
    rig.store.end([(job, ending)])


def test_a_page_of_any_size_tells_the_same(rig, monkeypatch):
    """Rows beyond the first page, and keys beyond the first query."""
    routed(rig, 30)
    monkeypatch.setattr("org_simulator.wire.query.PAGE", 7)
    monkeypatch.setattr("lead_router.salesforce.books.LITERALS_MAX", 200)
    monkeypatch.setattr("lead_router.salesforce.books.LEADS_MAX", 3)
    seen = report(rig)

    assert (seen.findings, seen.rows, seen.leads, seen.jobs) == ((), 30, 30, 30)
    assert proposed(seen) == ()
