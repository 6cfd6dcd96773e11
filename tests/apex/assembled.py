"""Texts that Apex puts together, as far as the tree of its class tells: each way through conditions, by itself.

Followed are literals, sums, conditional expressions, variables and what is added to them, lists that are joined,
methods of the same class and their arguments. What else there is becomes a hole, which bears the name of what fills it
at run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from apex.syntax import Node, kind, plain, walk

Texts: TypeAlias = tuple[str, ...]

WAYS_MAX = 16
DEPTH_MAX = 8  # methods that call each other
WAYS = ("IfBlock", "ElseBlock", "ForLoop", "WhileLoop", "CatchBlock", "ValueWhen", "TypeWhen", "ElseWhen")
_MARK = "\0"
_HOLE = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")


def hole(name: str) -> str:
    """A part that is known at run alone."""
    return f"{_MARK}{name}{_MARK}"


def holes(text: str) -> list[str]:
    """The names of what is not known of a text, each once."""
    return list(dict.fromkeys(_HOLE.findall(text)))


def filled(text: str, filling: str) -> str:
    """The text with the same words in place of all that is not known."""
    return _HOLE.sub(lambda _: filling, text)


@dataclass
class _Values:
    """What is known at the end of a block: texts by the lower-case name of a variable, and items of lists."""

    texts: dict[str, Texts] = field(default_factory=dict)
    lists: dict[str, list[Texts]] = field(default_factory=dict)


class Assembly:
    """The texts of one class or trigger."""

    def __init__(self, tree: Node) -> None:
        self._methods: dict[str, list[Node]] = {}
        self._calls: dict[str, list[tuple[Node, Node]]] = {}
        for method in walk(tree, "MethodDecl"):
            self._methods.setdefault(_name(method), []).append(method)
            for call in walk(method, "MethodCallExpr"):
                self._calls.setdefault(_called(call)[-1], []).append((call, method))
        self._fields = _Values()
        for member in walk(tree, "FieldMember"):
            self._write(member, self._fields, 0)

    def blocks(self, tree: Node) -> Iterator[tuple[Node, Node | None]]:
        """Each call in the tree, with the method that it stands in."""
        inside: set[int] = set()
        for methods in self._methods.values():
            for method in methods:
                for call in walk(method, "MethodCallExpr"):
                    inside.add(id(call))
                    yield call, method
        yield from ((call, None) for call in walk(tree, "MethodCallExpr") if id(call) not in inside)

    def texts(self, expression: Node, method: Node | None, depth: int = 0) -> Texts:
        """What the expression may be at the end of that method."""
        return self._texts(expression, self._of(method, depth), depth)

    def _of(self, method: Node | None, depth: int) -> _Values:
        found = _Values(dict(self._fields.texts), dict(self._fields.lists))
        if method is None or depth > DEPTH_MAX:
            return found
        for place, parameter in enumerate(method.get("parameters", [])):
            found.texts[_name(parameter)] = self._argument(method, place, depth)
        self._write(method, found, depth)
        return found

    def _argument(self, method: Node, place: int, depth: int) -> Texts:
        """What the class itself gives for a parameter; others may give anything to a method that is not private."""
        known = [
            self.texts(call["inputParameters"][place], caller, depth + 1)
            for call, caller in self._calls.get(_name(method), ())
            if caller is not method and len(call["inputParameters"]) == len(method["parameters"])
        ]
        given = () if known and _is_private(method) else (hole(str(method["parameters"][place]["name"]["value"])),)
        return _few([*itertools.chain.from_iterable(known), *given])

    def _write(self, block: Node, into: _Values, depth: int) -> None:
        perhaps = {id(node) for way in walk(block, *WAYS) for node in walk(way, "AssignmentExpr")}
        for node in walk(block, "VariableDecl", "AssignmentExpr", "MethodCallExpr"):
            match kind(node):
                case "VariableDecl":
                    name, value = _name(node), plain(node.get("assignment"))
                    into.texts[name] = () if value is None else self._texts(value, into, depth)
                    items = self._items(value, into, depth)
                    if items is not None:
                        into.lists[name] = items
                case "AssignmentExpr" if kind(node["left"]) == "VariableExpr":
                    name = str(node["left"]["names"][-1]["value"]).lower()
                    grown = node["op"]["$"] == "ADDITION_EQUALS"
                    before = into.texts.get(name, ())
                    begun = before or (hole(_written(node["left"])),)
                    now = _sums(begun if grown else ("",), self._texts(node["right"], into, depth))
                    into.texts[name] = _few((*before, *now)) if id(node) in perhaps else now
                case "MethodCallExpr" if _called(node)[1:] == ["add"] and _called(node)[0] in into.lists:
                    name, added = _called(node)[0], node["inputParameters"][-1]
                    into.lists[name] = [*into.lists[name], self._texts(added, into, depth)]
                case _:
                    pass

    def _items(self, value: object, known: _Values, depth: int) -> list[Texts] | None:
        if kind(value) == "NewExpr" and kind(value["creator"]) == "NewListLiteral":  # type: ignore[index]
            return [self._texts(each, known, depth) for each in value["creator"]["values"]]  # type: ignore[index]
        if kind(value) == "MethodCallExpr" and _called(value)[1:] == ["clone"]:  # type: ignore[arg-type]
            return known.lists.get(_called(value)[0])  # type: ignore[arg-type]
        return known.lists.get(_variable(value)) if kind(value) == "VariableExpr" else None  # type: ignore[arg-type]

    def _texts(self, node: Node, known: _Values, depth: int) -> Texts:
        match kind(node):
            case "LiteralExpr" if node["type"]["$"] == "STRING":
                found: Texts = (str(node["literal"]["$"]),)
            case "BinaryExpr" if node["op"]["$"] == "ADDITION":
                found = _sums(self._texts(node["left"], known, depth), self._texts(node["right"], known, depth))
            case "NestedExpr":
                found = self._texts(node["expr"], known, depth)
            case "TernaryExpr":
                ways = (self._texts(node[way], known, depth) for way in ("trueExpr", "falseExpr"))
                found = _few(itertools.chain.from_iterable(ways))
            case "VariableExpr":
                found = known.texts.get(_variable(node)) or (hole(_written(node)),)
            case "MethodCallExpr":
                found = self._answer(node, known, depth)
            case _:
                found = (hole(kind(node)),)
        return found

    def _answer(self, call: Node, known: _Values, depth: int) -> Texts:
        words, given = _called(call), call["inputParameters"]
        unknown = (hole(f"{_written(call)}()"),)
        if words == ["string", "join"]:
            items = self._items(given[0], known, depth)
            return unknown if items is None else _joined(items, self._texts(given[1], known, depth)[0])
        methods = self._methods.get(words[-1], [])
        if len(words) > 1 or len(methods) != 1 or depth >= DEPTH_MAX:
            return unknown
        answers = [plain(found["expr"]) for found in walk(methods[0], "ReturnStmnt")]
        texts = (self.texts(answer, methods[0], depth + 1) for answer in answers if answer is not None)
        return _few(itertools.chain.from_iterable(texts)) or unknown


def _name(node: Node) -> str:
    return str(node["name"]["value"]).lower()


def _called(call: Node) -> list[str]:
    return [str(name["value"]).lower() for name in call["names"]]


def _variable(node: Node) -> str:
    """Its name; with what it is a part of, which no variable is called."""
    return _written(node).lower()


def _written(node: Node) -> str:
    words = ".".join(str(name["value"]) for name in node["names"])
    return words if plain(node.get("dottedExpr")) is None else f"….{words}"


def _is_private(method: Node) -> bool:
    kinds = {kind(modifier) for modifier in method.get("modifiers", [])}
    return not kinds & {"PublicModifier", "GlobalModifier", "ProtectedModifier"}


def _sums(left: Texts, right: Texts) -> Texts:
    return _few(first + second for first, second in itertools.product(left, right))


def _joined(items: Sequence[Texts], separator: str) -> Texts:
    return _few(separator.join(each) for each in itertools.islice(itertools.product(*items), WAYS_MAX))


def _few(texts: Iterator[str] | Sequence[str] | itertools.chain[str]) -> Texts:
    return tuple(itertools.islice(dict.fromkeys(texts), WAYS_MAX))
