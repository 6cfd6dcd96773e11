"""Calls of methods and constructors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.apex.classes import FIRST_SLOT, ApexClass, ApexMethod
from org_simulator.apex.conversion import type_of
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record
from org_simulator.apex.types import Type
from org_simulator.apex.values import EnumValue, Instance, kind_of

if TYPE_CHECKING:
    from org_simulator.apex.session import Session

DEPTH_MAX = 1000
"""Calls within calls; Apex ends there with a LimitException."""


def invoke(session: Session, method: ApexMethod, this: Any, args: Sequence[Any]) -> Any:
    """Run a method's body and answer its value."""
    run = method.run
    if run is None:
        raise Unsupported(f"{method.owner.name}.{method.name} has no body")
    if not method.converts:
        frame = [session, this, *args, *[None] * (method.slots - len(args) - FIRST_SLOT)]
    else:
        frame = [session, this, *_taken(method, args)]
        frame += [None] * (method.slots - len(frame))
    session.depth += 1
    if session.depth > DEPTH_MAX:
        raise thrown("LimitException", f"Maximum stack depth reached: {DEPTH_MAX + 1}")
    try:
        return run(frame)
    finally:
        session.depth -= 1


def _taken(method: ApexMethod, args: Sequence[Any]) -> Iterator[Any]:
    """Arguments as the parameters take them."""
    for value, convert in zip(args, method.coerce, strict=True):
        if convert is not None:
            try:
                value = convert(value)  # noqa: PLW2901 - what the parameter takes
            except ValueError as fault:
                raise thrown("StringException", str(fault)) from None
            except TypeError:
                raise Unsupported(
                    f"an argument of type {type_of(value)} to {method.owner.name}.{method.name}"
                ) from None
        yield value


def dispatch(session: Session, method: ApexMethod, this: Any, args: Sequence[Any]) -> Any:
    """Run the method that the object's own class has in this one's place."""
    if this is None:
        raise null_pointer()
    own = this.cls.virtual.get(method.signature, method)
    return invoke(session, own, this, args)


def construct(session: Session, cls: ApexClass, args: Sequence[Any], chosen: ApexMethod | None = None) -> Instance:
    """A new object: fields, initialisers from the top of the hierarchy, then the constructor."""
    if cls.kind != "class" or (cls.decl is not None and "abstract" in cls.decl.marks.words):
        raise Unsupported(f"an object of {cls.name}")
    session.static_of(cls)
    made = Instance(cls)
    for each in cls.chain():
        for field in each.fields.values():
            if not field.static:
                made.values.setdefault(field.name.lower(), None)
    initialise(session, cls, made, args, chosen)
    return made


def initialise(
    session: Session, cls: ApexClass, made: Instance, args: Sequence[Any], chosen: ApexMethod | None = None
) -> None:
    """Run a class's part of construction; its parent's comes first, unless a constructor calls it with arguments."""
    constructor = chosen or pick(cls.constructors, args, f"new {cls.name}") if cls.constructors else None
    if constructor is None:
        if cls.parent is not None:
            initialise(session, cls.parent, made, () if cls.decl is not None and not cls.is_exception else args)
        if cls.is_exception and cls.parent is None:
            _exception(made, args)
        run_initialisers(session, cls, made)
        return
    if not constructor.chains:
        if cls.parent is not None and not _calls_parent(constructor):
            initialise(session, cls.parent, made, ())
        run_initialisers(session, cls, made)
    invoke(session, constructor, made, args)


def _calls_parent(constructor: ApexMethod) -> bool:
    decl = constructor.decl
    if decl is None or decl.body is None or not decl.body.body:
        return False
    first: Any = decl.body.body[0]
    return type(getattr(first, "expr", None)).__name__ == "ConstructorCall"


def run_initialisers(session: Session, cls: ApexClass, made: Instance) -> None:
    """Fields' first values and initialiser blocks, in order."""
    if not cls.instances:
        return
    frame: list[Any] = [session, made, *[None] * cls.initial_slots]
    for name, read in cls.instances:
        value = read(frame)
        if name:
            made.values[name] = value


def _exception(made: Instance, args: Sequence[Any]) -> None:
    made.values["message"] = next((value for value in args if isinstance(value, str)), None)
    made.values["cause"] = next((value for value in args if isinstance(value, Instance)), None)


# ---- overloads ------------------------------------------------------------------------------------------------------

_WIDER = {"Integer": ("Integer", "Long", "Decimal", "Double"), "Long": ("Long", "Decimal", "Double")}


def pick(methods: Sequence[ApexMethod], args: Sequence[Any], what: str) -> ApexMethod:
    """The overload for these values: of as many parameters, and the nearest types; Unsupported if none or several."""
    fitting = [each for each in methods if len(each.params) == len(args)]
    if len(fitting) == 1:
        return fitting[0]
    ranked = [(rank, each) for each in fitting if (rank := _rank(each, args)) is not None]
    if not ranked:
        raise Unsupported(f"{what} with these {len(args)} arguments")
    best = min(rank for rank, _ in ranked)
    found = [each for rank, each in ranked if rank == best]
    if len(found) > 1:
        raise Unsupported(f"{what}: several overloads fit null")
    return found[0]


def _rank(method: ApexMethod, args: Sequence[Any]) -> int | None:
    total = 0
    for kind, value in zip(method.params, args, strict=True):
        distance = _distance(kind, value)
        if distance is None:
            return None
        total += distance
    return total


def _distance(kind: Type, value: Any) -> int | None:  # noqa: PLR0911 - one per kind of value
    """How far a value's type is from a parameter's; None if it does not go there."""
    if value is None:
        return 0
    if kind.name == "Object":
        return 9
    own = kind_of(value)
    if kind.name in _WIDER.get(own, (own,)):
        return _WIDER.get(own, (own,)).index(kind.name)
    match value:
        case Record():
            return 0 if kind.sobject == value.sobject.name else 5 if kind.name == "SObject" else None
        case Instance() if kind.cls is not None:
            return (
                value.cls.chain().index(kind.cls)
                if kind.cls in value.cls.chain()
                else 4
                if value.cls.is_a(kind.cls)
                else None
            )
        case EnumValue():
            return 0 if kind.name == value.type else None
        case str():
            return 1 if kind.name in {"String", "Id"} else None
        case _:
            return None
