"""SELECT statements: how they are read, which rows they look at, what they answer."""

from __future__ import annotations

from time import perf_counter

import pytest

from lead_router.core import soql
from org_simulator.failures import Failure
from org_simulator.wire import select
from org_simulator.wire.find import keys
from support import simulator


@pytest.fixture
def org():
    return simulator.world()


@pytest.fixture
def client(org):
    return simulator.admin(org)


def test_a_statement_is_read_clause_by_clause():
    text = (
        "select Id, Owner.Name from Lead l where (l.LastName = 'from Lead limit 1' OR City = null) "
        "ORDER BY CreatedDate DESC NULLS LAST, l.Id LIMIT 10 OFFSET 5"
    )
    assert select.parse(text) == select.Select(
        sobject="Lead",
        columns=(select.Column("Id"), select.Column("Owner.Name")),
        where="(LastName = 'from Lead limit 1' OR City = null)",
        order=(select.Order("CreatedDate", descending=True, nulls_first=False), select.Order("Id")),
        limit=10,
        offset=5,
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELEKT Id FROM Lead",
        "SELECT Id, FROM Lead",
        "SELECT Id FROM Lead FOR UPDATE",
        "SELECT Id FROM Lead WHERE",
        "SELECT Id FROM Lead LIMIT many",
        "SELECT Id, id FROM Lead",
        "SELECT TYPEOF Owner WHEN User THEN Id END FROM Lead",
        "SELECT (SELECT Id FROM Tasks) FROM Lead",
        'SELECT Id FROM Lead WHERE LastName = "x"',
        "",
    ],
)
def test_what_is_not_offered_is_refused_and_never_ignored(text):
    with pytest.raises(Failure) as caught:
        select.parse(text)
    assert caught.value.code == "MALFORMED_QUERY"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("Id IN ('00Q5f000005bwLF')", {"Id": {"00Q5f000005bwLFEAY"}}),
        ("Company = 'A' AND Routing_Idem_Key__c = 'k'", {"Routing_Idem_Key__c": {"k"}}),
        ("OwnerId = '0055f000005mc66AAA' AND Id = '00Q5f000005bwLFEAY'", {"Id": {"00Q5f000005bwLFEAY"}}),
        (
            "Routing_Idem_Key__c IN ('a') OR OwnerId = '0055f000005mc66AAA'",
            {"Routing_Idem_Key__c": {"a"}, "OwnerId": {"0055f000005mc66AAA"}},
        ),
        ("Routing_Idem_Key__c IN ('a') OR Company = 'A'", None),
        ("NOT Id = '00Q5f000005bwLFEAY'", None),
        ("Id NOT IN ('00Q5f000005bwLFEAY')", None),
        ("Routing_Idem_Key__c = null", None),
        ("Company = 'A'", None),
    ],
)
def test_only_a_clause_that_names_all_its_matches_is_answered_from_an_index(org, where, expected):
    """A union of keys never misses a row; where there is none, every row is looked at."""
    found = keys(soql.parse(where), org.org.schema.objects["lead"])
    assert (None if found is None else {each.field: set(each.values) for each in found}) == expected


def test_parents_are_nested_with_their_own_attributes(org, client):
    queue = org.org.queue_id("Default_Assigned")
    client.create("Lead", **simulator.lead(OwnerId=queue))
    (record,) = client.query(
        "SELECT id, owner.name, OWNER.TYPE, CreatedBy.Username, Routing_Duplicate_Of__r.Name FROM Lead"
    )
    url = "/services/data/v68.0/sobjects"
    assert record == {
        "attributes": {"type": "Lead", "url": f"{url}/Lead/{record['Id']}"},
        "Id": record["Id"],
        "Owner": {
            "attributes": {"type": "Name", "url": f"{url}/Group/{queue}"},
            "Name": "Default Assigned",
            "Type": "Queue",
        },
        "CreatedBy": {
            "attributes": {"type": "User", "url": f"{url}/User/{org.org.admin_user_id}"},
            "Username": "admin@simulated.example",
        },
        "Routing_Duplicate_Of__r": None,
    }


def test_a_clause_may_ask_for_what_stands_at_a_parent(org, client):
    queue = org.org.queue_id("Default_Assigned")
    mine = client.create("Lead", **simulator.lead())
    theirs = client.create("Lead", **simulator.lead(OwnerId=queue))
    assert [each["Id"] for each in client.query("SELECT Id FROM Lead WHERE Owner.Type = 'Queue'")] == [theirs]
    assert [each["Id"] for each in client.query("SELECT Id FROM Lead WHERE Owner.IsActive = true")] == [mine]


def test_rows_are_sorted_limited_and_blank_first(client):
    for city in ("Bonn", None, "aachen", "Celle"):
        client.create("Lead", **simulator.lead(City=city))
    assert [each["City"] for each in client.query("SELECT City FROM Lead ORDER BY City")] == [
        None,
        "aachen",
        "Bonn",
        "Celle",
    ]
    found = client.query("SELECT City FROM Lead ORDER BY City DESC NULLS LAST LIMIT 2 OFFSET 1")
    assert [each["City"] for each in found] == ["Bonn", "aachen"]


def test_figures_are_counted_whole_and_by_group(client):
    for city, staff in (("Bonn", 10), ("Bonn", 20), ("Celle", None)):
        client.create("Lead", **simulator.lead(City=city, NumberOfEmployees=staff))
    assert client.call("GET", "query", params={"q": "SELECT COUNT() FROM Lead"}).json() == {
        "totalSize": 3,
        "done": True,
        "records": [],
    }
    by_city = client.query("SELECT City, COUNT(Id), MAX(NumberOfEmployees) top FROM Lead GROUP BY City")
    assert by_city == [
        {"attributes": {"type": "AggregateResult"}, "City": "Bonn", "expr0": 2, "top": 20},
        {"attributes": {"type": "AggregateResult"}, "City": "Celle", "expr0": 1, "top": None},
    ]


def test_pages_follow_each_other_to_the_last(client):
    """A locator hands out the rest; a spent or foreign one is refused."""
    records = [{"attributes": {"type": "Lead"}, **simulator.lead(Title=str(place))} for place in range(200)]
    for _ in range(2):
        assert client.call("POST", "composite/sobjects", {"records": records}).status_code == 200
    client.create("Lead", **simulator.lead(Title="last"))
    pages = []
    answer = client.call(
        "GET", "query", params={"q": "SELECT Title FROM Lead"}, headers={"Sforce-Query-Options": "batchSize=200"}
    ).json()
    pages.append(answer)
    while not answer["done"]:
        answer = client.call("GET", answer["nextRecordsUrl"]).json()
        pages.append(answer)
    assert [(page["totalSize"], page["done"], len(page["records"])) for page in pages] == [
        (401, False, 200),
        (401, False, 200),
        (401, True, 1),
    ]
    assert pages[-1]["records"][0]["Title"] == "last"
    refused = client.call("GET", "query/01gB000003OCxSPIA1-2000")
    assert (refused.status_code, refused.json()) == (
        400,
        [{"message": "invalid query locator", "errorCode": "INVALID_QUERY_LOCATOR"}],
    )


def test_deleted_records_are_seen_by_query_all_alone(client):
    gone = client.create("Lead", **simulator.lead())
    assert client.call("DELETE", f"sobjects/Lead/{gone}").status_code == 204
    assert client.query("SELECT Id FROM Lead") == []
    everything = client.call("GET", "queryAll", params={"q": "SELECT Id, IsDeleted FROM Lead"}).json()["records"]
    assert [(each["Id"], each["IsDeleted"]) for each in everything] == [(gone, True)]


@pytest.mark.parametrize(
    ("soql_text", "code", "text"),
    [
        ("SELEKT Id FROM Lead", "MALFORMED_QUERY", "unexpected token: SELEKT"),
        ("SELECT X__c FROM Lead", "INVALID_FIELD", "No such column 'X__c' on sobject of type Lead"),
        (
            "SELECT Id FROM Lead WHERE (description = 'x' OR Id = null)",
            "INVALID_FIELD",
            "field 'Description' can not be filtered in a query call",
        ),
        ("SELECT Id FROM Lead WHERE X__c = 1", "INVALID_FIELD", "No such column 'X__c' on sobject of type Lead"),
        ("SELECT Id FROM Leed", "INVALID_TYPE", "sObject type 'Leed' is not supported."),
        ("SELECT Id FROM Lead WHERE Id = 'nope'", "INVALID_QUERY_FILTER_OPERATOR", "invalid ID field: nope"),
    ],
)
def test_refusals_name_what_is_wrong(client, soql_text, code, text):
    answer = client.call("GET", "query", params={"q": soql_text})
    assert answer.status_code == 400
    assert [(each["errorCode"], each["message"]) for each in answer.json()] == [(code, text)]


def test_two_hundred_keys_among_ten_thousand_leads_are_found_by_index(org, client):
    """The cost of a look-up by ids or keys depends on the keys, not on the org's size."""
    with org.org.system_transaction(org.org.admin_user_id) as opened:
        ids = [opened.insert("Lead", simulator.lead(Routing_Idem_Key__c=f"k{place}")) for place in range(10_000)]
    wanted = ",".join(f"'{each}'" for each in ids[:200])
    some = ",".join(f"'k{place}'" for place in range(100, 300))
    started = perf_counter()
    found = client.query(
        f"SELECT Id, Owner.Name, Status FROM Lead WHERE (Id IN ({wanted}) OR Routing_Idem_Key__c IN ({some})) "
        "AND IsConverted = false"
    )
    spent = perf_counter() - started
    assert [each["Id"] for each in found] == ids[:300]
    assert spent < 1.0
