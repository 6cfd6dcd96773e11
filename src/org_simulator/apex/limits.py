"""Governor limits of one transaction. Time and heap are not claimed: they are the platform's machines' to measure."""

from __future__ import annotations

from types import MappingProxyType

from org_simulator.apex.raising import thrown

SYNCHRONOUS = MappingProxyType(
    {
        "queries": 100,
        "query_rows": 50_000,
        "aggregate_queries": 300,
        "dml_statements": 150,
        "dml_rows": 10_000,
        "queueable_jobs": 50,
        "publish_immediate": 150,
        "future_calls": 50,
        "email_invocations": 10,
    }
)
ASYNCHRONOUS = MappingProxyType({**SYNCHRONOUS, "queries": 200, "queueable_jobs": 1})
_WORDS = {
    "queries": "SOQL queries",
    "query_rows": "query rows",
    "dml_statements": "DML statements",
    "dml_rows": "DML rows",
    "queueable_jobs": "queueable jobs added to the queue",
    "publish_immediate": "publish immediate DML",
}


class Limits:
    """What has been used of each limit, and how much there is."""

    def __init__(self, *, asynchronous: bool = False) -> None:
        self.most = ASYNCHRONOUS if asynchronous else SYNCHRONOUS
        self.used = dict.fromkeys(self.most, 0)

    def use(self, name: str, count: int) -> None:
        """Charge some of a limit; LimitException, which no Apex can catch, beyond it."""
        self.used[name] += count
        if self.used[name] > self.most[name]:
            raise thrown("LimitException", f"Too many {_WORDS.get(name, name)}: {self.used[name]}")

    def kept(self) -> dict[str, int]:
        """The figures as they are, to go back to."""
        return dict(self.used)

    def reset(self, kept: dict[str, int]) -> None:
        """Go back to earlier figures."""
        self.used = dict(kept)
