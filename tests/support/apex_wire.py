"""Requests of the administrator to an org that runs Apex from text."""

from __future__ import annotations

from typing import Any

import requests

from org_simulator.wire.adapter import session
from org_simulator.wire.faults import Faults
from org_simulator.wire.start import BASE_URL
from org_simulator.wire.world import ConnectedApp, World
from support.apex import ApexOrg


def post(made: ApexOrg, path: str, content: Any) -> requests.Response:
    """A request of the administrator."""
    opened = session(World(made.org, ConnectedApp(), BASE_URL, Faults(0)))
    opened.headers["Authorization"] = "Bearer " + made.org.sessions.issue(made.org.admin_user_id)
    return opened.post(f"{BASE_URL}/services/data/v68.0{path}", json=content, timeout=30)


def lead(name: str, **more: Any) -> dict[str, Any]:
    return {"attributes": {"type": "Lead"}, "LastName": name, "Company": "C", **more}


def composite(*leads: dict[str, Any]) -> dict[str, Any]:
    """Each lead in a subrequest of its own, all or none."""
    url = "/services/data/v68.0/sobjects/Lead"
    parts = [
        {"method": "POST", "url": url, "referenceId": f"r{place}", "body": each} for place, each in enumerate(leads)
    ]
    return {"allOrNone": True, "collateSubrequests": False, "compositeRequest": parts}
