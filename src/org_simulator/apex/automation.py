"""Apex as the org's automation: triggers around saves, events and jobs behind commits, entry points from outside."""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.apex import entries, jobs, saves
from org_simulator.apex.faults import ParserMissing, Thrown, Unsupported
from org_simulator.apex.program import Program, load
from org_simulator.apex.session import Session
from org_simulator.failures import Failure

if TYPE_CHECKING:
    from pathlib import Path

    from org_simulator.bulk import Item
    from org_simulator.org import Org
    from org_simulator.transaction import Transaction

STACK = 40_000
"""Python frames that Apex may need: its own limit is 1,000 calls, each some frames deep."""

log = logging.getLogger("org_simulator.apex")


class Automation:
    """Runs a program in an org; `work` runs what waited for a commit, in order, each piece in its own transaction."""

    def __init__(self, org: Org, program: Program) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), STACK))
        self.org = org
        self.program = program
        self.failures: list[str] = []
        """What jobs and event triggers died of."""
        self._watched = {trigger.sobject.lower() for trigger in program.triggers}
        self._waiting: deque[jobs.Job | jobs.Delivery] = deque()
        self._arrived = threading.Condition()
        if org.events is not None:
            org.events.published.append(self.published)

    def watches(self, sobject: str) -> bool:
        """Whether triggers run on saves of such a record."""
        return sobject.lower() in self._watched

    def session(self, tx: Transaction, *, asynchronous: bool = False) -> Session:
        """The Apex side of a transaction, made at its first need."""
        if tx.session is None:
            session = tx.session = Session(self.program, tx, asynchronous=asynchronous)
            tx.on_commit(lambda: self._committed(session))
        found: Session = tx.session
        return found

    def save(
        self, tx: Transaction, verb: str, sobject: str, items: Sequence[Item], *, together: bool
    ) -> list[str | Failure]:
        """Records through their triggers; ids or failures by position."""
        described = tx.table(sobject).sobject
        asked = [saves.Save(record_id, fields) for record_id, fields in items]
        return saves.save(self.session(tx), verb, described, asked, together=together, assign=True)

    def begin_subrequest(self, tx: Transaction) -> None:
        """The next part of a composite begins in this transaction."""
        if tx.session is not None:
            self.session(tx).begin_subrequest()

    def call(self, user_id: str, work: Callable[[Session], Any], *, asynchronous: bool = False) -> Any:
        """Run a piece of Apex in a transaction of its own; Thrown for an exception that it lets out."""
        with self.org.transaction(user_id, api="apex") as tx:
            return work(self.session(tx, asynchronous=asynchronous))

    # ---- invocable actions ------------------------------------------------------------------------------------------

    def has_action(self, name: str) -> bool:
        """Whether a class of this name has an invocable method."""
        return entries.action(self.program, name) is not None

    def invoke_action(self, user_id: str, name: str, inputs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Run an action in a transaction of its own; Failure for an exception that it lets out."""
        try:
            found: list[Any] = self.call(user_id, lambda session: entries.invoke(session, name, inputs))
        except Thrown as fault:
            text = f"An exception occurred: {fault}"
            raise Failure("INVALID_API_INPUT", text) from None
        return found

    # ---- behind the commit ------------------------------------------------------------------------------------------

    def published(self, name: str, fields: Mapping[str, Any]) -> None:
        """A platform event was published: its Apex triggers get it."""
        if any(trigger.sobject.lower() == name.lower() for trigger in self.program.triggers):
            self._queue(jobs.Delivery(name, (dict(fields),)))

    def _committed(self, session: Session) -> None:
        for name, fields, _ in session.events:
            if self.org.events is not None:
                self.org.events.publish(name, fields, session.tx.user_id)
            else:
                self.published(name, fields)
        for job in session.jobs:
            self._queue(job)

    def _queue(self, piece: jobs.Job | jobs.Delivery) -> None:
        with self._arrived:
            self._waiting.append(piece)
            self._arrived.notify()

    @property
    def waiting(self) -> int:
        """How many pieces wait."""
        return len(self._waiting)

    def work(self) -> int:
        """Run all that waits, and what that asks for; answers how many pieces ran. Their exceptions are kept."""
        count = 0
        while self._waiting:
            self._one(self._waiting.popleft())
            count += 1
        return count

    def start(self) -> None:
        """Work in the background for as long as the process lives."""
        threading.Thread(target=self._forever, name="apex-jobs", daemon=True).start()

    def _forever(self) -> None:
        while True:
            with self._arrived:
                while not self._waiting:
                    self._arrived.wait()
            self.work()

    def _one(self, piece: jobs.Job | jobs.Delivery) -> None:
        try:
            if isinstance(piece, jobs.Delivery):
                self.call(self.org.admin_user_id, lambda session: jobs.deliver(session, piece), asynchronous=True)
            else:
                jobs.perform(piece, lambda work: self.call(piece.user_id, work, asynchronous=True))
        except (Thrown, Failure, Unsupported) as fault:
            self.failures.append(str(fault))
            log.warning("Apex behind a commit failed: %s", fault)


def install(org: Org, root: Path, *, tests: bool = False) -> str:
    """Let the org run the Apex below `root`; answers one line that says what runs, or why nothing does.

    Raises Unparsable and Unsupported, with file and line, for sources that it cannot run.
    """
    try:
        program = load(root, org.schema, tests=tests)
    except ParserMissing as absent:
        return str(absent)
    if not (program.classes or program.triggers):
        return f"no Apex below {root}"
    org.automation = Automation(org, program)
    return f"Apex: {len(program.classes)} classes, {len(program.triggers)} triggers"
