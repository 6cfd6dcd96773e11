"""The order of execution of one save: load, apply, system validation, validation rules, unique keys, assignment, write.

Every function here runs holding the store's mutex, which is let go of while waiting for a lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from org_simulator import activities, failures, ownership, people
from org_simulator.changes import CREATE, UPDATE
from org_simulator.formula import Scope
from org_simulator.ids import PREFIX_LENGTH
from org_simulator.values import accept, stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from org_simulator.changes import Row
    from org_simulator.failures import Failure
    from org_simulator.schema import Field, SObject
    from org_simulator.transaction import Transaction

PERSONS = frozenset({"Lead", "Contact", "User"})
"""Objects whose Name is made of FirstName and LastName."""

ALIAS_LENGTH = 8


def insert(tx: Transaction, sobject: SObject, fields: Mapping[str, Any], *, assign: bool = True) -> str:
    """Save a new record; answers its id. Without `assign` the assignment rule is left to `assign_owner`."""
    given, problems = _given(tx, sobject, fields, creating=True)
    record_id: str = given.get("Id") or tx.org.store.new_id(sobject.prefix)
    row = _new_row(tx, sobject, record_id, given)
    problems += _missing(row, sobject.fields.values(), problems)
    problems += _bad_references(tx, sobject, given) + ownership.problems(tx, sobject, row, None)
    stop(tx, problems)
    lock_parents(tx, sobject, row, given)
    stop(tx, _broken_rules(tx, sobject, row, None))
    _claim_unique(tx, sobject, row, {})
    tx.write(sobject.name, record_id, ownership.assigned(tx, sobject, row) if assign else row, CREATE)
    activities.touch_lead(tx, sobject, row, {})
    if sobject.name == "User":
        people.entered(tx, record_id)
    return record_id


def update(
    tx: Transaction, sobject: SObject, record_id: str, fields: Mapping[str, Any], *, assign: bool = True
) -> None:
    """Save changes of a record. Under `stale_load` rules see the record as it was before its lock was waited for."""
    given, problems = _given(tx, sobject, fields, creating=False)
    early = tx.original(sobject.name, record_id)
    if early is None:
        raise failures.not_found()
    lock_parents(tx, sobject, early, given)
    tx.lock(record_id)
    current = tx.any_row(sobject.name, record_id)
    if current is None or current["IsDeleted"]:
        raise failures.entity_is_deleted()
    if current.get("IsConverted") and not tx.system:
        raise failures.converted_lead()
    original = early if tx.org.switches.stale_load else current
    row = {**current, **given, **_modified(tx)}
    _name_person(sobject, row)
    activities.close(sobject, row, current)
    ownership.mark_transfer(tx, sobject, row, current)
    problems += _missing(row, [sobject.fields[name.lower()] for name in given], problems)
    problems += _bad_references(tx, sobject, given) + ownership.problems(tx, sobject, row, current)
    stop(tx, problems)
    stop(tx, _broken_rules(tx, sobject, {**original, **given}, original))
    _claim_unique(tx, sobject, row, current)
    tx.write(sobject.name, record_id, ownership.assigned(tx, sobject, row) if assign else row, UPDATE)
    activities.touch_lead(tx, sobject, row, current)


def draft_insert(tx: Transaction, sobject: SObject, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A new record as before-triggers see it: defaults and given values, foreign keys checked, nothing else yet."""
    given, _ = _given(tx, sobject, fields, creating=True)
    stop(tx, _bad_references(tx, sobject, given))
    row: dict[str, Any] = {field.name: field.default for field in sobject.fields.values()}
    if sobject.owned:
        row["OwnerId"] = tx.user_id
    row |= given
    for field in sobject.fields.values():
        if field.type == "boolean" and row[field.name] is None:
            row[field.name] = False
    return row


def draft_update(
    tx: Transaction, sobject: SObject, record_id: str, fields: Mapping[str, Any]
) -> tuple[Row, dict[str, Any]]:
    """A record before and after a change, as before-triggers see it; the record stays locked."""
    given, _ = _given(tx, sobject, fields, creating=False)
    early = tx.original(sobject.name, record_id)
    if early is None:
        raise failures.not_found()
    tx.lock(record_id)
    current = tx.any_row(sobject.name, record_id)
    if current is None or current["IsDeleted"]:
        raise failures.entity_is_deleted()
    stop(tx, _bad_references(tx, sobject, given))
    original = early if tx.org.switches.stale_load else current
    tx.keep_original(record_id, early)
    return original, {**current, **given}


def assign_owner(tx: Transaction, sobject: SObject, record_id: str) -> None:
    """The assignment rule, behind the after-triggers (step 9)."""
    row = tx.any_row(sobject.name, record_id)
    if row is not None and (given := ownership.assigned(tx, sobject, dict(row))) != row:
        tx.write(sobject.name, record_id, given, UPDATE)


def stop(tx: Transaction, problems: list[Failure]) -> None:
    """Refuse the save if there are problems."""
    if problems:
        raise failures.together(problems, only_first=tx.org.switches.only_first_error_reported)


def lock_parents(tx: Transaction, sobject: SObject, row: Row, given: Iterable[str]) -> None:
    """Lock the masters of a record, and by switch the records that its `given` lookups name; ids ascending."""
    named = set(given) if tx.org.switches.lookup_insert_locks_parent else set()
    parents = {
        row[field.name]
        for field in sobject.fields.values()
        if (field.master or (field.name in named and field.reference_to and field.name != "OwnerId"))
        and row.get(field.name) is not None
    }
    tx.lock(*sorted(parents))


# ---- apply ----------------------------------------------------------------------------------------------------------


def _given(
    tx: Transaction, sobject: SObject, fields: Mapping[str, Any], *, creating: bool
) -> tuple[dict[str, Any], list[Failure]]:
    known, refused = sobject.fields, []
    relations = {field.relationship: field for field in known.values() if field.relationship}
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict) and name in relations:
            flat[relations[name].name] = _by_external_id(tx, relations[name], value)
            continue
        field = known.get(name.lower())
        if field is None:
            raise failures.no_such_column(name, sobject.name)
        if not (tx.system or (field.createable if creating else field.updateable)):
            refused.append(field.name)
        flat[field.name] = value
    if refused:
        raise failures.read_only(refused)
    return accept(flat, known, tx.org.schema, whole_seconds=tx.org.switches.created_date_whole_seconds)


def _by_external_id(tx: Transaction, field: Field, value: Mapping[str, Any]) -> str:
    """The id that `{"Key__c": "emea"}` stands for."""
    for name, key in value.items():
        if name != "attributes" and (found := tx.find(field.reference_to[0], name, str(key))) is not None:
            return found
    raise failures.bad_reference(field.name)


def _modified(tx: Transaction) -> dict[str, Any]:
    now = stamp(tx.org.clock.now(), whole_seconds=tx.org.switches.created_date_whole_seconds)
    return {"LastModifiedDate": now, "LastModifiedById": tx.user_id, "SystemModstamp": now}


def _new_row(tx: Transaction, sobject: SObject, record_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {field.name: field.default for field in sobject.fields.values()}
    modified = _modified(tx)
    row |= {"Id": record_id, "IsDeleted": False, "CreatedById": tx.user_id, "CreatedDate": modified["LastModifiedDate"]}
    row |= modified
    if sobject.owned:
        row["OwnerId"] = tx.user_id
    row |= given
    for field in sobject.fields.values():
        if field.auto_number is not None:
            row[field.name] = tx.org.store.auto_number(sobject, field.auto_number)
        elif field.type == "boolean" and row[field.name] is None:
            row[field.name] = False
    if sobject.custom and row["Name"] is None:
        row["Name"] = record_id
    if sobject.name == "User":
        row["Alias"] = row["Alias"] or (row["LastName"] or "")[:ALIAS_LENGTH].lower()
        row["ProfileId"] = row["ProfileId"] or people.default_profile(tx)
    _name_person(sobject, row)
    activities.close(sobject, row, {})
    return row


def _name_person(sobject: SObject, row: dict[str, Any]) -> None:
    if sobject.name in PERSONS:
        row["Name"] = " ".join(filter(None, (row["FirstName"], row["LastName"]))) or None


# ---- system validation ----------------------------------------------------------------------------------------------


def _missing(row: Row, fields: Iterable[Field], problems: list[Failure]) -> list[Failure]:
    """Required fields that are blank, but for those that were refused already."""
    refused = {name for failure in problems for name in failure.fields}
    blank = [field.name for field in fields if field.required and row.get(field.name) is None]
    missing = [name for name in blank if name not in refused]
    return [failures.required_missing(missing)] if missing else []


def _bad_references(tx: Transaction, sobject: SObject, given: Mapping[str, Any]) -> list[Failure]:
    problems = []
    for name, value in given.items():
        if value is None or not sobject.fields[name.lower()].reference_to:
            continue
        target = tx.org.sobject_of(value[:PREFIX_LENGTH])
        found = None if target is None else tx.any_row(target, value)
        if found is None or found["IsDeleted"]:
            problems.append(failures.bad_reference(name))
    return problems


# ---- validation rules -----------------------------------------------------------------------------------------------


def _broken_rules(tx: Transaction, sobject: SObject, new: Row, old: Row | None) -> list[Failure]:
    if tx.system or not sobject.validation_rules:
        return []
    user = tx.any_row("User", tx.user_id) or {}
    scope = Scope(new, old, user, tx.org.permissions(tx.user_id), tx.org.clock.now())
    return [
        failures.validation_failed(rule.message, rule.display_field)
        for rule in sobject.validation_rules
        if rule.active and rule.condition(scope)
    ]


# ---- unique keys ----------------------------------------------------------------------------------------------------


def _claim_unique(tx: Transaction, sobject: SObject, row: Row, before: Row) -> None:
    """Hold old and new value of each changed unique field to the end of the transaction; DUPLICATE_VALUE if taken."""
    for name, index in tx.table(sobject.name).unique.items():
        field = index.field
        old, new = index.key(before.get(field.name)), index.key(row.get(field.name))
        if old == new:
            continue
        for key in sorted(filter(None, (old, new))):
            tx.reserve(sobject.name, name, key, row["Id"])
        for holder in tx.holders(sobject.name, name, row.get(field.name)):
            held = tx.any_row(sobject.name, holder)
            counts = held is not None and (tx.org.switches.recycle_bin_keeps_unique_keys or not held["IsDeleted"])
            if holder != row["Id"] and counts:
                raise failures.duplicate_value(field.name, holder, named=tx.org.switches.duplicate_value_names_record)
