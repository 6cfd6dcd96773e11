"""What can be wrong in a class by one edit: each edit of its syntax tree that still compiles, as a tree of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, get_args

from org_simulator.apex import tree

STATEMENTS = get_args(tree.Stmt)
COMPARISONS = {
    "==": ("!=",),
    "!=": ("==",),
    "===": ("!==",),
    "!==": ("===",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
}
CALCULATIONS = {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",)}
JOINS = {"&&": ("||",), "||": ("&&",)}
LEAVING = tree.Return | tree.Throw | tree.Leave
TAIL = re.compile(r"\s+ORDER\s+BY\s+.*?(?=\s+(?:LIMIT|OFFSET|FOR)\b|$)", re.DOTALL)
LOCK = re.compile(r"\s+FOR\s+UPDATE\b")
WHERE = re.compile(r"(?<=\bWHERE)\s+(.*?)(?=\s+(?:WITH|GROUP|ORDER|LIMIT|FOR)\b|$)", re.DOTALL)
AND = re.compile(r"\s+AND\s+")


@dataclass(frozen=True, slots=True)
class Edit:
    """`line` is the edit's own; `reached` is that of the statement around it, which is what coverage counts."""

    line: int
    reached: int
    said: str
    made: Any


def edits(unit: tree.ClassDecl | tree.TriggerDecl) -> list[Edit]:
    """All edits of a class or trigger, in the order of the source; `made` is the whole class with that one edit."""
    return sorted(_below(unit, 0), key=lambda edit: edit.line)


def _below(node: Any, reached: int) -> Iterator[Edit]:
    """Edits of the node itself, then of what it holds, each with the node rebuilt around it."""
    if isinstance(node, tree.FieldDecl) or (isinstance(node, STATEMENTS) and not isinstance(node, tree.Block)):
        reached = node.line
    for line, said, made in _own(node):
        yield Edit(line, line if isinstance(node, tree.Block) else reached, said, made)
    for name, held in _parts(node):
        for edit in _within(held, reached):
            yield replace(edit, made=replace(node, **{name: edit.made}))


def _within(held: Any, reached: int) -> Iterator[Edit]:
    if isinstance(held, tuple):
        for place, each in enumerate(held):
            for edit in _within(each, reached):
                yield replace(edit, made=(*held[:place], edit.made, *held[place + 1 :]))
    elif is_dataclass(held) and not isinstance(held, tree.TypeName | tree.Marks):
        yield from _below(held, reached)


def _parts(node: Any) -> Iterator[tuple[str, Any]]:
    for each in fields(node):
        held = getattr(node, each.name)
        if isinstance(held, tuple) or is_dataclass(held):
            yield each.name, held


Own = Iterator[tuple[int, str, Any]]


def _own(node: Any) -> Own:
    match node:
        case tree.Binary():
            yield from _operators(node)
        case tree.Unary(op="!"):
            yield node.line, "`!` is dropped", node.inner
        case tree.Literal():
            yield from _constants(node)
        case tree.Ternary() | tree.If():
            yield from _conditions(node)
        case tree.Step() | tree.Assign():
            yield from _steps(node)
        case tree.Soql(text=text):
            yield from ((node.line, said, replace(node, text=made)) for said, made in _queries(text))
        case tree.Block():
            yield from _dropped(node)
        case _:
            return


def _operators(node: tree.Binary) -> Own:
    known = COMPARISONS | JOINS if _is_text(node) else COMPARISONS | JOINS | CALCULATIONS
    for other in known.get(node.op, ()):
        yield node.line, f"`{node.op}` becomes `{other}`", replace(node, op=other)


def _constants(node: tree.Literal) -> Own:
    match node.value:
        case bool(flag):
            yield node.line, f"{str(flag).lower()} becomes {str(not flag).lower()}", replace(node, value=not flag)
        case int(number):
            yield node.line, f"{number} becomes {number + 1}", replace(node, value=type(number)(number + 1))
        case str(text):
            queries = list(_queries(text))
            yield from ((node.line, said, replace(node, value=made)) for said, made in queries)
            if not queries:
                yield node.line, f"{text!r} becomes {text + '~'!r}", replace(node, value=f"{text}~")
        case _:
            return


def _steps(node: tree.Step | tree.Assign) -> Own:
    match node:
        case tree.Step():
            yield node.line, "the step goes the other way", replace(node, by=-node.by)
        case tree.Assign(op="+" | "-" as op) if not _is_text(node.value):
            yield node.line, f"`{op}=` becomes `{CALCULATIONS[op][0]}=`", replace(node, op=CALCULATIONS[op][0])
        case _:
            return


def _conditions(node: tree.If | tree.Ternary) -> Own:
    if isinstance(node, tree.Ternary):
        if not _turns(node.condition):
            yield node.line, "the condition is negated", replace(node, condition=_not(node.condition))
        return
    for place, (condition, body) in enumerate(node.branches):
        if _turns(condition):
            continue
        others = list(node.branches)
        others[place] = (_not(condition), body)
        yield condition.line, "the condition is negated", replace(node, branches=tuple(others))


def _queries(text: str) -> Iterator[tuple[str, str]]:
    """A query, or a piece of one, without its lock, its order, or one of its conditions."""
    if LOCK.search(text):
        yield "FOR UPDATE is dropped", LOCK.sub("", text)
    if TAIL.search(text):
        yield "ORDER BY is dropped", TAIL.sub("", text)
    found = WHERE.search(text)
    parts = AND.split(found[1]) if found else []
    if found is None or len(parts) < 2 or "(" in found[1]:
        return
    for place, part in enumerate(parts):
        rest = " AND ".join([*parts[:place], *parts[place + 1 :]])
        told = " ".join(part.split())
        yield f"the condition {told} is dropped", f"{text[: found.start(1)]}{rest}{text[found.end(1) :]}"


def _dropped(block: tree.Block) -> Own:
    for place, each in enumerate(block.body):
        rest = replace(block, body=(*block.body[:place], *block.body[place + 1 :]))
        match each:
            case tree.Do(expr=tree.ConstructorCall()):
                continue
            case tree.Do() | tree.Dml():
                yield each.line, "the statement is dropped", rest
            case tree.Leave(again=again):
                yield each.line, f"{'continue' if again else 'break'} is dropped", rest
            case tree.If(branches=((_, body),), otherwise=None) if isinstance(_last(body), LEAVING):
                yield each.line, "the guard is dropped", rest
            case _:
                continue


def _last(body: tree.Stmt) -> tree.Stmt | None:
    if not isinstance(body, tree.Block):
        return body
    return body.body[-1] if body.body else None


def _turns(condition: tree.Expr) -> bool:
    """Whether an edit of its operator negates it already."""
    return isinstance(condition, tree.Unary) or (isinstance(condition, tree.Binary) and condition.op in COMPARISONS)


def _not(condition: tree.Expr) -> tree.Expr:
    return tree.Unary("!", condition, condition.line)


def _is_text(node: Any) -> bool:
    """Whether a sum has a text among its parts: its plus joins."""
    match node:
        case tree.Literal(value=str()):
            return True
        case tree.Binary(op="+"):
            return _is_text(node.left) or _is_text(node.right)
        case tree.Ternary():
            return _is_text(node.yes) or _is_text(node.no)
        case _:
            return False
