"""Schema: tokens and descriptions of objects and fields, as far as routing asks; custom metadata; Type."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import construct
from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import null_pointer
from org_simulator.apex.records import Record
from org_simulator.apex.tree import TypeName
from org_simulator.apex.types import STRING, Type
from org_simulator.apex.values import EnumValue, ListValue, MapValue, Native


def _sobject(session: Any, name: str) -> Any:
    found = session.program.resolver.sobject(name.lower())
    if found is None:
        raise Unsupported(f"the object {name}")
    return found


@static("Schema.getGlobalDescribe", "Map<String, SObjectType>")
def global_describe(session: Any) -> MapValue:
    made = MapValue(STRING, Type("SObjectType"))
    for low, each in session.org.schema.objects.items():
        made.items[low] = (low, Native("SObjectType", each.name))
    return made


@static("Type.forName", "Type", 1, 2)
def for_name(session: Any, *given: str) -> Native | None:
    """Null for a name that is none."""
    name = given[-1]
    if name is None:
        raise null_pointer()
    found = session.program.resolver.find(tuple(name.split(".")), None)
    return None if found is None else Native("Type", str(found))


@method("Type.newInstance", "Object")
def new_instance(session: Any, value: Native) -> Any:
    kind = session.program.resolver.type(TypeName(tuple(value.held.split("."))), None)
    if kind.cls is not None:
        return construct(session, kind.cls, ())
    if kind.sobject is not None:
        return Record(_sobject(session, kind.sobject))
    raise Unsupported(f"newInstance of {kind}")


@method("Type.getName", "String")
def type_name(_session: Any, value: Native) -> str:
    return str(value.held)


@method("SObjectType.getDescribe", "DescribeSObjectResult", 0, 1)
def describe(_session: Any, value: Native, *_options: Any) -> Native:
    return Native("DescribeSObjectResult", value.held)


@method("SObjectType.newSObject", "SObject", 0, 1)
def new_sobject(session: Any, value: Native, *given: Any) -> Record:
    made = Record(_sobject(session, value.held))
    if given and given[0] is not None:
        made.write("id", given[0])
    return made


@method("SObjectType.toString", "String")
def type_text(_session: Any, value: Native) -> str:
    return str(value.held)


@method("DescribeSObjectResult.getName", "String")
def object_name(_session: Any, value: Native) -> str:
    return str(value.held)


@method("DescribeSObjectResult.getLabel", "String")
def object_label(session: Any, value: Native) -> str:
    return str(_sobject(session, value.held).label)


@method("DescribeSObjectResult.getKeyPrefix", "String")
def key_prefix(session: Any, value: Native) -> str:
    return str(_sobject(session, value.held).prefix)


@method("DescribeSObjectResult.getSObjectType", "SObjectType")
def described_type(_session: Any, value: Native) -> Native:
    return Native("SObjectType", value.held)


@method("DescribeSObjectResult.isAccessible|DescribeSObjectResult.isQueryable", "Boolean")
def is_accessible(session: Any, value: Native) -> bool:
    return value.held.lower() in session.schema_for("user").objects


@method("DescribeSObjectResult.fields", "Native")
def fields(_session: Any, value: Native) -> Native:
    return Native("FieldMap", value.held)


@method("FieldMap.getMap", "Map<String, SObjectField>")
def field_map(session: Any, value: Native) -> MapValue:
    made = MapValue(STRING, Type("SObjectField"))
    for low, each in _sobject(session, value.held).fields.items():
        made.items[low] = (low, Native("SObjectField", (value.held, each.name)))
    return made


def _field(session: Any, value: Native) -> Any:
    owner, name = value.held
    return _sobject(session, owner).fields[name.lower()]


@method("SObjectField.getDescribe", "DescribeFieldResult", 0, 1)
def describe_field(_session: Any, value: Native, *_options: Any) -> Native:
    return Native("DescribeFieldResult", value.held)


@method("SObjectField.toString|DescribeFieldResult.getName|DescribeFieldResult.getLocalName", "String")
def field_name(_session: Any, value: Native) -> str:
    return str(value.held[1])


@method("DescribeFieldResult.getLabel", "String")
def field_label(session: Any, value: Native) -> str:
    return str(_field(session, value).label)


@method("DescribeFieldResult.getLength", "Integer")
def field_length(session: Any, value: Native) -> int:
    return int(_field(session, value).length)


@method("DescribeFieldResult.isAccessible", "Boolean")
def field_accessible(session: Any, value: Native) -> bool:
    seen = session.schema_for("user").objects.get(value.held[0].lower())
    return seen is not None and value.held[1].lower() in seen.fields


@method("DescribeFieldResult.isUpdateable", "Boolean")
def field_updateable(session: Any, value: Native) -> bool:
    seen = session.schema_for("user").objects.get(value.held[0].lower())
    found = None if seen is None else seen.fields.get(value.held[1].lower())
    return found is not None and bool(found.updateable)


@method("DescribeFieldResult.getType", "DisplayType")
def field_kind(session: Any, value: Native) -> EnumValue:
    return EnumValue("DisplayType", str(_field(session, value).type).upper(), 0)


@method("DescribeFieldResult.getPicklistValues", "List<PicklistEntry>")
def picklist_values(session: Any, value: Native) -> ListValue:
    entries = [Native("PicklistEntry", each) for each in _field(session, value).picklist]
    return ListValue(entries, Type("PicklistEntry"))


@method("PicklistEntry.getValue|PicklistEntry.getLabel", "String")
def entry_value(_session: Any, value: Native) -> str:
    return str(value.held)


# ---- custom metadata ------------------------------------------------------------------------------------------------


@static("CustomMetadata.getInstance", "T", 1)
def get_instance(session: Any, name: str, wanted: str) -> Record | None:
    """By developer name or id; null if there is none."""
    if wanted is None:
        raise null_pointer()
    for row in session.tx.rows(name):
        if row["DeveloperName"].lower() == wanted.lower() or row["Id"] == wanted:
            return _frozen(session, name, row)
    return None


@static("CustomMetadata.getAll", "Map<String, SObject>")
def get_all(session: Any, name: str) -> MapValue:
    made = MapValue(STRING, Type(name, sobject=name))
    for row in session.tx.rows(name):
        made.items[row["DeveloperName"]] = (row["DeveloperName"], _frozen(session, name, row))
    return made


def _frozen(session: Any, name: str, row: Any) -> Record:
    return Record(_sobject(session, name), row)
