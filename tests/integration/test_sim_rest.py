"""The REST resources of the simulated org: shapes, statuses and refusals as recorded from Salesforce."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from email.utils import format_datetime

import pytest
import requests

from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria
from lead_router.salesforce.configuration import field_types
from org_simulator.__main__ import _options, _world
from org_simulator.switches import Switches
from org_simulator.wire.faults import Fault
from support import simulator

EXPIRED = [{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]
NOT_FOUND = [{"message": "The requested resource does not exist", "errorCode": "NOT_FOUND"}]


@pytest.fixture
def org():
    return simulator.world()


@pytest.fixture
def client(org):
    return simulator.admin(org)


@pytest.fixture
def router(org):
    return simulator.client(org)


# ---- single records --------------------------------------------------------------------------------------------------


def test_a_record_lives_and_dies_with_the_recorded_answers(client):
    """POST 201 with Location, PATCH 204 without a body, DELETE 204, then 404 ENTITY_IS_DELETED."""
    made = client.call("POST", "sobjects/Lead", simulator.lead())
    lead_id = made.json()["id"]
    path = f"sobjects/Lead/{lead_id}"
    assert (made.status_code, made.headers["Location"]) == (201, f"/services/data/v68.0/{path}")
    assert made.json() == {"id": lead_id, "success": True, "errors": []}
    changed = client.call("PATCH", path, {"City": "Bonn"})
    assert (changed.status_code, changed.content) == (204, b"")
    read = client.call("GET", path, params={"fields": "Id,City"})
    attributes = {"type": "Lead", "url": f"/services/data/v68.0/{path}"}
    assert read.json() == {"attributes": attributes, "Id": lead_id, "City": "Bonn"}
    assert client.call("DELETE", path).status_code == 204
    deleted = [{"message": "entity is deleted", "errorCode": "ENTITY_IS_DELETED", "fields": []}]
    for method, content in (("GET", None), ("PATCH", {"City": "Celle"})):
        answer = client.call(method, path, content)
        assert (answer.status_code, answer.json()) == (404, deleted)


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "error"),
    [
        ("GET", "sobjects/Leed/00Q5f000005bwLFEAY", None, 404, NOT_FOUND[0]),
        ("GET", "sobjects/Lead/00Q5f000005bwLFEAY", None, 404, NOT_FOUND[0]),
        ("GET", "nowhere", None, 404, NOT_FOUND[0]),
        (
            "GET",
            "sobjects/Lead/0055f000005mc66AAA",
            None,
            400,
            {
                "message": "Lead ID: id value of incorrect type: 0055f000005mc66AAA",
                "errorCode": "MALFORMED_ID",
                "fields": ["Id"],
            },
        ),
        (
            "POST",
            "sobjects/Lead",
            {"LastName": "Doe"},
            400,
            {
                "message": "Required fields are missing: [Company]",
                "errorCode": "REQUIRED_FIELD_MISSING",
                "fields": ["Company"],
            },
        ),
        (
            "POST",
            "sobjects/Lead",
            simulator.lead(X__c=1),
            400,
            {"message": "No such column 'X__c' on sobject of type Lead", "errorCode": "INVALID_FIELD"},
        ),
        (
            "PATCH",
            "sobjects/Lead/00Q5f000005bwLFEAY",
            {"Id": "00Q5f000005bwLFEAY"},
            400,
            {"message": "The Id field should not be specified in the sobject data.", "errorCode": "INVALID_FIELD"},
        ),
        (
            "PUT",
            "sobjects/Lead",
            {},
            405,
            {"message": "HTTP Method 'PUT' not allowed. Allowed are GET,POST", "errorCode": "METHOD_NOT_ALLOWED"},
        ),
    ],
)
def test_refusals_are_arrays_of_error_objects(client, method, path, content, status, error):
    answer = client.call(method, path, content)
    assert (answer.status_code, answer.json()) == (status, [error])


def test_a_body_must_be_json_and_say_so(client):
    url = f"{client.url}{simulator.DATA}/sobjects/Lead"
    broken = client.session.post(url, data=b"{", headers={"Content-Type": "application/json"})
    foreign = client.session.post(url, data=b"<lead/>", headers={"Content-Type": "text/xml"})
    found = [(each.status_code, each.json()[0]["errorCode"]) for each in (broken, foreign)]
    assert found == [(400, "JSON_PARSER_ERROR"), (415, "UNSUPPORTED_MEDIA_TYPE")]


def test_a_uri_has_a_limit(client):
    answer = client.call("GET", "query", params={"q": "SELECT Id FROM Lead WHERE City = '" + "x" * 17_000 + "'"})
    assert answer.status_code == 414


def test_a_record_is_read_and_written_by_its_external_id(client):
    """201 where it was not there, 200 where it was, 404 for an unknown value or field."""
    path = "sobjects/Round_Robin_Group__c/Key__c/emea"
    made = client.call("PATCH", path, {"Name": "EMEA"})
    assert (made.status_code, made.json()["created"]) == (201, True)
    changed = client.call("PATCH", path, {"Name": "Europe"})
    assert (changed.status_code, changed.json()["created"]) == (200, False)
    assert changed.json()["id"] == made.json()["id"]
    read = client.call("GET", path, params={"fields": "Name,Key__c"}).json()
    assert (read["Name"], read["Key__c"]) == ("Europe", "emea")
    assert client.call("GET", "sobjects/Round_Robin_Group__c/Key__c/apac").json() == NOT_FOUND
    unknown = client.call("GET", "sobjects/Round_Robin_Group__c/Name/Europe")
    assert (unknown.status_code, unknown.json()[0]["errorCode"]) == (404, "NOT_FOUND")


def test_an_external_id_that_several_records_have_answers_with_all_of_them(client):
    """300 and the list of URLs."""
    made = [client.create("Lead", **simulator.lead(Routing_Idem_Key__c="k 1/2")) for _ in range(2)]
    answer = client.call("GET", "sobjects/Lead/Routing_Idem_Key__c/k%201%2F2")
    assert answer.status_code == 300
    assert sorted(answer.json()) == sorted(f"/services/data/v68.0/sobjects/Lead/{each}" for each in made)


def test_a_parent_may_be_given_by_its_key(client):
    group = client.create("Round_Robin_Group__c", Name="EMEA", Key__c="emea")
    member = {"Group__r": {"Key__c": "emea"}, "User__r": {"Username": "admin@simulated.example"}}
    client.create("Round_Robin_Member__c", **member)
    (found,) = client.query("SELECT Group__c, User__r.Name FROM Round_Robin_Member__c")
    assert (found["Group__c"], found["User__r"]["Name"]) == (group, "Ada Admin")


def test_a_conditional_write_sees_a_change_of_a_later_second(org, client):
    """If-Unmodified-Since compares whole seconds: 412 after a later one, 204 otherwise."""
    lead_id = client.create("Lead", **simulator.lead())
    since = {"If-Unmodified-Since": format_datetime(org.org.clock.now(), usegmt=True)}
    path = f"sobjects/Lead/{lead_id}"
    assert client.call("PATCH", path, {"City": "Bonn"}, headers=since).status_code == 204
    org.org.clock.advance(2)
    assert client.call("PATCH", path, {"City": "Celle"}).status_code == 204
    refused = client.call("PATCH", path, {"City": "Trier"}, headers=since)
    assert (refused.status_code, refused.json()[0]["errorCode"]) == (412, "ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE")


@pytest.mark.parametrize(("system", "status"), [(False, 204), (True, 412)], ids=["last modified", "system modstamp"])
def test_what_only_the_platform_touched_is_modified_by_one_reading(system, status):
    """If-Unmodified-Since compares one of two times, by switch; what a person changed refuses it under both."""
    org = simulator.world(switches=Switches(unmodified_since_compares_system_modstamp=system))
    client = simulator.admin(org)
    touched, changed = (client.create("Lead", **simulator.lead()) for _ in range(2))
    since = {"If-Unmodified-Since": format_datetime(org.org.clock.now(), usegmt=True)}
    org.org.clock.advance(2)
    org.org.touch(touched)
    client.call("PATCH", f"sobjects/Lead/{changed}", {"City": "Celle"})
    answers = [
        client.call("PATCH", f"sobjects/Lead/{one}", {"City": "Bonn"}, headers=since) for one in (touched, changed)
    ]
    assert [one.status_code for one in answers] == [status, 412]


def test_assignment_rules_run_unless_the_header_says_false(org, client):
    """`Sforce-Auto-Assign` is TRUE where it is absent, on creates and updates of leads."""
    queue = org.org.queue_id("Default_Assigned")
    for header, owner in (({}, queue), ({"Sforce-Auto-Assign": "FALSE"}, org.org.admin_user_id)):
        made = client.call("POST", "sobjects/Lead", simulator.lead(LeadSource="Web"), headers=header).json()["id"]
        assert client.call("GET", f"sobjects/Lead/{made}").json()["OwnerId"] == owner


def test_a_platform_event_is_published_and_named_by_its_uuid(org, router):
    """201 with success and OPERATION_ENQUEUED; an unknown or missing field publishes nothing."""
    path = "sobjects/Lead_Routing_Requested__e"
    answer = router.call("POST", path, {"Lead_Id__c": "00Q5f000005bwLFEAY"})
    (event,) = org.org.events.since(0)
    (receipt,) = answer.json()["errors"]
    assert (answer.status_code, answer.json()["success"]) == (201, True)
    assert receipt == {"statusCode": "OPERATION_ENQUEUED", "message": event.event_uuid, "fields": []}
    assert event.payload["Lead_Id__c"] == "00Q5f000005bwLFEAY"
    assert router.call("POST", path, {"Leed__c": "x"}).status_code == 400
    assert len(org.org.events.since(0)) == 1


# ---- who may see what ------------------------------------------------------------------------------------------------


def test_a_field_that_no_permission_set_opens_is_not_there(client, router):
    """Field-level security hides it from describe, query, rows and writes."""
    user = client.query("SELECT Id FROM User WHERE Username = 'admin@simulated.example'")[0]["Id"]
    times = {"Start__c": "2026-12-01T08:00:00Z", "End__c": "2026-12-02T08:00:00Z"}
    absence = client.create("Member_Absence__c", User__c=user, Reason__c="private", **times)
    path = f"sobjects/Member_Absence__c/{absence}"
    assert "Reason__c" in client.call("GET", path).json()
    assert "Reason__c" not in router.call("GET", path).json()
    described = router.call("GET", "sobjects/Member_Absence__c/describe").json()["fields"]
    assert "Reason__c" not in {each["name"] for each in described}
    answer = router.call("GET", "query", params={"q": "SELECT Reason__c FROM Member_Absence__c"})
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (400, "INVALID_FIELD")


def test_a_read_only_field_is_not_written(client, router):
    group = client.create("Round_Robin_Group__c", Name="EMEA", Key__c="emea")
    answer = router.call("PATCH", f"sobjects/Round_Robin_Group__c/{group}", {"Mode__c": "Live"})
    (refusal,) = answer.json()
    assert refusal["errorCode"] == "INVALID_FIELD_FOR_INSERT_UPDATE"
    assert "fields: Mode__c." in refusal["message"]


def test_describe_says_what_a_field_takes(client):
    fields = {
        each["name"]: each for each in client.call("GET", "sobjects/Round_Robin_Group__c/describe").json()["fields"]
    }
    key, mode, fallback = fields["Key__c"], fields["Mode__c"], fields["Fallback_Group__c"]
    assert (key["type"], key["length"], key["unique"], key["caseSensitive"]) == ("string", 40, True, True)
    assert (key["nillable"], key["createable"], key["externalId"]) == (False, True, True)
    assert [each["value"] for each in mode["picklistValues"]] == ["Off", "Observe", "Live"]
    assert [each["value"] for each in mode["picklistValues"] if each["defaultValue"]] == ["Off"]
    assert (fallback["referenceTo"], fallback["relationshipName"]) == (["Round_Robin_Group__c"], "Fallback_Group__r")
    assert (fields["Id"]["type"], fields["Id"]["createable"], fields["Id"]["updateable"]) == ("id", False, False)


def test_describe_says_what_is_filtered_and_a_rule_of_anything_else_is_refused(client):
    """A text area of 255 characters is, a longer one is not; the types that rules are checked by tell them apart."""
    described = client.call("GET", "sobjects/Lead/describe").json()
    told = {each["name"]: each["filterable"] for each in described["fields"] if each["type"] == "textarea"}
    assert (told["Street"], told["Description"]) == (True, False)
    types = field_types(described)
    assert compile_where("Street = 'x'", types).fields == {"Street"}
    with pytest.raises(BadCriteria, match="Description is a long text and cannot be filtered"):
        compile_where("Description = 'x'", types)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ({"type": "textarea", "length": 255}, "textarea"),
        ({"type": "textarea", "length": 256}, "longtextarea"),
        ({"type": "textarea", "length": 255, "filterable": False}, "longtextarea"),
        ({"type": "string", "length": 255, "filterable": False}, "unfilterable"),
        ({"type": "string", "length": 255}, "string"),
    ],
)
def test_what_describe_says_goes_before_the_length(field, kind):
    """Where it says nothing of filters, a text area's length tells."""
    assert field_types({"fields": [{"name": "X__c"} | field]}) == {"X__c": kind}


def test_versions_are_told_to_anyone_resources_to_users(client):
    found = requests.Session()
    found.mount("https://", client.session.get_adapter("https://"))
    versions = found.get(f"{client.url}/services/data").json()
    assert versions[-1] == {"label": "Winter '27", "url": "/services/data/v68.0", "version": "68.0"}
    assert found.get(f"{client.url}/services/data/v68.0").status_code == 401
    assert client.call("GET", "/services/data/v68.0").json()["limits"] == "/services/data/v68.0/limits"
    assert client.call("GET", "/services/data/v99.0/limits").status_code == 404


# ---- sessions and allowances -----------------------------------------------------------------------------------------


def test_a_dead_token_is_refused_with_401_and_no_allowance(org, client):
    org.org.sessions.revoke_all()
    answer = client.call("GET", "limits")
    assert (answer.status_code, answer.json()) == (401, EXPIRED)
    assert answer.headers["WWW-Authenticate"] == "Token"
    assert "Sforce-Limit-Info" not in answer.headers


def test_every_call_counts_until_none_is_left(org, client):
    """`Sforce-Limit-Info` tells the calls used; beyond the allowance 403 REQUEST_LIMIT_EXCEEDED."""
    org.org.calls_allowed = 2
    used = [client.call("GET", "limits").headers["Sforce-Limit-Info"] for _ in range(2)]
    assert used == ["api-usage=1/2", "api-usage=2/2"]
    refused = client.call("GET", "limits")
    assert (refused.status_code, refused.json()) == (
        403,
        [{"message": "TotalRequests Limit exceeded.", "errorCode": "REQUEST_LIMIT_EXCEEDED"}],
    )


# ---- collections -----------------------------------------------------------------------------------------------------


def _typed(sobject, **fields):
    return {"attributes": {"type": sobject}, **fields}


def test_a_collection_answers_by_position_and_saves_what_is_good(client):
    """`allOrNone` is false where it is absent; a failed record has no id, and `statusCode` instead of `errorCode`."""
    records = [_typed("Lead", **simulator.lead()), _typed("Lead", LastName="Doe")]
    good, bad = client.call("POST", "composite/sobjects", {"records": records}).json()
    assert good == {"id": good["id"], "success": True, "errors": []}
    missing = "Required fields are missing: [Company]"
    assert bad == {
        "success": False,
        "errors": [{"statusCode": "REQUIRED_FIELD_MISSING", "message": missing, "fields": ["Company"]}],
    }
    assert len(client.query("SELECT Id FROM Lead")) == 1


def test_all_or_none_rolls_the_good_records_back(client):
    """The failing record has no id; the others keep theirs and say why they were not saved."""
    ids = [client.create("Lead", **simulator.lead()) for _ in range(2)]
    records = [_typed("Lead", id=ids[0], City="Bonn"), _typed("Lead", id=ids[1], Company=None)]
    first, second = client.call("PATCH", "composite/sobjects", {"allOrNone": True, "records": records}).json()
    rolled_back = "Record rolled back because not all records were valid and the request was using AllOrNone header"
    assert first == {
        "id": ids[0],
        "success": False,
        "errors": [{"statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK", "message": rolled_back, "fields": []}],
    }
    assert (second["success"], "id" in second) == (False, False)
    assert [each["City"] for each in client.query("SELECT City FROM Lead")] == [None, None]


def test_a_collection_is_upserted_read_and_deleted(client):
    groups = [_typed("Round_Robin_Group__c", Name=key, Key__c=key) for key in ("emea", "apac")]
    path = "composite/sobjects/Round_Robin_Group__c/Key__c"
    made = client.call("PATCH", path, {"records": groups}).json()
    again = client.call("PATCH", path, {"records": groups[:1]}).json()
    assert [each["created"] for each in made + again] == [True, True, False]
    ids = [made[1]["id"], "a035f000000000AAAA", made[0]["id"]]
    read = client.call(
        "GET", "composite/sobjects/Round_Robin_Group__c", params={"ids": ",".join(ids), "fields": "Key__c"}
    ).json()
    assert [each and each["Key__c"] for each in read] == ["apac", None, "emea"]
    gone = client.call("DELETE", "composite/sobjects", params={"ids": f"{ids[0]},{ids[2]}", "allOrNone": "true"}).json()
    assert [each["success"] for each in gone] == [True, True]
    assert client.query("SELECT Id FROM Round_Robin_Group__c") == []


def test_a_collection_has_limits(client):
    """At most 200 records, at most 10 runs of one type."""
    many = client.call("POST", "composite/sobjects", {"records": [_typed("Lead", **simulator.lead())] * 201})
    mixed = [_typed("Lead", **simulator.lead()), _typed("Account", Name="Engines")] * 6
    runs = client.call("POST", "composite/sobjects", {"records": mixed})
    assert [(each.status_code, each.json()[0]["errorCode"]) for each in (many, runs)] == [
        (400, "EXCEEDED_ID_LIMIT"),
        (400, "LIMIT_EXCEEDED"),
    ]


# ---- faults ----------------------------------------------------------------------------------------------------------


def test_a_lost_request_does_nothing_a_lost_answer_does_everything(org, client):
    org.faults.put(Fault("drop_before", method="POST"))
    org.faults.put(Fault("drop_after", method="POST", skip=1))
    for expected in (0, 1):
        with pytest.raises(requests.exceptions.ConnectionError):
            client.call("POST", "sobjects/Lead", simulator.lead())
        assert len(client.query("SELECT Id FROM Lead")) == expected


@pytest.mark.parametrize(
    ("fault", "status", "body"),
    [
        (Fault("status", value=503), 503, "<html>"),
        (Fault("html_200"), 200, "<html>"),
        (Fault("lock_timeout"), 400, "UNABLE_TO_LOCK_ROW"),
        (Fault("401"), 401, "INVALID_SESSION_ID"),
        (Fault("request_limit", value="concurrent"), 403, "ConcurrentPerOrgLongTxn Limit exceeded."),
    ],
)
def test_a_fault_answers_instead_of_the_org_once(org, client, fault, status, body):
    org.faults.put(fault)
    answer = client.call("POST", "sobjects/Lead", simulator.lead())
    assert (answer.status_code, body in answer.text) == (status, True)
    assert client.query("SELECT Id FROM Lead") == []


def test_an_expired_session_stays_expired(org, client):
    org.faults.put(Fault("expire_session"))
    assert [client.call("GET", "limits").status_code for _ in range(2)] == [401, 401]


def test_an_unreachable_org_was_never_asked(org, client):
    """The client library sees a connection that was never made, as with a closed port."""
    org.faults.put(Fault("unreachable"))
    with pytest.raises(requests.exceptions.ConnectionError) as caught:
        client.call("GET", "limits")
    assert "Connection refused" in str(caught.value)
    assert org.org.calls_used == 0


def test_equal_seeds_draw_equal_faults():
    """A story of random faults can be told again."""

    def story(seed):
        world = simulator.world(seed=seed)
        who = simulator.admin(world)
        world.faults.put(Fault("status", count=None, probability=0.3))
        return [who.call("GET", "limits").status_code for _ in range(30)]

    assert story(1) == story(1)
    assert story(1) != story(2)


# ---- the process -----------------------------------------------------------------------------------------------------


def test_the_process_serves_is_controlled_and_ends_in_peace():
    """One ready line; scenario, state, rows, users and faults over the control API; exit code 0 after SIGTERM."""
    people = {
        "records": [
            {"sobject": "User", "ref": "ada", "fields": {"Username": "ada@x.example", "LastName": "Ada"}},
            {"sobject": "Lead", "ref": "one", "fields": simulator.lead(OwnerId="@ada")},
        ],
        "assignment_rule": None,
    }
    with simulator.simulator("--seed", "3") as running:
        ids = running.control("scenario", people)["ids"]
        assert [row["OwnerId"] for row in running.rows("Lead")] == [ids["ada"]]
        client = running.client()
        running.control("faults", {"name": "drop_after", "method": "POST"})
        with pytest.raises(requests.exceptions.ConnectionError):
            client.call("POST", "sobjects/Lead", simulator.lead(LeadSource="Web"))
        running.control("user", {"id": ids["ada"], "active": False})
        (other,) = [row["Id"] for row in running.rows("Lead") if row["Id"] != ids["one"]]
        refused = client.call("PATCH", f"sobjects/Lead/{other}", {"OwnerId": ids["ada"]})
        state = running.control("state")
        code = running.stop()
    assert refused.json()[0]["errorCode"] == "INACTIVE_OWNER_OR_USER"
    assert (state["counts"]["Lead"], state["api_calls"]) == (2, 2)
    assert code == 0


def test_each_start_is_another_org_unless_a_seed_is_given():
    """What a router knows of an org that is gone is never taken for knowledge of the next one: no id comes again."""
    starts = [_world(_options(words)) for words in ([], [], ["--seed", "3"], ["--seed", "3"])]
    ids = [world.org.org_id for world in starts]
    made = [world.org.admin_user_id for world in starts]

    assert (ids[0] != ids[1], ids[2] == ids[3]) == (True, True)
    assert (made[0] != made[1], made[2] == made[3]) == (True, True)


def test_many_clients_are_served_at_once():
    """Each of many threads gets its own answers; nothing is lost or doubled."""
    with simulator.simulator() as running:
        token = running.token()

        def work(number):
            with requests.Session() as session:
                session.headers["Authorization"] = f"Bearer {token}"
                return [
                    simulator.Client(running.url, session).create("Lead", **simulator.lead(Title=f"{number}.{place}"))
                    for place in range(10)
                ]

        with ThreadPoolExecutor(16) as pool:
            ids = [each for made in pool.map(work, range(16)) for each in made]
        assert len(set(ids)) == 160
        assert len({row["Title"] for row in running.rows("Lead")}) == 160


def test_control_calls_name_what_is_wrong(org):
    session = simulator.admin(org).session
    answers = [
        session.post(f"{org.base_url}/simulator/{name}", data=json.dumps(content))
        for name, content in (
            ("faults", {"name": "gremlin"}),
            ("scenario", {"records": [{"sobject": "Leed", "fields": {}}]}),
            ("scenario", {"people": []}),
            ("stream", {"do": "dance"}),
            ("nothing", {}),
        )
    ]
    assert [each.status_code for each in answers] == [400, 400, 400, 400, 404]
    assert "gremlin" in answers[0].json()["error"]
    assert "leed" in answers[1].json()["error"].lower()


def test_a_port_that_is_taken_is_told_in_one_line():
    """Exit 2, as for any option that cannot be had."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = [sys.executable, "-m", "org_simulator", "--host", "127.0.0.1", "--port", port]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"org_simulator: cannot serve at 127.0.0.1:{port}: ")
