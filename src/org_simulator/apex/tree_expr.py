"""The internal form of expressions and types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written: `Map<Id, List<Lead>>` has the path ("Map",) and two arguments; `X[]` is List<X>."""

    path: tuple[str, ...]
    args: tuple[TypeName, ...] = ()

    def __str__(self) -> str:
        name = ".".join(self.path)
        return f"{name}<{', '.join(map(str, self.args))}>" if self.args else name


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Member:
    """`base.name`, or `base?.name` where `safe`."""

    base: Expr
    name: str
    safe: bool
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """`name(args)`, or of `base`."""

    base: Expr | None
    name: str
    args: tuple[Expr, ...]
    safe: bool
    line: int


@dataclass(frozen=True, slots=True)
class This:
    line: int


@dataclass(frozen=True, slots=True)
class Super:
    line: int


@dataclass(frozen=True, slots=True)
class ConstructorCall:
    """`this(…)`, or `super(…)` where `parent`."""

    parent: bool
    args: tuple[Expr, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Index:
    base: Expr
    index: Expr
    line: int


@dataclass(frozen=True, slots=True)
class New:
    """`new Type(args)`."""

    type: TypeName
    args: tuple[Expr, ...]
    line: int


@dataclass(frozen=True, slots=True)
class NewRecord:
    """`new Lead(Company = …)`."""

    type: TypeName
    fields: tuple[tuple[str, Expr], ...]
    line: int


@dataclass(frozen=True, slots=True)
class NewCollection:
    """`new List<T>{…}`; a map's `items` come key, value, key, value."""

    type: TypeName
    items: tuple[Expr, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Cast:
    type: TypeName
    inner: Expr
    line: int


@dataclass(frozen=True, slots=True)
class InstanceOf:
    inner: Expr
    type: TypeName
    line: int


@dataclass(frozen=True, slots=True)
class Ternary:
    condition: Expr
    yes: Expr
    no: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Coalesce:
    left: Expr
    right: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Unary:
    op: str
    inner: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` as written, `!=` for both spellings of unequal."""

    op: str
    left: Expr
    right: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Assign:
    """`op` is the operator before `=`, empty for a plain assignment."""

    target: Expr
    op: str
    value: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """`x++` and its kin; `by` is 1 or -1."""

    target: Expr
    by: int
    prefix: bool
    line: int


@dataclass(frozen=True, slots=True)
class Soql:
    """A query's text, its bind expressions replaced by `:b0`, `:b1` and so on."""

    text: str
    binds: tuple[Expr, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TriggerVariable:
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class ClassRef:
    """`Type.class`."""

    type: TypeName
    line: int


Expr: TypeAlias = (
    Literal | Name | Member | Call | This | Super | ConstructorCall | Index | New | NewRecord | NewCollection | Cast
    | InstanceOf | Ternary | Coalesce | Unary | Binary | Assign | Step | Soql | TriggerVariable | ClassRef
)  # fmt: skip
