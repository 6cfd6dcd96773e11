"""Tokens to an expression tree, with SOQL's grammar: a clause is one AND list, one OR list, one NOT, or a condition.

SOQL wants parentheses wherever AND, OR and NOT meet (SOQL and SOSL Reference, "Logical Operators"); so do we, or the
same text would be refused by Salesforce.
"""

from __future__ import annotations

from datetime import date, datetime

from lead_router.core.soql.dates import COUNTED, FISCAL, PLAIN
from lead_router.core.soql.lexer import Token, is_blank, tokens, unescape
from lead_router.core.soql.tree import (
    And,
    Boolean,
    Compare,
    Day,
    Expr,
    In,
    Includes,
    Instant,
    Not,
    Null,
    Number,
    Or,
    Relative,
    Text,
    Value,
)
from lead_router.errors import BadCriteria

DEPTH_MAX = 50  # nested parentheses; keeps a hostile clause from using up the stack
NUMBER_MAX_CHARS = 40
YEARS = range(1700, 4001)  # the dates that Salesforce can store
_RESERVED = frozenset({"AND", "OR", "NOT", "IN", "LIKE", "INCLUDES", "EXCLUDES", "NULL", "TRUE", "FALSE", "SELECT"})


def parse(clause: str) -> Expr | None:
    """The tree of a WHERE clause (without the word WHERE), None for a blank one; raises only BadCriteria."""
    if is_blank(clause):
        return None
    return _Parser(tokens(clause)).whole()


class _Parser:
    """Recursive descent; holds the place in the token list."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._next = 0
        self._depth = 0

    def whole(self) -> Expr:
        expr = self._clause()
        if self._peek().kind != "end":
            raise self._unexpected("AND, OR or the end of the clause")
        return expr

    def _clause(self) -> Expr:
        if self._word("NOT"):
            expr: Expr = Not(self._part())
            if self._is_word("AND", "OR"):
                raise self._mixed()
            return expr
        parts = [self._part()]
        joint = next((word for word in ("AND", "OR") if self._is_word(word)), "")
        while joint and self._word(joint):
            if self._is_word("NOT"):
                raise self._mixed()
            parts.append(self._part())
        if self._is_word("AND", "OR"):
            raise self._mixed()
        if len(parts) == 1:
            return parts[0]
        return And(tuple(parts)) if joint == "AND" else Or(tuple(parts))

    def _part(self) -> Expr:
        if not self._mark("("):
            return self._condition()
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise BadCriteria(f"more than {DEPTH_MAX} nested parentheses", at=self._peek().at)
        expr = self._clause()
        self._expect(")")
        self._depth -= 1
        return expr

    def _condition(self) -> Expr:
        field = self._peek()
        if field.kind != "word" or field.text.upper() in _RESERVED:
            raise self._unexpected("a field name")
        self._next += 1
        if self._peek().text == "(":
            raise BadCriteria(f"functions such as {field.text}() cannot be used here", at=field.at)
        if self._word("NOT"):
            if not self._word("IN"):
                raise self._unexpected("IN (for the rest write NOT before the field: NOT Name LIKE 'A%')")
            return In(field.text, negated=True, values=self._values(), at=field.at)
        if self._word("IN"):
            return In(field.text, negated=False, values=self._values(), at=field.at)
        if self._word("LIKE"):
            return Compare(field.text, "LIKE", self._pattern(), field.at)
        if self._is_word("INCLUDES", "EXCLUDES"):
            negated = self._take().text.upper() == "EXCLUDES"
            return Includes(field.text, negated=negated, values=self._texts(), at=field.at)
        return self._comparison(field)

    def _comparison(self, field: Token) -> Compare:
        operator = self._peek()
        if operator.kind != "op":
            raise self._unexpected("an operator (= != < <= > >= LIKE IN NOT IN INCLUDES EXCLUDES)")
        self._next += 1
        op = "!=" if operator.text == "<>" else operator.text
        value = self._value()
        if op not in {"=", "!="} and isinstance(value, Null | Boolean):
            raise BadCriteria(f"{op} cannot compare with null, TRUE or FALSE; use = or !=", at=operator.at)
        return Compare(field.text, op, value, field.at)

    def _values(self) -> tuple[Value, ...]:
        self._expect("(")
        if self._is_word("SELECT"):
            raise BadCriteria("a subquery cannot be used here; list the values", at=self._peek().at)
        values = [self._value()]
        while self._mark(","):
            values.append(self._value())
        self._expect(")")
        return tuple(values)

    def _texts(self) -> tuple[Text, ...]:
        values = self._values()
        texts = tuple(value for value in values if isinstance(value, Text))
        if len(texts) < len(values):
            odd = next(value for value in values if not isinstance(value, Text))
            raise BadCriteria("INCLUDES and EXCLUDES take quoted texts", at=odd.at)
        return texts

    def _pattern(self) -> Text:
        token = self._peek()
        if token.kind != "text":
            raise self._unexpected("a quoted text after LIKE")
        self._next += 1
        return Text(unescape(token, like=True), token.text[1:-1], token.at)

    def _value(self) -> Value:
        token = self._peek()
        value = _literal(token)
        if value is None:
            raise self._unexpected("a value (quoted text, number, date, date literal, TRUE, FALSE or NULL)")
        self._next += 1
        return value

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _is_word(self, *words: str) -> bool:
        token = self._peek()
        return token.kind == "word" and token.text.upper() in words

    def _word(self, word: str) -> bool:
        found = self._is_word(word)
        self._next += found
        return found

    def _mark(self, mark: str) -> bool:
        token = self._peek()
        found = token.kind == "mark" and token.text == mark
        self._next += found
        return found

    def _expect(self, mark: str) -> None:
        if not self._mark(mark):
            raise self._unexpected(f"'{mark}'")

    def _unexpected(self, wanted: str) -> BadCriteria:
        token = self._peek()
        seen = "the clause ends" if token.kind == "end" else f"{token.text[:40]!r} stands"
        return BadCriteria(f"{seen} where {wanted} should be", at=token.at)

    def _mixed(self) -> BadCriteria:
        return BadCriteria("put parentheses where AND, OR and NOT meet; SOQL refuses them mixed", at=self._peek().at)


def _literal(token: Token) -> Value | None:
    match token.kind:
        case "text":
            return Text(unescape(token, like=False), token.text[1:-1], token.at)
        case "number":
            return _number(token)
        case "day" | "instant":
            return _date(token)
        case "relative":
            name, _, count = token.text.partition(":")
            return _relative(token, name.upper(), count)
        case "word":
            return _keyword(token)
        case _:
            return None


def _keyword(token: Token) -> Value | None:
    match token.text.upper():
        case "NULL":
            return Null(token.at)
        case "TRUE" | "FALSE" as word:
            return Boolean(word == "TRUE", token.at)
        case word:
            return _relative(token, word, None)


def _number(token: Token) -> Number:
    if len(token.text) > NUMBER_MAX_CHARS:
        raise BadCriteria(f"a number has more than {NUMBER_MAX_CHARS} characters", at=token.at)
    return Number(float(token.text) if "." in token.text else int(token.text), token.at)


def _date(token: Token) -> Day | Instant:
    try:
        value = (date if token.kind == "day" else datetime).fromisoformat(token.text)
    except ValueError:
        raise BadCriteria(f"{token.text} is no date of the calendar", at=token.at) from None
    if value.year not in YEARS:
        raise BadCriteria(f"{token.text} is not between the years {YEARS[0]} and {YEARS[-1]}", at=token.at)
    return Instant(value, token.at) if isinstance(value, datetime) else Day(value, token.at)


def _relative(token: Token, name: str, count: str | None) -> Relative | None:
    if name in FISCAL:
        raise BadCriteria(f"{name} depends on the org's fiscal year and cannot be used here", at=token.at)
    if count is None:
        return Relative(name, 0, token.at) if name in PLAIN else None
    if name not in COUNTED:
        raise BadCriteria(f"{name}:n is no date literal", at=token.at)
    if len(count) > len("9999") or int(count) == 0:
        raise BadCriteria(f"{name}:n takes a number from 1 to 9999", at=token.at)
    return Relative(name, int(count), token.at)
