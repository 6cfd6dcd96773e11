from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from org_simulator import verbs
from org_simulator.founding import DEFAULT_QUEUE, found
from org_simulator.ids import make_id
from org_simulator.sessions import Sessions
from org_simulator.store import FIRST_ID_MIN, Store
from org_simulator.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from org_simulator.changes import Row, RowChange
    from org_simulator.clock import Clock
    from org_simulator.schema import Schema
    from org_simulator.switches import Switches

CALLS_ALLOWED = 100_000
"""Daily API requests of the simulated org."""


class Org:
    """One Salesforce org; safe for many threads."""

    def __init__(self, schema: Schema, *, clock: Clock, switches: Switches, seed: int = 0) -> None:
        self.schema = schema
        self.clock = clock
        self.switches = switches
        self.dice = random.Random(seed)
        self.org_id = make_id("00D", self.dice.randrange(1, FIRST_ID_MIN))
        self.store = Store(schema, clock, self.dice, detect_deadlocks=switches.deadlock_detected_at_once)
        self.calls_used = 0
        self.calls_allowed = CALLS_ALLOWED
        self.listeners: list[Callable[[list[RowChange]], None]] = []
        """Called after each commit, in commit order, under the store's lock: be short, and wait for nothing."""
        self.events: Any = None
        self.automation: Any = None
        """What runs triggers: `watches(sobject)`, `save(transaction, verb, sobject, items, together=)` and
        `begin_subrequest(transaction)`."""
        self.assignment_rule: Callable[[Row], str | None] | None = None
        """The one active lead assignment rule: the new owner of this lead, or None to leave it."""
        self._sobjects = {sobject.prefix: sobject.name for sobject in schema.objects.values()}
        self.admin_user_id, self.integration_user_id = found(self)
        self.sessions = Sessions(self.org_id, random.Random(seed), self.may_log_in)
        default_queue = self.queue_id(DEFAULT_QUEUE)
        self.assignment_rule = lambda lead: default_queue if lead.get("LeadSource") == "Web" else None

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
        origin = f"com/salesforce/api/{api}/{version}" + (f";client={client}" if client else "")
        return Transaction(self, user_id, auto_assign=auto_assign, origin=origin)

    def system_transaction(self, user_id: str) -> Transaction:
        """The org's own work: read-only fields may be written, validation and assignment rules do not run."""
        return Transaction(self, user_id, auto_assign=False, origin="", system=True)

    def count_call(self, calls: int = 1) -> int:
        """Charge API requests; answers how many are used."""
        with self.store.mutex:
            self.calls_used += calls
            return self.calls_used

    def sobject_of(self, prefix: str) -> str | None:
        """The object whose ids start with these three characters."""
        return self._sobjects.get(prefix)

    def permissions(self, user_id: str) -> frozenset[str]:
        """Names of the custom permissions this user has by committed permission set assignments."""
        granted = [self.schema.permission_sets[name].custom_permissions for name in self.permission_sets(user_id)]
        return frozenset().union(*granted)

    def permission_sets(self, user_id: str) -> tuple[str, ...]:
        """Names of the permission sets of the metadata that are assigned to this user."""
        with self.store.mutex:
            assignments, sets = self.store.tables["permissionsetassignment"], self.store.tables["permissionset"]
            rows = [assignments.rows[row_id] for row_id in assignments.indexes["assigneeid"].ids(user_id)]
            names = [sets.rows[row["PermissionSetId"]]["Name"] for row in rows if not row["IsDeleted"]]
        return tuple(name for name in names if name in self.schema.permission_sets)

    def may_log_in(self, user_id: str) -> bool:
        """Whether the user is active and not frozen."""
        with self.store.mutex:
            user = self.store.tables["user"].rows.get(user_id)
            if user is None or not user["IsActive"]:
                return False
            logins = self.store.tables["userlogin"]
            return not any(logins.rows[login]["IsFrozen"] for login in logins.indexes["userid"].ids(user_id))

    def queue_id(self, developer_name: str) -> str | None:
        """The id of a queue."""
        with self.store.mutex:
            groups = self.store.tables["group"]
            for record_id in groups.indexes["developername"].ids(developer_name):
                if not groups.rows[record_id]["IsDeleted"]:
                    return record_id
        return None

    def convert_lead(self, lead_id: str) -> tuple[str, str, str]:
        """Convert a lead; answers account, contact and opportunity id."""
        return verbs.convert_lead(self, lead_id)

    def merge_leads(self, winner: str, loser: str) -> None:
        """Merge: the loser goes to the recycle bin with MasterRecordId, the winner is updated."""
        verbs.merge_leads(self, winner, loser)

    def mass_transfer(self, record_ids: Iterable[str], owner_id: str) -> None:
        """Give leads to an owner as list views do: validation and assignment rules do not run."""
        verbs.mass_transfer(self, record_ids, owner_id)

    def touch(self, lead_id: str) -> None:
        """Move a lead's SystemModstamp and nothing else, as the platform's own upkeep does: no rule, no event."""
        verbs.touch(self, lead_id)
