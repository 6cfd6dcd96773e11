"""The process as an operator starts it, with a provider: leads are routed by its answers, or at their deadline."""

from __future__ import annotations

from support import company
from support.provider import provider
from support.router import until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned

SECRET = "canary-Secret0987654321"
SETTLE_S = 20.0
FILE = """
url: "{url}/find?company={{Company}}"
headers: {{X-Key: "{{secret}}"}}
fields: {{Country: where.country, Title: who}}
deadline_s: 1
timeout_s: 2
"""


def test_a_router_is_started_with_a_provider_and_ends_as_ever(router_at, tmp_path):
    """By its answer the first lead goes north; the second, as it hangs, south at its deadline; no value is logged."""
    with provider() as outside, simulator(scenario=company.scenario()) as org:
        outside.answer = {"where": {"country": "Norway"}, "who": "Canary"}
        (tmp_path / "provider.yaml").write_text(FILE.format(url=outside.url), encoding="utf-8")
        settings = {"enrichment_file": str(tmp_path / "provider.yaml"), "enrichment_secret": SECRET}
        router = router_at(org, **settings).start().subscribed()
        form = Form(org)
        for number, mode in ((1, "ok"), (2, "hang")):
            outside.mode = mode
            form.post(company.lead(number, Country=None, Company="Canary Mills"[: 6 * number]))
            until(lambda number=number: all_owned(org, number), SETTLE_S, f"{number} leads with an owner")
        told = {row["Lead__c"]: row["Explanation__c"] for row in org.rows("Lead_Assignment__c")}
        north, south = (told[lead] for lead in form.created)
        assert north.startswith("Enriched: Country, Title. Rule 'To north'")
        assert south.startswith("Routed before enrichment answered. Rule 'To south'")
        assert outside.asked[0].headers["X-Key"] == SECRET
        ended = router.run("doctor")
        assert "enrichment" in ended.out + ended.err
        assert router.stop() == 0
        log = router.log.read_text(encoding="utf-8")
    assert "lead_answered" in log
    assert not any(word in log for word in (SECRET, "Canary", "Norway"))
