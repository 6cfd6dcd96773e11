"""Salesforce formula text to a tree. Precedence from loose to tight: || && comparison & +- */ ^ sign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH_MAX = 60
"""Nesting that a formula may have."""


class FormulaFault(Exception):
    """A formula that Salesforce would not accept, or that uses what the simulator does not offer; says where."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Text, a number, true, false or null."""

    value: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    """A field or a global such as `$User.Id`, as written."""

    path: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its upper-case name."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sign:
    """`-x`, `+x` or `!x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Pair:
    """Two operands; the operator is spelled as one of `|| && = <> < > <= >= & + - * / ^`."""

    operator: str
    left: Node
    right: Node


Node: TypeAlias = Literal | Name | Call | Sign | Pair

_TOKEN = re.compile(
    r"""\s*(?:/\*.*?\*/\s*)*(?:
    (?P<number>\d+(?:\.\d+)?|\.\d+)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<name>\$?[A-Za-z_][A-Za-z0-9_]*(?:[.:][A-Za-z_][A-Za-z0-9_]*)*)
    |(?P<sign>\|\||&&|<>|!=|==|<=|>=|[-+*/^&=<>!(),])
    |(?P<end>$))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_SPELLING = {"!=": "<>", "==": "="}
_LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"=", "<>", "<", ">", "<=", ">="}),
    frozenset({"&"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/"}),
    frozenset({"^"}),
)
_WORDS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(formula: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while True:
        match = _TOKEN.match(formula, at)
        if match is None or match.lastgroup is None:
            raise FormulaFault(f"Syntax error at character {at + 1}")
        kind = match.lastgroup
        text = match[kind]
        found.append(_Token(kind, _SPELLING.get(text, text), match.start(kind)))
        if kind == "end":
            return found
        at = match.end()


def parse(formula: str) -> Node:
    """The tree of a formula; FormulaFault names the character at fault."""
    parser = _Parser(_tokens(formula))
    tree = parser.level(0)
    parser.expect("end", "")
    return tree


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def level(self, number: int) -> Node:
        if number == len(_LEVELS):
            return self._signed()
        left = self.level(number + 1)
        while self._peek().kind == "sign" and self._peek().text in _LEVELS[number]:
            operator = self._take().text
            left = Pair(operator, left, self.level(number + 1))
        return left

    def expect(self, kind: str, text: str) -> None:
        token = self._peek()
        if token.kind != kind or token.text != text:
            wanted = f"'{text}'" if text else "the end"
            raise FormulaFault(f"Syntax error at character {token.at + 1}: expected {wanted}, found '{token.text}'")
        self._next += 1

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def _signed(self) -> Node:
        token = self._peek()
        if token.kind == "sign" and token.text in {"-", "+", "!"}:
            self._next += 1
            return Sign(token.text, self._nested(self._signed))
        return self._primary()

    def _nested(self, parse_part: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise FormulaFault(f"nested deeper than {DEPTH_MAX}")
        node = parse_part()
        self._depth -= 1
        return node

    def _primary(self) -> Node:
        token = self._take()
        match token.kind:
            case "number":
                return Literal(float(token.text) if "." in token.text else int(token.text))
            case "text":
                return Literal(_ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), token.text[1:-1]))
            case "name":
                return self._named(token)
            case "sign" if token.text == "(":
                inside = self._nested(lambda: self.level(0))
                self.expect("sign", ")")
                return inside
            case _:
                raise FormulaFault(f"Syntax error at character {token.at + 1}: '{token.text}' is not expected here")

    def _named(self, token: _Token) -> Node:
        if self._peek() != _Token("sign", "(", self._peek().at):
            word = token.text.upper()
            return Literal(_WORDS[word]) if word in _WORDS else Name(token.text)
        self._next += 1
        arguments: list[Node] = []
        if self._peek().text != ")" or self._peek().kind != "sign":
            arguments.append(self._nested(lambda: self.level(0)))
            while self._peek().kind == "sign" and self._peek().text == ",":
                self._next += 1
                arguments.append(self._nested(lambda: self.level(0)))
        self.expect("sign", ")")
        return Call(token.text.upper(), tuple(arguments))
