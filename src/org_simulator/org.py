from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from org_simulator.changes import Row, RowChange
    from org_simulator.clock import Clock
    from org_simulator.schema import Schema
    from org_simulator.sessions import Sessions
    from org_simulator.switches import Switches
    from org_simulator.transaction import Transaction

CALLS_ALLOWED = 100_000
"""Daily API requests of the simulated org."""


class Org:
    """One Salesforce org; safe for many threads."""

    org_id: str
    schema: Schema
    clock: Clock
    switches: Switches
    dice: random.Random
    sessions: Sessions
    calls_used: int
    calls_allowed: int
    listeners: list[Callable[[list[RowChange]], None]]
    """Called after each commit, in commit order, under the store's lock: be short, and wait for nothing."""
    integration_user_id: str
    admin_user_id: str
    assignment_rule: Callable[[Row], str | None] | None
    """The one active lead assignment rule: the new owner of this lead, or None to leave it."""
    events: Any

    def __init__(self, schema: Schema, *, clock: Clock, switches: Switches, seed: int = 0) -> None:
        raise NotImplementedError

    def transaction(
        self,
        user_id: str,
        *,
        auto_assign: bool = True,
        client: str = "",
        api: str = "rest",
        version: str = "68.0",
    ) -> Transaction:
        """A context manager: a clean exit commits, an exception rolls back and goes on."""
        raise NotImplementedError

    def count_call(self, calls: int = 1) -> int:
        """Charge API requests; answers how many are used."""
        raise NotImplementedError

    def permissions(self, user_id: str) -> frozenset[str]:
        """Names of the custom permissions this user has."""
        raise NotImplementedError

    def queue_id(self, developer_name: str) -> str | None:
        """The id of a queue."""
        raise NotImplementedError

    def convert_lead(self, lead_id: str) -> tuple[str, str, str]:
        """Convert a lead; answers account, contact and opportunity id."""
        raise NotImplementedError

    def merge_leads(self, winner: str, loser: str) -> None:
        """Merge: the loser goes to the recycle bin with MasterRecordId, the winner is updated."""
        raise NotImplementedError

    def mass_transfer(self, record_ids: Iterable[str], owner_id: str) -> None:
        """Give leads to an owner as list views do: validation rules and assignment rules do not run."""
        raise NotImplementedError
