"""Which changes make jobs, and under which names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.ids import to18
from lead_router.core.model import Configuration
from lead_router.loops.intake import job_of, worth_a_job
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
    ("change", "wanted"),
    [
        (_change("CREATE", OwnerId=INTAKE), True),
        (_change("CREATE", OwnerId=PERSON), False),
        (_change("CREATE", OwnerId=PERSON, Status="Recycled"), True),
        (_change("CREATE"), True),
        (_change("GAP_CREATE"), True),
        (_change("GAP_UPDATE"), True),
        (_change("UNDELETE", OwnerId=PERSON), True),
        (_change("GAP_UNDELETE"), True),
        (_change("REQUESTED"), True),
        (_change("UPDATE", OwnerId=INTAKE), True),
        (_change("UPDATE", OwnerId=OTHER_QUEUE), False),
        (_change("UPDATE", OwnerId=PERSON), False),
        (_change("UPDATE", Phone="1"), False),
        (_change("UPDATE", Status="Recycled"), True),
        (_change("UPDATE", Status="Working"), False),
        (_change("UPDATE", Status=None), False),
        (_change("DELETE"), False),
        (_change("GAP_DELETE"), False),
    ],
    ids=lambda value: f"{value.change_type} {dict(value.fields)}" if isinstance(value, Change) else str(value),
)
def test_a_change_makes_a_job_if_it_may_have_made_the_lead_unassigned(change, wanted):
    """P46, P55, P56: what surely concerns nobody makes no job; in doubt there is one."""
    assert worth_a_job(change, CONFIGURATION) is wanted


def test_a_creation_has_one_name_however_it_is_told():
    """A26: an event and its gap event are one job; the key names the record."""
    told = {job_of(_change(kind), CONFIGURATION, ORG).idempotency_key for kind in ("CREATE", "GAP_CREATE")}

    assert told == {f"{ORG}.{LEAD}.create"}


def test_a_later_change_is_another_job_of_the_same_lead():
    """Jobs of one lead keep their order by its id."""
    job = job_of(_change("UPDATE", OwnerId=INTAKE), CONFIGURATION, ORG)

    assert (job.idempotency_key, job.ordering_key) == (f"{ORG}.{LEAD}.tx-1.2", LEAD)


def test_the_payload_holds_no_personal_value():
    """The job database holds ids, keys and times, no name, address or number."""
    change = _change("CREATE", Email="buyer@acme.example", LastName="Buyer", CreatedDate="2026-11-29T20:26:27.000Z")
    job = job_of(change, replace(CONFIGURATION), ORG)

    assert set(job.payload) == {"change_type", "identity", "event_at", "submission"}
    assert "buyer" not in str(job).lower()
