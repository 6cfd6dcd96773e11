"""Locals, expressions, returns, exceptions, DML and runAs."""

from __future__ import annotations

from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.classes import ApexClass, Frame, Read
from org_simulator.apex.compile_block import Step, body, statement
from org_simulator.apex.compile_names import assigned
from org_simulator.apex.faults import Thrown
from org_simulator.apex.raising import is_limit, null_pointer
from org_simulator.apex.scope import Scope


@statement(tree.Local)
def _local(stmt: tree.Local, scope: Scope) -> Step:
    kind = scope.type(stmt.type, stmt.line)
    steps: list[tuple[int, Read]] = []
    for name, value in stmt.names:
        read: Read = (lambda _frame: None) if value is None else assigned(scope.expr(value).read, kind)
        steps.append((scope.declare(name, kind), read))
    if len(steps) == 1:
        [(slot, only)] = steps

        def keep(frame: Frame) -> None:
            frame[slot] = only(frame)

        return keep

    def keep_all(frame: Frame) -> None:
        for slot, read in steps:
            frame[slot] = read(frame)

    return keep_all


@statement(tree.Do)
def _do(stmt: tree.Do, scope: Scope) -> Step:
    read = scope.expr(stmt.expr).read

    def run(frame: Frame) -> None:
        read(frame)

    return run


@statement(tree.Return)
def _return(stmt: tree.Return, scope: Scope) -> Step:
    if stmt.value is None:
        return lambda _frame: (None,)
    read = assigned(scope.expr(stmt.value).read, scope.result)
    return lambda frame: (read(frame),)


@statement(tree.Throw)
def _throw(stmt: tree.Throw, scope: Scope) -> Step:
    read = scope.expr(stmt.value).read

    def run(frame: Frame) -> None:
        value = read(frame)
        if value is None:
            raise null_pointer()
        raise Thrown(value)

    return run


@statement(tree.Try)
def _try(stmt: tree.Try, scope: Scope) -> Step:
    inside = body(stmt.body, scope)
    catches = [_catch(written, name, each, scope, stmt.line) for written, name, each in stmt.catches]

    def attempt(frame: Frame) -> Any:
        depth = frame[0].depth
        try:
            return inside(frame)
        except Thrown as fault:
            if is_limit(fault):
                raise
            for cls, slot, handle in catches:
                if fault.value.cls.is_a(cls):
                    fault.value.values["\0trace"] = list(fault.trace)
                    frame[0].depth = depth
                    frame[slot] = fault.value
                    return handle(frame)
            raise

    return attempt if stmt.last is None else _finally(attempt, body(stmt.last, scope))


def _catch(
    written: tree.TypeName, name: str, handle: tree.Stmt, scope: Scope, line: int
) -> tuple[ApexClass, int, Step]:
    kind = scope.type(written, line)
    if kind.cls is None:
        raise scope.refuse(f"catch of {kind}", line)
    with scope.inner():
        return kind.cls, scope.declare(name, kind), body(handle, scope)


def _finally(attempt: Step, last: Step) -> Step:
    """What the finally block answers comes before what was answered or thrown; a limit ends all without it."""

    def run(frame: Frame) -> Any:
        try:
            done = attempt(frame)
        except Thrown as fault:
            if not is_limit(fault) and (over := last(frame)) is not None:
                return over
            raise
        over = last(frame)
        return done if over is None else over

    return run


@statement(tree.Dml)
def _dml(stmt: tree.Dml, scope: Scope) -> Step:
    read, op, key, mode = scope.expr(stmt.value).read, stmt.op, stmt.key, stmt.mode

    def run(frame: Frame) -> None:
        frame[0].dml(op, read(frame), all_or_none=True, key=key, mode=mode)

    return run


@statement(tree.RunAs)
def _run_as(stmt: tree.RunAs, scope: Scope) -> Step:
    read, inside = scope.expr(stmt.user).read, body(stmt.body, scope)

    def run(frame: Frame) -> Any:
        with frame[0].run_as(read(frame)):
            return inside(frame)

    return run
