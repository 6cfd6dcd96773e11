"""Classes, methods and fields as linked for running; the platform's exceptions are classes too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.apex.types import Coerce, Type
from org_simulator.apex.values import EnumValue

if TYPE_CHECKING:
    from org_simulator.apex.tree import Block, ClassDecl, MethodDecl, PropertyDecl

Frame: TypeAlias = "list[Any]"
"""Of one call: the session, `this`, then parameters and locals by slot."""

Read: TypeAlias = Callable[[Frame], Any]
Signature: TypeAlias = "tuple[str, tuple[str, ...]]"

FIRST_SLOT = 2


@dataclass(slots=True, eq=False)
class ApexMethod:
    """A method or constructor. `run` is compiled; None for one without a body."""

    owner: ApexClass
    name: str
    decl: MethodDecl | None
    static: bool
    params: tuple[Type, ...]
    result: Type
    coerce: tuple[Coerce | None, ...] = ()
    run: Callable[[Frame], Any] | None = None
    slots: int = 0
    chains: bool = False
    """A constructor that begins with this(…)."""
    signature: Signature = field(init=False)
    """What an overriding method has in common with it."""
    converts: bool = field(init=False)
    """Whether any parameter changes what it takes."""

    def __post_init__(self) -> None:
        self.signature = self.name.lower(), tuple(map(str, self.params))
        self.converts = any(each is not None for each in self.coerce)


@dataclass(slots=True, eq=False)
class ApexField:
    """A field or property; `initial` computes the value it starts with, accessors are None for automatic ones."""

    owner: ApexClass
    name: str
    type: Type
    static: bool
    decl: PropertyDecl | None = None
    initial: Read | None = None
    getter: ApexMethod | None = None
    setter: ApexMethod | None = None
    readable: bool = True
    writable: bool = True


@dataclass(slots=True, eq=False)
class ApexClass:
    """A class, interface or enum. Members by lower-cased name; `methods` are its own, `virtual` with all inherited."""

    name: str
    kind: str = "class"
    file: str = ""
    decl: ClassDecl | None = None
    outer: ApexClass | None = None
    parent: ApexClass | None = None
    interfaces: list[ApexClass] = field(default_factory=list)
    platform: set[str] = field(default_factory=set)
    """Interfaces of the platform that it implements, lower case."""
    inner: dict[str, ApexClass] = field(default_factory=dict)
    methods: dict[str, list[ApexMethod]] = field(default_factory=dict)
    constructors: list[ApexMethod] = field(default_factory=list)
    fields: dict[str, ApexField] = field(default_factory=dict)
    values: dict[str, EnumValue] = field(default_factory=dict)
    virtual: dict[Signature, ApexMethod] = field(default_factory=dict)
    statics: list[tuple[str, Read]] = field(default_factory=list)
    """Static initialisers in order: field name (empty for a block) and what computes it."""
    instances: list[tuple[str, Read]] = field(default_factory=list)
    blocks: list[tuple[bool, Block]] = field(default_factory=list)
    test: bool = False
    initial_slots: int = FIRST_SLOT
    lines: set[int] = field(default_factory=set)
    """Lines with statements."""

    @property
    def is_exception(self) -> bool:
        """Whether its objects can be thrown."""
        return self.name == "Exception" or (self.parent is not None and self.parent.is_exception)

    def chain(self) -> list[ApexClass]:
        """The class and its ancestors."""
        return [self] if self.parent is None else [self, *self.parent.chain()]

    def field(self, name: str) -> ApexField | None:
        """A field of the class or an ancestor, by lower-cased name."""
        return next((each.fields[name] for each in self.chain() if name in each.fields), None)

    def named(self, name: str) -> list[ApexMethod]:
        """Methods of this lower-cased name, nearest class first, without those overridden; interfaces last."""
        found: dict[Signature, ApexMethod] = {}
        for each in self.chain():
            for method in each.methods.get(name, ()):
                found.setdefault(method.signature, method)
            for above in each.interfaces:
                for method in above.named(name):
                    found.setdefault(method.signature, method)
        return list(found.values())

    def is_a(self, other: ApexClass) -> bool:
        """Whether its objects are instances of the other."""
        if self is other:
            return True
        return any(above.is_a(other) for above in (*([self.parent] if self.parent else ()), *self.interfaces))

    def is_named(self, platform: str) -> bool:
        """Whether it implements an interface of the platform (lower case), itself or above."""
        return platform in self.platform or any(
            above.is_named(platform) for above in (*([self.parent] if self.parent else ()), *self.interfaces)
        )


EXCEPTIONS: dict[str, ApexClass] = {"exception": ApexClass("Exception")}
for _name in (
    *("Dml", "Query", "NullPointer", "Type", "List", "Math", "String", "SObject", "Limit", "Assert", "Final", "Json"),
    *("Async", "Callout", "Security", "IllegalArgument", "InvalidParameterValue", "NoAccess", "NoSuchElement"),
    *("RequiredFeatureMissing", "UnexpectedException", "Email", "Search", "XmlException", "NoDataFound"),
):  # fmt: skip
    EXCEPTIONS[f"{_name}Exception".lower()] = ApexClass(f"{_name}Exception", parent=EXCEPTIONS["exception"])


def shown(cls: ApexClass) -> str:
    """The class's name as getTypeName says it: the platform's bear `System.`."""
    return f"System.{cls.name}" if cls.decl is None and cls.name != "Exception" else cls.name
