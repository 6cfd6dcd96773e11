"""The metadata is what an org accepts and an admin can read: shapes, limits, unique keys, layouts and list views.

The limits on texts are ours, no wider than Salesforce's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from lead_router.salesforce import names
from support import shipped_metadata as shipped

PLACES = {
    "app": ("CustomApplication", "applications"),
    "cls": ("ApexClass", "classes/*"),
    "compactLayout": ("CompactLayout", "objects/*/compactLayouts"),
    "customPermission": ("CustomPermission", "customPermissions"),
    "dashboard": ("Dashboard", "dashboards/*"),
    "dashboardFolder": ("DashboardFolder", "dashboards"),
    "field": ("CustomField", "objects/*/fields"),
    "layout": ("Layout", "layouts"),
    "listView": ("ListView", "objects/*/listViews"),
    "md": ("CustomMetadata", "customMetadata"),
    "notiftype": ("CustomNotificationType", "notificationtypes"),
    "object": ("CustomObject", "objects/*"),
    "permissionset": ("PermissionSet", "permissionsets"),
    "platformEventChannelMember": ("PlatformEventChannelMember", "platformEventChannelMembers"),
    "queue": ("Queue", "queues"),
    "report": ("Report", "reports/*"),
    "reportFolder": ("ReportFolder", "reports"),
    "reportType": ("ReportType", "reportTypes"),
    "resource": ("StaticResource", "staticresources"),
    "tab": ("CustomTab", "tabs"),
    "trigger": ("ApexTrigger", "triggers"),
    "validationRule": ("ValidationRule", "objects/*/validationRules"),
}
NEEDED = {
    "AutoNumber": (),
    "Checkbox": ("defaultValue",),
    "DateTime": ("required",),
    "Email": ("required",),
    "LongTextArea": ("length", "visibleLines"),
    "Lookup": ("referenceTo", "relationshipName", "relationshipLabel", "required"),
    "MasterDetail": ("referenceTo", "relationshipName", "relationshipLabel", "relationshipOrder"),
    "Number": ("precision", "scale", "required", "unique"),
    "Picklist": ("valueSet", "required"),
    "Text": ("length", "required"),
}
LIMITS = {
    ("field", "label"): 40,
    ("field", "description"): 1000,
    ("field", "inlineHelpText"): 510,
    ("object", "label"): 40,
    ("object", "pluralLabel"): 40,
    ("object", "description"): 1000,
    ("validationRule", "description"): 255,
    ("validationRule", "errorMessage"): 255,
    ("permissionset", "label"): 80,
    ("permissionset", "description"): 255,
    ("customPermission", "description"): 255,
    ("listView", "label"): 40,
    ("compactLayout", "label"): 80,
    ("notiftype", "customNotifTypeName"): 80,
    ("notiftype", "masterLabel"): 80,
    ("notiftype", "description"): 255,
    ("app", "description"): 255,
}
SELECTED_MAX = 5
DESCRIBED = {"app", "customPermission", "dashboard", "field", "notiftype", "object", "permissionset", "validationRule"}
UNIQUE = {
    f"{names.Objects.GROUP}.{names.GroupFields.KEY}",
    f"{names.Objects.RULE}.{names.RuleFields.PRECEDENCE}",
    *(
        f"{names.Objects.LEDGER}.{key}"
        for key in (
            names.LedgerFields.IDEMPOTENCY_KEY,
            names.LedgerFields.TURN_KEY,
            names.LedgerFields.LEAD_KEY,
            names.LedgerFields.SUBMISSION_EVEN,
            names.LedgerFields.SUBMISSION_ODD,
        )
    ),
}
STANDARD_COLUMNS = {"NAME", "FULL_NAME", "LEAD.COMPANY", "LEAD.CREATED_DATE", "CORE.USERS.ALIAS"}
STANDARD_TABS = {"standard-Lead", "standard-report", "standard-Dashboard"}
STANDARD_FIELDS = {"Name", "OwnerId", "CreatedById", "LastModifiedById"}
SETTING_FIELDS = {"MasterLabel", "DeveloperName", "IsProtected", "NamespacePrefix", "CreatedById", "LastModifiedById"}
NAME_RULE = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*")


def by_path(items: list[shipped.Item] | tuple[shipped.Item, ...]) -> list:
    return [pytest.param(item, id=item.path.name.removesuffix("-meta.xml")) for item in items]


def custom_objects() -> list[shipped.Item]:
    return [item for item in shipped.of("object") if item.owner.endswith("__c")]


def test_the_project_is_deployable_from_its_folder():
    """`sfdx-project.json` names the folder that holds everything, and one default package directory."""
    project = json.loads((shipped.PROJECT / "sfdx-project.json").read_text(encoding="utf-8"))
    assert [entry for entry in project["packageDirectories"] if entry.get("default")] == [
        {"path": "force-app", "default": True}
    ]
    outside = [path for path in shipped.SOURCES.rglob("*") if path.is_file() and not path.name.endswith("-meta.xml")]
    assert [path for path in outside if path.suffix not in {".cls", ".json", ".trigger"}] == []


@pytest.mark.parametrize("item", by_path(shipped.items()))
def test_a_file_stands_where_its_kind_belongs(item: shipped.Item):
    """Root element, folder and name of a file agree, as the command line's registry of kinds asks."""
    root, folder = PLACES[item.suffix]
    assert item.root.tag == shipped.NAMESPACE + root
    assert re.fullmatch(folder.replace("*", "[^/]+"), item.folder)
    if item.suffix in {"compactLayout", "field", "listView", "validationRule"}:
        assert item.text("fullName") == item.name
    if item.suffix == "object":
        assert item.owner == item.name
    if item.suffix != "layout":
        names = item.name.split(".")  # a record of custom metadata bears its type's name and its own
        assert all(NAME_RULE.fullmatch(re.sub("__(c|e|mdt)$", "", name)) for name in names)
    assert item.path.read_text(encoding="utf-8").startswith('<?xml version="1.0" encoding="UTF-8"?>\n')


@pytest.mark.parametrize("item", by_path(shipped.items()))
def test_texts_are_there_and_fit(item: shipped.Item):
    """What an admin reads is present, plain and within Salesforce's limits."""
    if item.suffix in DESCRIBED:
        assert item.text("description")
    if item.suffix == "field":
        assert item.text("inlineHelpText")
    for (suffix, tag), limit in LIMITS.items():
        if suffix == item.suffix:
            assert len(item.text(tag) or "") <= limit, tag


@pytest.mark.parametrize("item", by_path(shipped.of("field")))
def test_a_field_has_what_its_type_needs(item: shipped.Item):
    """Each type carries its elements, and numbers stay within what Salesforce stores exactly."""
    kind = item.text("type") or ""
    assert [tag for tag in NEEDED[kind] if item.root.find(shipped.NAMESPACE + tag) is None] == []
    length, precision = int(item.text("length") or 0), int(item.text("precision") or 0)
    assert {"Text": 1 <= length <= 255, "LongTextArea": 256 <= length <= 131072}.get(kind, length == 0)
    assert (1 <= precision <= 18 and item.text("scale") == "0") if kind == "Number" else precision == 0


def test_exactly_these_fields_are_unique():
    """Each promise rests on one of these indexes; text keys tell upper from lower case and serve as row names."""
    unique = {f"{item.owner}.{item.name}": item for item in shipped.of("field") if item.text("unique") == "true"}
    assert set(unique) == UNIQUE
    keys = [item for item in unique.values() if item.text("type") == "Text"]
    assert [
        item.name for item in keys if item.text("caseSensitive") != "true" or item.text("externalId") != "true"
    ] == []


def test_required_fields_are_those_without_which_a_row_means_nothing():
    """Keys are never blank where every row needs one; turn and submission keys may be, for rows without a turn."""
    required = {f"{item.owner}.{item.name}" for item in shipped.of("field") if item.text("required") == "true"}
    assert required == {
        f"{names.Objects.GROUP}.{names.GroupFields.KEY}",
        f"{names.Objects.MEMBER}.{names.MemberFields.USER}",
        f"{names.Objects.ABSENCE}.{names.AbsenceFields.USER}",
        f"{names.Objects.ABSENCE}.{names.AbsenceFields.START}",
        f"{names.Objects.ABSENCE}.{names.AbsenceFields.END}",
        f"{names.Objects.RULE}.{names.RuleFields.PRECEDENCE}",
        f"{names.Objects.LEDGER}.{names.LedgerFields.IDEMPOTENCY_KEY}",
        f"{names.Objects.LEDGER}.{names.LedgerFields.LEAD_KEY}",
        f"{names.Objects.REQUEST}.{names.RequestFields.LEAD_ID}",
    }


def test_picklists_are_restricted():
    """No word but these is stored, at most one is the default, and none stands twice."""
    for item in (item for item in shipped.of("field") if item.text("type") == "Picklist"):
        words = shipped.texts(item.root, "valueSet", "valueSetDefinition", "value", "fullName")
        defaults = shipped.texts(item.root, "valueSet", "valueSetDefinition", "value", "default")
        assert shipped.text(item.root, "valueSet", "restricted") == "true"
        assert len(words) == len(set(words)) > 1
        assert defaults.count("true") <= 1


def test_a_new_group_gives_out_nothing():
    """A group starts switched off, at turn 0 of epoch 0, and a new member counts once."""
    group, member = shipped.fields(names.Objects.GROUP), shipped.fields(names.Objects.MEMBER)
    values = shipped.children(group[names.GroupFields.MODE].root, "valueSet")[0]
    first = shipped.children(shipped.children(values, "valueSetDefinition")[0], "value")[0]
    assert (shipped.text(first, "fullName"), shipped.text(first, "default")) == ("Off", "true")
    for field in (names.GroupFields.EPOCH, names.GroupFields.TURN, names.GroupFields.CLOCK):
        assert group[field].text("defaultValue") == "0"
    assert member[names.MemberFields.WEIGHT].text("defaultValue") == "1"
    assert member[names.MemberFields.ACTIVE].text("defaultValue") == "true"


def test_references_point_at_something():
    """A reference's target is ours or Salesforce's, no parent has two children of one name, ledger rows outlive all."""
    ours = {item.owner for item in shipped.of("object")}
    references = [item for item in shipped.of("field") if item.text("referenceTo")]
    assert {item.text("referenceTo") for item in references} - ours == {"Lead", "User", "BusinessHours"}
    children = Counter((item.text("referenceTo"), item.text("relationshipName")) for item in references)
    assert [child for child, count in children.items() if count > 1] == []
    ledger = [item for item in references if item.owner == names.Objects.LEDGER]
    assert {item.text("deleteConstraint") for item in ledger} == {"SetNull"}
    assert [item.name for item in references if item.text("required") == "true" and item.text("deleteConstraint")] == []


@pytest.mark.parametrize("item", by_path(custom_objects()))
def test_an_object_can_be_used(item: shipped.Item):
    """It is deployed, has a name field, and shares records as its parent does if it has one."""
    kinds = {field.text("type") for field in shipped.fields(item.owner).values()}
    assert item.text("deploymentStatus") == "Deployed"
    assert shipped.text(item.root, "nameField", "type") in {"Text", "AutoNumber"}
    assert (shipped.text(item.root, "nameField", "displayFormat") is not None) == (
        shipped.text(item.root, "nameField", "type") == "AutoNumber"
    )
    assert (item.text("sharingModel") == "ControlledByParent") == ("MasterDetail" in kinds)


def test_the_platform_event_is_sent_only_after_commit():
    """A request that is rolled back is never heard of."""
    (event,) = (item for item in shipped.of("object") if item.owner.endswith("__e"))
    assert (event.text("eventType"), event.text("publishBehavior")) == ("HighVolume", "PublishAfterCommit")


@pytest.mark.parametrize("member", by_path(shipped.of("platformEventChannelMember")))
def test_a_selection_for_change_events_is_named_as_salesforce_asks(member: shipped.Item):
    """The member's name is channel and entity with single underscores, on the standard channel, without a filter."""
    assert member.name == f"{member.text('eventChannel')}_{member.text('selectedEntity')}".replace("__", "_")
    assert member.text("eventChannel") == "ChangeEvents"
    assert [child.tag.removeprefix(shipped.NAMESPACE) for child in member.root] == ["eventChannel", "selectedEntity"]


def test_no_more_objects_are_selected_than_an_org_may_select():
    """Five, without an add-on, in all of the org."""
    assert len(shipped.of("platformEventChannelMember")) <= SELECTED_MAX


def test_the_queue_may_own_leads():
    """Leads wait for the router here."""
    (queue,) = shipped.of("queue")
    assert shipped.texts(queue.root, "queueSobject", "sobjectType") == ["Lead"]


@pytest.mark.parametrize("item", by_path(shipped.of("listView")))
def test_a_list_view_shows_what_exists(item: shipped.Item):
    """Columns and filters name fields of the object, and a queue's view names the queue that is shipped."""
    used = set(shipped.texts(item.root, "columns")) | set(shipped.texts(item.root, "filters", "field"))
    assert used - STANDARD_COLUMNS <= set(shipped.fields(item.owner))
    assert (item.text("filterScope") == "Queue") == (item.text("queue") is not None)
    assert item.text("queue") in {None, names.Queues.INTAKE}


@pytest.mark.parametrize("item", by_path(shipped.of("layout")))
def test_a_layout_shows_every_field_once(item: shipped.Item):
    """An admin finds every field; required ones are marked, and what the router writes cannot be typed over."""
    owner = item.name.partition("-")[0]
    entries = item.root.findall(f".//{shipped.NAMESPACE}layoutItems")
    behaviors = {shipped.text(entry, "field"): shipped.text(entry, "behavior") for entry in entries}
    assert len(behaviors) == len(entries)
    standard = SETTING_FIELDS if owner.endswith("__mdt") else STANDARD_FIELDS
    assert set(behaviors) - standard == set(shipped.fields(owner))
    assert standard - {"OwnerId"} <= set(behaviors)
    for name, field in shipped.fields(owner).items():
        assert (behaviors[name] == "Required") == (not shipped.is_listable(field)), name
    lists = [path.split(".") for path in shipped.texts(item.root, "relatedLists", "relatedList")]
    assert all(shipped.fields(child)[field].text("referenceTo") == owner for child, field in lists)


def test_every_object_has_tab_layout_and_view():
    """What can be kept by hand can be found: in the app, by tab, list and page."""
    objects = {item.owner for item in custom_objects()}
    (app,) = shipped.of("app")
    assert {item.name for item in shipped.of("tab")} == objects
    settings = {item.owner for item in shipped.of("object") if item.owner.endswith("__mdt")}
    assert {item.name.partition("-")[0] for item in shipped.of("layout")} == objects | settings
    assert {item.owner for item in shipped.of("listView") if item.name == "All"} == objects
    assert set(shipped.texts(app.root, "tabs")) == objects | STANDARD_TABS
    assert app.text("defaultLandingTab") in objects


def test_elements_of_a_file_are_in_order():
    """A file reads as Salesforce gives it back: full name first, then by name, so that a retrieve changes nothing."""
    for item in shipped.items():
        tags = [child.tag.removeprefix(shipped.NAMESPACE) for child in item.root]
        keys = [(tag != "fullName", tag.lower()) for tag in tags]
        assert all(first <= second for first, second in pairwise(keys)), item.path.name
