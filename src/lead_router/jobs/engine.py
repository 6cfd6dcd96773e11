"""What the store and the migrations need of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from lead_router.jobs.dialect import Dialect

SETTING = "LEAD_ROUTER_DATABASE"
"""The setting that every text about a wrong database names."""

Row: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[str, Mapping[str, Any]]
"""A statement with `:name` parameters, and their values."""

Run: TypeAlias = Callable[[str, Mapping[str, Any]], list[Row]]
T = TypeVar("T")


class Engine(Protocol):
    """One connection to one database, made when needed and made anew after it was lost.

    Steps are carried out all or none. StoreUnavailable: not carried out, worth another try; a new connection is then
    made for the next call. Misconfigured: a person must change something first. Where the connection is lost while a
    transaction is being committed, it may have been kept all the same: every verb of the store can be repeated.
    """

    dialect: Dialect

    def write(self, steps: Sequence[Step], *, synced: bool = True, tidies: bool = False) -> list[list[Row]]:
        """Carry out the steps in one transaction; the rows that each returned.

        What is not `synced` is seen by all at once and outlives the program, but for a moment not the machine: should
        that lose its power, the last such transactions are gone, as if they had never been. What was synced never is.
        One that `tidies` is waited for by no lead: it may do what the database puts off until a transaction has time.
        """
        ...

    def read(self, steps: Sequence[Step]) -> list[list[Row]]:
        """The same for steps that change nothing."""
        ...

    def exclusively(self, body: Callable[[Run], T]) -> T:
        """Call `body` in a transaction that runs alone among all callers of this verb on this database."""
        ...

    def close(self) -> None:
        """Give the connection back; may be called again."""
        ...
