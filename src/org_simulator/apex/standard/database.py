"""Database, its results, AccessLevel, Savepoint and EventBus."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import constant, method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record, to_stored
from org_simulator.apex.saves import RESULT
from org_simulator.apex.standard.options import settled
from org_simulator.apex.types import OBJECT, Type
from org_simulator.apex.values import Id, ListValue, MapValue, Native
from org_simulator.failures import Failure

constant("AccessLevel.USER_MODE", "AccessLevel", lambda: Native("AccessLevel", "user"))
constant("AccessLevel.SYSTEM_MODE", "AccessLevel", lambda: Native("AccessLevel", "system"))


def _settings(given: tuple[Any, ...]) -> dict[str, Any]:
    """What a Database method's further arguments say: allOrNone or DMLOptions, and the mode."""
    found: dict[str, Any] = {"all_or_none": True, "mode": "", "assign": False}
    for each in given:
        if isinstance(each, bool):
            found["all_or_none"] = each
        elif isinstance(each, Native) and each.kind == "AccessLevel":
            found["mode"] = each.held
        elif isinstance(each, Native) and each.kind == "DMLOptions":
            found["all_or_none"], found["assign"] = settled(each)
        elif each is not None:
            raise Unsupported("DML with these options")
    return found


def _register(verb: str) -> None:
    def run(session: Any, value: Any, *given: Any) -> Any:
        return session.dml(verb, value, **_settings(given))

    static(f"Database.{verb}", "Object", 1, 2, 3)(run)


for _verb in ("insert", "update", "delete", "undelete"):
    _register(_verb)


@static("Database.upsert", "Object", 1, 2, 3, 4)
def upsert(session: Any, value: Any, *given: Any) -> Any:
    fields = [each for each in given if isinstance(each, Native) and each.kind == "SObjectField"]
    settings = _settings(tuple(each for each in given if each not in fields))
    return session.dml("upsert", value, key=fields[0].held[1] if fields else "", **settings)


# ---- queries --------------------------------------------------------------------------------------------------------


@static("Database.query", "List<SObject>", 1, 2)
def query(session: Any, text: str, level: Native | None = None) -> Any:
    """Binds by variable are not run: the text must name none, or be asked with queryWithBinds."""
    if text is None:
        raise null_pointer()
    return session.query(text, {}, "" if level is None else level.held)


@static("Database.queryWithBinds", "List<SObject>", 3)
def query_with_binds(session: Any, text: str, binds: MapValue, level: Native) -> Any:
    return session.query(text, _binds(binds), level.held)


def _binds(binds: MapValue) -> Mapping[str, Any]:
    return {str(name): value for name, value in binds.items.values()}


@static("Database.countQuery", "Integer", 1, 2)
def count_query(session: Any, text: str, level: Native | None = None) -> Any:
    return session.query(text, {}, "" if level is None else level.held)


@static("Database.countQueryWithBinds", "Integer", 3)
def count_query_with_binds(session: Any, text: str, binds: MapValue, level: Native) -> Any:
    return session.query(text, _binds(binds), level.held)


@static("Database.getQueryLocator", "QueryLocator", 1, 2)
def get_query_locator(session: Any, asked: Any, level: Native | None = None) -> Native:
    """Of a text, or of a query in brackets."""
    rows = asked if isinstance(asked, ListValue) else session.query(asked, {}, "" if level is None else level.held)
    return Native("QueryLocator", rows)


# ---- points to go back to -------------------------------------------------------------------------------------------


@static("Database.setSavepoint", "Savepoint")
def set_savepoint(session: Any) -> Native:
    session.limits.use("dml_statements", 1)
    return Native("Savepoint", session.mark())


@static("Database.rollback", "void", 1)
def rollback(session: Any, point: Native) -> None:
    if point is None:
        raise null_pointer()
    session.limits.use("dml_statements", 1)
    session.back_to(point.held)


@static("Database.releaseSavepoint", "void", 1)
def release_savepoint(_session: Any, _point: Native) -> None:
    """Nothing is kept for a savepoint, so nothing is let go."""


# ---- results --------------------------------------------------------------------------------------------------------

_RESULTS = ("SaveResult", "UpsertResult", "DeleteResult", "UndeleteResult")


def _each(name: str) -> str:
    return "|".join(f"{kind}.{name}" for kind in _RESULTS)


@method(_each("isSuccess"), "Boolean")
def is_success(_session: Any, value: Native) -> bool:
    return not isinstance(value.held[0], Failure)


@method("UpsertResult.isCreated", "Boolean")
def is_created(_session: Any, value: Native) -> bool:
    return bool(value.held[1])


@method(_each("getId"), "Id")
def get_id(_session: Any, value: Native) -> Any:
    return None if isinstance(value.held[0], Failure) or not value.held[0] else Id(value.held[0])


@method(_each("getErrors"), "List<Database.Error>")
def get_errors(_session: Any, value: Native) -> ListValue:
    outcome = value.held[0]
    found = outcome.all if isinstance(outcome, Failure) else ()
    return ListValue([Native("Error", (each.code, each.message, each.fields)) for each in found], Type("Error"))


# ---- platform events ------------------------------------------------------------------------------------------------


@static("EventBus.publish", "Object", 1)
def publish(session: Any, value: Any) -> Any:
    """After the commit, unless the transaction is rolled back; counts as a DML statement."""
    if value is None:
        raise null_pointer()
    session.limits.use("dml_statements", 1)
    records = list(value) if isinstance(value, ListValue) else [value]
    results = [_published(session, each) for each in records]
    return ListValue(results, RESULT) if isinstance(value, ListValue) else results[0]


def _published(session: Any, record: Record) -> Native:
    if not record.sobject.name.endswith("__e"):
        raise thrown("TypeException", f"{record.sobject.name} is not a platform event")
    fields = {record.sobject.fields[name].name: to_stored(record.read(name)) for name in record.changed}
    missing = [each.name for each in record.sobject.fields.values() if each.required and fields.get(each.name) is None]
    if missing:
        text = f"Required fields are missing: [{', '.join(missing)}]"
        return Native("SaveResult", (Failure("REQUIRED_FIELD_MISSING", text, fields=missing), False))
    identity = str(uuid.UUID(int=session.org.dice.getrandbits(128), version=4))
    session.events.append((record.sobject.name, fields, identity))
    return Native("SaveResult", ("", True))


__all__ = ["OBJECT"]
