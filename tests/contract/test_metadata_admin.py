"""What an admin and a rep see: pages, lists and cards that tell who is next, who had what today, and what is stuck."""

from __future__ import annotations

import pytest

from lead_router.core.model import Mode, Outcome, Status
from lead_router.salesforce import names
from support import shipped_metadata as shipped

RELATED_COLUMNS_MAX = 10
CARD_FIELDS_MAX = 10
COMMON = {"NAME", "FULL_NAME", "LEAD.COMPANY", "LEAD.CREATED_DATE", "CORE.USERS.ALIAS"}
DATES = {"TODAY"}


def layout(owner: str) -> shipped.Item:
    """The one page layout of an object."""
    (found,) = (item for item in shipped.of("layout") if item.name.startswith(f"{owner}-"))
    return found


def related(owner: str) -> dict[str, tuple[list[str], str | None, str | None]]:
    """The related lists on an object's page: columns, sorted by, and how."""
    return {
        shipped.text(entry, "relatedList") or "": (
            shipped.texts(entry, "fields"),
            shipped.text(entry, "sortField"),
            shipped.text(entry, "sortOrder"),
        )
        for entry in shipped.children(layout(owner).root, "relatedLists")
    }


def filters(path: str) -> list[tuple[str | None, str | None, str | None]]:
    """What a list view `Object.Name` asks for."""
    owner, _, name = path.partition(".")
    (found,) = (item for item in shipped.of("listView") if (item.owner, item.name) == (owner, name))
    return [
        (shipped.text(entry, "field"), shipped.text(entry, "operation"), shipped.text(entry, "value"))
        for entry in shipped.children(found.root, "filters")
    ]


def test_a_groups_page_tells_who_is_next_and_who_had_what():
    """Members stand in the order of their turns, with the turns of their last day; the latest rows come first."""
    lists = related(names.Objects.GROUP)
    members, by, order = lists[f"{names.Objects.MEMBER}.{names.MemberFields.GROUP}"]
    assert (by, order) == (names.MemberFields.NEXT_TURN, "Asc")
    assert {
        names.MemberFields.USER,
        names.MemberFields.WEIGHT,
        names.MemberFields.ACTIVE,
        names.MemberFields.NEXT_TURN,
        names.MemberFields.LAST_TURN,
        names.MemberFields.LEADS_RECEIVED,
        names.MemberFields.CAP_DAY,
        names.MemberFields.CAP_COUNT,
    } <= set(members)
    _, by, order = lists[f"{names.Objects.LEDGER}.{names.LedgerFields.GROUP}"]
    assert (by, order) == (names.LedgerFields.COMMITTED_AT, "Desc")


@pytest.mark.parametrize("owner", sorted({item.name.partition("-")[0] for item in shipped.of("layout")}))
def test_related_lists_show_what_fits(owner: str):
    """Each has columns of its object, no long text, sorts by one of them, and has its row's name to click on."""
    for path, (columns, by, order) in related(owner).items():
        fields = shipped.fields(path.partition(".")[0])
        assert set(columns) - {"NAME"} <= set(fields)
        assert "NAME" in columns
        assert len(columns) == len(set(columns)) <= RELATED_COLUMNS_MAX
        assert [name for name in columns if name in fields and fields[name].text("type") == "LongTextArea"] == []
        assert by in columns
        assert order in {"Asc", "Desc"}


@pytest.mark.parametrize("status", [Status.QUEUED, Status.HELD, Status.FAILED])
def test_leads_that_have_no_owner_are_a_list_each(status: Status):
    """What waits, is held, or was given up is one click away. A job that dies leaves its lead Failed."""
    assert filters(f"Lead.Routing_{status}") == [(names.LeadFields.STATUS, "equals", status)]


def test_todays_work_is_a_list():
    """By lead and by ledger."""
    assert filters("Lead.Routing_Assigned_Today") == [
        (names.LeadFields.STATUS, "equals", Status.ASSIGNED),
        (names.LeadFields.ROUTED_AT, "equals", "TODAY"),
    ]
    assert filters(f"{names.Objects.LEDGER}.Today") == [(names.LedgerFields.COMMITTED_AT, "equals", "TODAY")]
    assert filters(f"{names.Objects.LEDGER}.Fallbacks") == [
        (names.LedgerFields.OUTCOME, "equals", Outcome.FALLBACK),
    ]
    assert filters(f"{names.Objects.GROUP}.Live") == [(names.GroupFields.MODE, "equals", Mode.LIVE)]


@pytest.mark.parametrize("item", shipped.of("listView"), ids=lambda item: f"{item.owner}.{item.name}")
def test_a_list_asks_for_words_that_its_fields_have(item: shipped.Item):
    """A picklist's filter names its values, a time's a date word; no column twice, and none of long text."""
    fields, columns = shipped.fields(item.owner), shipped.texts(item.root, "columns")
    assert len(columns) == len(set(columns))
    assert [name for name in set(columns) - COMMON if fields[name].text("type") == "LongTextArea"] == []
    for field, _, value in filters(f"{item.owner}.{item.name}"):
        kind = fields[field or ""].text("type")
        if kind == "Picklist":
            words = shipped.texts(fields[field or ""].root, "valueSet", "valueSetDefinition", "value", "fullName")
            assert set((value or "").split(",")) <= set(words)
        if kind == "DateTime":
            assert value in DATES


def test_every_object_has_a_card():
    """The compact layout of each object is chosen by it, and begins with the name."""
    cards = {item.owner: item for item in shipped.of("compactLayout")}
    objects = {item.owner: item for item in shipped.of("object") if item.owner.endswith("__c")}
    assert set(cards) == set(objects)
    assert len(cards) == len(shipped.of("compactLayout"))
    for owner, item in cards.items():
        fields = shipped.texts(item.root, "fields")
        assert objects[owner].text("compactLayoutAssignment") == item.name
        assert fields[0] == "Name"
        assert len(fields) == len(set(fields)) <= CARD_FIELDS_MAX
        assert set(fields[1:]) <= set(shipped.fields(owner))
        assert [name for name in fields[1:] if shipped.fields(owner)[name].text("type") == "LongTextArea"] == []


@pytest.mark.parametrize("item", shipped.of("notiftype"), ids=lambda item: item.name)
def test_a_notification_can_be_sent(item: shipped.Item):
    """A flow finds it by its name, on desk and phone."""
    assert item.text("customNotifTypeName") == item.name
    assert item.text("masterLabel") == item.name.replace("_", " ")
    assert (item.text("desktop"), item.text("mobile")) == ("true", "true")


def test_no_page_of_an_orgs_own_object_is_overwritten():
    """Layouts and cards are of our objects alone: a lead's page is the org's."""
    ours = {item.owner for item in shipped.of("object")}
    assert {item.name.partition("-")[0] for item in shipped.of("layout")} <= ours
    assert {item.owner for item in shipped.of("compactLayout")} <= ours
