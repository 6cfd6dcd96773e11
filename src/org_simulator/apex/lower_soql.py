"""A query in brackets to its text, with the bind expressions taken out and numbered."""

from __future__ import annotations

import re
from typing import Any

from org_simulator.apex.raw import Node, tag

_PIECE = re.compile(r"'(?:\\.|[^'\\])*'|[\w.]+|.", re.DOTALL)
_COUNTED = re.compile(r"(?:last|next)_n_\w+|n_\w+_ago", re.IGNORECASE)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_SIGNS = frozenset("+-*/")
_AFTER = frozenset(["and", "or", "limit", "order", "group", "with", "for", "having", "offset", "all", "from", "where"])
"""Words that go on with the statement behind a bind."""


def query(node: Node) -> tuple[str, list[Node]]:
    """The text without its brackets, each bind `:b0`, `:b1`, …; and the binds' syntax trees in that order."""
    text = node["rawQuery"].strip()[1:-1]
    found = sorted(_binds(node["query"]), key=lambda bind: bind["loc"]["startIndex"])
    return numbered(text), [bind["expr"] for bind in found]


def _binds(node: Any) -> list[Node]:
    if isinstance(node, list):
        return [bind for each in node for bind in _binds(each)]
    if not isinstance(node, dict):
        return []
    if tag(node) == "ColonExpr":
        return [node]
    return [bind for each in node.values() for bind in _binds(each)]


def numbered(text: str) -> str:
    """Each bind expression, whatever its length, replaced by `:b` and its place from 0."""
    pieces = _PIECE.findall(text)
    out: list[str] = []
    at = count = 0
    before = ""
    while at < len(pieces):
        piece = pieces[at]
        if piece == ":" and not _COUNTED.fullmatch(before):
            at = _end_of_bind(pieces, at + 1)
            out.append(f":b{count}")
            count += 1
            before = ""
            continue
        out.append(piece)
        before = piece if piece.strip() else before
        at += 1
    return "".join(out)


def _end_of_bind(pieces: list[str], at: int) -> int:
    """The place behind a bind: operands, and what calculates with them."""
    at = _operand(pieces, at)
    ahead = _word(pieces, at)
    while ahead < len(pieces) and pieces[ahead] in _SIGNS:
        at = _operand(pieces, ahead + 1)
        ahead = _word(pieces, at)
    return at


def _operand(pieces: list[str], at: int) -> int:
    """The place behind a chain of names, calls and indexes, a cast, or `new …`."""
    at = _word(pieces, at)
    if pieces[at].lower() == "new":
        while pieces[at] not in {"(", "{"}:
            at += 1
        return _behind(pieces, at)
    if pieces[at] == "(":
        at = _behind(pieces, at)
        ahead = _word(pieces, at)
        cast = ahead < len(pieces) and (pieces[ahead] in "('" or pieces[ahead][0].isalnum())
        return _operand(pieces, ahead) if cast and pieces[ahead].lower() not in _AFTER else at
    at += 1
    while at < len(pieces) and (pieces[at] in {"(", "[", "?"} or pieces[at].startswith(".")):
        at = _behind(pieces, at) if pieces[at] in _CLOSERS else at + 1
    return at


def _word(pieces: list[str], at: int) -> int:
    """The place of the next piece that is no space."""
    while at < len(pieces) and not pieces[at].strip():
        at += 1
    return at


def _behind(pieces: list[str], at: int) -> int:
    """The place behind the bracket that opens at `at`."""
    depth = 0
    while at < len(pieces):
        depth += (pieces[at] in _CLOSERS) - (pieces[at] in _CLOSERS.values())
        at += 1
        if depth == 0:
            break
    return at
