"""Invocable methods: found by their class, called with plain values, answered in plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import invoke as call
from org_simulator.apex.standard.json import plain, typed
from org_simulator.apex.values import Instance, ListValue

if TYPE_CHECKING:
    from org_simulator.apex.classes import ApexMethod
    from org_simulator.apex.program import Program
    from org_simulator.apex.session import Session


def action(program: Program, name: str) -> ApexMethod | None:
    """The invocable method of a class; a class has one at most."""
    cls = program.classes.get(name.lower())
    methods = [] if cls is None else [each for named in cls.methods.values() for each in named]
    return next((each for each in methods if each.decl and "invocablemethod" in each.decl.marks.annotations), None)


def invoke(session: Session, name: str, inputs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The outputs in the order of the inputs: an object's fields, or `output` for a plain value."""
    method = action(session.program, name)
    if method is None:
        raise Unsupported(f"the action {name}")
    given: list[Any] = []
    if method.params:
        of = method.params[0].args[0]
        given = [ListValue([typed(session, dict(each), of) for each in inputs], of)]
    session.static_of(method.owner)
    answers = call(session, method, None, given)
    if answers is None:
        return [{} for _ in inputs]
    return [plain(each) if isinstance(each, Instance) else {"output": plain(each)} for each in answers]
