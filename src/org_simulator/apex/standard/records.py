"""SObject and AggregateResult."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import method
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record
from org_simulator.apex.types import OBJECT, SOBJECT, STRING
from org_simulator.apex.values import ListValue, MapValue, Native


def _name(field: Any) -> str:
    """A field's lower-cased name, of a text or a token."""
    if field is None:
        raise null_pointer()
    return str(field.held[1] if isinstance(field, Native) else field).lower()


@method("SObject.get", "Object", 1)
def get(_session: Any, record: Record, field: Any) -> Any:
    name = _name(field)
    if name not in record.sobject.fields:
        raise thrown("SObjectException", f"Invalid field {field} for {record.sobject.name}")
    return record.read(name)


@method("SObject.put", "Object", 2)
def put(_session: Any, record: Record, field: Any, value: Any) -> Any:
    name = _name(field)
    if name not in record.sobject.fields:
        raise thrown("SObjectException", f"Invalid field {field} for {record.sobject.name}")
    before = record.read(name) if record.row is None or record.selected is None or name in record.selected else None
    record.write(name, value)
    return before


@method("SObject.getSObject", "SObject", 1)
def get_sobject(_session: Any, record: Record, name: Any) -> Any:
    return record.read(_name(name))


@method("SObject.putSObject", "SObject", 2)
def put_sobject(_session: Any, record: Record, name: Any, value: Any) -> None:
    record.write(_name(name), value)


@method("SObject.getSObjects", "List<SObject>", 1)
def get_sobjects(_session: Any, record: Record, name: str) -> Any:
    found = record.children.get(name.lower())
    return found if found is not None and found.items else None


@method("SObject.getSObjectType", "SObjectType")
def get_type(_session: Any, record: Record) -> Native:
    return Native("SObjectType", record.sobject.name)


@method("SObject.isSet", "Boolean", 1)
def is_set(_session: Any, record: Record, field: Any) -> bool:
    return _name(field) in record.populated()


@method("SObject.getPopulatedFieldsAsMap", "Map<String, Object>")
def get_populated(_session: Any, record: Record) -> MapValue:
    made = MapValue(STRING, OBJECT)
    for name in record.populated():
        value = record.read(name)
        if value is not None or name in record.changed:
            made.items[record.sobject.fields[name].name] = (record.sobject.fields[name].name, value)
    return made


@method("SObject.clone", "This", 0, 1, 2, 3, 4)
def clone(_session: Any, record: Record, keep_id: bool = False, deep: bool = False, *keep: bool) -> Record:
    if any(keep):
        raise Unsupported("clone that keeps times or auto numbers")
    made = record.copy(keep_id=bool(keep_id))
    if not deep:
        return made
    made.parents = dict(record.parents)
    return made


@method("SObject.addError", "void", 1, 2)
def add_error(_session: Any, record: Record, *given: Any) -> None:
    """Of the whole record, or of a field by its token or name."""
    field, text = (None, given[0]) if len(given) == 1 else (given[0], given[1])
    if field is not None and not isinstance(field, bool) and not isinstance(text, bool):
        record.errors.append((_message(text), record.sobject.fields[_name(field)].name))
        return
    record.errors.append((_message(given[0]), None))


def _message(value: Any) -> str:
    return str(value.values.get("message")) if hasattr(value, "values") and not isinstance(value, str) else str(value)


@method("SObject.hasErrors", "Boolean")
def has_errors(_session: Any, record: Record) -> bool:
    return bool(record.errors)


@method("SObject.getErrors", "List<Database.Error>")
def get_errors(_session: Any, record: Record) -> ListValue:
    found = [
        Native("Error", ("FIELD_CUSTOM_VALIDATION_EXCEPTION", text, (name,) if name else ()))
        for text, name in record.errors
    ]
    return ListValue(found, OBJECT)


@method("AggregateResult.get", "Object", 1)
def aggregate_get(_session: Any, result: Native, name: str) -> Any:
    found = result.held
    if name.lower() not in found:
        raise thrown("SObjectException", f"Invalid field {name} for AggregateResult")
    return found[name.lower()]


__all__ = ["SOBJECT"]
