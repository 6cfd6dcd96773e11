"""SObject records in Apex: what is set, what was queried, what may be read."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from org_simulator.apex.raising import thrown
from org_simulator.apex.types import COERCERS, FIELD_TYPES, STRING, Type
from org_simulator.apex.values import Id, kind_of

if TYPE_CHECKING:
    from org_simulator.schema import Field, SObject


class Record:
    """One record. `row` is the stored record it was read from, `selected` the lower-cased fields a query asked for.

    Values are made of `row` when first read; `changed` are the fields that Apex has set.
    """

    __slots__ = ("changed", "children", "errors", "parents", "readonly", "row", "selected", "sobject", "values")

    def __init__(self, sobject: SObject, row: Mapping[str, Any] | None = None, selected: Any = None) -> None:
        self.sobject = sobject
        self.row = row
        self.selected: frozenset[str] | set[str] | None = selected
        self.values: dict[str, Any] = {}
        self.changed: dict[str, None] = {}
        self.parents: dict[str, Record | None] = {}
        self.children: dict[str, Any] = {}
        self.errors: list[tuple[str, str | None]] = []
        self.readonly = False

    def read(self, name: str) -> Any:
        """A field by lower-cased name."""
        if name in self.values:
            return self.values[name]
        if name in self.parents:
            return self.parents[name]
        if name in self.children:
            return self.children[name]
        field = self.sobject.fields.get(name)
        if field is None:
            return self._relation(name)
        if self.row is None:
            return False if field.type == "boolean" else None
        if self.selected is not None and name not in self.selected:
            raise self._not_queried(field.name)
        value = self.values[name] = from_stored(field, self.row.get(field.name))
        return value

    def _relation(self, name: str) -> Any:
        if relation(self.sobject, name) is None:
            raise thrown("SObjectException", f"Invalid field {name} for {self.sobject.name}")
        if self.selected is not None:
            raise self._not_queried(name)
        return None

    def _not_queried(self, name: str) -> Exception:
        where = f"{self.sobject.name}.{name}"
        return thrown(
            "SObjectException", f"SObject row was retrieved via SOQL without querying the requested field: {where}"
        )

    def write(self, name: str, value: Any) -> None:
        """Set a field by lower-cased name."""
        if self.readonly:
            raise thrown("FinalException", "Record is read-only")
        field = self.sobject.fields.get(name)
        if field is None:
            self._write_relation(name, value)
            return
        if name != "id" and not (field.createable or field.updateable) and not self.sobject.name.endswith("__mdt"):
            raise thrown("SObjectException", f"Field is not writeable: {self.sobject.name}.{field.name}")
        kind = field_type(field)
        try:
            coerce = COERCERS.get(kind.name)
            self.values[name] = value if coerce is None else coerce(value)
        except ValueError as fault:
            raise thrown("StringException", str(fault)) from None
        except TypeError:
            text = f"Illegal assignment from {kind_of(value)} to {kind}"
            raise thrown("SObjectException", text) from None
        self.changed[name] = None

    def _write_relation(self, name: str, value: Any) -> None:
        if relation(self.sobject, name) is None or not (value is None or isinstance(value, Record)):
            raise thrown("SObjectException", f"Invalid field {name} for {self.sobject.name}")
        self.parents[name] = value

    def copy(self, *, keep_id: bool, row: bool = True) -> Record:
        """A record with the same fields."""
        made = Record(self.sobject, self.row if row else None, None if self.selected is None else set(self.selected))
        made.values, made.parents, made.children = dict(self.values), dict(self.parents), dict(self.children)
        made.changed = dict(self.changed)
        if not keep_id:
            made.forget_id()
        return made

    def forget_id(self) -> None:
        """Make a new record of it: without id, and with all that it was read with as if set."""
        for name in self.populated():
            if (field := self.sobject.fields.get(name)) is not None and field.createable:
                self.read(name)
                self.changed[name] = None
        self.values["id"] = None
        self.changed.pop("id", None)

    def populated(self) -> list[str]:
        """Lower-cased names of the fields that it holds, relationships left out."""
        held = dict.fromkeys(self.values)
        if self.row is not None:
            known = self.selected if self.selected is not None else self.sobject.fields
            held |= dict.fromkeys(name for name in known if name in self.sobject.fields)
        return list(held)

    @property
    def id(self) -> Id | None:
        """Its id, if it has one."""
        if "id" in self.values or self.row is None:
            return self.values.get("id")
        found = self.row.get("Id")
        return None if found is None else Id(found)

    def key(self) -> Any:
        """What makes two records equal: type and fields."""
        fields = frozenset((name, _plain(self.read(name))) for name in self.populated())
        return (self.sobject.name, fields)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | Decimal | date | time) else id(value)


def field_type(field: Field) -> Type:
    """The Apex type of a field."""
    return FIELD_TYPES.get(field.type, STRING)


def relation(sobject: SObject, name: str) -> Field | None:
    """The reference field behind a relationship name: `owner` is OwnerId, `user__r` is User__c."""
    found = sobject.fields.get(f"{name[:-1]}c" if name.endswith("__r") else f"{name}id")
    return found if found is not None and found.reference_to else None


def from_stored(field: Field, value: Any) -> Any:  # noqa: PLR0911 - one per kind of value
    """A stored value as Apex has it."""
    if value is None:
        return None
    match field.type:
        case "double" | "currency" | "percent":
            return (
                Decimal(int(value))
                if value == int(value) and not field.scale
                else Decimal(repr(float(value))).normalize() + 0
            )
        case "int" | "boolean":
            return value
        case "date":
            return date.fromisoformat(value)
        case "datetime":
            return datetime.fromisoformat(value).astimezone(UTC)
        case "time":
            return time.fromisoformat(value.removesuffix("Z"))
        case "base64":
            return base64.b64decode(value)
        case "id" | "reference":
            return Id(value)
        case _:
            return value


def to_stored(value: Any) -> Any:
    """An Apex value as the org's saves take it."""
    match value:
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case date() | time():
            return value.isoformat()
        case str():
            return str(value)
        case _:
            return value
