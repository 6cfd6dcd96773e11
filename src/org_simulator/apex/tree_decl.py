"""The internal form of declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from org_simulator.apex.tree_expr import Expr, TypeName
from org_simulator.apex.tree_stmt import Block


@dataclass(frozen=True, slots=True)
class Marks:
    """Modifiers in lower case, and annotations by lower-cased name with their parameters."""

    words: frozenset[str]
    annotations: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MethodDecl:
    """A method, or a constructor where `type` is None. No body: abstract, or of an interface."""

    name: str
    marks: Marks
    type: TypeName | None
    params: tuple[tuple[TypeName, str], ...]
    body: Block | None
    line: int


@dataclass(frozen=True, slots=True)
class FieldDecl:
    name: str
    marks: Marks
    type: TypeName
    value: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class PropertyDecl:
    """A property; an accessor that is written `get;` is automatic, a missing one is None."""

    name: str
    marks: Marks
    type: TypeName
    getter: Block | str | None
    setter: Block | str | None
    line: int


@dataclass(frozen=True, slots=True)
class InitDecl:
    """A static or instance initialiser block."""

    static: bool
    body: Block
    line: int


@dataclass(frozen=True, slots=True)
class ClassDecl:
    """`kind` is class, interface or enum (then `values` are its constants)."""

    kind: str
    name: str
    marks: Marks
    parent: TypeName | None
    interfaces: tuple[TypeName, ...]
    members: tuple[Decl, ...]
    values: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TriggerDecl:
    """`events` such as "before insert"."""

    name: str
    sobject: str
    events: frozenset[str]
    body: Block


Decl: TypeAlias = MethodDecl | FieldDecl | PropertyDecl | InitDecl | ClassDecl
