"""What single values of metadata may be: words, lengths, names, and what must be there.

Words and limits follow the Metadata API Developer Guide. That every field has a description and a help text, and every
part that an admin meets a description, is this project's own rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from apex.project import NAMESPACE, Source, text

OPERATIONS = frozenset(
    [
        "equals",
        "notEqual",
        "lessThan",
        "greaterThan",
        "lessOrEqual",
        "greaterOrEqual",
        "contains",
        "notContain",
        "startsWith",
        "includes",
        "excludes",
        "within",
    ]
)
FIELD_TYPES = frozenset(
    [
        "AutoNumber",
        "Checkbox",
        "Currency",
        "Date",
        "DateTime",
        "Email",
        "EncryptedText",
        "ExternalLookup",
        "File",
        "Hierarchy",
        "Html",
        "IndirectLookup",
        "Location",
        "LongTextArea",
        "Lookup",
        "MasterDetail",
        "MetadataRelationship",
        "MultiselectPicklist",
        "Number",
        "Percent",
        "Phone",
        "Picklist",
        "Summary",
        "Text",
        "TextArea",
        "Time",
        "Url",
    ]
)
CHARTS = frozenset(
    [
        "Bar",
        "BarGrouped",
        "BarStacked",
        "BarStacked100",
        "Column",
        "ColumnGrouped",
        "ColumnLine",
        "ColumnLineGrouped",
        "ColumnLineStacked",
        "ColumnLineStacked100",
        "ColumnStacked",
        "ColumnStacked100",
        "Donut",
        "FlexTable",
        "Funnel",
        "Gauge",
        "Line",
        "LineCumulative",
        "LineGrouped",
        "LineGroupedCumulative",
        "Metric",
        "Pie",
        "Scatter",
        "ScatterGrouped",
        "Table",
    ]
)
GRAINS = frozenset(
    [
        "None",
        "Day",
        "Week",
        "Month",
        "Quarter",
        "Year",
        "FiscalQuarter",
        "FiscalYear",
        "MonthInYear",
        "DayInMonth",
        "DayInWeek",
        "HourInDay",
    ]
)
CATEGORIES = frozenset(
    [
        "accounts",
        "opportunities",
        "forecasts",
        "cases",
        "leads",
        "campaigns",
        "activities",
        "busop",
        "products",
        "admin",
        "territory",
        "other",
        "content",
        "usage_entitlement",
        "wdc",
        "calibration",
    ]
)
SCOPES = frozenset(
    [
        "Everything",
        "Mine",
        "MineAndMyGroups",
        "Queue",
        "Delegated",
        "MyTerritory",
        "MyTeamTerritory",
        "Team",
        "AssignedToMe",
    ]
)
WORDS: dict[str, dict[str, frozenset[str]]] = {
    "ApexClass": {"status": frozenset({"Active", "Inactive", "Deleted"})},
    "ApexTrigger": {"status": frozenset({"Active", "Inactive", "Deleted"})},
    "CustomApplication": {
        "formFactors": frozenset({"Small", "Medium", "Large"}),
        "navType": frozenset({"Standard", "Console"}),
        "uiType": frozenset({"Aloha", "Lightning"}),
    },
    "CustomField": {
        "type": FIELD_TYPES,
        "deleteConstraint": frozenset({"Cascade", "Restrict", "SetNull"}),
        "formulaTreatBlanksAs": frozenset({"BlankAsBlank", "BlankAsZero"}),
        "summaryOperation": frozenset({"count", "max", "min", "sum"}),
    },
    "CustomObject": {
        "deploymentStatus": frozenset({"InDevelopment", "Deployed"}),
        "sharingModel": frozenset({"Private", "Read", "ReadWrite", "ReadWriteTransfer", "ControlledByParent"}),
        "externalSharingModel": frozenset({"Private", "Read", "ReadWrite", "ControlledByParent"}),
        "visibility": frozenset({"Public", "Protected", "PackageProtected"}),
        "customSettingsType": frozenset({"Hierarchy", "List"}),
        "eventType": frozenset({"HighVolume", "StandardVolume"}),
        "publishBehavior": frozenset({"PublishAfterCommit", "PublishImmediately"}),
        "nameField/type": frozenset({"Text", "AutoNumber"}),
    },
    "Dashboard": {
        "dashboardType": frozenset({"SpecifiedUser", "LoggedInUser", "MyTeamUser"}),
        "leftSection/components/componentType": CHARTS,
        "middleSection/components/componentType": CHARTS,
        "rightSection/components/componentType": CHARTS,
        "dashboardGridLayout/dashboardGridComponents/dashboardComponent/componentType": CHARTS,
    },
    "Layout": {
        "layoutSections/style": frozenset(
            {"OneColumn", "TwoColumnsLeftToRight", "TwoColumnsTopToBottom", "CustomLinks"}
        ),
        "layoutSections/layoutColumns/layoutItems/behavior": frozenset({"Edit", "Required", "Readonly"}),
        "relatedLists/sortOrder": frozenset({"Asc", "Desc"}),
    },
    "ListView": {"filterScope": SCOPES, "filters/operation": OPERATIONS},
    "PermissionSet": {"tabSettings/visibility": frozenset({"Available", "None", "Visible"})},
    "Report": {
        "format": frozenset({"Tabular", "Summary", "Matrix", "MultiBlock"}),
        "filter/criteriaItems/operator": OPERATIONS,
        "columns/aggregateTypes": frozenset({"Sum", "Average", "Maximum", "Minimum", "Unique", "Median"}),
        "groupingsDown/dateGranularity": GRAINS,
        "groupingsAcross/dateGranularity": GRAINS,
        "groupingsDown/sortOrder": frozenset({"Asc", "Desc"}),
        "groupingsAcross/sortOrder": frozenset({"Asc", "Desc"}),
    },
    "ReportType": {"category": CATEGORIES},
    "StaticResource": {"cacheControl": frozenset({"Private", "Public"})},
}
NEEDED: dict[str, tuple[str, ...]] = {
    "ApexClass": ("apiVersion", "status"),
    "ApexTrigger": ("apiVersion", "status"),
    "CompactLayout": ("fullName", "label", "fields"),
    "CustomApplication": ("label", "description", "tabs"),
    "CustomField": ("fullName", "label", "type", "description", "inlineHelpText"),
    "CustomNotificationType": ("customNotifTypeName", "masterLabel", "description", "desktop", "mobile"),
    "CustomObject": ("label", "pluralLabel", "description"),
    "CustomPermission": ("label", "description"),
    "CustomTab": ("motif",),
    "Dashboard": ("title", "dashboardType"),
    "Layout": ("layoutSections",),
    "ListView": ("fullName", "label", "filterScope", "columns"),
    "PathAssistant": ("masterLabel", "entityName", "fieldName"),
    "PermissionSet": ("label", "description"),
    "Queue": ("name", "queueSobject"),
    "Report": ("name", "description", "reportType", "format"),
    "ReportType": ("label", "description", "baseObject", "sections"),
    "StaticResource": ("contentType", "cacheControl"),
    "ValidationRule": ("fullName", "active", "description", "errorConditionFormula", "errorMessage"),
}
NEEDED_BY_TYPE: dict[str, tuple[str, ...]] = {
    "Checkbox": ("defaultValue",),
    "LongTextArea": ("length", "visibleLines"),
    "Lookup": ("referenceTo", "relationshipName"),
    "MasterDetail": ("referenceTo", "relationshipName", "relationshipOrder"),
    "Number": ("precision", "scale"),
    "Picklist": ("valueSet",),
    "Text": ("length",),
}
LENGTHS: dict[str, dict[str, int]] = {
    "CompactLayout": {"label": 80},
    "CustomApplication": {"label": 40, "description": 255},
    "CustomField": {"label": 40, "description": 1000, "inlineHelpText": 510, "relationshipLabel": 80},
    "CustomLabels": {"labels/shortDescription": 80, "labels/value": 1000},
    "CustomNotificationType": {"masterLabel": 80, "description": 255},
    "CustomObject": {"label": 40, "pluralLabel": 40, "description": 1000, "nameField/label": 40},
    "CustomPermission": {"label": 80, "description": 255},
    "Dashboard": {"title": 80, "description": 255},
    "Layout": {"layoutSections/label": 80},
    "ListView": {"label": 40},
    "PathAssistant": {"masterLabel": 80, "pathAssistantSteps/info": 1000},
    "PermissionSet": {"label": 80, "description": 255},
    "Queue": {"name": 40},
    "Report": {"name": 40, "description": 255},
    "ReportType": {"label": 50, "description": 255},
    "ValidationRule": {"description": 255, "errorMessage": 255},
}
NAME = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*(?:__(?:c|e|mdt|r))?")
NAME_MAX = 40  # without the suffix
TEXT_MAX = 255
LONG_TEXT = range(256, 131_073)
DIGITS_MAX = 18


def problems(source: Source) -> Iterator[tuple[str, str]]:
    """What is wrong in one file: the text in the file where it stands, or empty, and a sentence."""
    if source.root is None:
        yield "", "not well-formed"
        return
    yield from _missing(source)
    yield from _words(source)
    yield from _lengths(source)
    if source.kind == "CustomField":
        yield from _field(source)
    if source.kind in {"CustomField", "CustomObject", "ListView", "ValidationRule", "PermissionSet", "Queue"}:
        yield from _named(source.name)
    if source.kind == "CustomTab" and not re.fullmatch(r"Custom\d+: .+", source.text("motif")):
        yield source.text("motif"), f"no such tab style: {source.text('motif')}"


def _missing(source: Source) -> Iterator[tuple[str, str]]:
    needed = NEEDED.get(source.kind, ())
    if source.kind == "CustomObject":
        # What extends a standard object has none of a custom object's elements.
        needed = needed if "__" in source.name else ()
        needed += ("nameField/type", "sharingModel", "deploymentStatus") if source.name.endswith("__c") else ()
    if source.kind == "CustomField":
        needed += NEEDED_BY_TYPE.get(source.text("type"), ()) if not source.text("formula") else ()
    for name in needed:
        if not source.elements(*name.split("/")):
            yield "", f"lacks <{name.replace('/', '><')}>"
        elif not any(len(found) or (found.text or "").strip() for found in source.elements(*name.split("/"))):
            yield f"<{name}", f"<{name}> is empty"


def _words(source: Source) -> Iterator[tuple[str, str]]:
    for path, allowed in WORDS.get(source.kind, {}).items():
        for word in source.texts(*path.split("/")):
            if word not in allowed:
                yield f">{word}<", f"{path} may not be '{word}'"


def _lengths(source: Source) -> Iterator[tuple[str, str]]:
    for path, limit in LENGTHS.get(source.kind, {}).items():
        for found in source.texts(*path.split("/")):
            if len(found) > limit:
                yield found.splitlines()[0], f"{path} has {len(found)} characters, and may have {limit}"


def _field(source: Source) -> Iterator[tuple[str, str]]:
    kind, length = source.text("type"), source.text("length")
    if kind == "Text" and length and not 1 <= int(length) <= TEXT_MAX:
        yield "<length", f"a text of length {length}: 1 to {TEXT_MAX}"
    if kind == "LongTextArea" and length and int(length) not in LONG_TEXT:
        yield "<length", f"a long text of length {length}: {LONG_TEXT.start} to {LONG_TEXT.stop - 1}"
    if kind == "Number" and int(source.text("precision") or 0) > DIGITS_MAX:
        yield "<precision", f"more than {DIGITS_MAX} digits"
    if kind == "Lookup" and source.text("required") == "true" and source.text("deleteConstraint") == "SetNull":
        yield "<deleteConstraint", "a required lookup cannot be set to nothing"
    if source.text("relationshipName"):
        yield from _named(source.text("relationshipName"))
    yield from _picklist(source.elements("valueSet", "valueSetDefinition", "value"))


def _picklist(values: list[ET.Element]) -> Iterator[tuple[str, str]]:
    words = [text(value, "fullName") for value in values]
    for word in sorted({word for word in words if words.count(word) > 1}):
        yield f">{word}<", f"the value '{word}' stands twice"
    if sum(text(value, "default") == "true" for value in values) > 1:
        yield "<default>true", "more than one value is the default"
    for value in values:
        for needed in ("fullName", "default", "label"):
            if value.find(NAMESPACE + needed) is None:
                yield text(value, "fullName"), f"a value lacks <{needed}>"


def _named(name: str) -> Iterator[tuple[str, str]]:
    if not NAME.fullmatch(name):
        yield name, f"'{name}' is no API name"
    elif len(re.sub("__[a-z]+$", "", name)) > NAME_MAX:
        yield name, f"'{name}' is longer than {NAME_MAX} characters"
