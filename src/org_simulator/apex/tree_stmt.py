"""The internal form of statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from org_simulator.apex.tree_expr import Expr, TypeName


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple[Stmt, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Local:
    type: TypeName
    names: tuple[tuple[str, Expr | None], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Do:
    """An expression for its effect."""

    expr: Expr
    line: int


@dataclass(frozen=True, slots=True)
class If:
    branches: tuple[tuple[Expr, Stmt], ...]
    otherwise: Stmt | None
    line: int


@dataclass(frozen=True, slots=True)
class For:
    inits: tuple[Stmt, ...]
    condition: Expr | None
    step: Expr | None
    body: Stmt | None
    line: int


@dataclass(frozen=True, slots=True)
class ForEach:
    type: TypeName
    name: str
    over: Expr
    body: Stmt | None
    line: int


@dataclass(frozen=True, slots=True)
class While:
    """`first` runs the body before the condition is asked."""

    condition: Expr
    body: Stmt | None
    first: bool
    line: int


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Leave:
    """`break`, or `continue`."""

    again: bool
    line: int


@dataclass(frozen=True, slots=True)
class Throw:
    value: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Try:
    body: Stmt
    catches: tuple[tuple[TypeName, str, Stmt], ...]
    last: Stmt | None
    line: int


@dataclass(frozen=True, slots=True)
class When:
    """One branch of a switch: values (a Name is an enum's), or a type and a name, or neither for `else`."""

    values: tuple[Expr, ...]
    type: TypeName | None
    name: str
    body: Stmt


@dataclass(frozen=True, slots=True)
class Switch:
    on: Expr
    whens: tuple[When, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Dml:
    """`op` is insert, update, upsert, delete or undelete; `mode` is user, system or empty; `key` an external id."""

    op: str
    value: Expr
    mode: str
    key: str
    line: int


@dataclass(frozen=True, slots=True)
class RunAs:
    user: Expr
    body: Stmt
    line: int


Stmt: TypeAlias = Block | Local | Do | If | For | ForEach | While | Return | Leave | Throw | Try | Switch | Dml | RunAs
