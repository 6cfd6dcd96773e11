"""Apex that is not run here, reached over the wire: told by file and line, and nothing of it is kept."""

from __future__ import annotations

import pytest

from support.apex import ApexOrg
from support.apex_wire import composite, lead, post

pytestmark = pytest.mark.apex

UNRUN = {
    "OnLead.trigger": """trigger OnLead on Lead (before insert) {
        insert new Account(Name = 'made');
        Object o = 1;
        if (Trigger.new[0].LastName == 'odd') { o.trim(); }
    }"""
}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/sobjects/Lead", {"LastName": "odd", "Company": "C"}),
        ("/composite/sobjects", {"allOrNone": False, "records": [lead("odd"), lead("b")]}),
        ("/composite", composite({"LastName": "a", "Company": "C"}, {"LastName": "odd", "Company": "C"})),
    ],
    ids=["row", "collection", "composite"],
)
def test_apex_that_is_not_run_here_is_a_500_with_file_and_line(path, content):
    """Nothing of the transaction is left, nor a lock: the next request goes through."""
    made = ApexOrg(UNRUN)
    told = post(made, path, content)
    assert told.status_code == 500
    assert told.json() == [
        {"message": "OnLead.trigger:4: unsupported: Integer.trim with 0 arguments", "errorCode": "UNSUPPORTED_APEX"}
    ]
    assert (made.rows("Lead"), made.rows("Account")) == ([], [])
    assert post(made, "/sobjects/Lead", {"LastName": "b", "Company": "C"}).status_code == 201


def test_apex_that_is_not_run_here_fails_its_own_part_where_parts_stand_alone():
    """Without all or none each part is a transaction: the others stand, as their answers say."""
    made = ApexOrg(UNRUN)
    parts = composite(*({"LastName": name, "Company": "C"} for name in ("a", "odd", "b"))) | {"allOrNone": False}
    told = post(made, "/composite", parts).json()["compositeResponse"]
    assert [part["httpStatusCode"] for part in told] == [201, 500, 201]
    assert [row["LastName"] for row in made.rows("Lead")] == ["a", "b"]


def test_a_job_that_is_not_run_here_is_among_the_failures():
    """Behind a commit nobody can be told by an answer."""
    made = ApexOrg(
        {
            "OnAsk.trigger": """trigger OnAsk on Lead_Routing_Requested__e (after insert) {
                Object o = 1;
                o.trim();
            }"""
        }
    )
    assert post(made, "/sobjects/Lead_Routing_Requested__e", {"Lead_Id__c": "x"}).status_code == 201
    assert made.automation.work() == 1
    assert made.automation.failures == ["OnAsk.trigger:3: unsupported: Integer.trim with 0 arguments"]
