"""Work after the commit: each job in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from org_simulator.apex.contexts import Context
from org_simulator.apex.faults import Thrown, Unsupported
from org_simulator.apex.invoking import dispatch
from org_simulator.apex.records import Record
from org_simulator.apex.types import Type
from org_simulator.apex.values import ListValue, Native

if TYPE_CHECKING:
    from org_simulator.apex.session import Session

EVENTS_MAX = 2000  # that one run of an event's triggers gets


@dataclass(frozen=True, slots=True)
class Job:
    """A queueable, batch or schedulable object; `more` is what it was asked with."""

    kind: str
    target: Any
    id: str
    user_id: str
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Platform events of one kind for Apex triggers."""

    name: str
    events: tuple[dict[str, Any], ...]


def _method(target: Any, name: str) -> Any:
    found = target.cls.named(name)
    if not found:
        raise Unsupported(f"{target.cls.name} without {name}")
    return found[0]


def perform(job: Job, begin: Callable[[Callable[[Session], Any]], Any]) -> None:
    """Run a job; `begin` runs a piece of work in a transaction of its own and answers its value."""
    target = job.target
    match job.kind:
        case "queueable":
            _queueable(job, begin)
        case "schedulable":
            context = Native("SchedulableContext", job.id)
            begin(lambda session: dispatch(session, _method(target, "execute"), target, [context]))
        case _:
            _batch(job, begin)


def _queueable(job: Job, begin: Callable[[Callable[[Session], Any]], Any]) -> None:
    """Execute, then its finalizer, in a transaction of its own and however execute ended."""
    target, context = job.target, Native("QueueableContext", job.id)
    last: list[Any] = []
    fault: Thrown | None = None

    def run(session: Session) -> None:
        try:
            dispatch(session, _method(target, "execute"), target, [context])
        finally:
            last.append(session.finalizer)

    try:
        begin(run)
    except Thrown as raised:
        fault = raised
    for each in last:
        if each is not None:
            ended = Native("FinalizerContext", (job.id, None if fault is None else fault.value))
            begin(lambda session, each=each, ended=ended: dispatch(session, _method(each, "execute"), each, [ended]))  # type: ignore[misc]
    if fault is not None:
        raise fault


def _batch(job: Job, begin: Callable[[Callable[[Session], Any]], Any]) -> None:
    target, context = job.target, Native("BatchableContext", job.id)
    found = begin(lambda session: dispatch(session, _method(target, "start"), target, [context]))
    rows = found.held if isinstance(found, Native) else found
    size = job.more["size"]
    for at in range(0, len(rows.items), size):
        part = ListValue(rows.items[at : at + size], rows.of)
        begin(lambda session, part=part: dispatch(session, _method(target, "execute"), target, [context, part]))  # type: ignore[misc]
    begin(lambda session: dispatch(session, _method(target, "finish"), target, [context]))


def deliver(session: Session, delivery: Delivery) -> None:
    """Run the triggers of a platform event (after insert) with its records."""
    sobject = session.program.resolver.sobject(delivery.name.lower())
    if sobject is None:
        raise Unsupported(f"the event {delivery.name}")
    records = [Record(sobject, {**dict.fromkeys(_names(sobject)), **fields}) for fields in delivery.events]
    for record in records:
        record.readonly = True
    context = Context("after", "insert", records, None, Type(sobject.name, sobject=sobject.name))
    for trigger in session.program.triggers:
        if trigger.sobject == sobject.name and "after insert" in trigger.events:
            with session.in_context(context):
                trigger.run([session, None, *[None] * trigger.slots])


def _names(sobject: Any) -> list[str]:
    return [each.name for each in sobject.fields.values()]
