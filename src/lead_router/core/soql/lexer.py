"""Text of a clause to tokens. Sources: SOQL and SOSL Reference, "Quoted String Escape Sequences", "Date Formats"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lead_router.errors import BadCriteria

CLAUSE_MAX_CHARS = 100_000  # the longest SOQL statement that Salesforce accepts

BLANKS = " \t\n\v\f\r"
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\n\v\f\r]+)
    | (?P<text>'(?:[^'\\]|\\.)*')
    | (?P<instant>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))
    | (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9A-Za-z_]))
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![0-9A-Za-z_]))
    | (?P<relative>[A-Za-z_]+:[0-9]+(?![0-9A-Za-z_]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
    | (?P<op><=|>=|<>|!=|=|<|>)
    | (?P<mark>[(),])
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
ESCAPES = {**_CONTROLS, **{name.upper(): char for name, char in _CONTROLS.items()}, '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is text, instant, day, number, relative, word, op, mark, or end; `at` is where it starts."""

    kind: str
    text: str
    at: int


def tokens(clause: str) -> list[Token]:
    """All tokens of the clause and an `end` token; raises BadCriteria at the first character that starts none."""
    if len(clause) > CLAUSE_MAX_CHARS:
        raise BadCriteria(f"the clause is longer than {CLAUSE_MAX_CHARS} characters", at=CLAUSE_MAX_CHARS)
    found: list[Token] = []
    at = 0
    while at < len(clause):
        match = _TOKEN.match(clause, at)
        if match is None:
            raise BadCriteria(_fault(clause, at), at=at)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append(Token(kind, match.group(), at))
        at = match.end()
    found.append(Token("end", "", len(clause)))
    return found


def unescape(token: Token, *, like: bool) -> str:
    """The value of a text token; escaped % and _ are known to LIKE alone, any other unknown escape is refused."""

    def resolve(match: re.Match[str]) -> str:
        char = match.group(1)
        if like and char in "%_":
            return char
        if char not in ESCAPES:
            at = token.at + 1 + match.start()
            raise BadCriteria(f"'\\{char}' is no escape sequence; write \\\\ for a backslash", at=at)
        return ESCAPES[char]

    return _ESCAPED.sub(resolve, token.text[1:-1])


def is_blank(clause: str) -> bool:
    """Whether the clause has nothing but blanks in it; a no-break space, as pasted from a page, is none to SOQL."""
    return not clause.strip(BLANKS)


def _fault(clause: str, at: int) -> str:
    char = clause[at]
    if char == "'":
        return "a quoted text does not end; write \\' for a quote inside it"
    if char == '"':
        return "texts stand in single quotes"
    if char == ":":
        return "bind variables cannot be used here"
    return f"{char!r} cannot be read here"
