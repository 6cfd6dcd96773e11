"""A lead posted over REST meets the trigger; actions, settings and platform events of Apex over the wire."""

from __future__ import annotations

import pytest
import requests

from org_simulator.wire.adapter import OrgAdapter
from org_simulator.wire.faults import Faults
from org_simulator.wire.start import BASE_URL
from org_simulator.wire.world import ConnectedApp, World
from support.apex import ApexOrg, need_parser

pytestmark = pytest.mark.apex

ROUTER = """public without sharing class Router {
    public class Ask { @InvocableVariable(required=true) public Id leadId; }
    public class Answer { @InvocableVariable public String reason; @InvocableVariable public Boolean routed; }
    public static void give(List<Lead> leads) {
        Round_Robin_Group__c g = [SELECT Id, Turn__c FROM Round_Robin_Group__c LIMIT 1 FOR UPDATE];
        List<Round_Robin_Member__c> ms = [SELECT User__c FROM Round_Robin_Member__c
            WITH SYSTEM_MODE ORDER BY Sort_Order__c];
        Integer turn = g.Turn__c.intValue();
        for (Lead l : leads) { l.OwnerId = ms[Math.mod(turn++, ms.size())].User__c; l.Routing_Round__c = turn; }
        g.Expected_Turn__c = '0.' + g.Turn__c;
        g.Turn__c = turn;
        update g;
    }
    @InvocableMethod(label='Route')
    public static List<Answer> route(List<Ask> asks) {
        List<Answer> found = new List<Answer>();
        for (Ask a : asks) { Answer r = new Answer(); r.reason = 'asked ' + a.leadId; r.routed = true; found.add(r); }
        return found;
    }
}"""


@pytest.fixture
def org():
    need_parser()
    made = ApexOrg(
        {
            "Routing.trigger": "trigger Routing on Lead (before insert) { Router.give(Trigger.new); }",
            "Router.cls": ROUTER,
            "OnAsk.trigger": """trigger OnAsk on Lead_Routing_Requested__e (after insert) {
                insert new Account(Name = Trigger.new[0].Lead_Id__c); }""",
        }
    )
    with made.org.transaction(made.org.admin_user_id) as tx:
        group = tx.insert("Round_Robin_Group__c", {"Name": "G", "Key__c": "g", "Mode__c": "Live"})
        for place in range(3):
            fields = {"LastName": f"U{place}", "Username": f"u{place}@x.example", "Email": f"u{place}@x.example"}
            user = tx.insert("User", fields)
            tx.insert("Round_Robin_Member__c", {"Group__c": group, "User__c": user, "Sort_Order__c": place})
    return made


@pytest.fixture
def post(org):
    world = World(org=org.org, app=ConnectedApp(), base_url=BASE_URL, faults=Faults(0))
    session = requests.Session()
    session.mount("https://", OrgAdapter(world))
    session.headers["Authorization"] = "Bearer " + org.org.sessions.issue(org.org.admin_user_id)

    def call(path, content):
        prefix = BASE_URL if path.startswith("/simulator") else f"{BASE_URL}/services/data/v68.0"
        return session.post(prefix + path, json=content, timeout=30)

    return call


def lead(name, **more):
    return {"LastName": name, "Company": "C", **more}


def owners(org):
    names = {row["Id"]: row["LastName"] for row in org.rows("User")}
    return [names[row["OwnerId"]] for row in org.rows("Lead")]


def test_one_lead_two_hundred_leads_and_composites_meet_the_trigger(org, post):
    """The single resource, a collection and a composite: each lead has its turn, once."""
    assert post("/sobjects/Lead", lead("a")).status_code == 201
    many = [{"attributes": {"type": "Lead"}, **lead(f"n{place}")} for place in range(200)]
    assert all(each["success"] for each in post("/composite/sobjects", {"allOrNone": True, "records": many}).json())
    part = {"method": "POST", "url": "/services/data/v68.0/sobjects/Lead", "referenceId": "r1", "body": lead("z")}
    composite = post("/composite", {"allOrNone": True, "collateSubrequests": False, "compositeRequest": [part]}).json()
    assert composite["compositeResponse"][0]["httpStatusCode"] == 201
    assert owners(org) == [f"U{place % 3}" for place in range(202)]
    assert org.rows("Round_Robin_Group__c")[0]["Turn__c"] == 202


def test_what_a_trigger_did_is_undone_with_the_save_it_belongs_to(org, post):
    """A validation failure behind the before-trigger takes the group's turn back; a partial request keeps the good."""
    assert post("/sobjects/Lead", {"LastName": "a"}).status_code == 400
    assert org.rows("Round_Robin_Group__c")[0]["Turn__c"] == 0
    records = [
        {"attributes": {"type": "Lead"}, **lead("a")},
        {"attributes": {"type": "Lead"}, "LastName": "no company"},
    ]
    results = post("/composite/sobjects", {"allOrNone": False, "records": records}).json()
    assert [each["success"] for each in results] == [True, False]
    assert (owners(org), org.rows("Round_Robin_Group__c")[0]["Turn__c"]) == (["U0"], 1)


def test_an_exception_in_a_trigger_is_an_error_of_the_request(org, post):
    """CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY with the trigger's name and the cause (facts 3.3)."""
    with org.org.transaction(org.org.admin_user_id) as tx:
        [tx.delete("Round_Robin_Group__c", row["Id"]) for row in list(tx.rows("Round_Robin_Group__c"))]
    [error] = post("/sobjects/Lead", lead("a")).json()
    assert error["errorCode"] == "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY"
    assert error["message"].startswith(
        "Routing: execution of BeforeInsert\n\ncaused by: System.QueryException: List has no rows for assignment"
    )


def test_invocable_methods_answer_as_actions(org, post):
    """One answer for each input, in order; 404 for a class without one."""
    lead_id = post("/sobjects/Lead", lead("a")).json()["id"]
    [answer] = post("/actions/custom/apex/Router", {"inputs": [{"leadId": lead_id}]}).json()
    assert answer["isSuccess"] is True
    assert answer["outputValues"] == {"reason": f"asked {lead_id}", "routed": True}
    assert post("/actions/custom/apex/Nobody", {"inputs": []}).status_code == 404


def test_a_published_event_reaches_the_triggers_of_apex(org, post):
    """Published over REST, delivered behind the commit when the org's jobs run."""
    assert post("/sobjects/Lead_Routing_Requested__e", {"Lead_Id__c": "x"}).status_code == 201
    assert post("/simulator/jobs", {}).json() == {"ran": 1, "failures": []}
    assert [row["Name"] for row in org.rows("Account")] == ["x"]


def test_settings_change_as_by_a_deployment(org, post):
    """Custom metadata is no record that REST may write; the control call stands for a deployment."""
    change = {"sobject": "Lead_Routing_Setting__mdt", "name": "Default", "fields": {"Mode__c": "In_CRM"}}
    assert post("/simulator/setting", change).status_code == 200
    assert org.rows("Lead_Routing_Setting__mdt")[0]["Mode__c"] == "In_CRM"
    assert post("/simulator/setting", {**change, "sobject": "Lead"}).status_code == 400
