"""`/composite` of the simulated org: one transaction, in the order asked for, told as Salesforce tells it."""

from __future__ import annotations

import threading
from time import perf_counter

import pytest

from org_simulator.clock import SystemClock
from org_simulator.switches import Switches
from support import simulator
from support.simulator import part

HALTED = {
    "errorCode": "PROCESSING_HALTED",
    "message": "The transaction was rolled back since another operation in the same transaction failed.",
}


@pytest.fixture
def org():
    return simulator.world()


@pytest.fixture
def client(org):
    return simulator.admin(org)


def _group(client, **fields):
    return client.create("Round_Robin_Group__c", **{"Name": "EMEA", "Key__c": "emea", **fields})


def _row(lead_id, turn, **fields):
    ledger = {
        "Lead__c": lead_id,
        "Lead_Key__c": f"{lead_id}.1",
        "Idempotency_Key__c": f"{lead_id}.create",
        "Turn_Key__c": f"emea.0.{turn}",
        "Outcome__c": "Assigned",
    }
    return {"attributes": {"type": "Lead_Assignment__c"}, **ledger, **fields}


def _leads(ids, **fields):
    return [{"attributes": {"type": "Lead"}, "id": each, **fields} for each in ids]


def test_the_parts_run_in_one_transaction_and_answer_each_for_itself(org, client):
    """POST 201 with Location, PATCH 204 with a null body, a collection 200; one API call, one transaction key."""
    lead_id = client.create("Lead", **simulator.lead())
    before = org.org.calls_used
    group, touch, ledger = client.composite(
        part("POST", "group", "sobjects/Round_Robin_Group__c", {"Name": "EMEA", "Key__c": "emea"}),
        part("PATCH", "touch", f"sobjects/Lead/{lead_id}", {"Title": "@{group.id}"}),
        part("POST", "ledger", "composite/sobjects", {"records": [_row(lead_id, 1, Group__c="@{group.id}")]}),
    )
    group_id = group["body"]["id"]
    assert group == {
        "body": {"id": group_id, "success": True, "errors": []},
        "httpHeaders": {"Location": f"/services/data/v68.0/sobjects/Round_Robin_Group__c/{group_id}"},
        "httpStatusCode": 201,
        "referenceId": "group",
    }
    assert touch == {"body": None, "httpHeaders": {}, "httpStatusCode": 204, "referenceId": "touch"}
    assert (ledger["httpStatusCode"], ledger["body"][0]["success"]) == (200, True)
    assert client.query("SELECT Title FROM Lead")[0]["Title"] == group_id
    assert client.query("SELECT Group__r.Key__c FROM Lead_Assignment__c")[0]["Group__r"]["Key__c"] == "emea"
    assert org.org.calls_used - before == 3


def test_a_failed_part_undoes_all_and_halts_the_others(client):
    """HTTP 200 at the top; the guilty part tells its error, the others 400 PROCESSING_HALTED; nothing is written."""
    lead_id = client.create("Lead", **simulator.lead())
    first, guilty, last = client.composite(
        part("PATCH", "first", f"sobjects/Lead/{lead_id}", {"City": "Bonn"}),
        part("PATCH", "guilty", f"sobjects/Lead/{lead_id}", {"Company": None}),
        part("POST", "last", "sobjects/Lead", simulator.lead()),
    )
    assert [first, last] == [
        {"body": [HALTED], "httpHeaders": {}, "httpStatusCode": 400, "referenceId": name} for name in ("first", "last")
    ]
    assert (guilty["httpStatusCode"], guilty["body"][0]["errorCode"]) == (400, "REQUIRED_FIELD_MISSING")
    assert [each["City"] for each in client.query("SELECT City FROM Lead")] == [None]


@pytest.mark.parametrize(
    ("switch", "inner", "expected"),
    [
        (True, False, (True, None)),
        (True, True, (False, "ALL_OR_NONE_OPERATION_ROLLED_BACK")),
        (False, False, (False, "ALL_OR_NONE_OPERATION_ROLLED_BACK")),
    ],
)
def test_a_failed_collection_answers_200_and_may_call_rolled_back_records_a_success(switch, inner, expected):
    """T2: the outer `allOrNone` rules, though a record that was rolled back may still say `success: true`."""
    org = simulator.world(switches=Switches(inner_success_true_when_rolled_back=switch))
    client = simulator.admin(org)
    ids = [client.create("Lead", **simulator.lead()) for _ in range(2)]
    group = _group(client)
    records = [_row(ids[0], 1), _row(ids[1], 1)]
    touch, ledger = client.composite(
        part("PATCH", "touch", f"sobjects/Round_Robin_Group__c/{group}", {"Name": "Europe"}),
        part("POST", "ledger", "composite/sobjects", {"allOrNone": inner, "records": records}),
    )
    good, bad = ledger["body"]
    assert (touch["body"], ledger["httpStatusCode"]) == ([HALTED], 200)
    assert (good["success"], good["errors"][0]["statusCode"] if good["errors"] else None) == expected
    assert (bad["success"], bad["errors"][0]["statusCode"], "id" in bad) == (False, "DUPLICATE_VALUE", False)
    assert client.query("SELECT Id FROM Lead_Assignment__c") == []
    assert client.query("SELECT Name FROM Round_Robin_Group__c")[0]["Name"] == "EMEA"


def test_without_all_or_none_each_part_stands_alone(client):
    """A part that refers to a failed one is halted, the rest is kept."""
    bad, orphan, good = client.composite(
        part("POST", "bad", "sobjects/Lead", {"LastName": "Doe"}),
        part("PATCH", "orphan", "sobjects/Lead/@{bad.id}", {"City": "Bonn"}),
        part("POST", "good", "sobjects/Lead", simulator.lead()),
        allOrNone=False,
    )
    assert [each["httpStatusCode"] for each in (bad, orphan, good)] == [400, 400, 201]
    assert orphan["body"][0]["errorCode"] == "PROCESSING_HALTED"
    assert len(client.query("SELECT Id FROM Lead")) == 1


def test_a_part_reads_what_an_earlier_part_wrote(client):
    made, found = client.composite(
        part("POST", "made", "sobjects/Lead", simulator.lead()),
        part("GET", "found", "query?q=SELECT+Id,LastName+FROM+Lead+WHERE+Id='@{made.id}'"),
    )
    assert [each["Id"] for each in found["body"]["records"]] == [made["body"]["id"]]


def test_order_is_a_promise_only_without_collation():
    """With `collateSubrequests` (the default) the seed decides; references still come after what they refer to."""

    def titles(**options):
        client = simulator.admin(simulator.world(seed=5))
        lead_id = client.create("Lead", **simulator.lead())
        orders = set()
        for _ in range(12):
            client.composite(
                *(part("PATCH", f"p{place}", f"sobjects/Lead/{lead_id}", {"Title": str(place)}) for place in range(3)),
                **options,
            )
            orders.add(client.query("SELECT Title FROM Lead")[0]["Title"])
        return orders

    assert titles() == {"2"}
    assert titles(collateSubrequests=True) > {"2"}
    assert titles(collateSubrequests=None) > {"2"}


def test_collation_keeps_references_behind_what_they_refer_to(client):
    for _ in range(12):
        answers = client.composite(
            part("POST", "first", "sobjects/Lead", simulator.lead()),
            part("PATCH", "second", "sobjects/Lead/@{first.id}", {"City": "Bonn"}),
            collateSubrequests=True,
        )
        assert [each["httpStatusCode"] for each in answers] == [201, 204]


@pytest.mark.parametrize(("reaches", "owned_by_admin"), [(False, False), (True, True)])
def test_auto_assign_must_stand_in_the_part_itself(reaches, owned_by_admin):
    """A part inherits no header but Accept, Authorization and Content-Type; a switch lets the outer one through."""
    org = simulator.world(switches=Switches(outer_header_reaches_subrequests=reaches))
    client = simulator.admin(org)
    web = simulator.lead(LeadSource="Web")
    content = {"allOrNone": True, "collateSubrequests": False}
    own = {"Sforce-Auto-Assign": "FALSE"}
    content["compositeRequest"] = [
        part("POST", "inherits", "sobjects/Lead", web),
        part("POST", "says", "sobjects/Lead", web, own),
    ]
    answer = client.call("POST", "composite", content, headers={"Sforce-Auto-Assign": "FALSE"}).json()
    inherits, says = (each["body"]["id"] for each in answer["compositeResponse"])
    owners = {each: client.call("GET", f"sobjects/Lead/{each}").json()["OwnerId"] for each in (inherits, says)}
    assert (owners[inherits] == org.org.admin_user_id) is owned_by_admin
    assert owners[says] == org.org.admin_user_id


@pytest.mark.parametrize(("reaches", "suffix"), [(True, ";client=lead-router"), (False, "")])
def test_the_client_name_marks_the_changes_of_a_composite(reaches, suffix):
    """`Sforce-Call-Options` of the whole request names the client in changeOrigin, unless a switch says it does not."""
    org = simulator.world(switches=Switches(outer_call_options_reach_subrequests=reaches))
    heard = []
    org.org.listeners.append(heard.extend)
    content = {"allOrNone": True, "compositeRequest": [part("POST", "one", "sobjects/Lead", simulator.lead())]}
    simulator.admin(org).call("POST", "composite", content, headers={"Sforce-Call-Options": "client=lead-router"})
    assert [change.origin for change in heard] == [f"com/salesforce/api/rest/68.0{suffix}"]


def test_an_event_of_a_composite_is_published_only_if_all_is_committed(org, client):
    event = part("POST", "event", "sobjects/Lead_Routing_Requested__e", {"Lead_Id__c": "00Q5f000005bwLFEAY"})
    client.composite(event, part("POST", "bad", "sobjects/Lead", {"LastName": "Doe"}))
    assert org.org.events.since(0) == []
    answer, _ = client.composite(event, part("POST", "good", "sobjects/Lead", simulator.lead()))
    (published,) = [each for each in org.org.events.since(0) if each.channel.startswith("/event/")]
    assert answer["body"]["errors"][0]["message"] == published.event_uuid


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([part("GET", f"p{place}", "sobjects/Lead/describe") for place in range(26)], "25"),
        ([part("GET", f"p{place}", "query?q=SELECT+Id+FROM+Lead") for place in range(6)], "5"),
        ([part("GET", "same", "query?q=SELECT+Id+FROM+Lead")] * 2, "same"),
        ([part("GET", "a.b", "query?q=SELECT+Id+FROM+Lead")], "a.b"),
        ([{"method": "GET", "referenceId": "far", "url": "https://elsewhere/services/data/v68.0/limits"}], "far"),
        ([part("GET", "own", "query?q=SELECT+Id+FROM+Lead", headers={"Authorization": "Bearer x"})], "authorization"),
    ],
)
def test_a_composite_that_is_wrong_as_a_whole_is_refused_as_a_whole(client, parts, why):
    answer = client.call("POST", "composite", {"compositeRequest": parts})
    assert (answer.status_code, why in answer.json()[0]["message"]) == (400, True)


def test_a_part_has_a_limit_to_its_uri(client):
    (answer,) = client.composite(part("GET", "long", "query?q=" + "x" * 17_000))
    assert (answer["httpStatusCode"], answer["body"][0]["errorCode"]) == (414, "URI_TOO_LONG")


def test_a_batch_keeps_what_succeeded(client):
    """`/composite/batch` has no transaction around it."""
    requests = [
        {"method": "POST", "url": "v68.0/sobjects/Lead", "richInput": simulator.lead()},
        {"method": "POST", "url": "v68.0/sobjects/Lead", "richInput": {"LastName": "Doe"}},
        {"method": "GET", "url": "v68.0/limits"},
    ]
    answer = client.call("POST", "composite/batch", {"batchRequests": requests, "haltOnError": True}).json()
    assert (answer["hasErrors"], [each["statusCode"] for each in answer["results"]]) == (True, [201, 400, 412])
    assert len(client.query("SELECT Id FROM Lead")) == 1


def test_a_mixed_collection_may_be_committed_chunk_by_chunk():
    """T1: where the switch says so, `allOrNone` of a mixed collection keeps the chunks before the failed one."""
    records = [
        {"attributes": {"type": "Account"}, "Name": "Engines"},
        {"attributes": {"type": "Lead"}, "LastName": "Doe"},
        {"attributes": {"type": "Account"}, "Name": "Wheels"},
    ]
    kept = []
    for atomic in (True, False):
        client = simulator.admin(simulator.world(switches=Switches(mixed_type_collections_atomic=atomic)))
        answer = client.call("POST", "composite/sobjects", {"allOrNone": True, "records": records}).json()
        assert [each["success"] for each in answer] == [not atomic, False, False]
        kept.append([each["Name"] for each in client.query("SELECT Name FROM Account")])
    assert kept == [[], ["Engines"]]


def test_of_two_commits_for_one_turn_one_wins_and_the_other_learns_why():
    """Concurrent requests: the second inserter of a unique key waits for the first, then gets DUPLICATE_VALUE."""
    org = simulator.world(clock=SystemClock())
    client = simulator.admin(org)
    ids = [client.create("Lead", **simulator.lead()) for _ in range(8)]
    ready = threading.Barrier(len(ids))
    answers = {}

    def commit(lead_id):
        own = simulator.admin(org)
        ready.wait()
        answers[lead_id] = own.composite(
            part("POST", "ledger", "composite/sobjects", {"records": [_row(lead_id, 1)]}),
            part("PATCH", "leads", "composite/sobjects", {"records": _leads([lead_id], City="Bonn")}),
        )

    threads = [threading.Thread(target=commit, args=(each,)) for each in ids]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    results = {lead_id: answer[0]["body"][0] for lead_id, answer in answers.items()}
    won = [lead_id for lead_id, result in results.items() if result["success"]]
    lost = [result["errors"][0]["statusCode"] for result in results.values() if not result["success"]]
    assert (len(won), lost) == (1, ["DUPLICATE_VALUE"] * 7)
    assert [each["Lead__c"] for each in client.query("SELECT Lead__c FROM Lead_Assignment__c")] == won
    assert [each["Id"] for each in client.query("SELECT Id FROM Lead WHERE City = 'Bonn'")] == won


def test_a_commit_of_two_hundred_leads_is_answered_at_once(client):
    """Group, ledger and leads of a full batch, in an org of some thousand leads: a blink."""
    records = [{"attributes": {"type": "Lead"}, **simulator.lead()} for _ in range(200)]
    ids = []
    for _ in range(10):
        ids += [each["id"] for each in client.call("POST", "composite/sobjects", {"records": records}).json()]
    group = _group(client)
    turn = {"Turn__c": 200, "Clock__c": 1000, "Expected_Turn__c": "0.0"}
    started = perf_counter()
    answers = client.composite(
        part("PATCH", "group", f"sobjects/Round_Robin_Group__c/{group}", turn),
        part(
            "POST",
            "ledger",
            "composite/sobjects",
            {"records": [_row(each, place) for place, each in enumerate(ids[:200], start=1)]},
        ),
        part("PATCH", "touch", "composite/sobjects", {"records": _leads(ids[:200], Routing_Group__c="emea")}),
        part("PATCH", "leads", "composite/sobjects", {"records": _leads(ids[:200], Routing_Status__c="Assigned")}),
    )
    spent = perf_counter() - started
    assert [each["httpStatusCode"] for each in answers] == [204, 200, 200, 200]
    assert all(each["success"] for answer in answers[1:] for each in answer["body"])
    assert spent < 1.5
