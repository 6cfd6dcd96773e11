"""From options to a running org: what the command line and in-process tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from org_simulator.clock import Clock, SystemClock
from org_simulator.events import change_log
from org_simulator.lead_history import track, tracked
from org_simulator.org import Org
from org_simulator.schema import default_metadata, load
from org_simulator.switches import Switches
from org_simulator.wire.faults import Faults
from org_simulator.wire.oauth import REFRESH_TOKEN
from org_simulator.wire.world import ConnectedApp, World

if TYPE_CHECKING:
    from pathlib import Path

BASE_URL = "https://simulated.my.salesforce.com"


def world(
    *,
    metadata: Path | None = None,
    clock: Clock | None = None,
    switches: Switches | None = None,
    seed: int = 0,
    app: ConnectedApp | None = None,
    base_url: str = BASE_URL,
    apex: bool = False,
    lead_history: bool = False,
) -> World:
    """A new org that knows the shipped metadata, behind its wire; with `apex` it runs the shipped classes and triggers.

    With `lead_history` it keeps the field history of lead owners. Raises Unparsable and Unsupported for Apex that
    cannot be run; without its parser `World.apex` says why none runs.
    """
    folder = metadata or default_metadata()
    org = Org(
        tracked(load(folder)) if lead_history else load(folder),
        clock=clock or SystemClock(),
        switches=switches or Switches(),
        seed=seed,
    )
    change_log(org)
    if lead_history:
        track(org)
    return World(
        apex=_with_apex(org, folder) if apex else "",
        org=org,
        app=app or ConnectedApp(),
        base_url=base_url,
        faults=Faults(seed),
        refresh_tokens={REFRESH_TOKEN: org.integration_user_id},
    )


def _with_apex(org: Org, folder: Path) -> str:
    from org_simulator.apex.automation import install  # noqa: PLC0415 - a third of starting, for those who want no Apex

    return install(org, folder)
