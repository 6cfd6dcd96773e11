"""Does everything that metadata names exist?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree as ET

from apex.known import Known
from apex.project import NAMESPACE, Source, text

Found = Iterator[tuple[str, str]]
OURS = "__c"


def problems(source: Source, known: Known) -> Found:
    """What a file names and nobody has: the name as it stands in the file, and a sentence."""
    ask = CHECKS.get(source.kind)
    return ask(source, known) if ask else iter(())


def _object(name: str, known: Known) -> Found:
    if not known.has_object(name):
        yield name, f"no such object: {name}"


def _owned(owner: str, name: str, known: Known) -> Found:
    """A field by its API name."""
    if not known.has_field(owner, name):
        yield name, f"no such field of {owner}: {name}"


def _shown(owner: str, name: str, known: Known) -> Found:
    """A field as lists spell it: ours by API name, Salesforce's in words of their own."""
    if name.endswith(OURS):
        yield from _owned(owner, name, known)


def _field(source: Source, known: Known) -> Found:
    if source.text("referenceTo"):
        yield from _object(source.text("referenceTo"), known)
    yield from _object(source.owner, known)


def _rule(source: Source, known: Known) -> Found:
    if source.text("errorDisplayField"):
        yield from _owned(source.owner, source.text("errorDisplayField"), known)


def _list_view(source: Source, known: Known) -> Found:
    columns = list(source.texts("columns"))
    for name in [*columns, *source.texts("filters", "field")]:
        yield from _shown(source.owner, name, known)
    for name in sorted({name for name in columns if columns.count(name) > 1}):
        yield name, f"the column {name} stands twice"
    for entry in source.elements("filters"):
        yield from _chosen(source.owner, text(entry, "field"), text(entry, "value"), known)
    queue = source.text("queue")
    if queue and queue not in known.names("queue"):
        yield queue, f"no such queue: {queue}"


def _chosen(owner: str, name: str, values: str, known: Known) -> Found:
    choices = known.choices(owner, name)
    for value in values.split(",") if values else ():
        if choices and value.strip() not in choices:
            yield values, f"{owner}.{name} has no value '{value.strip()}'"


def _layout(source: Source, known: Known) -> Found:
    owner = source.name.partition("-")[0]
    yield from _object(owner, known)
    names = list(source.texts("layoutSections", "layoutColumns", "layoutItems", "field"))
    for name in names:
        yield from _owned(owner, name, known)
        if names.count(name) > 1:
            yield name, f"the field {name} stands twice"
    for entry in source.elements("relatedLists"):
        yield from _related(entry, owner, known)


def _related(entry: ET.Element, owner: str, known: Known) -> Found:
    child, _, name = text(entry, "relatedList").partition(".")
    if not name.endswith(OURS):
        return  # one of Salesforce's own lists
    field = known.field(child, name)
    if field is None or field.text("referenceTo") != owner:
        yield f"{child}.{name}", f"{child}.{name} does not refer to {owner}"
        return
    for shown in [*(found.text or "" for found in entry.findall(f"{NAMESPACE}fields")), text(entry, "sortField")]:
        yield from _shown(child, shown, known)


def _compact(source: Source, known: Known) -> Found:
    for name in source.texts("fields"):
        yield from _owned(source.owner, name, known)


def _object_parts(source: Source, known: Known) -> Found:
    chosen = source.text("compactLayoutAssignment")
    there = {part.name for part in known.project.of("compactLayout") if part.owner == source.name}
    if chosen and chosen not in there | {"SYSTEM"}:
        yield chosen, f"{source.name} has no compact layout {chosen}"


def _permissions(source: Source, known: Known) -> Found:
    yield from _fields_granted(source, known)
    for name in source.texts("objectPermissions", "object"):
        yield from _object(name, known)
    wanted = {
        ("tabSettings", "tab"): known.names("tab") | {name for name in known.objects if not known.standard},
        ("applicationVisibilities", "application"): known.names("app"),
        ("customPermissions", "name"): known.names("customPermission"),
        ("classAccesses", "apexClass"): known.names("cls"),
        ("customMetadataTypeAccesses", "name"): known.objects,
        ("customSettingAccesses", "name"): known.objects,
    }
    for (tag, inner), there in wanted.items():
        for name in source.texts(tag, inner):
            if name not in there and not name.startswith("standard"):
                yield name, f"no such {tag.removesuffix('s')}: {name}"
    for tag, inner in [*wanted, ("objectPermissions", "object"), ("fieldPermissions", "field")]:
        names = list(source.texts(tag, inner))
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield name, f"{name} stands twice in {tag}"


def _fields_granted(source: Source, known: Known) -> Found:
    readable = {
        text(entry, "object") for entry in source.elements("objectPermissions") if text(entry, "allowRead") == "true"
    }
    for entry in source.elements("fieldPermissions"):
        owner, _, name = text(entry, "field").partition(".")
        field = known.field(owner, name)
        if not known.has_field(owner, name):
            yield f"{owner}.{name}", f"no such field of {owner}: {name}"
        elif field is not None and (field.text("required") == "true" or field.text("type") == "MasterDetail"):
            yield f"{owner}.{name}", f"{owner}.{name} is always there, and may not be granted"
        elif field is not None and field.text("formula") and text(entry, "editable") == "true":
            yield f"{owner}.{name}", f"{owner}.{name} is computed, and cannot be editable"
        if readable and owner not in readable:
            yield f"{owner}.{name}", f"{owner}.{name} is granted without read on {owner}"


def _app(source: Source, known: Known) -> Found:
    for name in [*source.texts("tabs"), *source.texts("defaultLandingTab")]:
        if name not in known.names("tab") and not name.startswith("standard-"):
            yield name, f"no such tab: {name}"


def _tab(source: Source, known: Known) -> Found:
    if source.text("customObject") == "true":
        yield from _object(source.name, known)


def _queue(source: Source, known: Known) -> Found:
    for name in source.texts("queueSobject", "sobjectType"):
        yield from _object(name, known)


def _channel(source: Source, known: Known) -> Found:
    entity = source.text("selectedEntity")
    of = re.sub("__ChangeEvent$", OURS, entity)
    if of.endswith(OURS):
        yield from ((entity, said) for _, said in _object(of, known))
    elif not entity.endswith("ChangeEvent") and not entity.endswith("__e"):
        yield entity, f"{entity} is no change event"


def _path(source: Source, known: Known) -> Found:
    owner, name = source.text("entityName"), source.text("fieldName")
    yield from _object(owner, known)
    yield from _owned(owner, name, known)
    for step in source.elements("pathAssistantSteps"):
        yield from _chosen(owner, name, text(step, "picklistValueName"), known)
        for shown in step.findall(f"{NAMESPACE}fieldNames"):
            yield from _owned(owner, shown.text or "", known)


def _record(source: Source, known: Known) -> Found:
    owner = f"{source.name.partition('.')[0]}__mdt"
    yield from ((source.name, said) for _, said in _object(owner, known))
    given = set(source.texts("values", "field"))
    for name in sorted(given):
        yield from _owned(owner, name, known)
    for name, field in known.project.fields.get(owner, {}).items():
        if field.text("required") == "true" and name not in given:
            yield source.name, f"{owner}.{name} must be given"
    for entry in source.elements("values"):
        yield from _chosen(owner, text(entry, "field"), text(entry, "value"), known)


def _there(kind: str, names: Iterable[str], known: Known) -> Found:
    """Parts of the project by the suffix of their files."""
    for name in names:
        if name not in known.names(kind):
            yield name, f"no such {kind}: {name}"


def _action(source: Source, known: Known) -> Found:
    owner, _, name = source.name.rpartition(".")
    for of in filter(None, (owner, source.text("targetObject"))):
        yield from _object(of, known)
    yield from _there("flow", source.texts("flowDefinition"), known)
    for tag in ("lightningComponent", "lightningWebComponent", "page"):
        for part in source.texts(tag):
            yield part, f"{name} opens a {tag}, which no step reads"
    for field in source.texts("fieldOverrides", "field"):
        yield from _owned(source.text("targetObject") or owner, field, known)


FLOW_PARTS = ("actionCalls", "assignments", "decisions", "loops", "screens", "subflows", "waits", "transforms")
FLOW_RECORDS = ("recordLookups", "recordCreates", "recordUpdates", "recordDeletes", "start")
FLOW_VALUES = ("variables", "constants", "formulas", "textTemplates", "choices", "stages")
"""Kinds of parts of a flow: steps that a way may lead to, those that work on records, and those that hold a value."""


def _flow(source: Source, known: Known) -> Found:
    for call in source.elements("actionCalls"):
        name, of = text(call, "actionName"), text(call, "actionType")
        if of == "apex":
            yield from _there("cls", [name], known)
        else:
            yield name, f"an action of type {of}, which no step reads"
    yield from _there("flow", source.texts("subflows", "flowName"), known)
    for part in FLOW_RECORDS:
        for name in source.texts(part, "object"):
            yield from _object(name, known)
    ways = {name for part in (*FLOW_PARTS, *FLOW_RECORDS) for name in source.texts(part, "name")}
    values = {name for part in FLOW_VALUES for name in source.texts(part, "name")} | ways
    for tag, there in (("targetReference", ways), ("elementReference", values), ("assignToReference", values)):
        for name in _anywhere(source, tag):
            if not name.startswith("$") and name.partition(".")[0] not in there:
                yield name, f"no such part of the flow: {name}"


def _anywhere(source: Source, tag: str) -> set[str]:
    found = source.root.iter(NAMESPACE + tag) if source.root is not None else ()
    return {(each.text or "").strip() for each in found}


def _of_client_app(source: Source, known: Known) -> Found:
    yield from _there("eca", source.texts("externalClientApplication"), known)
    for names in source.texts("commaSeparatedPermissionSet"):
        yield from _there("permissionset", [name.strip() for name in names.split(",")], known)


CHECKS: dict[str, Callable[[Source, Known], Found]] = {
    "CompactLayout": _compact,
    "CustomApplication": _app,
    "CustomField": _field,
    "CustomMetadata": _record,
    "CustomObject": _object_parts,
    "CustomTab": _tab,
    "ExtlClntAppGlobalOauthSettings": _of_client_app,
    "ExtlClntAppOauthConfigurablePolicies": _of_client_app,
    "ExtlClntAppOauthSettings": _of_client_app,
    "Flow": _flow,
    "Layout": _layout,
    "ListView": _list_view,
    "PathAssistant": _path,
    "PermissionSet": _permissions,
    "PlatformEventChannelMember": _channel,
    "Queue": _queue,
    "QuickAction": _action,
    "ValidationRule": _rule,
}
