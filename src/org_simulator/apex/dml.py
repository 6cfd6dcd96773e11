"""DML of Apex: records to saves, their results back, and DmlException where all or none was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from org_simulator.apex import saves
from org_simulator.apex.conversion import type_of
from org_simulator.apex.faults import Thrown, Unsupported
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record, to_stored
from org_simulator.apex.values import Id, ListValue, Native
from org_simulator.failures import Failure

if TYPE_CHECKING:
    from org_simulator.apex.session import Session
    from org_simulator.schema import SObject

VERBS = {"insert": "Insert", "update": "Update", "upsert": "Upsert", "delete": "Delete", "undelete": "Undelete"}
TYPES_MAX = 10  # runs of one type in one statement


@dataclass(frozen=True, slots=True)
class Ask:
    """How DML is to be done; `key` is an upsert's external id, `mode` user or system."""

    all_or_none: bool
    key: str = ""
    mode: str = ""
    assign: bool = False


def run(session: Session, verb: str, value: Any, ask: Ask) -> Any:
    """The results by position, one where one record was given: SaveResult and its kin."""
    many = isinstance(value, ListValue)
    records = list(_records(session, value, verb))
    session.limits.use("dml_statements", 1)
    session.limits.use("dml_rows", len(records))
    _refuse_twins(records, verb)
    _refuse_types(records)
    _mixed(session, records, verb)
    if ask.mode == "user":
        _check_access(session, records, verb)
    mark = session.mark()
    try:
        outcomes, created = _save(session, verb, records, ask)
    except Thrown:
        session.back_to(mark)
        raise
    failed = [(place, each) for place, each in enumerate(outcomes) if isinstance(each, Failure)]
    if failed and ask.all_or_none:
        session.back_to(mark)
        for record in created:
            record.row = None
            record.values.pop("id", None)
        raise dml_exception(verb, failed, records)
    made = {id(record) for record in created}
    results = [_result(verb, each, id(record) in made) for each, record in zip(outcomes, records, strict=True)]
    return ListValue(results, saves.RESULT) if many else results[0]


def _records(session: Session, value: Any, verb: str) -> Iterable[Record]:
    if value is None:
        raise null_pointer()
    for each in value if isinstance(value, ListValue) else [value]:
        if each is None:
            raise null_pointer()
        if isinstance(each, Record):
            yield each
        elif isinstance(each, str) and verb in {"delete", "undelete"}:
            yield _of_id(session, each)
        else:
            raise Unsupported(f"{verb} of {type_of(each)}")


def _of_id(session: Session, text: str) -> Record:
    name = session.org.sobject_of(text[:3])
    if name is None:
        raise thrown("StringException", f"Invalid id: {text}")
    record = Record(session.org.schema.objects[name.lower()])
    record.values["id"] = Id(text)
    return record


def _refuse_twins(records: Sequence[Record], verb: str) -> None:
    if len({id(each) for each in records}) < len(records):
        if verb in {"insert", "upsert"}:
            raise thrown("ListException", "Before Insert or Upsert list must not have two identically equal elements")
        raise thrown("ListException", f"Duplicate id in list: {records[0].id}")
    ids = [each.id for each in records if each.id is not None]
    twin = next((each for each in ids if ids.count(each) > 1), None) if len(set(ids)) < len(ids) else None
    if twin is not None:
        raise thrown("ListException", f"Duplicate id in list: {twin}")


SETUP = frozenset({"Group", "GroupMember", "QueueSobject", "PermissionSetAssignment", "PermissionSet", "UserRole"})
USER_FIELDS = frozenset({"userroleid", "isactive", "username", "profileid"})
"""Fields that make a change of a User one of setup."""


def _mixed(session: Session, records: Sequence[Record], verb: str) -> None:
    """MIXED_DML_OPERATION where setup and other objects meet in one transaction; runAs begins anew."""
    for place, record in enumerate(records):
        name = record.sobject.name
        used = {"userroleid"} if verb == "insert" else USER_FIELDS
        setup = name in SETUP or (name == "User" and any(record.values.get(each) is not None for each in used))
        neither = name == "User" and not setup
        if not neither and (not setup) in session.saved_kinds:
            text = (
                "DML operation on setup object is not permitted after you have updated a non-setup object (or vice "
                f"versa): {name}, original object: {session.saved_kinds[not setup]}"
            )
            raise dml_exception(verb, [(place, Failure("MIXED_DML_OPERATION", text))], records)
        if not neither:
            session.saved_kinds.setdefault(setup, name)


def _refuse_types(records: Sequence[Record]) -> None:
    runs = 1 + sum(one.sobject is not two.sobject for one, two in pairwise(records))
    if runs > TYPES_MAX:
        raise thrown("TypeException", f"Cannot have more than {TYPES_MAX} chunks in a single operation.")
    for each in records:
        if each.sobject.name.endswith(("__e", "__mdt")):
            raise Unsupported(f"DML of {each.sobject.name}")


def _check_access(session: Session, records: Sequence[Record], verb: str) -> None:
    """User mode: objects and fields that the user's permission sets do not open are refused."""
    schema = session.schema_for("user")
    for place, record in enumerate(records):
        seen = schema.objects.get(record.sobject.name.lower())
        if seen is None:
            text = f"Access to entity '{record.sobject.name}' denied"
            raise dml_exception(verb, [(place, Failure("INSUFFICIENT_ACCESS_OR_READONLY", text))], records)
        hidden = [name for name in record.changed if name not in seen.fields or not seen.fields[name].updateable]
        if hidden and verb != "delete":
            names = [record.sobject.fields[name].name for name in hidden]
            text = f"Access to fields denied: {', '.join(names)}"
            raise dml_exception(
                verb, [(place, Failure("INSUFFICIENT_ACCESS_OR_READONLY", text, fields=names))], records
            )


# ---- saving ---------------------------------------------------------------------------------------------------------


def _save(session: Session, verb: str, records: Sequence[Record], ask: Ask) -> tuple[list[str | Failure], list[Record]]:
    """Outcomes by position and the records that are new; each type in its turn, in portions of 200."""
    outcomes: list[str | Failure] = [""] * len(records)
    created: list[Record] = []
    portions: dict[tuple[str, str], list[tuple[int, saves.Save]]] = {}
    for place, record in enumerate(records):
        found = _verb(session, verb, record, ask.key)
        if isinstance(found, Failure):
            outcomes[place] = found
            continue
        own, record_id = found
        save = saves.Save(record_id, _fields(session, own, record))
        portions.setdefault((own, record.sobject.name), []).append((place, save))
    for (own, name), saved in portions.items():
        sobject: SObject = session.org.schema.objects[name.lower()]
        results = saves.save(
            session, own, sobject, [each for _, each in saved], together=ask.all_or_none, assign=ask.assign
        )
        for (place, _), outcome in zip(saved, results, strict=True):
            outcomes[place] = outcome
            if own == "insert" and not isinstance(outcome, Failure):
                records[place].values["id"] = Id(outcome)
                created.append(records[place])
                if session.org.switches.apex_insert_fills_defaults:
                    records[place].row = session.tx.any_row(name, outcome)
    return outcomes, created


def _verb(session: Session, verb: str, record: Record, key: str) -> tuple[str, str | None] | Failure:
    """What an upsert comes to, and the id of the record; a failure where an id is missing or must not be."""
    if verb == "upsert":
        return _upserted(session, record, key)
    if verb == "insert":
        if record.id is not None:
            return Failure("INVALID_FIELD_FOR_INSERT_UPDATE", "cannot specify Id in an insert call", fields=("Id",))
        return verb, None
    if record.id is None:
        return Failure("MISSING_ARGUMENT", f"Id not specified in an {verb} call")
    return verb, record.id


def _upserted(session: Session, record: Record, key: str) -> tuple[str, str | None] | Failure:
    if not key or key.lower() == "id":
        return ("insert", None) if record.id is None else ("update", record.id)
    value = record.read(key.lower())
    if value is None:
        return Failure("MISSING_ARGUMENT", f"{key} not specified")
    rows = list(session.tx.rows_by(record.sobject.name, key, [str(value)]) or ())
    if len(rows) > 1:
        return Failure("DUPLICATE_EXTERNAL_ID", f"{key}: more than one record found for external id field")
    if not rows:
        return "insert", None
    record.values["id"] = Id(rows[0]["Id"])
    return "update", rows[0]["Id"]


def _fields(session: Session, verb: str, record: Record) -> dict[str, Any]:
    """What is sent: the fields that Apex set; where a switch says so, also those that were only queried."""
    if verb in {"delete", "undelete"}:
        return {}
    names = dict(record.changed)
    if verb == "update" and session.org.switches.apex_update_writes_queried_fields:
        names |= {name: None for name in record.populated() if record.sobject.fields[name].updateable}
    fields = {record.sobject.fields[name].name: to_stored(record.read(name)) for name in names if name != "id"}
    for name, parent in record.parents.items():
        step = record.sobject.fields.get(f"{name[:-1]}c" if name.endswith("__r") else f"{name}id")
        if parent is not None and step is not None and parent.row is None and parent.id is None:
            fields[step.relationship or name] = {
                parent.sobject.fields[each].name: to_stored(parent.read(each)) for each in parent.changed
            }
    return fields


# ---- results --------------------------------------------------------------------------------------------------------


def _result(verb: str, outcome: str | Failure, created: bool) -> Native:
    kind = {"upsert": "UpsertResult", "delete": "DeleteResult", "undelete": "UndeleteResult"}.get(verb, "SaveResult")
    return Native(kind, (outcome, created))


def dml_exception(verb: str, failed: Sequence[tuple[int, Failure]], records: Sequence[Record]) -> Thrown:
    """DmlException with every failure: place, id, code, text and fields."""
    place, first = failed[0]
    ids = [record.id for record in records]
    head = f"{VERBS[verb]} failed. First exception on row {place}"
    head += f" with id {ids[place]}" if verb != "insert" and ids[place] is not None else ""
    text = f"{head}; first error: {first.code}, {first.message}: [{', '.join(first.fields)}]"
    return thrown("DmlException", text, [(at, ids[at], each) for at, each in failed])
