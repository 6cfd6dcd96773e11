"""The simulated org against the client library that real programs use, over real sockets and TLS."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from simple_salesforce.api import Salesforce
from simple_salesforce.exceptions import (
    SalesforceExpiredSession,
    SalesforceMalformedRequest,
    SalesforceResourceNotFound,
)

from support import simulator


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with simulator.simulator(tls=tmp_path_factory.mktemp("tls")) as started:
        yield started


def _salesforce(running, token=None):
    return Salesforce(
        session_id=token or running.token(),
        instance_url=running.url,
        version="68.0",
        session=running.open_session(),
    )


def test_leads_are_created_changed_queried_and_deleted(running):
    salesforce = _salesforce(running)
    made = salesforce.Lead.create(simulator.lead(City="Bonn"))
    assert made == {"id": made["id"], "success": True, "errors": []}
    assert salesforce.Lead.update(made["id"], {"City": "Celle"}) == 204
    assert salesforce.Lead.get(made["id"])["City"] == "Celle"
    found = salesforce.query(f"SELECT Id, Owner.Name FROM Lead WHERE Id = '{made['id']}'")
    assert (found["totalSize"], found["done"], found["records"][0]["Owner"]["Name"]) == (1, True, "Ada Admin")
    assert salesforce.api_usage["api-usage"].total == 100_000
    assert salesforce.Lead.delete(made["id"]) == 204
    with pytest.raises(SalesforceResourceNotFound) as caught:
        salesforce.Lead.get(made["id"])
    assert caught.value.content[0]["errorCode"] == "ENTITY_IS_DELETED"


def test_all_pages_of_a_query_arrive(running):
    """More than one page of 2,000, created through collections from several threads."""
    token = running.token()

    def create(number):
        leads = [simulator.lead(Title=f"p{number}.{place}") for place in range(200)]
        content = {"allOrNone": True, "records": [{"attributes": {"type": "Lead"}, **each} for each in leads]}
        answer = _salesforce(running, token).restful("composite/sobjects", method="POST", json=content)
        assert all(each["success"] for each in answer)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(create, range(11)))
    found = _salesforce(running, token).query_all("SELECT Title FROM Lead WHERE Title LIKE 'p%'")
    assert (found["totalSize"], found["done"], len(found["records"])) == (2200, True, 2200)
    assert len({each["Title"] for each in found["records"]}) == 2200


def test_refusals_reach_the_program_as_the_library_names_them(running):
    salesforce = _salesforce(running)
    with pytest.raises(SalesforceMalformedRequest) as caught:
        salesforce.Lead.create({"LastName": "Doe"})
    assert caught.value.content[0]["errorCode"] == "REQUIRED_FIELD_MISSING"
    with pytest.raises(SalesforceMalformedRequest):
        salesforce.query("SELEKT Id FROM Lead")
    with pytest.raises(SalesforceExpiredSession):
        _salesforce(running, "00D5f0000000000!dead").restful("limits")


def test_describe_and_limits_answer(running):
    salesforce = _salesforce(running)
    fields = {each["name"] for each in salesforce.Lead.describe()["fields"]}
    assert {"Id", "OwnerId", "Routing_Round__c"} <= fields
    assert salesforce.limits()["DailyApiRequests"]["Max"] == 100_000


def test_a_stranger_to_the_certificate_is_not_served(running):
    with requests.Session() as session, pytest.raises(requests.exceptions.SSLError):
        session.get(f"{running.url}/services/data", timeout=simulator.CALL_S)


def test_bad_options_end_with_a_word_and_code_2(tmp_path):
    missing = subprocess.run(
        [sys.executable, "-m", "org_simulator", "--scenario", str(tmp_path / "none.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=simulator.CALL_S,
    )
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "none.json" in missing.stderr
