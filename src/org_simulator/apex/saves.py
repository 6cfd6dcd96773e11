"""Records saved with their triggers, in the platform's order of execution and in portions of 200.

Lock and load, foreign keys, before-triggers, system validation and validation rules, save, after-triggers, assignment
rule. Where part may succeed, the good records of a first try are saved again without the bad ones, three times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from org_simulator import removing, saving
from org_simulator.apex.classes import shown
from org_simulator.apex.contexts import Context
from org_simulator.apex.faults import Thrown
from org_simulator.apex.raising import is_limit
from org_simulator.apex.records import Record, to_stored
from org_simulator.apex.types import Type
from org_simulator.failures import Failure
from org_simulator.failures import together as all_of

if TYPE_CHECKING:
    from org_simulator.apex.session import Session
    from org_simulator.changes import Row
    from org_simulator.schema import SObject

PORTION = 200
TRIES_MAX = 3
RESULT = Type("SaveResult")
TOO_MANY_TRIES = "Too many batch retries in the presence of Apex triggers and partial failures."


@dataclass(frozen=True, slots=True)
class Save:
    """What is asked for: the record's id (None for a new one) and its fields as the org stores them."""

    record_id: str | None
    fields: Mapping[str, Any]


@dataclass(slots=True, eq=False)
class _Work:
    """One record on its way."""

    save: Save
    record_id: str = ""
    new: Record | None = None
    old: Record | None = None
    failure: Failure | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def save(
    session: Session, verb: str, sobject: SObject, items: Sequence[Save], *, together: bool, assign: bool
) -> list[str | Failure]:
    """Ids or failures by position; under `together` the caller undoes the good ones where there are bad ones."""
    outcomes: list[str | Failure] = []
    for at in range(0, len(items), PORTION):
        outcomes += _portion(session, verb, sobject, items[at : at + PORTION], together=together, assign=assign)
        if together and any(isinstance(each, Failure) for each in outcomes):
            missing = len(items) - len(outcomes)
            return [*outcomes, *[""] * missing]
    return outcomes


def _portion(
    session: Session, verb: str, sobject: SObject, items: Sequence[Save], *, together: bool, assign: bool
) -> list[str | Failure]:
    outcomes: dict[int, str | Failure] = {}
    waiting = list(range(len(items)))
    limits = session.limits.kept()
    for _ in range(TRIES_MAX):
        mark = session.mark()
        works = [_Work(items[place]) for place in waiting]
        _try(session, verb, sobject, works, together=together, assign=assign)
        bad = [(place, work) for place, work in zip(waiting, works, strict=True) if work.failure is not None]
        if not bad or together or len(bad) == len(works):
            outcomes |= {at: each.failure or each.record_id for at, each in zip(waiting, works, strict=True)}
            if bad:
                session.back_to(mark)
            break
        outcomes |= {place: work.failure or "" for place, work in bad}
        waiting = [place for place in waiting if place not in outcomes]
        session.back_to(mark)
        session.limits.reset(limits)
    else:
        refused = Failure("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", TOO_MANY_TRIES)
        outcomes |= dict.fromkeys(waiting, refused)
    return [outcomes[place] for place in range(len(items))]


def _try(session: Session, verb: str, sobject: SObject, works: list[_Work], *, together: bool, assign: bool) -> None:
    """One try with all records; each ends with an id or a failure."""
    _draft(session, verb, sobject, works)
    _fire(session, "before", verb, sobject, works)
    for work in _alive(works):
        _attempt(work, lambda work=work: _store(session, verb, sobject, work))  # type: ignore[misc]
    if together and len(_alive(works)) < len(works) and not session.org.switches.after_triggers_run_before_undo:
        return
    _after(session, verb, sobject, works)
    if assign and verb in {"insert", "update"}:
        for work in _alive(works):
            _attempt(work, lambda work=work: _assigned(session, sobject, work))  # type: ignore[misc]


def _alive(works: Sequence[_Work]) -> list[_Work]:
    return [work for work in works if work.failure is None]


def _attempt(work: _Work, act: Callable[[], None]) -> None:
    try:
        act()
    except Failure as failure:
        work.failure = failure


# ---- the steps ------------------------------------------------------------------------------------------------------


def _draft(session: Session, verb: str, sobject: SObject, works: list[_Work]) -> None:
    """Records as before-triggers see them; those that exist are locked, ids ascending."""

    def existing(work: _Work) -> str:
        return work.save.record_id or ""

    for work in sorted(works, key=existing) if verb != "insert" else works:
        _attempt(work, lambda work=work: _drafted(session, verb, sobject, work))  # type: ignore[misc]


def _drafted(session: Session, verb: str, sobject: SObject, work: _Work) -> None:
    tx, fields = session.tx, work.save.fields
    with session.org.store.mutex:
        if verb == "insert":
            work.new = _writable(sobject, saving.draft_insert(tx, sobject, fields))
            return
        work.record_id = tx.checked_id(sobject.name, work.save.record_id or "")
        if verb == "update":
            old, new = saving.draft_update(tx, sobject, work.record_id, fields)
            work.old, work.new = _read_only(sobject, old), _writable(sobject, new)
            return
        row = tx.any_row(sobject.name, work.record_id)
        if row is not None:
            work.old = _read_only(sobject, row)


def _writable(sobject: SObject, row: Row) -> Record:
    return Record(sobject, row)


def _read_only(sobject: SObject, row: Row) -> Record:
    record = Record(sobject, row)
    record.readonly = True
    return record


def _store(session: Session, verb: str, sobject: SObject, work: _Work) -> None:
    tx = session.tx
    with session.org.store.mutex:
        match verb:
            case "insert":
                work.record_id = saving.insert(tx, sobject, _merged(sobject, work), assign=False)
            case "update":
                saving.update(tx, sobject, work.record_id, _merged(sobject, work), assign=False)
            case "delete":
                removing.delete(tx, sobject, work.record_id)
            case _:
                removing.undelete(tx, sobject, work.record_id)


def _merged(sobject: SObject, work: _Work) -> dict[str, Any]:
    """What was asked for, with what before-triggers changed."""
    if work.new is None:
        return dict(work.save.fields)
    changed = {sobject.fields[name].name: to_stored(work.new.read(name)) for name in work.new.changed}
    low = {name.lower() for name in changed}
    return {name: value for name, value in work.save.fields.items() if name.lower() not in low} | changed


def _after(session: Session, verb: str, sobject: SObject, works: list[_Work]) -> None:
    for work in _alive(works):
        row = session.tx.any_row(sobject.name, work.record_id)
        work.new = None if row is None or verb == "delete" else _read_only(sobject, row)
    _fire(session, "after", verb, sobject, works)


def _assigned(session: Session, sobject: SObject, work: _Work) -> None:
    with session.org.store.mutex:
        saving.assign_owner(session.tx, sobject, work.record_id)


# ---- triggers -------------------------------------------------------------------------------------------------------


def _fire(session: Session, when: str, verb: str, sobject: SObject, works: list[_Work]) -> None:
    """Run the triggers of an event; an exception that none catches fails all records of the portion."""
    event = f"{when} {verb}"
    for trigger in session.program.triggers:
        alive = _alive(works)
        if trigger.sobject != sobject.name or event not in trigger.events or not alive:
            continue
        new = [work.new for work in alive if work.new is not None] or None
        old = [work.old for work in alive if work.old is not None] or None if verb in {"update", "delete"} else None
        context = Context(when, verb, new, old, Type(sobject.name, sobject=sobject.name))
        try:
            with session.in_context(context):
                trigger.run([session, None, *[None] * trigger.slots])
        except Thrown as fault:
            if is_limit(fault) and (session.contexts or session.depth):
                raise
            failure = uncaught(trigger.name, when, verb, fault)
            for work in alive:
                work.failure = failure
            return
        for work in alive:
            _errors(work)


def _errors(work: _Work) -> None:
    """What addError said of a record, on its new or its old self."""
    found = [error for record in (work.new, work.old) if record is not None for error in record.errors]
    if found:
        code = "FIELD_CUSTOM_VALIDATION_EXCEPTION"
        each = [Failure(code, text, fields=(name,) if name else ()) for text, name in found]
        work.failure = all_of(each, only_first=False)


def uncaught(trigger: str, when: str, verb: str, fault: Thrown) -> Failure:
    """The failure of records whose trigger let an exception out."""
    cause = f"{shown(fault.value.cls)}: {fault.value.values.get('message')}"
    event = f"{when.capitalize()}{verb.capitalize()}"
    where = "\n".join(f"{name}: line {line}, column 1" for name, line in fault.trace[:1])
    text = f"{trigger}: execution of {event}\n\ncaused by: {cause}\n\n{where}"
    return Failure("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", text)
