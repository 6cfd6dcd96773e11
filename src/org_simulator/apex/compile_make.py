"""New objects, records and collections; queries in brackets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.classes import ApexMethod, Frame, Read
from org_simulator.apex.collections import list_of, map_of, set_of
from org_simulator.apex.compile_calls import by_types
from org_simulator.apex.compile_names import assigned
from org_simulator.apex.invoking import construct
from org_simulator.apex.platform import STATICS
from org_simulator.apex.records import Record
from org_simulator.apex.scope import Code, Scope
from org_simulator.apex.soql_text import read_query
from org_simulator.apex.types import INTEGER, SOBJECT, Type
from org_simulator.apex.values import ListValue, MapValue, SetValue, key


def new(expr: tree.New, scope: Scope) -> Code:
    """`new Type(…)`."""
    kind = scope.type(expr.type, expr.line)
    args = [scope.expr(each) for each in expr.args]
    reads = tuple(each.read for each in args)
    if kind.name in _COLLECTIONS:
        make = _COLLECTIONS[kind.name]
        if len(reads) > 1:
            raise scope.refuse(f"new {kind} with {len(reads)} arguments", expr.line)
        given: Read = reads[0] if reads else lambda _frame: None
        return Code(lambda frame: make(kind, given(frame)), kind)
    if kind.sobject is not None:
        if reads:
            raise scope.refuse(f"new {kind} with arguments that are not named", expr.line)
        return record(tree.NewRecord(expr.type, (), expr.line), scope)
    if kind.cls is not None:
        cls = kind.cls
        if cls.kind != "class" or (cls.decl is not None and "abstract" in cls.decl.marks.words):
            raise scope.refuse(f"new {kind}", expr.line)
        chosen = _constructor(cls.constructors, args, expr, scope)
        return Code(lambda frame: construct(frame[0], cls, [read(frame) for read in reads], chosen), kind)
    offer = STATICS.get(kind.name.lower(), {}).get("new")
    if offer is None or len(reads) not in offer.takes:
        raise scope.refuse(f"new {kind}", expr.line)
    work = offer.call
    return Code(lambda frame: work(frame[0], *[read(frame) for read in reads]), kind)


def _constructor(all_of: list[ApexMethod], args: list[Code], expr: tree.New, scope: Scope) -> ApexMethod | None:
    """The constructor that only these arguments can mean, None to choose by their values."""
    fitting = [each for each in all_of if len(each.params) == len(args)]
    if all_of and not fitting:
        raise scope.refuse(f"new {expr.type} with {len(args)} arguments", expr.line)
    return fitting[0] if len(fitting) == 1 else by_types(fitting, args) if fitting else None


_COLLECTIONS: dict[str, Callable[[Type, Any], Any]] = {"List": list_of, "Set": set_of, "Map": map_of}


def record(expr: tree.NewRecord, scope: Scope) -> Code:
    """`new Lead(Company = …)`."""
    kind = scope.type(expr.type, expr.line)
    described = None if kind.sobject is None else scope.resolver.sobject(kind.sobject.lower())
    if described is None:
        raise scope.refuse(f"new {kind} with named fields", expr.line)
    known = described
    fields: list[tuple[str, Read]] = []
    for name, value in expr.fields:
        if name.lower() not in known.fields and not name.lower().endswith("__r"):
            raise scope.refuse(f"{known.name} has no field {name}", expr.line)
        fields.append((name.lower(), scope.expr(value).read))

    def make(frame: Frame) -> Any:
        made = Record(known)
        for name, read in fields:
            made.write(name, read(frame))
        return made

    return Code(make, kind)


def collection(expr: tree.NewCollection, scope: Scope) -> Code:
    """`new List<T>{…}` and its kin."""
    kind = scope.type(expr.type, expr.line)
    if kind.name == "Map":
        of, to = kind.args
        pairs = [
            (assigned(scope.expr(one).read, of), assigned(scope.expr(two).read, to))
            for one, two in zip(expr.items[::2], expr.items[1::2], strict=True)
        ]

        def fill(frame: Frame) -> Any:
            made = MapValue(of, to)
            for name, value in pairs:
                at = name(frame)
                made.items[key(at)] = (at, value(frame))
            return made

        return Code(fill, kind)
    item = kind.args[0]
    reads = [assigned(scope.expr(each).read, item) for each in expr.items]
    if kind.name == "Set":
        return Code(lambda frame: SetValue(item, {key(value := read(frame)): value for read in reads}), kind)
    return Code(lambda frame: ListValue([read(frame) for read in reads], item), kind)


def soql(expr: tree.Soql, scope: Scope) -> Code:
    """A query in brackets: its names are looked up when it is compiled, its rows when it runs."""
    text = expr.text
    asked = read_query(text)
    binds = {f"b{place}": scope.expr(bind).read for place, bind in enumerate(expr.binds)}
    described = scope.resolver.sobject(asked.sobject.lower())
    if described is None:
        raise scope.refuse(f"a query of {asked.sobject}", expr.line)

    def run(frame: Frame) -> Any:
        return frame[0].query(text, {name: read(frame) for name, read in binds.items()})

    if asked.count:
        return Code(run, INTEGER)
    kind = Type("AggregateResult") if asked.aggregate else Type(described.name, sobject=described.name)
    return Code(run, Type("List", (kind,)))


__all__ = ["SOBJECT", "collection", "new", "record", "soql"]
