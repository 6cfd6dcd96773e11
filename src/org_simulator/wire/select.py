"""The SELECT statement around a WHERE clause: fields, order, limits. The clause itself is `lead_router.core.soql`'s."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, NoReturn

from org_simulator.failures import Failure

LIMIT_MAX = 2**31 - 1
OFFSET_MAX = 2000  # rows; Salesforce refuses more
_CLAUSES = ("using", "where", "with", "group", "having", "order", "limit", "offset", "for", "all")
_AGGREGATES = frozenset({"count", "count_distinct", "sum", "min", "max", "avg"})
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<text>'(?:\\.|[^'\\])*')|(?P<word>[A-Za-z_][\w.]*)"
    r"|(?P<number>[+-]?\d[\w.:+-]*)|(?P<mark><=|>=|!=|<>|[(),=<>:])",
)


class Token(NamedTuple):
    """A piece of the statement; `kind` is text, word, number or mark."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Column:
    """One selected thing: a field path, or an aggregate function (lower case) over one."""

    path: str
    function: str | None = None
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """One sort key."""

    path: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Select:
    """A parsed statement. `count` marks the bare `SELECT COUNT()`; `where` is the clause's own text."""

    sobject: str
    columns: tuple[Column, ...]
    count: bool = False
    where: str | None = None
    group: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int = LIMIT_MAX
    offset: int = 0
    all_rows: bool = False


def malformed(text: str) -> Failure:
    """The failure of a statement that cannot be read."""
    return Failure("MALFORMED_QUERY", text)


def tokens(text: str) -> list[Token]:
    """Cut a statement into pieces; raises MALFORMED_QUERY at the first character that starts none."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise malformed(f"unexpected token: {text[at]}")
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup or "", match.group(), at, match.end()))
        at = match.end()
    return found


class _Reader:
    """A place in the list of tokens."""

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.at = 0

    def peek(self) -> str:
        return self.found[self.at].text if self.at < len(self.found) else ""

    def low(self) -> str:
        return self.peek().lower()

    def take(self) -> Token:
        if self.at >= len(self.found):
            raise malformed("unexpected token: <EOF>")
        self.at += 1
        return self.found[self.at - 1]

    def accept(self, text: str) -> bool:
        if self.low() != text:
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.refuse()

    def word(self) -> str:
        token = self.take()
        if token.kind != "word":
            raise malformed(f"unexpected token: {token.text}")
        return token.text

    def whole(self) -> int:
        token = self.take()
        if not token.text.isdigit():
            raise malformed(f"unexpected token: {token.text}")
        return int(token.text)

    def refuse(self) -> NoReturn:
        raise malformed(f"unexpected token: {self.peek() or '<EOF>'}")


@lru_cache(maxsize=1024)
def parse(text: str) -> Select:
    """Read a statement; raises Failure MALFORMED_QUERY. What the simulator does not do is refused, never ignored."""
    reader = _Reader(tokens(text))
    reader.expect("select")
    columns = _columns(reader)
    reader.expect("from")
    sobject = reader.word()
    alias = _alias(reader)
    count = columns == (Column("", "count"),)
    where = _where(reader, text, (alias, sobject))
    group = _group(reader)
    order = _order(reader)
    limit = reader.whole() if reader.accept("limit") else LIMIT_MAX
    offset = reader.whole() if reader.accept("offset") else 0
    all_rows = _tail(reader)
    if offset > OFFSET_MAX:
        raise Failure("NUMBER_OUTSIDE_VALID_RANGE", f"Maximum SOQL offset allowed is {OFFSET_MAX}")
    strip = (alias.lower(), sobject.lower())
    return Select(
        sobject=sobject,
        columns=tuple(Column(_bare(each.path, strip), each.function, each.alias) for each in columns),
        count=count,
        where=where,
        group=tuple(_bare(path, strip) for path in group),
        order=tuple(Order(_bare(each.path, strip), each.descending, each.nulls_first) for each in order),
        limit=limit,
        offset=offset,
        all_rows=all_rows,
    )


def _bare(path: str, prefixes: tuple[str, ...]) -> str:
    head, dot, rest = path.partition(".")
    return rest if dot and head.lower() in prefixes else path


def _columns(reader: _Reader) -> tuple[Column, ...]:
    columns = [_column(reader)]
    while reader.accept(","):
        columns.append(_column(reader))
    seen = [each.path.lower() for each in columns if each.function is None]
    if any(each.alias and each.function is None for each in columns) and all(each.function is None for each in columns):
        raise malformed("only aggregate expressions use field aliasing")
    for path in seen:
        if seen.count(path) > 1:
            raise malformed(f"duplicate field selected: {path}")
    return tuple(columns)


def _column(reader: _Reader) -> Column:
    name = reader.word()
    if name.lower() in {"from", "typeof"}:
        raise malformed(f"unexpected token: {name}")
    if reader.low() != "(":
        return Column(name, None, None if reader.low() in {",", "from"} else reader.word())
    reader.take()
    function = name.lower()
    path = "" if reader.low() == ")" else reader.word()
    reader.expect(")")
    if function == "fields":
        return Column(path, function)
    if function not in _AGGREGATES or (not path and function != "count"):
        raise malformed(f"unexpected token: {name}")
    alias = None if reader.low() in {",", "from"} else reader.word()
    return Column(path, function, alias)


def _alias(reader: _Reader) -> str:
    if reader.accept("as"):
        return reader.word()
    if reader.peek() and reader.low() not in _CLAUSES and reader.found[reader.at].kind == "word":
        return reader.word()
    return ""


def _where(reader: _Reader, text: str, prefixes: tuple[str, str]) -> str | None:
    if not reader.accept("where"):
        return None
    inside = _until_clause(reader)
    if not inside:
        reader.refuse()
    pieces: list[str] = []
    at = inside[0].start
    strip = tuple(each.lower() for each in prefixes)
    for token in inside:
        pieces.append(text[at : token.start])
        pieces.append(_bare(token.text, strip) if token.kind == "word" else token.text)
        at = token.end
    return "".join(pieces)


def _until_clause(reader: _Reader) -> list[Token]:
    first = reader.at
    depth = 0
    while reader.peek():
        token = reader.found[reader.at]
        if depth == 0 and token.kind == "word" and token.text.lower() in _CLAUSES:
            break
        depth += (token.text == "(") - (token.text == ")")
        reader.at += 1
    return reader.found[first : reader.at]


def _group(reader: _Reader) -> tuple[str, ...]:
    if not reader.accept("group"):
        return ()
    reader.expect("by")
    paths = [reader.word()]
    while reader.accept(","):
        paths.append(reader.word())
    return tuple(paths)


def _order(reader: _Reader) -> tuple[Order, ...]:
    if not reader.accept("order"):
        return ()
    reader.expect("by")
    keys = [_sort_key(reader)]
    while reader.accept(","):
        keys.append(_sort_key(reader))
    return tuple(keys)


def _sort_key(reader: _Reader) -> Order:
    path = reader.word()
    descending = reader.accept("desc")
    if not descending:
        reader.accept("asc")
    nulls_first = True
    if reader.accept("nulls"):
        nulls_first = reader.accept("first")
        if not nulls_first:
            reader.expect("last")
    return Order(path, descending, nulls_first)


def _tail(reader: _Reader) -> bool:
    all_rows = reader.accept("all")
    if all_rows:
        reader.expect("rows")
    if reader.peek():
        reader.refuse()  # FOR UPDATE among them: Apex only
    return all_rows
