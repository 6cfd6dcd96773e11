"""The desk: what all pages share, and what they ask of `app`; each verb blocks, and is called on a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from lead_router.app import Departed, Explained, Plan, explained, open_jobs, plan
from lead_router.app.finding import Found, find_leads, lead_named, leads_named, told
from lead_router.app.lying import Glance, glance_of
from lead_router.app.recent import Recent, Unassigned, recent_of
from lead_router.app.shares import Shares, shares_of
from lead_router.app.wiring import Wired
from lead_router.console.kept import KeptPlans
from lead_router.console.looks import Looks
from lead_router.console.places import Place
from lead_router.console.rendering import Paper
from lead_router.console.seals import Seals
from lead_router.core.model import Configuration
from lead_router.errors import LeadRouterError
from lead_router.ports import JobView, QueueView
from lead_router.settings import Settings

CONFIGURATION_FRESH_S = 120.0
"""How long rules and roster are believed before they are read anew: two calls."""


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known of one lead; `found` is None where it is not there any more or cannot be seen."""

    told: Explained | Departed
    found: Found | None
    link: str | None


class Desk:
    """Asks the org by one session, and the job database by a connection for each question."""

    def __init__(self, settings: Settings, wired: Wired) -> None:
        self._settings = settings
        self._wired = wired

    def configuration(self) -> Configuration:
        """Rules, roster and intake."""
        return self._wired.org.configuration()

    def recent(self, configuration: Configuration) -> Recent:
        """What waits, and what was given out last."""
        return recent_of(self._wired, configuration)

    def shares(self, configuration: Configuration, days: int) -> Shares:
        """Each member's turns of so many days."""
        return shares_of(self._wired, configuration, days=days)

    def find(self, text: str) -> Sequence[Found]:
        """Leads of an e-mail address or a name."""
        return find_leads(self._wired, text)

    def story(self, lead_id: str) -> Story:
        """A lead from its event to its owner."""
        told = explained(self._settings, lead_id, at=None, wired=self._wired)
        try:
            found = lead_named(self._wired, told.lead)
        except LeadRouterError:  # the story stands without a name
            found = None
        return Story(told, found, self._link(told.lead))

    def named(self, lead_ids: Sequence[str]) -> Mapping[str, str]:
        """Names and companies of leads, of those that are there and that this user can see."""
        return {one.id: told(one) for one in leads_named(self._wired, lead_ids)}

    def plan(self, file: Path, *, anew: bool) -> Plan:
        """What would become of a file's leads."""
        return plan(self._settings, csv=file, soql=None, at=None, anew=anew, wired=self._wired)

    def glance(self, waiting: Sequence[Unassigned], within_s: float) -> Glance:
        """The queue, the streams and who listens, and what the jobs of those leads tell."""
        with closing(open_jobs(self._settings, self._wired)) as store:
            return glance_of(store, waiting, within_s=within_s)

    def dead(self, limit: int) -> tuple[QueueView, list[JobView]]:
        """The queue, and its dead jobs, newest first."""
        with closing(open_jobs(self._settings, self._wired)) as store:
            return store.queue(), store.jobs(status="dead", limit=limit)

    def job(self, job_id: int) -> JobView | None:
        """One job."""
        with closing(open_jobs(self._settings, self._wired)) as store:
            return store.job(job_id)

    def retry(self, job_id: int) -> bool:
        """Queue a dead job again; False if it is not dead."""
        with closing(open_jobs(self._settings, self._wired)) as store:
            return store.revive(job_id)

    def discard(self, job_id: int, reason: str) -> bool:
        """End a dead job for good; False if it is not dead."""
        with closing(open_jobs(self._settings, self._wired)) as store:
            return store.discard(job_id, reason)

    def _link(self, lead_id: str) -> str | None:
        """Where the lead is in Salesforce; None for an org on this machine, which has no pages."""
        url = self._wired.tokens.token().instance_url
        return f"{url}/{lead_id}" if url.startswith("https://") else None


@dataclass(frozen=True, slots=True)
class Room:
    """All that a page reaches for."""

    desk: Desk
    looks: Looks
    paper: Paper
    seals: Seals
    place: Place
    plans: KeptPlans
    whereabouts: str


ROOM = web.AppKey("room", Room)
