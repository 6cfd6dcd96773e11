"""One transaction as Apex sees it: statics, limits, trigger contexts, what waits for the commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lead_router.core.zones import is_zone, zone_of
from org_simulator.apex import dml, soql
from org_simulator.apex.classes import ApexClass
from org_simulator.apex.contexts import Context
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.limits import Limits
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record
from org_simulator.apex.types import Type
from org_simulator.apex.values import ListValue
from org_simulator.wire.access import opened_by

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from org_simulator.apex.program import Program
    from org_simulator.org import Org
    from org_simulator.schema import Schema
    from org_simulator.transaction import Transaction

TRIGGER_DEPTH_MAX = 16


class Session:
    """The Apex side of a transaction; of one thread, as the transaction is."""

    def __init__(self, program: Program, tx: Transaction, *, asynchronous: bool = False) -> None:
        self.program = program
        self.tx = tx
        self.org: Org = tx.org
        self.asynchronous = asynchronous
        self.limits = Limits(asynchronous=asynchronous)
        self.hits: defaultdict[ApexClass, set[int]] = defaultdict(set)
        self.depth = 0
        self.switched: Any = None
        """The value that a switch on types looks at."""
        self.contexts: list[Context] = []
        self.log: list[str] = []
        self.events: list[tuple[str, dict[str, Any], str]] = []
        """Platform events that wait for the commit: name, fields and EventUuid."""
        self.jobs: list[Any] = []
        """Queueables and their kin that wait for the commit."""
        self.saved_kinds: dict[bool, str] = {}
        """Whether setup (True) or other objects were saved by Apex, and which was the first."""
        self.mails: list[dict[str, Any]] = []
        self.finalizer: Any = None
        """What runs behind a queueable, however it ends."""
        self.test: Any = None
        """What a test has started, while one runs."""
        self._statics: dict[ApexClass, dict[str, Any]] = {}
        self._views: dict[str, Schema] = {}

    def begin_subrequest(self) -> None:
        """The next part of a composite begins; limits and statics start anew where the org has them so."""
        switches = self.org.switches
        if not switches.composite_shares_limits:
            self.limits = Limits(asynchronous=self.asynchronous)
        if not switches.composite_shares_statics:
            self._statics.clear()

    # ---- classes ----------------------------------------------------------------------------------------------------

    def static_of(self, cls: ApexClass) -> dict[str, Any]:
        """A class's static fields, initialised at the first use in this transaction."""
        found = self._statics.get(cls)
        return self._initialised(cls) if found is None else found

    def _initialised(self, cls: ApexClass) -> dict[str, Any]:
        values: dict[str, Any] = {name: None for name, field in cls.fields.items() if field.static}
        self._statics[cls] = values
        if cls.parent is not None:
            self.static_of(cls.parent)
        if cls.outer is not None:
            self.static_of(cls.outer)
        frame: list[Any] = [self, None, *[None] * cls.initial_slots]
        for name, read in cls.statics:
            value = read(frame)
            if name:
                values[name] = value
        return values

    def enum(self, cls: ApexClass, name: str, args: list[Any]) -> Any:
        """`values()` and `valueOf(name)` of an enum."""
        if name == "values":
            return ListValue(list(cls.values.values()), Type(cls.name, cls=cls))
        found = cls.values.get(str(args[0]).lower())
        if found is None:
            raise thrown("NoSuchElementException", f"No enum constant {cls.name}.{args[0]}")
        return found

    # ---- the org ----------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        """The org's present moment."""
        return self.org.clock.now()

    def zone(self) -> tzinfo:
        """The running user's time zone."""
        user = self.tx.any_row("User", self.tx.user_id) or {}
        name = str(user.get("TimeZoneSidKey") or "GMT")
        return zone_of(name if is_zone(name) else "GMT")

    def schema_for(self, mode: str) -> Schema:
        """The schema, in user mode as far as the running user's permission sets open it."""
        if mode != "user" or self.tx.user_id == self.org.admin_user_id:
            return self.org.schema
        user = self.tx.user_id
        if user not in self._views:
            sets = [self.org.schema.permission_sets[name] for name in self.org.permission_sets(user)]
            self._views[user] = opened_by(self.org.schema, sets)
        return self._views[user]

    def query(self, text: str, binds: Mapping[str, Any], mode: str = "") -> Any:
        """A query's records or figure."""
        return soql.run(self, text, binds, mode)

    def dml(
        self, verb: str, value: Any, *, all_or_none: bool, key: str = "", mode: str = "", assign: bool = False
    ) -> Any:
        """A DML statement or Database method; its results. Assignment rules run only where `assign` asks for them."""
        return dml.run(self, verb, value, dml.Ask(all_or_none, key, mode, assign))

    # ---- triggers ---------------------------------------------------------------------------------------------------

    def trigger_variable(self, name: str) -> Any:
        """A variable of the trigger that runs; null, or false, where none does."""
        if not self.contexts:
            return False if name.startswith("is") else None
        return self.contexts[-1].variable(name)

    @contextmanager
    def in_context(self, context: Context) -> Iterator[None]:
        """Run triggers of an event."""
        if len(self.contexts) >= TRIGGER_DEPTH_MAX:
            raise thrown("LimitException", "Maximum trigger depth exceeded")
        self.contexts.append(context)
        try:
            yield
        finally:
            self.contexts.pop()

    # ---- who, and points to go back to ------------------------------------------------------------------------------

    @contextmanager
    def run_as(self, user: Any) -> Iterator[None]:
        """`System.runAs`: the block runs as another user."""
        if user is None:
            raise null_pointer()
        if not isinstance(user, Record) or user.id is None:
            raise Unsupported("System.runAs with what is no saved user")
        before, self.tx.user_id = self.tx.user_id, str(user.id)
        kinds, self.saved_kinds = self.saved_kinds, {}
        try:
            yield
        finally:
            self.tx.user_id, self.saved_kinds = before, kinds

    def mark(self) -> tuple[Any, int, int]:
        """A point to go back to: saves, events and jobs."""
        return self.tx.savepoint(), len(self.events), len(self.jobs)

    def back_to(self, mark: tuple[Any, int, int]) -> None:
        """Undo what was done since; statics, limits and locks stay."""
        savepoint, events, jobs = mark
        self.tx.rollback_to(savepoint)
        del self.events[events:]
        del self.jobs[jobs:]
