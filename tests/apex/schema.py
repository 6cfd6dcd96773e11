"""The schema that queries are asked of: Salesforce's objects with the project's fields, and the project's objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from apex.project import Project
from apex.toolbox import Kind, Toolbox

# Salesforce's own fields of a project's object, by what the object's name ends with.
STANDARD = {
    "__c": {"Id": "Id", "Name": "String", "OwnerId": "Id"},
    "__mdt": {
        "Id": "Id",
        "DeveloperName": "String",
        "MasterLabel": "String",
        "Label": "String",
        "Language": "String",
        "NamespacePrefix": "String",
        "QualifiedApiName": "String",
    },
    "__e": {"ReplayId": "String", "EventUuid": "String", "CreatedDate": "Datetime", "CreatedById": "Id"},
}
WRITTEN_BY_SALESFORCE = {
    "CreatedById": "Id",
    "CreatedDate": "Datetime",
    "IsDeleted": "Boolean",
    "LastModifiedById": "Id",
    "LastModifiedDate": "Datetime",
    "LastReferencedDate": "Datetime",
    "LastViewedDate": "Datetime",
    "SystemModstamp": "Datetime",
}
VALUES = {
    "Checkbox": "Boolean",
    "Currency": "Decimal",
    "Date": "Date",
    "DateTime": "Datetime",
    "Lookup": "Id",
    "MasterDetail": "Id",
    "Number": "Decimal",
    "Percent": "Decimal",
    "Summary": "Decimal",
    "Time": "Time",
}
NEVER_FILTERED = {"LongTextArea", "Html", "EncryptedText"}
COMPOUND = {"Address", "Location"}


@dataclass(frozen=True)
class Field:
    """A field: `of` is a primitive for a value, an object for a parent or children."""

    name: str
    kind: Kind
    of: str
    filterable: bool = True


@dataclass(frozen=True)
class Entity:
    """An object and its fields by lower-case name."""

    name: str
    fields: dict[str, Field]


Schema: TypeAlias = dict[str, Entity]


def schema(project: Project, toolbox: Toolbox) -> Schema:
    """Every object by lower-case name."""
    found = {
        name.lower(): Entity(name, {field.lower(): _standard(field, *spec) for field, spec in fields.items()})
        for name, fields in toolbox.standard_objects.items()
    }
    for name in {source.name for source in project.of("object")} | set(project.fields):
        if name.lower() not in found:
            found[name.lower()] = Entity(name, _implied(project, name))
    for name, fields in project.fields.items():
        for source in fields.values():
            _add(found, name, source.name, source.text("type"), source.text("referenceTo"))
            _add_children(found, name, source.text("referenceTo"), source.text("relationshipName"))
    return found


def _standard(name: str, kind: Kind, of: str) -> Field:
    return Field(name, "VALUE", of) if of in COMPOUND else Field(name, kind, "Name" if kind == "PARENTS" else of)


def _implied(project: Project, name: str) -> dict[str, Field]:
    suffix = name[name.rfind("__") :] if "__" in name else ""
    values = dict(STANDARD.get(suffix, {}))
    parents: dict[str, str] = {}
    if suffix == "__c":
        values |= WRITTEN_BY_SALESFORCE
        parents = {"Owner": "Name", "CreatedBy": "User", "LastModifiedBy": "User", "RecordType": "RecordType"}
        # The owner of a detail is its master's.
        if any(field.text("type") == "MasterDetail" for field in project.fields.get(name, {}).values()):
            del values["OwnerId"], parents["Owner"]
    fields = [Field(field, "VALUE", of) for field, of in values.items()]
    fields += [Field(field, "PARENT", of) for field, of in parents.items()]
    return {field.name.lower(): field for field in fields}


def _add(found: Schema, owner: str, name: str, kind: str, reference: str) -> None:
    fields = found[owner.lower()].fields
    fields[name.lower()] = Field(name, "VALUE", VALUES.get(kind, "String"), kind not in NEVER_FILTERED)
    if reference:
        relation = name.removesuffix("__c") + "__r"
        fields[relation.lower()] = Field(relation, "PARENT", reference)


def _add_children(found: Schema, owner: str, reference: str, relation: str) -> None:
    if relation and reference.lower() in found:
        name = f"{relation}__r"
        found[reference.lower()].fields[name.lower()] = Field(name, "CHILDREN", owner)
