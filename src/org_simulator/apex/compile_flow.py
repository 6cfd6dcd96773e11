"""Branches, loops and switches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.classes import Frame, Read
from org_simulator.apex.compile_block import AGAIN, LEAVE, Step, body, compile_stmt, statement
from org_simulator.apex.compile_expr import truth
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.operators import equal
from org_simulator.apex.raising import null_pointer
from org_simulator.apex.records import Record
from org_simulator.apex.scope import Scope
from org_simulator.apex.types import Type
from org_simulator.apex.values import EnumValue, ListValue, SetValue

CHUNK = 200
"""Records that a loop over a query's lists gets at a time."""


@statement(tree.If)
def _if(stmt: tree.If, scope: Scope) -> Step:
    branches = [(truth(scope.expr(condition)), body(each, scope)) for condition, each in stmt.branches]
    otherwise = body(stmt.otherwise, scope)
    if len(branches) == 1:
        [(asked, then)] = branches
        return lambda frame: then(frame) if asked(frame) else otherwise(frame)

    def run(frame: Frame) -> Any:
        for asked, then in branches:
            if asked(frame):
                return then(frame)
        return otherwise(frame)

    return run


@statement(tree.For)
def _for(stmt: tree.For, scope: Scope) -> Step:
    with scope.inner():
        inits = [compile_stmt(each, scope) for each in stmt.inits]
        condition: Read = (lambda _frame: True) if stmt.condition is None else truth(scope.expr(stmt.condition))
        step: Read = (lambda _frame: None) if stmt.step is None else scope.expr(stmt.step).read
        inside = body(stmt.body, scope)

    def run(frame: Frame) -> Any:
        for each in inits:
            each(frame)
        while condition(frame):
            done = inside(frame)
            if done is not None and done is not AGAIN:
                return None if done is LEAVE else done
            step(frame)
        return None

    return run


@statement(tree.ForEach)
def _for_each(stmt: tree.ForEach, scope: Scope) -> Step:
    over = scope.expr(stmt.over)
    with scope.inner():
        kind = scope.type(stmt.type, stmt.line)
        slot = scope.declare(stmt.name, kind)
        inside = body(stmt.body, scope)
    chunks = kind.name == "List" and isinstance(stmt.over, tree.Soql)
    of = over.read

    def run(frame: Frame) -> Any:
        for value in chunked(of(frame)) if chunks else items_of(of(frame)):
            frame[slot] = value
            done = inside(frame)
            if done is not None and done is not AGAIN:
                return None if done is LEAVE else done
        return None

    return run


def chunked(value: ListValue) -> list[ListValue]:
    """A query's rows in lists of up to CHUNK."""
    return [ListValue(value.items[at : at + CHUNK], value.of) for at in range(0, len(value.items), CHUNK)]


def items_of(value: Any) -> Any:
    """What a loop goes over: a list as it is (a change of its length is refused), a set as it was."""
    if value is None:
        raise null_pointer()
    if isinstance(value, SetValue):
        return list(value.items.values())
    if isinstance(value, ListValue):
        return list(value.items)
    raise Unsupported("a loop over what is neither list nor set")


@statement(tree.While)
def _while(stmt: tree.While, scope: Scope) -> Step:
    condition, inside, first = truth(scope.expr(stmt.condition)), body(stmt.body, scope), stmt.first

    def run(frame: Frame) -> Any:
        asked = not first
        while not asked or condition(frame):
            asked = True
            done = inside(frame)
            if done is not None and done is not AGAIN:
                return None if done is LEAVE else done
        return None

    return run


@statement(tree.Leave)
def _leave(stmt: tree.Leave, _scope: Scope) -> Step:
    word = AGAIN if stmt.again else LEAVE
    return lambda _frame: word


@statement(tree.Switch)
def _switch(stmt: tree.Switch, scope: Scope) -> Step:
    on = scope.expr(stmt.on)
    read = on.read
    whens = [(_chosen(when, on.type, scope, stmt.line), _when_body(when, scope, stmt.line)) for when in stmt.whens]

    def run(frame: Frame) -> Any:
        value = read(frame)
        for chosen, then in whens:
            if chosen(frame, value):
                return then(frame)
        return None

    return run


def _when_body(when: tree.When, scope: Scope, line: int) -> Step:
    if when.type is None:
        return body(when.body, scope)
    with scope.inner():
        slot = scope.declare(when.name, scope.type(when.type, line))
        inside = body(when.body, scope)

    def run(frame: Frame) -> Any:
        frame[slot] = frame[0].switched
        return inside(frame)

    return run


def _chosen(when: tree.When, on: Type, scope: Scope, line: int) -> Callable[[Frame, Any], bool]:
    if when.type is not None:
        wanted = scope.type(when.type, line).sobject

        def of_type(frame: Frame, value: Any) -> bool:
            frame[0].switched = value
            return isinstance(value, Record) and value.sobject.name == wanted

        return of_type
    if not when.values:
        return lambda _frame, _value: True
    names = {each.name.lower() for each in when.values if isinstance(each, tree.Name)}
    reads = [scope.expr(each).read for each in when.values if not isinstance(each, tree.Name)]
    if on.cls is not None and not names <= on.cls.values.keys():
        raise scope.refuse(f"a switch on {on} with other values", line)

    def equals(frame: Frame, value: Any) -> bool:
        if isinstance(value, EnumValue) and value.name.lower() in names:
            return True
        return any(same(read(frame), value) for read in reads)

    return equals


def same(left: Any, right: Any) -> bool:
    """Whether a switch's value is one of a branch: texts by case."""
    if isinstance(left, str) and isinstance(right, str):
        return str(left) == str(right)
    return equal(left, right)
