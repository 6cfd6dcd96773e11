"""Reading by composite requests: many queries in few calls, in their order, each whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from lead_router.errors import ContractMismatch
from lead_router.salesforce.codes import Kind, surprise, troubles
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Rest, Subanswer, Subrequest

QUERIES_MAX = 5  # queries and collections in one composite request

_OK = 200
_HIDDEN = frozenset({Kind.CONTRACT, Kind.REJECTED})


def read(rest: Rest, parts: Sequence[Subrequest], may_lack: Collection[str] = ()) -> dict[str, list[Row]]:
    """The rows of each query by its reference, in order; as many calls as the number of queries asks for.

    A query named in `may_lack` is left out of the answer where this user may not see what it asks for.
    """
    rows: dict[str, list[Row]] = {}
    for _, few in groupby(enumerate(parts), key=lambda item: item[0] // QUERIES_MAX):
        for answer in rest.composite([part for _, part in few], write=False):
            if not (answer.reference in may_lack and _is_hidden(answer)):
                rows[answer.reference] = _rows(rest, answer)
    return rows


def _is_hidden(answer: Subanswer) -> bool:
    found = troubles(answer.body) if answer.status != _OK else ()
    return bool(found) and all(trouble.kind in _HIDDEN for trouble in found)


def _rows(rest: Rest, answer: Subanswer) -> list[Row]:
    if answer.status != _OK:
        found = troubles(answer.body)
        if found:
            raise surprise(found, write=False)
        raise ContractMismatch(f"the query '{answer.reference}' was answered with status {answer.status}")
    return list(rest.rest_of(answer.body))
