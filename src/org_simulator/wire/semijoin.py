"""`field IN (SELECT …)`: the inner query's ids take its place before the clause is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from org_simulator.wire import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

INNER_MAX = 2
"""Salesforce takes two of them in one statement."""

NOBODY = "000000000000000"


def expand(clause: str, ids: Callable[[str], Iterable[str]]) -> str:
    """The clause with each inner SELECT replaced by the `ids` it finds; raises MALFORMED_QUERY for more than two."""
    tokens = select.tokens(clause)
    pieces: list[str] = []
    at = found = 0
    for place, token in enumerate(tokens[1:-1], start=1):
        if (
            token.start < at
            or token.text.lower() != "select"
            or [each.text for each in tokens[place - 1 : place]] != ["("]
        ):
            continue
        end = _closing(tokens, place)
        found += 1
        if found > INNER_MAX:
            raise select.malformed(f"Maximum {INNER_MAX} semi join sub-selects are allowed")
        inner = clause[token.start : tokens[end].start]
        pieces += [clause[at : token.start], ",".join(f"'{each}'" for each in ids(inner)) or f"'{NOBODY}'"]
        at = tokens[end].start
    return "".join((*pieces, clause[at:]))


def _closing(tokens: Sequence[select.Token], start: int) -> int:
    depth = 1
    for place in range(start, len(tokens)):
        depth += (tokens[place].text == "(") - (tokens[place].text == ")")
        if depth == 0:
            return place
    raise select.malformed("unexpected end of the sub-select")
