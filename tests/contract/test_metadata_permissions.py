"""The permission sets name what exists, depend on nothing they lack, and grant no more than each person needs."""

from __future__ import annotations

import pytest

from lead_router.salesforce import names
from support import shipped_metadata as shipped

SETS = {item.name: item for item in shipped.of("permissionset")}
NEEDS = {
    "allowCreate": {"allowRead"},
    "allowEdit": {"allowRead"},
    "allowDelete": {"allowRead", "allowEdit"},
    "viewAllRecords": {"allowRead"},
    "modifyAllRecords": {"allowRead", "allowEdit", "allowDelete", "viewAllRecords"},
}
STANDARD = {
    "Address",
    "AnnualRevenue",
    "Email",
    "Industry",
    "LeadSource",
    "MobilePhone",
    "NumberOfEmployees",
    "Phone",
    "Rating",
    "Title",
    "Website",
}
MATCHED = {"Account.Website", "Contact.AccountId", "Contact.Email"}
ROTATION = {
    names.MemberFields.NEXT_TURN,
    names.MemberFields.LAST_TURN,
    names.MemberFields.LEADS_RECEIVED,
    names.MemberFields.CAP_DAY,
    names.MemberFields.CAP_COUNT,
}


def objects(name: str) -> dict[str, set[str]]:
    """What a set grants on each object, by the names of the flags that are true."""
    return {
        shipped.text(entry, "object") or "": {
            child.tag.removeprefix(shipped.NAMESPACE) for child in entry if child.text == "true"
        }
        for entry in shipped.children(SETS[name].root, "objectPermissions")
    }


def readable(name: str) -> set[str]:
    """The fields that a set lists, as `Object.Field`."""
    return set(shipped.texts(SETS[name].root, "fieldPermissions", "field"))


def editable(name: str, owner: str) -> set[str]:
    """The fields of an object that a set lets its holder change."""
    return {
        path.partition(".")[2]
        for entry in shipped.children(SETS[name].root, "fieldPermissions")
        if shipped.text(entry, "editable") == "true" and (path := shipped.text(entry, "field") or "")
        if path.startswith(f"{owner}.")
    }


@pytest.mark.parametrize("name", SETS)
def test_a_field_permission_names_a_field_that_may_be_listed(name: str):
    """Salesforce refuses a set that lists an unknown, required or master-detail field, or one twice."""
    listed = shipped.texts(SETS[name].root, "fieldPermissions", "field")
    assert len(listed) == len(set(listed))
    for path in set(listed) - MATCHED - {f"Lead.{field}" for field in STANDARD}:
        field = shipped.field(path)
        assert field is not None, path
        assert shipped.is_listable(field), path
    assert set(shipped.texts(SETS[name].root, "fieldPermissions", "readable")) == ({"true"} if listed else set())


@pytest.mark.parametrize("name", SETS)
def test_a_set_grants_what_its_grants_depend_on(name: str):
    """Every flag's prerequisites are set, and a field is listed only where its object may be read."""
    granted = objects(name)
    assert len(granted) == len(shipped.children(SETS[name].root, "objectPermissions"))
    for owner, flags in granted.items():
        for flag in flags:
            assert NEEDS.get(flag, set()) <= flags, (owner, flag)
    assert {path.partition(".")[0] for path in readable(name)} <= {
        owner for owner, flags in granted.items() if "allowRead" in flags
    }
    if names.Objects.MEMBER in granted:
        assert names.Objects.GROUP in granted
    for owner, flags in granted.items():
        if owner.endswith("__e"):
            assert flags <= {"allowCreate", "allowRead"}


@pytest.mark.parametrize("name", SETS)
def test_a_set_names_what_exists(name: str):
    """Objects, tabs, apps and custom permissions that a set names are shipped with it, or Salesforce's own."""
    item = SETS[name]
    assert set(objects(name)) - {"Lead", "Account", "Contact"} <= {entry.owner for entry in shipped.of("object")}
    assert set(shipped.texts(item.root, "tabSettings", "tab")) <= {entry.name for entry in shipped.of("tab")}
    apps = set(shipped.texts(item.root, "applicationVisibilities", "application"))
    assert apps <= {entry.name for entry in shipped.of("app")}
    assert set(shipped.texts(item.root, "customPermissions", "name")) <= {names.Permissions.ROUTER}


def test_the_router_may_write_what_a_commit_writes_and_no_more():
    """Rotation state, new ledger rows and the lead's routing fields. Delete on Lead is what Modify All asks for."""
    router = names.Permissions.INTEGRATION_SET
    assert editable(router, names.Objects.GROUP) == {
        names.GroupFields.TURN,
        names.GroupFields.CLOCK,
        names.GroupFields.EXPECTED_TURN,
    }
    assert editable(router, names.Objects.MEMBER) == ROTATION
    assert editable(router, "Lead") == set(shipped.fields("Lead"))
    ledger = {name for name, item in shipped.fields(names.Objects.LEDGER).items() if shipped.is_listable(item)}
    assert editable(router, names.Objects.LEDGER) == ledger
    assert editable(router, names.Objects.RULE) | editable(router, names.Objects.ABSENCE) == set()
    granted = objects(router)
    assert {owner for owner, flags in granted.items() if "allowDelete" in flags} == {"Lead"}
    assert granted["Lead"] == {"allowRead", "allowEdit", "allowDelete", "viewAllRecords", "modifyAllRecords"}
    assert "allowEdit" not in granted[names.Objects.LEDGER]


def test_the_router_reads_every_field_it_decides_by():
    """All fields of groups, members, rules, ledger and lead; why someone is absent is not its business."""
    read = readable(names.Permissions.INTEGRATION_SET)
    for owner in (item.owner for item in shipped.of("object") if item.owner.endswith("__c")):
        listable = {name for name, item in shipped.fields(owner).items() if shipped.is_listable(item)}
        assert {name for name in listable if f"{owner}.{name}" not in read} <= {names.AbsenceFields.REASON}
    assert {f"Lead.{field}" for field in STANDARD} <= read


def test_accounts_and_contacts_are_read_only_where_asked_for():
    """The set for matching reads all of both, and no more than an owner is found by; no other set opens them."""
    matching = names.Permissions.MATCHING_SET
    assert objects(matching) == {name: {"allowRead", "viewAllRecords"} for name in ("Account", "Contact")}
    assert readable(matching) == MATCHED
    assert set(shipped.texts(SETS[matching].root, "fieldPermissions", "editable")) == {"false"}
    assert [name for name in SETS if name != matching and {"Account", "Contact"} & objects(name).keys()] == []


def test_only_the_router_is_marked_as_the_router():
    """The custom permission is in the integration user's set alone, with API access."""
    holders = [name for name, item in SETS.items() if shipped.children(item.root, "customPermissions")]
    assert holders == [names.Permissions.INTEGRATION_SET]
    granted = shipped.texts(SETS[holders[0]].root, "userPermissions", "name")
    assert granted == ["ApiEnabled", "ViewRoles", "ViewSetup"]
    others = {name: shipped.texts(item.root, "userPermissions", "name") for name, item in SETS.items()}
    assert {name: rights for name, rights in others.items() if rights and name not in holders} == {
        names.Permissions.NOTICES_SET: ["SendCustomNotifications"],
        names.Permissions.ACTIVITIES_SET: ["ActivitiesAccess"],
    }


def test_who_sends_notices_may_do_nothing_else():
    """The set for notices opens no object, field or page."""
    notices = SETS[names.Permissions.NOTICES_SET].root
    assert objects(names.Permissions.NOTICES_SET) == {}
    assert [one.tag.partition("}")[2] for one in notices] == [
        "description",
        "hasActivationRequired",
        "label",
        "userPermissions",
    ]


def test_who_may_run_what_a_button_runs_is_an_admin():
    """The one class that a flow or button calls is in the admin's set; all else runs without being granted."""
    granted = {name: shipped.texts(item.root, "classAccesses", "apexClass") for name, item in SETS.items()}
    sources = shipped.SOURCES.rglob("*.cls")
    callable_ = [path.stem for path in sources if "@InvocableMethod" in path.read_text(encoding="utf-8")]
    assert granted == {name: callable_ if name == names.Permissions.ADMIN_SET else [] for name in SETS}
    assert shipped.texts(SETS[names.Permissions.ADMIN_SET].root, "classAccesses", "enabled") == ["true"]


def test_nobody_bypasses_the_router_unless_it_is_granted_apart():
    """The permission that leaves a user's saves alone is shipped, and in no set."""
    (bypass,) = (item.name for item in shipped.of("customPermission") if item.name != names.Permissions.ROUTER)
    assert [
        name for name, item in SETS.items() if bypass in shipped.texts(item.root, "customPermissions", "name")
    ] == []


def test_who_works_with_routing_sees_its_app_and_tabs():
    """An admin sees every tab, a rep every one but absences; programs see none."""
    tabs = {item.name for item in shipped.of("tab")}
    seen = {
        name: (
            set(shipped.texts(item.root, "tabSettings", "tab")),
            len(shipped.children(item.root, "applicationVisibilities")),
        )
        for name, item in SETS.items()
    }
    assert seen == {
        names.Permissions.ADMIN_SET: (tabs, 1),
        names.Permissions.REP_SET: (tabs - {names.Objects.ABSENCE}, 1),
        names.Permissions.INTEGRATION_SET: (set(), 0),
        names.Permissions.MATCHING_SET: (set(), 0),
        names.Permissions.NOTICES_SET: (set(), 0),
        names.Permissions.ACTIVITIES_SET: (set(), 0),
    }
    for item in SETS.values():
        assert set(shipped.texts(item.root, "tabSettings", "visibility")) <= {"Visible"}


def test_an_admin_keeps_the_records_and_not_the_history():
    """Groups, members, rules and absences are the admin's; the ledger, the clock and the lead's stamp are not."""
    admin = names.Permissions.ADMIN_SET
    kept = {names.Objects.GROUP, names.Objects.MEMBER, names.Objects.RULE, names.Objects.ABSENCE}
    granted = objects(admin)
    assert {owner for owner, flags in granted.items() if "allowDelete" in flags} == kept
    assert "allowEdit" not in granted[names.Objects.LEDGER] | granted["Lead"]
    assert editable(admin, names.Objects.LEDGER) | editable(admin, "Lead") == set()
    assert {names.GroupFields.EPOCH, names.GroupFields.TURN} <= editable(admin, names.Objects.GROUP)
    assert names.GroupFields.CLOCK not in editable(admin, names.Objects.GROUP)
    assert editable(admin, names.Objects.MEMBER) & ROTATION == set()


def test_a_rep_only_looks():
    """Reps see who is next and why; they change nothing and see no keys, stamps or absences."""
    rep = names.Permissions.REP_SET
    assert set().union(*objects(rep).values()) == {"allowRead"}
    assert names.Objects.ABSENCE not in objects(rep)
    assert set(shipped.texts(SETS[rep].root, "fieldPermissions", "editable")) == {"false"}
    assert [path for path in readable(rep) if path.endswith("_Key__c") or ".Submission_" in path] == []
