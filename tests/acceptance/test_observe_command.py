"""`observe report` from outside: what it prints, and how it ends."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

from lead_router.jobs import open_store
from lead_router.ports import Observation
from support import company
from support.router import command, environment
from support.simulator import lead, simulator


def test_the_report_in_words_and_for_machines(tmp_path):
    """A lead without an owner is told of; before anything was observed there is nothing to tell."""
    with simulator(scenario=company.scenario()) as org:
        settings = environment(org, "sqlite:///jobs.db")
        with closing(open_store(f"sqlite:///{tmp_path / 'jobs.db'}", org_id=org.ready["org_id"])) as store:
            store.take_sweep(every_s=60)
            empty = command(tmp_path, settings, "observe", "report", within_s=60)
            client = org.client()
            queue = client.query("SELECT Id FROM Group WHERE Type = 'Queue' AND DeveloperName = 'Lead_Intake'")[0]["Id"]
            client.session.headers["Sforce-Auto-Assign"] = "FALSE"
            made = client.create("Lead", **lead(OwnerId=queue))
            now = datetime.now(UTC)
            store.observe([Observation("key", made, "g1", "north", "005000000000001AAA", "said so", now)], {})
        shown = command(tmp_path, settings, "observe", "report", within_s=60)
        plain = command(tmp_path, settings, "observe", "report", "--json", within_s=60)

    assert (empty.code, empty.out.strip()) == (0, "nothing was observed yet")
    assert (shown.code, shown.out.splitlines()[0]) == (
        0,
        "group 'north': 1 lead observed; nothing to compare yet (0 agreed, 0 differed)",
    )
    assert [(one["group"], one["unowned"]) for one in plain.json()] == [("north", 1)]
