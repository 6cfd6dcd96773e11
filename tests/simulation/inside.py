"""Another writer in the same org, who routes in one go: a stand-in for the trigger inside, which `trigger` has itself.

It decides as the shipped Apex does and writes by the same conditional transaction, and nobody can act in its midst. Its
writes bear no client's name, so that they come to the others as a stranger's changes. It has a user and a disk of its
own, reads the configuration each time, and hears no stream: it is given the leads that somebody saves, no others.
"""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.core.keys import change_key, create_key
from lead_router.ports import NewJob
from org_simulator.wire.faults import Fault
from simulation.hosts import Router

READ, WORK = "upkeep", "worker-1"


class Inside(Router):
    """A router between whose exchanges nothing happens, and to which nothing happens."""

    anonymous = True
    configuration_every_s = 0.0
    saves = 0

    @property
    def names(self) -> list[str]:
        """It has no stream to listen to."""
        return [WORK, READ]

    def point(
        self, when: str, kind: str, what: str, leads: tuple[str, ...] = (), others: tuple[str, ...] = ()
    ) -> Fault | str | None:
        """Nobody acts here."""
        return None

    def routes(self, leads: Sequence[str], *, new: bool) -> None:
        """Give these leads out, as far as they wait for an owner; `new` ones by the name of their creation."""
        if not self.alive:
            self.play.step(self, "")
        org_id, payload = self.play.org.org_id, {"event_at": self.play.clock.now().isoformat()}
        self.saves += 1
        for lead in leads:
            key = create_key(org_id, lead) if new else change_key(org_id, lead, f"save{self.saves}.1")
            self.stores[0].record([NewJob(key, lead, lead, payload)])
        self.works()

    def works(self) -> None:
        """Another try for what could not be given out, as the sweep inside makes it."""
        for name in (READ, WORK):
            self.play.step(self, name)
