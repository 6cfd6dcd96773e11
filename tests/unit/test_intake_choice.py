"""Which changes make jobs, and under which names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.ids import to18
from lead_router.core.model import Cause, Configuration, Group, Mode, Reroute, Rule, ToGroup
from lead_router.loops.causes import cause_of, unassigned_under
from lead_router.loops.intake import job_of
from lead_router.ports import Change

AT = datetime(2026, 11, 29, 20, 26, 27, tzinfo=UTC)
ORG = to18("00D000000000001")
LEAD = to18("00Q000000000001")
INTAKE, PERSON, OTHER_QUEUE = to18("00G000000000001"), to18("005000000000001"), to18("00G000000000002")
CONFIGURATION = Configuration(
    rules=(),
    group_keys={},
    queues={},
    intake_owners=frozenset({INTAKE}),
    unassigned="",
    form_field=None,
    submission_window_s=600,
    follow_wait_s=600,
    integration_user_id=PERSON,
    lead_fields=frozenset(),
    intake_statuses=frozenset({"Recycled"}),
)


def _change(change_type: str, **fields: object) -> Change:
    return Change(LEAD, change_type, "tx-1.2", "", PERSON, AT, frozenset(fields), fields)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (_change("CREATE", OwnerId=INTAKE), Cause.WAITING),
        (_change("CREATE", OwnerId=PERSON), None),
        (_change("CREATE", OwnerId=PERSON, Status="Recycled"), Cause.WAITING),
        (_change("CREATE"), Cause.WAITING),
        (_change("GAP_CREATE"), Cause.WAITING),
        (_change("GAP_UPDATE"), Cause.WAITING),
        (_change("UNDELETE", OwnerId=PERSON), Cause.WAITING),
        (_change("GAP_UNDELETE"), Cause.WAITING),
        (_change("REQUESTED"), Cause.WAITING),
        (_change("UPDATE", OwnerId=INTAKE), Cause.WAITING),
        (_change("UPDATE", OwnerId=INTAKE, Status="Recycled"), Cause.WAITING),
        (_change("UPDATE", OwnerId=OTHER_QUEUE), None),
        (_change("UPDATE", OwnerId=PERSON), None),
        (_change("UPDATE", OwnerId=PERSON, Status="Recycled"), None),
        (_change("UPDATE", Phone="1"), None),
        (_change("UPDATE", Country="JP"), None),
        (_change("UPDATE", Status="Recycled"), Cause.STATUS),
        (_change("UPDATE", Status="recycled"), Cause.STATUS),
        (_change("UPDATE", Status="Working"), None),
        (_change("UPDATE", Status=None), None),
        (_change("DELETE"), None),
        (_change("GAP_DELETE"), None),
    ],
    ids=lambda value: f"{value.change_type} {dict(value.fields)}" if isinstance(value, Change) else str(value),
)
def test_a_change_makes_a_job_if_it_may_have_made_the_lead_unassigned(change, cause):
    """P46, P55, P56: what surely concerns nobody makes no job; in doubt there is one."""
    assert cause_of(change, CONFIGURATION) is cause


CRITERIA = "Country = 'JP' OR RecordType.DeveloperName = 'Partner' OR Source__r.Name = 'Fair' OR Name LIKE 'A%'"
GROUP = Group("g1", "asia", "Asia", Mode.LIVE, 1, 0, 0, None, (), reroute=Reroute.REROUTE)
REROUTING = replace(
    CONFIGURATION,
    rules=(Rule("r1", "asia", 1, CRITERIA, ToGroup("g1")),),
    group_keys={"g1": "asia"},
    roster=(GROUP,),
)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (_change("UPDATE", Country="JP"), Cause.CHANGED),
        (_change("UPDATE", country=None, Phone="1"), Cause.CHANGED),
        (_change("UPDATE"), None),
        (_change("UPDATE", RecordTypeId="012"), Cause.CHANGED),
        (_change("UPDATE", Source__c="a01"), Cause.CHANGED),
        (_change("UPDATE", LastName="Abe"), Cause.CHANGED),
        (_change("GAP_UPDATE"), Cause.CHANGED),
        (_change("UPDATE", Phone="1"), None),
        (_change("UPDATE", Country="JP", Status="Recycled"), Cause.STATUS),
        (_change("UPDATE", Country="JP", OwnerId=INTAKE), Cause.WAITING),
        (_change("CREATE", Country="JP", OwnerId=PERSON), None),
    ],
    ids=lambda value: f"{value.change_type} {dict(value.fields)}" if isinstance(value, Change) else str(value),
)
def test_where_a_group_reroutes_a_change_of_what_rules_read_asks_again(change, cause):
    """E10: a country that came, changed or went may send a lead elsewhere; a changed phone number never does."""
    assert cause_of(change, REROUTING) is cause


def test_where_no_group_reroutes_changed_fields_ask_nothing():
    """The switch is off unless an administrator turns it on."""
    kept = replace(REROUTING, roster=(replace(GROUP, reroute=Reroute.KEEP),))
    assert cause_of(_change("UPDATE", Country="JP"), kept) is None


@pytest.mark.parametrize("configuration", [CONFIGURATION, REROUTING], ids=["kept", "re-routing"])
def test_a_change_of_what_says_which_leads_wait_asks(configuration):
    """P46: a lead of the intake that comes to meet the definition is new from then on."""
    narrowed = replace(configuration, unassigned="Rating = 'Hot'")
    assert cause_of(_change("UPDATE", Rating="Hot"), narrowed) is Cause.WAITING
    assert cause_of(_change("UPDATE", Rating="Hot"), configuration) is None
    assert cause_of(_change("UPDATE", Rating="Hot", OwnerId=PERSON), narrowed) is None


def test_a_creation_has_one_name_however_it_is_told():
    """A26: an event and its gap event are one job; the key names the record."""
    told = {
        job_of(_change(kind), Cause.WAITING, CONFIGURATION, ORG).idempotency_key for kind in ("CREATE", "GAP_CREATE")
    }

    assert told == {f"{ORG}.{LEAD}.create"}


def test_a_later_change_is_another_job_of_the_same_lead():
    """Jobs of one lead keep their order by its id."""
    job = job_of(_change("UPDATE", OwnerId=INTAKE), Cause.WAITING, CONFIGURATION, ORG)

    assert (job.idempotency_key, job.ordering_key) == (f"{ORG}.{LEAD}.tx-1.2", LEAD)


def test_the_payload_holds_no_personal_value():
    """The job database holds ids, keys and times, no name, address or number."""
    change = _change("CREATE", Email="buyer@acme.example", LastName="Buyer", CreatedDate="2026-11-29T20:26:27.000Z")
    job = job_of(change, Cause.WAITING, CONFIGURATION, ORG)

    assert set(job.payload) == {"change_type", "identity", "event_at", "cause"}
    assert job.submission is not None
    assert "buyer" not in str(job).lower()


@pytest.mark.parametrize(
    ("change", "owner"),
    [
        (_change("CREATE", OwnerId=INTAKE), INTAKE),
        (_change("UPDATE", OwnerId=INTAKE), INTAKE),
        (_change("CREATE", OwnerId=PERSON, Status="Recycled"), PERSON),
        (_change("CREATE", OwnerId=PERSON), None),
        (_change("UPDATE", OwnerId=PERSON), None),
        (_change("UPDATE", Status="Recycled"), None),
        (_change("GAP_CREATE"), None),
        (_change("REQUESTED"), None),
    ],
)
def test_the_job_remembers_from_whom_a_lead_may_be_taken(change, owner):
    """Where the event shows the lead unassigned, and whose it was; a rep's own lead is never seen to be taken."""
    assert unassigned_under(change, CONFIGURATION) == owner
    assert job_of(change, Cause.WAITING, CONFIGURATION, ORG).payload.get("unassigned_under") == owner
