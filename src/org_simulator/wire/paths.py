"""Field paths such as `Owner.Name` or `Member__r.User__r.IsActive`: found in the schema, walked over rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from org_simulator.changes import Row
from org_simulator.failures import no_such_column
from org_simulator.schema import Field, Schema, SObject

DEPTH_MAX = 5  # parent relationships in one path
_NAME_FIELDS = {
    "id": ("Id", "id"),
    "name": ("Name", "string"),
    "type": ("Type", "picklist"),
    "isactive": ("IsActive", "boolean"),
    "username": ("Username", "string"),
    "firstname": ("FirstName", "string"),
    "lastname": ("LastName", "string"),
    "email": ("Email", "email"),
    "alias": ("Alias", "string"),
    "phone": ("Phone", "phone"),
    "title": ("Title", "string"),
}
"""What a polymorphic parent (a user or a queue) shows: the fields of Salesforce's Name object that we keep."""

Read: TypeAlias = "Callable[[str, str], Row | None]"
"""The row of an object's name and a record id."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path in the schema's own spelling; `steps` are the reference fields walked, `type` the leaf's describe type."""

    names: tuple[str, ...]
    steps: tuple[Field, ...]
    type: str
    leaf: Field | None


@dataclass(slots=True)
class Plan:
    """A tree of what to take from a row: plain fields, and parents by relationship name with their own plan."""

    leaves: list[str] = field(default_factory=list)
    parents: dict[str, tuple[Field, Plan]] = field(default_factory=dict)


def relationship(reference: Field) -> str:
    """The name of a reference field's parent relationship: `OwnerId` is `Owner`, `User__c` is `User__r`."""
    if reference.name.endswith("__c"):
        return reference.name[:-1] + "r"
    return reference.name.removesuffix("Id")


def resolve(schema: Schema, sobject: SObject, text: str) -> Path:
    """Find a path in the schema, any case; raises INVALID_FIELD naming the part that is not there."""
    *parents, leaf = text.split(".")
    names: list[str] = []
    steps: list[Field] = []
    at: SObject | None = sobject
    for part in parents[: DEPTH_MAX + 1]:
        step = None if at is None else _reference(at, part)
        if step is None or len(steps) == DEPTH_MAX:
            raise no_such_column(part, at.name if at else "Name")
        steps.append(step)
        names.append(relationship(step))
        at = schema.objects.get(step.reference_to[0].lower()) if len(step.reference_to) == 1 else None
    if at is None:
        known = _NAME_FIELDS.get(leaf.lower())
        if known is None:
            raise no_such_column(leaf, "Name")
        return Path((*names, known[0]), tuple(steps), known[1], None)
    found = at.fields.get(leaf.lower())
    if found is None:
        raise no_such_column(leaf, at.name)
    return Path((*names, found.name), tuple(steps), found.type, found)


def _reference(sobject: SObject, name: str) -> Field | None:
    low = name.lower()
    field_name = low[:-1] + "c" if low.endswith("__r") else low + "id"
    found = sobject.fields.get(field_name)
    return found if found is not None and found.reference_to else None


def target(schema: Schema, reference: Field, record_id: str) -> SObject | None:
    """The object that a reference's value is a record of."""
    for name in reference.reference_to:
        found = schema.objects.get(name.lower())
        if found is not None and (len(reference.reference_to) == 1 or record_id.startswith(found.prefix)):
            return found
    return None


def plan(paths: Iterable[Path]) -> Plan:
    """One tree for many paths."""
    root = Plan()
    for path in paths:
        at = root
        for name, step in zip(path.names, path.steps, strict=False):
            at = at.parents.setdefault(name, (step, Plan()))[1]
        if path.names[-1] not in at.leaves:
            at.leaves.append(path.names[-1])
    return root


def value(schema: Schema, path: Path, row: Row, read: Read) -> Any:
    """What stands at the end of a path, None where a parent is missing."""
    at: Row = row
    for step in path.steps:
        parent = _parent(schema, step, at, read)
        if parent is None:
            return None
        at = parent[1]
        if len(step.reference_to) > 1:
            return _of_name(parent[0], at, path.names[-1])
    return at.get(path.names[-1])


def _parent(schema: Schema, step: Field, row: Row, read: Read) -> tuple[SObject, Row] | None:
    record_id = row.get(step.name)
    if record_id is None:
        return None
    sobject = target(schema, step, record_id)
    found = None if sobject is None else read(sobject.name, record_id)
    return None if sobject is None or found is None else (sobject, found)


def _of_name(sobject: SObject, row: Row, leaf: str) -> Any:
    if leaf == "Type":
        return "User" if sobject.name == "User" else "Queue"
    return row.get(leaf)


def nested(
    schema: Schema, tree: Plan, row: Row, read: Read, url: Callable[[str, str], str] | None = None
) -> dict[str, Any]:
    """The fields of a plan as REST nests them; with `url` each parent bears its `attributes`."""
    found: dict[str, Any] = {name: row.get(name) for name in tree.leaves}
    for name, (step, inner) in tree.parents.items():
        parent = _parent(schema, step, row, read)
        if parent is None:
            found[name] = None
            continue
        sobject, above = parent
        polymorphic = len(step.reference_to) > 1
        made: dict[str, Any] = {}
        if url is not None:
            kind = "Name" if polymorphic else sobject.name
            made["attributes"] = {"type": kind, "url": url(sobject.name, above["Id"])}
        if polymorphic:
            made.update({leaf: _of_name(sobject, above, leaf) for leaf in inner.leaves})
        else:
            made.update(nested(schema, inner, above, read, url))
        found[name] = made
    return found
