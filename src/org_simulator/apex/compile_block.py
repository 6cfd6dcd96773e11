"""Statements to closures. A statement answers None to go on, LEAVE or AGAIN in a loop, or its value in a tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from org_simulator.apex import tree
from org_simulator.apex.classes import Frame
from org_simulator.apex.faults import Thrown, Unsupported
from org_simulator.apex.scope import Scope

Step: TypeAlias = Callable[[Frame], Any]
Compile: TypeAlias = "Callable[[Any, Scope], Step]"
_Function = TypeVar("_Function", bound=Callable[..., Step])

LEAVE = "break"
AGAIN = "continue"
_KINDS: dict[type, Compile] = {}


def statement(kind: type) -> Callable[[_Function], _Function]:
    """Register what compiles a kind of statement."""

    def register(function: _Function) -> _Function:
        _KINDS[kind] = function
        return function

    return register


def compile_stmt(stmt: tree.Stmt, scope: Scope) -> Step:
    """One statement; raises Unsupported with its place."""
    try:
        return _KINDS[type(stmt)](stmt, scope)
    except Unsupported as fault:
        raise fault.at(scope.place(stmt.line)) from None


def body(stmt: tree.Stmt | None, scope: Scope) -> Step:
    """A statement as its own block."""
    if stmt is None:
        return lambda _frame: None
    return _block(stmt if isinstance(stmt, tree.Block) else tree.Block((stmt,), stmt.line), scope)


@statement(tree.Block)
def _block(block: tree.Block, scope: Scope) -> Step:
    with scope.inner():
        steps = [(each.line, compile_stmt(each, scope)) for each in block.body]
    scope.cls.lines.update(
        line for each, (line, _) in zip(block.body, steps, strict=True) if not isinstance(each, tree.Block)
    )
    cls, name = scope.cls, scope.cls.name

    def run(frame: Frame) -> Any:
        hit = frame[0].hits[cls].add
        line = 0
        try:
            for line, step in steps:
                hit(line)
                done = step(frame)
                if done is not None:
                    return done
        except Thrown as fault:
            fault.trace.append((name, line))
            raise
        except Unsupported as fault:
            raise fault.at(scope.place(line)) from None
        return None

    return run
