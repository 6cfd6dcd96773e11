"""Calls: of own methods, of objects' methods, of what the platform offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.classes import ApexClass, ApexMethod, Frame, Read
from org_simulator.apex.compile_names import path_of
from org_simulator.apex.conversion import single, type_of
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import dispatch, initialise, invoke, pick
from org_simulator.apex.platform import STATICS, Offer, offered
from org_simulator.apex.raising import null_pointer
from org_simulator.apex.records import Record
from org_simulator.apex.scope import Code, Scope
from org_simulator.apex.types import OBJECT, SOBJECT, VOID, Type
from org_simulator.apex.values import Instance, kind_of


def call(expr: tree.Call, scope: Scope) -> Code:
    """Any call."""
    if expr.base is None:
        return _own(expr, [scope.expr(each) for each in expr.args], scope)
    args = [scope.expr(each) for each in expr.args]
    if isinstance(expr.base, tree.Super):
        return _parents(expr, args, scope)
    path = path_of(expr.base)
    kind = None if path is None or expr.safe else scope.named_type(path)
    if path is not None and kind is None and [each.lower() for each in path] in _NAMESPACED:
        kind = Type(path[-1])
    if kind is not None:
        return _static(expr, kind, args, scope)
    base = scope.link(expr.base, safe=expr.safe)
    if base.type.cls is not None and not base.type.cls.is_exception:
        methods = base.type.cls.named(expr.name.lower())
        if methods:
            return _virtual(methods, base.read, args, expr, scope)
    return _value(expr, base, [each.read for each in args], scope)


_NAMESPACED = [["system"], ["database"], ["schema"], ["eventbus"]]


# ---- methods of the sources -----------------------------------------------------------------------------------------


def _own(expr: tree.Call, args: list[Code], scope: Scope) -> Code:
    """`name(…)`: of this class or an ancestor, or a static one of an outer class."""
    at: ApexClass | None = scope.cls
    while at is not None:
        methods = at.named(expr.name.lower())
        if at is not scope.cls or scope.static:
            methods = [each for each in methods if each.static]
        if methods:
            return _virtual(methods, lambda frame: frame[1], args, expr, scope)
        at = at.outer
    raise scope.refuse(f"the method {expr.name}", expr.line)


def _virtual(methods: list[ApexMethod], base: Read, args: list[Code], expr: tree.Call, scope: Scope) -> Code:
    fitting = [each for each in methods if len(each.params) == len(args)]
    if not fitting:
        raise scope.refuse(f"{methods[0].owner.name}.{methods[0].name} with {len(args)} arguments", expr.line)
    chosen = fitting[0] if len(fitting) == 1 else by_types(fitting, args)
    reads = tuple(each.read for each in args)
    if chosen is not None:
        method, static = chosen, chosen.static
        if static:
            owner = method.owner
            return Code(lambda frame: _called_static(frame, owner, method, reads), method.result)
        return Code(
            lambda frame: dispatch(frame[0], method, base(frame), [read(frame) for read in reads]), method.result
        )
    what, same = f"{fitting[0].owner.name}.{fitting[0].name}", {each.result for each in fitting}

    def choose(frame: Frame) -> Any:
        values = [read(frame) for read in reads]
        method = pick(fitting, values, what)
        if method.static:
            return invoke(frame[0], method, None, values)
        return dispatch(frame[0], method, base(frame), values)

    return Code(choose, same.pop() if len(same) == 1 else OBJECT)


def _called_static(frame: Frame, owner: ApexClass, method: ApexMethod, reads: Sequence[Read]) -> Any:
    session = frame[0]
    session.static_of(owner)
    return invoke(session, method, None, [read(frame) for read in reads])


def by_types(methods: Sequence[ApexMethod], args: Sequence[Code]) -> ApexMethod | None:
    """The overload whose parameters are exactly the types known while compiling; None to choose by the values."""
    exact = [each for each in methods if all(one == two.type for one, two in zip(each.params, args, strict=True))]
    return exact[0] if len(exact) == 1 else None


def _parents(expr: tree.Call, args: list[Code], scope: Scope) -> Code:
    """`super.name(…)`: the ancestor's, whatever overrides it."""
    above = scope.cls.parent
    methods = [] if above is None else above.named(expr.name.lower())
    fitting = [each for each in methods if len(each.params) == len(args)]
    if len(fitting) != 1:
        raise scope.refuse(f"super.{expr.name}", expr.line)
    method, reads = fitting[0], tuple(each.read for each in args)
    return Code(lambda frame: invoke(frame[0], method, frame[1], [read(frame) for read in reads]), method.result)


def constructor_call(expr: tree.ConstructorCall, scope: Scope) -> Code:
    """`this(…)` or `super(…)` at the beginning of a constructor."""
    reads = [scope.expr(each).read for each in expr.args]
    cls = scope.cls.parent if expr.parent else scope.cls
    if cls is None:
        raise scope.refuse("super(…) without a parent class", expr.line)
    target = cls

    def chain(frame: Frame) -> None:
        values = [read(frame) for read in reads]
        initialise(frame[0], target, frame[1], values)

    return Code(chain, VOID)


# ---- what the platform offers ---------------------------------------------------------------------------------------


def _static(expr: tree.Call, kind: Type, args: list[Code], scope: Scope) -> Code:
    low = expr.name.lower()
    if kind.cls is not None:
        methods = [each for each in kind.cls.named(low) if each.static]
        if methods:
            return _virtual(methods, lambda _frame: None, args, expr, scope)
        if kind.cls.kind == "enum" and low in {"values", "valueof"}:
            return _enum(expr, kind, args)
    custom = kind.sobject is not None and kind.sobject.endswith("__mdt")
    offer = STATICS.get("custommetadata" if custom else kind.name.lower(), {}).get(low)
    if offer is None:
        raise scope.refuse(f"{kind}.{expr.name}", expr.line)
    _check_count(offer, expr, f"{kind}.{expr.name}", scope)
    reads = tuple(each.read for each in args)
    before: tuple[Any, ...] = (kind.sobject,) if custom else ()
    result = kind if custom and offer.result == "T" else scope.hint(offer.result)
    return Code(_guarded(offer, reads, before, f"{kind}.{expr.name}"), result)


def _check_count(offer: Offer, expr: tree.Call, what: str, scope: Scope) -> None:
    if len(expr.args) not in offer.takes:
        raise scope.refuse(f"{what} with {len(expr.args)} arguments", expr.line)


def _guarded(offer: Offer, reads: Sequence[Read], before: tuple[Any, ...], what: str) -> Read:
    work = offer.call

    def run(frame: Frame) -> Any:
        values = [read(frame) for read in reads]
        try:
            return work(frame[0], *before, *values)
        except (TypeError, AttributeError) as fault:
            raise _misfit(fault, what, values) from fault

    return run


def _misfit(fault: Exception, what: str, values: Sequence[Any]) -> Exception:
    """Null where a value is needed is Apex's own error; any other misfit is not supported."""
    if any(value is None for value in values):
        return null_pointer()
    return Unsupported(f"{what}({', '.join(map(type_of, values))}): {fault}")


def _enum(expr: tree.Call, kind: Type, args: list[Code]) -> Code:
    cls = kind.cls
    name = expr.name.lower()
    reads = tuple(each.read for each in args)
    return Code(
        lambda frame: frame[0].enum(cls, name, [read(frame) for read in reads]),
        Type("List", (kind,)) if name == "values" else kind,
    )


def _value(expr: tree.Call, base: Code, reads: list[Read], scope: Scope) -> Code:
    """A method of a value: found while compiling where its type is known, by the value otherwise."""
    name, of, known = expr.name.lower(), base.read, base.type
    open_type = known in {OBJECT, SOBJECT} or (known.cls is not None and not known.cls.is_exception)
    kind = "sobject" if known.sobject is not None else "exception" if known.cls is not None else known.name.lower()
    if known.cls is not None and known.cls.kind == "enum":
        kind, open_type = "enum", False
    offer = offered(kind, name) if not open_type else None
    if offer is None and not open_type:
        own = None if known.cls is None else known.cls.named(name)
        if not own:
            raise scope.refuse(f"{known}.{expr.name}", expr.line)
    if offer is not None:
        _check_count(offer, expr, f"{known}.{expr.name}", scope)
    result = OBJECT if offer is None else known if offer.result == "This" else scope.hint(offer.result, known)
    if offer is not None and known.cls is None:
        return Code(_bound(offer, of, tuple(reads), f"{known}.{expr.name}"), result)
    work = by_value(name, expr.name, tuple(reads))
    return Code(lambda frame: work(frame, of(frame)), result)


def _bound(offer: Offer, of: Read, reads: tuple[Read, ...], what: str) -> Read:
    """A method of the platform that is known while compiling."""
    work = offer.call

    def run(frame: Frame) -> Any:
        value = of(frame)
        if value is None:
            raise null_pointer()
        values = [read(frame) for read in reads]
        try:
            return work(frame[0], value, *values)
        except (TypeError, AttributeError) as fault:
            raise _misfit(fault, what, values) from fault

    return run


def by_value(name: str, shown: str, reads: Sequence[Read]) -> Callable[[Frame, Any], Any]:
    """Call a method of whatever the value is."""

    def run(frame: Frame, value: Any) -> Any:
        if value is None:
            raise null_pointer()
        values = [read(frame) for read in reads]
        return call_value(frame[0], value, name, shown, values)

    return run


def call_value(session: Any, value: Any, name: str, shown: str, values: list[Any]) -> Any:
    """A method of a value by its lower-cased name."""
    if isinstance(value, Instance):
        own = value.cls.named(name)
        if own:
            method = pick(own, values, f"{value.cls.name}.{shown}")
            return dispatch(session, method, value, values)
    offer = offered(kind_of(value).lower(), name)
    if offer is None and not isinstance(value, Record) and getattr(value, "queried", False):
        value = single(value)
        offer = offered("sobject", name)
    if offer is None or len(values) not in offer.takes:
        raise Unsupported(f"{type_of(value)}.{shown} with {len(values)} arguments")
    try:
        return offer.call(session, value, *values)
    except (TypeError, AttributeError) as fault:
        raise _misfit(fault, f"{type_of(value)}.{shown}", values) from fault
