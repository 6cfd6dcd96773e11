"""One org that both routers may route: the trigger in the transaction that saves, the worker behind its back."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import requests

from lead_router.salesforce.configuration import Intake
from org_simulator.apex.automation import Automation
from org_simulator.apex.invoking import construct, dispatch
from org_simulator.apex.program import Program, load
from org_simulator.schema import default_metadata
from org_simulator.schema import load as load_schema
from org_simulator.switches import Switches
from org_simulator.wire.adapter import OrgAdapter
from support import shipped_metadata as shipped
from support.apex import need_parser
from support.worker_rig import Rig

SETTING = "Lead_Routing_Setting__mdt"


@lru_cache
def shipped_apex() -> Program:
    """The shipped trigger and classes; read once, as all orgs of these tests have the same metadata."""
    return load(shipped.PROJECT, load_schema(default_metadata()), tests=False)


class Both:
    """A rig whose org runs the shipped Apex, or `program`. `say` changes its settings as a deployment does."""

    def __init__(
        self,
        path: Path,
        mode: str,
        program: Program | None = None,
        *,
        switches: Switches | None = None,
        intake: Intake | None = None,
    ) -> None:
        need_parser()
        self.rig = Rig(path, switches or Switches(), intake or Intake())
        self.org, self.rest_org = self.rig.org, self.rig.rest_org
        self.org.automation = Automation(self.org, program or shipped_apex())
        self.say(Mode__c=mode)

    def say(self, **fields: Any) -> None:
        answer = self.call("/simulator/setting", {"sobject": SETTING, "name": "Default", "fields": fields})
        assert answer.ok, answer.text

    def post(self, *leads: dict[str, Any]) -> list[str]:
        """Leads saved by a person through the REST API, in the intake unless told otherwise; their ids."""
        queue = self.rest_org.queue("Lead_Intake")
        plain = {"attributes": {"type": "Lead"}, "LastName": "Doe", "Company": "Acme", "OwnerId": queue}
        content = {"allOrNone": True, "records": [plain | lead for lead in leads]}
        answer = self.call("/services/data/v68.0/composite/sobjects", content)
        assert answer.ok, answer.text
        assert all(one["success"] for one in answer.json()), answer.text
        return [one["id"] for one in answer.json()]

    def patch(self, record_id: str, **fields: Any) -> None:
        """A change of a record by a person through the REST API."""
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        answer = self._session().patch(
            f"{self.rest_org.world.base_url}/services/data/v68.0/sobjects/{sobject}/{record_id}",
            json=fields,
            timeout=30,
        )
        assert answer.ok, answer.text

    def patch_all(self, *leads: dict[str, Any]) -> None:
        """A change of several leads by a person in one save; each names its `id`."""
        records = [{"attributes": {"type": "Lead"}} | lead for lead in leads]
        answer = self._session().patch(
            f"{self.rest_org.world.base_url}/services/data/v68.0/composite/sobjects",
            json={"allOrNone": True, "records": records},
            timeout=30,
        )
        assert answer.ok, answer.text
        assert all(one["success"] for one in answer.json()), answer.text

    def work(self) -> None:
        """Run what Apex left behind commits."""
        assert self.call("/simulator/jobs", {}).json()["failures"] == []

    def sweep(self) -> None:
        """What the scheduled sweep inside does, and the jobs that it starts."""
        cls = shipped_apex().classes["routingsweep"]
        [execute] = cls.methods["execute"]
        self.org.automation.call(
            self.org.admin_user_id, lambda session: dispatch(session, execute, construct(session, cls, ()), [None])
        )
        self.work()

    def ledger(self) -> list[dict[str, Any]]:
        """All rows, by lead and round."""
        rows = self.rest_org.rows("Lead_Assignment__c")
        return sorted(map(dict, rows), key=lambda row: (row["Lead__c"], row["Round__c"]))

    def call(self, path: str, content: dict[str, Any]) -> requests.Response:
        """A request of the administrator."""
        return self._session().post(f"{self.rest_org.world.base_url}{path}", json=content, timeout=30)

    def _session(self) -> requests.Session:
        session = requests.Session()
        session.mount("https://", OrgAdapter(self.rest_org.world))
        session.headers["Authorization"] = "Bearer " + self.org.sessions.issue(self.org.admin_user_id)
        session.headers["Sforce-Auto-Assign"] = "FALSE"
        return session
