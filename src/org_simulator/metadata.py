"""Salesforce metadata in source format to nouns. Unknown field types and broken XML are faults, extra elements not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from org_simulator.sobjects import Field, ObjectPermission, PermissionSet, Queue, Rule, SObject
from org_simulator.system_fields import custom_metadata_fields, system_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMESPACE = "{http://soap.sforce.com/2006/04/metadata}"

TYPES = {
    "Text": "string",
    "TextArea": "textarea",
    "LongTextArea": "textarea",
    "Number": "double",
    "Currency": "currency",
    "Percent": "percent",
    "Checkbox": "boolean",
    "Date": "date",
    "DateTime": "datetime",
    "Email": "email",
    "Phone": "phone",
    "Url": "url",
    "Picklist": "picklist",
    "Lookup": "reference",
    "MasterDetail": "reference",
    "AutoNumber": "string",
    "MetadataRelationship": "string",
}
"""Metadata type to describe type."""

LENGTHS = {"TextArea": 255, "Email": 80, "Phone": 40, "Url": 255, "Picklist": 255, "AutoNumber": 30}
"""Lengths that the metadata does not say."""

CUSTOM_PREFIXES = [f"a{letter}{digit}" for letter in "0123456789ABCDEFGHIJ" for digit in "0123456789"]
EVENT_PREFIX = "e0{}"
METADATA_PREFIX = "m0{}"


class MetadataFault(Exception):
    """The metadata cannot be used; the text names the file."""


@dataclass(slots=True)
class Source:
    """What a folder of metadata holds, not yet joined with the standard objects; `files` says where things stand."""

    objects: dict[str, SObject] = field(default_factory=dict)
    platform_events: dict[str, SObject] = field(default_factory=dict)
    cdc_entities: frozenset[str] = frozenset()
    permission_sets: dict[str, PermissionSet] = field(default_factory=dict)
    custom_permissions: dict[str, str] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    custom_metadata: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


class Element:
    """One XML element, read without its namespace."""

    def __init__(self, node: ET.Element, file: str) -> None:
        self._node = node
        self.file = file

    def text(self, name: str, default: str = "") -> str:
        """The text of a child element."""
        return self._node.findtext(NAMESPACE + name, default).strip()

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A child element that says true or false."""
        return self.text(name, "true" if default else "false") == "true"

    def number(self, name: str) -> int:
        """A child element that is a whole number; 0 if absent."""
        try:
            return int(self.text(name, "0"))
        except ValueError:
            raise MetadataFault(f"{self.file}: {name} is no number") from None

    def all(self, path: str) -> Iterator[Element]:
        """Descendants along `a/b/c`."""
        for node in self._node.iterfind("/".join(NAMESPACE + part for part in path.split("/"))):
            yield Element(node, self.file)

    @property
    def own_text(self) -> str:
        """The element's text."""
        return (self._node.text or "").strip()


def opened(file: Path) -> Element:
    """The root of a file of metadata; MetadataFault if it is no XML."""
    try:
        return Element(ET.parse(file).getroot(), str(file))  # noqa: S314 - the project's own files
    except ET.ParseError as fault:
        raise MetadataFault(f"{file}: {fault}") from None


def _each(folder: Path, suffix: str) -> Iterator[tuple[str, Element]]:
    """Full name and content of each `<name>.<suffix>-meta.xml`, by name."""
    ending = f".{suffix}-meta.xml"
    for file in sorted(folder.glob(f"*{ending}")):
        yield file.name.removesuffix(ending), opened(file)


def read(folder: Path) -> Source:
    """Read `force-app/main/default`."""
    source = Source()
    for object_folder in sorted(path for path in (folder / "objects").iterdir() if path.is_dir()):
        sobject = _sobject(object_folder, source)
        if sobject.name.endswith("__e"):
            source.platform_events[sobject.name] = sobject
        else:
            source.objects[sobject.name] = sobject
    members = _each(folder / "platformEventChannelMembers", "platformEventChannelMember")
    source.cdc_entities = frozenset(_entity(element.text("selectedEntity")) for _, element in members)
    for name, element in _each(folder / "customPermissions", "customPermission"):
        source.custom_permissions[name] = element.text("label", name)
    for name, element in _each(folder / "permissionsets", "permissionset"):
        source.permission_sets[name] = _permission_set(name, element)
    for name, element in _each(folder / "queues", "queue"):
        kinds = tuple(kind.text("sobjectType") for kind in element.all("queueSobject"))
        source.queues[name] = Queue(name, element.text("name", name), kinds)
    source.custom_metadata = [_metadata_record(*each, source) for each in _each(folder / "customMetadata", "md")]
    return source


def _metadata_record(full_name: str, element: Element, source: Source) -> tuple[str, dict[str, Any]]:
    """Object and fields of one record of custom metadata."""
    kind, _, name = full_name.partition(".")
    sobject = source.objects.get(f"{kind}__mdt")
    if sobject is None:
        raise MetadataFault(f"{element.file}: there is no object {kind}__mdt")
    label = element.text("label", name)
    values: dict[str, Any] = {"DeveloperName": name, "QualifiedApiName": name, "MasterLabel": label, "Label": label}
    for given in element.all("values"):
        found = sobject.fields.get(given.text("field").lower())
        if found is None:
            raise MetadataFault(f"{element.file}: there is no field {given.text('field')}")
        text = given.text("value")
        plain = found.type in {"boolean", "double", "currency", "percent"}
        values[found.name] = (_default(found.type, text) if plain else text) if text else None
    return sobject.name, values


def _entity(selected: str) -> str:
    """The object behind a change event: LeadChangeEvent, My_Object__ChangeEvent."""
    if selected.endswith("__ChangeEvent"):
        return selected.removesuffix("__ChangeEvent") + "__c"
    return selected.removesuffix("ChangeEvent")


def _sobject(folder: Path, source: Source) -> SObject:
    name = folder.name
    fields = {}
    for field_name, element in _each(folder / "fields", "field"):
        source.files[f"{name}.{field_name}"] = element.file
        fields[field_name.lower()] = _field(element)
    rules = []
    for rule_name, element in _each(folder / "validationRules", "validationRule"):
        source.files[f"{name}.{rule_name}"] = element.file
        rules.append(_rule(rule_name, element))
    definition = folder / f"{name}.object-meta.xml"
    if not definition.exists():
        if "__" in name:
            raise MetadataFault(f"{definition}: the object has no definition")
        return SObject(name, "", name, name, fields, tuple(rules))
    element = opened(definition)
    event = name.endswith("__e")
    settings = name.endswith("__mdt")
    owned = not (event or settings) and not any(each.master for each in fields.values())
    named = {} if event else custom_metadata_fields() if settings else {"name": _name_field(element)}
    return SObject(
        name=name,
        prefix=_prefix(source, event=event, settings=settings),
        label=element.text("label", name),
        label_plural=element.text("pluralLabel", name),
        fields={**({} if event else system_fields(owned=owned)), **named, **fields},
        validation_rules=tuple(rules),
        custom=not settings,
        owned=owned,
    )


def _prefix(source: Source, *, event: bool, settings: bool) -> str:
    """The next prefix of record ids: events, custom metadata and custom objects each have their own."""
    if event:
        return EVENT_PREFIX.format(len(source.platform_events))
    known = sum(name.endswith("__mdt") for name in source.objects)
    return METADATA_PREFIX.format(known) if settings else CUSTOM_PREFIXES[len(source.objects) - known]


def _name_field(element: Element) -> Field:
    for name_field in element.all("nameField"):
        if name_field.text("type") == "AutoNumber":
            display = name_field.text("displayFormat", "{0}")
            label = name_field.text("label")
            return Field("Name", "string", label, 80, createable=False, updateable=False, auto_number=display)
        return Field("Name", "string", name_field.text("label"), 80)
    raise MetadataFault(f"{element.file}: there is no nameField")


def _field(element: Element) -> Field:
    kind = element.text("type")
    if kind not in TYPES:
        raise MetadataFault(f"{element.file}: fields of type {kind or 'none'} are not offered")
    name = element.text("fullName")
    master = kind == "MasterDetail"
    automatic = element.text("displayFormat", "{0}") if kind == "AutoNumber" else None
    values = [
        value for value in element.all("valueSet/valueSetDefinition/value") if value.flag("isActive", default=True)
    ]
    defaults = [value.text("fullName") for value in values if value.flag("default")]
    return Field(
        name=name,
        type=TYPES[kind],
        label=element.text("label", name),
        length=element.number("length") or LENGTHS.get(kind, 0),
        precision=element.number("precision"),
        scale=element.number("scale"),
        required=element.flag("required") or master,
        unique=element.flag("unique"),
        case_sensitive=element.flag("caseSensitive"),
        external_id=element.flag("externalId"),
        reference_to=tuple(target.own_text for target in element.all("referenceTo")),
        relationship=name.removesuffix("__c") + "__r" if TYPES[kind] == "reference" else None,
        picklist=tuple(value.text("fullName") for value in values),
        restricted=any(value_set.flag("restricted") for value_set in element.all("valueSet")),
        default=defaults[0] if defaults else _default(TYPES[kind], element.text("defaultValue")),
        createable=automatic is None,
        updateable=automatic is None and (not master or element.flag("reparentableMasterDetail")),
        master=master,
        on_delete="Cascade" if master else element.text("deleteConstraint", "SetNull"),
        auto_number=automatic,
        child_relationship=element.text("relationshipName") or None,
    )


def _default(kind: str, text: str) -> object:
    """A literal default; formulas as defaults are not offered, but for true, false, numbers and quoted text."""
    if kind == "boolean":
        return text == "true"
    if not text:
        return None
    if kind in {"double", "currency", "percent"}:
        return float(text)
    return text.strip("\"'")


def _rule(name: str, element: Element) -> Rule:
    return Rule(
        name=name,
        formula=element.text("errorConditionFormula"),
        message=element.text("errorMessage"),
        display_field=element.text("errorDisplayField") or None,
        active=element.flag("active"),
    )


def _permission_set(name: str, element: Element) -> PermissionSet:
    objects = [_object_permission(permission) for permission in element.all("objectPermissions")]
    return PermissionSet(
        name=name,
        label=element.text("label", name),
        custom_permissions=_enabled(element, "customPermissions"),
        user_permissions=_enabled(element, "userPermissions"),
        objects={permission.sobject.lower(): permission for permission in objects},
        fields={
            permission.text("field").lower(): permission.flag("editable")
            for permission in element.all("fieldPermissions")
            if permission.flag("readable")
        },
    )


def _object_permission(permission: Element) -> ObjectPermission:
    return ObjectPermission(
        sobject=permission.text("object"),
        create=permission.flag("allowCreate"),
        read=permission.flag("allowRead"),
        edit=permission.flag("allowEdit"),
        delete=permission.flag("allowDelete"),
        view_all=permission.flag("viewAllRecords"),
        modify_all=permission.flag("modifyAllRecords"),
    )


def _enabled(element: Element, kind: str) -> frozenset[str]:
    return frozenset(grant.text("name") for grant in element.all(kind) if grant.flag("enabled"))
