"""Is a query one that Salesforce accepts? Objects, fields, relationship paths, types of literals, filters and locks.

What is known of the language is that of the SOQL and SOSL Reference; a query's tree comes from Salesforce's own parser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apex.schema import Entity, Field, Schema
from apex.syntax import Node, kind, line, plain, walk

DEPTH_MAX = 5  # relationships upwards in one path
LITERALS = {
    "String": {"QueryString"},
    "Id": {"QueryString"},
    "Boolean": {"QueryTrue", "QueryFalse"},
    "Decimal": {"QueryNumber", "QueryCurrency"},
    "Double": {"QueryNumber", "QueryCurrency"},
    "Integer": {"QueryNumber", "QueryCurrency"},
    "Date": {"QueryDate", "QueryDateFormula"},
    "Datetime": {"QueryDateTime", "QueryDateFormula"},
}
AGGREGATES = {"avg", "count", "count_distinct", "max", "min", "sum"}
CONDITIONS = {"WhereOpExpr", "WhereOpExprs", "WhereInnerExpr", "WhereDistanceExpr", "WhereCalcExpr"}


@dataclass(frozen=True)
class _Scope:
    """What names mean inside one query."""

    schema: Schema
    entity: Entity
    aliases: frozenset[str]

    def path(self, name: Node) -> tuple[list[str], str]:
        """The words of a dotted field, without the query's own name for its object, and as written."""
        words = list(_words(name))
        inner = words[1:] if len(words) > 1 and words[0].lower() in self.aliases else words
        return inner, ".".join(words)


def problems(query: Node, schema: Schema, parent: Entity | None = None) -> Iterator[tuple[int, str]]:
    """Line and text of everything that Salesforce would refuse; `parent` where the query is of its children."""
    first = query["from"]["exprs"][0]
    words = list(_words(first["table"]))
    entity = _source(schema, words[-1], parent)
    if isinstance(entity, str):
        yield line(query), entity
        return
    alias = plain(first.get("alias"))
    names = {words[-1].lower(), entity.name.lower(), *([str(alias["value"]).lower()] if alias else [])}
    scope = _Scope(schema, entity, frozenset(names))
    yield from _columns(query, scope)
    yield from _conditions(query, scope)
    yield from _groups(query, scope)
    yield from _order(query, scope)
    yield from _lock(query, inner=parent is not None)


def _words(name: Node | None) -> Iterator[str]:
    if name is not None:
        yield from _words(plain(name.get("entity")))
        yield name["field"]["value"]


def _source(schema: Schema, name: str, parent: Entity | None) -> Entity | str:
    if parent is None:
        return schema.get(name.lower(), f"no such object: {name}")
    children = parent.fields.get(name.lower())
    if children is None or children.kind != "CHILDREN":
        return f"no such child relationship of {parent.name}: {name}"
    return schema.get(children.of.lower(), f"no such object: {children.of}")


def _columns(query: Node, scope: _Scope) -> Iterator[tuple[int, str]]:
    for column in query["select"].get("exprs", []):
        match kind(column):
            case "SelectInnerQuery":
                yield from problems(column["query"], scope.schema, scope.entity)
            case "SelectColumnExpr" if not _is_function(column["field"], {"fields"}):
                yield from _field(column["field"], scope)
            case _:
                pass


def _conditions(query: Node, scope: _Scope) -> Iterator[tuple[int, str]]:
    having = plain(query["groupBy"])
    for clause in (plain(query["where"]), plain(having["having"]) if having else None):
        for condition in _own(clause):
            yield from _field(condition["field"], scope, filtered=True, literals=_literals(condition))
            if kind(condition) == "WhereInnerExpr":
                yield from problems(condition["inner"], scope.schema)


def _own(clause: Any) -> Iterator[Node]:
    """The conditions of a clause, without those of queries inside it."""
    if kind(clause) in CONDITIONS:
        yield clause
    elif isinstance(clause, dict):
        for part in clause.values():
            yield from _own(part)
    elif isinstance(clause, list):
        for part in clause:
            yield from _own(part)


def _literals(condition: Node) -> list[str]:
    return [kind(found["literal"]) for found in walk(condition.get("expr"), "LiteralExpr") if "literal" in found]


def _groups(query: Node, scope: _Scope) -> Iterator[tuple[int, str]]:
    groups = plain(query["groupBy"])
    for group in groups["exprs"] if groups else []:
        yield from _field(group["field"], scope, filtered=True)


def _order(query: Node, scope: _Scope) -> Iterator[tuple[int, str]]:
    order = plain(query["orderBy"])
    for item in order["exprs"] if order else []:
        yield from _field(item["field"], scope, filtered=True)


def _lock(query: Node, *, inner: bool) -> Iterator[tuple[int, str]]:
    if not any(walk(query["options"], "LockRows")):
        return
    if plain(query["orderBy"]):
        yield line(query), "FOR UPDATE allows no ORDER BY"
    if inner:
        yield line(query), "FOR UPDATE belongs to the outer query"
    columns = query["select"].get("exprs", [])
    counted = kind(query["select"]) == "SelectCountClause" or any(
        kind(column) == "SelectColumnExpr" and _is_function(column["field"], AGGREGATES) for column in columns
    )
    if counted or plain(query["groupBy"]):
        yield line(query), "FOR UPDATE locks rows, and this query returns none"


def _is_function(field: Node, names: set[str]) -> bool:
    function = plain(field.get("function1"))
    return function is not None and str(function["value"]).lower() in names


def _field(
    field: Node, scope: _Scope, *, filtered: bool = False, literals: list[str] | None = None
) -> Iterator[tuple[int, str]]:
    name = field["field"]
    words, written = scope.path(name)
    found = _resolved(words, scope)
    if isinstance(found, str):
        yield line(field), f"{found} ({written})" if "." in written else found
        return
    if found.kind != "VALUE":
        yield line(field), f"{written} is a relationship, not a field"
    elif filtered and not found.filterable:
        yield line(field), f"{written} is too long to filter, group or sort by"
    elif plain(field.get("function1")) is None:
        allowed = LITERALS.get(found.of)
        for literal in literals or []:
            if allowed is not None and literal not in {*allowed, "QueryNull"}:
                yield line(field), f"{written} is {found.of}, not {literal.removeprefix('Query')}"


def _resolved(words: list[str], scope: _Scope) -> Field | str:
    if len(words) - 1 > DEPTH_MAX:
        return f"more than {DEPTH_MAX} relationships in one path"
    entity = scope.entity
    for word in words[:-1]:
        step = entity.fields.get(word.lower())
        if step is None or step.kind not in {"PARENT", "PARENTS"}:
            return f"no such relationship of {entity.name}: {word}"
        parent = scope.schema.get(step.of.lower())
        if parent is None:
            return f"no such object: {step.of}"
        entity = parent
    return entity.fields.get(words[-1].lower()) or f"no such field of {entity.name}: {words[-1]}"
