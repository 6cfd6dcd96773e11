"""What doctor, explain and plan say of score and enrichment; that none of them asks anybody, nor tells a value."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lead_router.app.explaining import explained_in
from lead_router.app.hops import Hops
from lead_router.app.looking import hop_findings
from lead_router.app.planning import plan_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account, _plain
from lead_router.core.enrichment import Mapped
from lead_router.errors import Misconfigured
from lead_router.rulefiles.scores import read_scoring
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.hopfields import hop_fields
from lead_router.settings import Settings
from support.hop_rig import SCORES, SECRET, HopRig
from support.loudly import loudly
from support.provider import provider
from support.worker_rig import Rig

ANSWER = {"company": {"industry": "Canary Mills", "size": 7_316_429}, "rating": "Hot"}
PERSON = {"Email": "canary.person@firm.example", "Company": "Canary & Sons", "Phone": "+49 30 5550199"}


@pytest.fixture
def outside():
    with provider() as made:
        made.answer = ANSWER
        yield made


@pytest.fixture
def hops(tmp_path, outside):
    made = HopRig(tmp_path, outside, scores=SCORES, rules=["Score >= 50"])
    yield made
    made.close()


def wired(hops: HopRig) -> Wired:
    org = hops.rig.rest_org
    return Wired(org.holder, org.rest, org.client, Hops(org.intake.scoring, hops.asking))


def test_doctor_says_what_is_switched_on_and_whether_the_fields_are_there_and_writable(hops, tmp_path):
    """Each with its remedy; what cannot be written keeps no lead from its owner, so it warns."""
    settings = Settings(database=f"sqlite:///{tmp_path / 'jobs.db'}")
    hops.leads(1)
    scoring, enrichment, waiting = hop_findings(settings, wired(hops))
    assert all(found.ok for found in (scoring, enrichment, waiting))
    assert scoring.detail == "2 criteria, in rules Lead_Score__c or Score; written to Lead_Score__c"
    assert (
        "/find… by Company, Email; writes Industry, NumberOfEmployees, Rating (overwriting Rating)" in enrichment.detail
    )
    assert enrichment.detail.endswith("a lead waits 2 s for it at most")
    assert waiting.detail == "waiting for an answer: 1; to be written: 0; given up: 0"
    assert hops.calls() == 0

    mapped = (Mapped("Industri", ("a",)), Mapped("AnnualRevenue", ("b",)), Mapped("MasterRecordId", ("c",)))
    (found,) = hop_fields(wired(hops).rest, None, replace(hops.asking, fields=mapped))
    assert (found.ok, found.warning) == (False, True)
    assert "Industri is not there, or hidden from this user" in found.detail
    assert "this user cannot write: MasterRecordId" in found.detail
    assert "MasterRecordId names a record" in found.detail
    assert found.remedy.endswith("or name another in enrichment.yaml")
    (found,) = hop_fields(wired(hops).rest, replace(wired(hops).hops.scoring, field="Company"), None)
    assert "Company is no number" in found.detail or "cannot write" in found.detail


def test_an_explanation_has_the_score_and_what_was_answered_and_asks_nobody(hops):
    """Before the answer, and after it; by name."""
    (lead,) = hops.leads(1)
    before = explained_in(wired(hops), lead, at=None, store=hops.rig.store)
    assert before.account.notes == ("Routed before enrichment answered.", "Score 0.")
    hops.play(0.5)
    after = explained_in(wired(hops), lead, at=None, store=hops.rig.store)
    assert after.account.notes == ("Enriched: Industry, NumberOfEmployees, Rating.", "Score 50: big +50.")
    assert "Score 50: big +50." in _account(after)
    assert _plain(after)["notes"] == after.account.notes
    assert next(one for one in after.account.rules if one.rule.name == "Rule 1").met
    assert hops.calls() == 1
    assert "7316429" not in json.dumps(_plain(after), default=str)


def test_a_plan_reckons_with_the_score(hops, tmp_path):
    """Of what a file says of its leads."""
    path = tmp_path / "leads.csv"
    path.write_text("LastName,Company,NumberOfEmployees\nA,Acme,900\nB,Baker,3\n", encoding="utf-8")
    made = plan_in(wired(hops), csv=path, soql=None, at=None)
    assert [(one.rule, one.owner) for one in made.leads] == [("Rule 1", "Bob"), ("All", "Ann")]
    assert made.leads[0].reason.startswith("Score 50: big +50.")
    assert hops.calls() == 0


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (
            "{name: Score, field: Lead_Scor__c, criteria: [{criteria: '', points: 1}]}",
            "scores.yaml: field names Lead_Scor",
        ),
        ("{name: Industry, criteria: [{criteria: '', points: 1}]}", "scores.yaml: Lead has a field Industry"),
        ("{name: Score, criteria: [{criteria: 'Industri = NULL', points: 1}]}", "scores.yaml:1: criteria of"),
        ("{name: Score, criteria: [{criteria: 'Score > 1', points: 1}]}", "scores.yaml:1: criteria of .*score itself"),
    ],
)
def test_a_score_that_the_org_cannot_give_is_refused_when_it_is_loaded(tmp_path, scores, told):
    """As a rule is."""
    (tmp_path / "scores.yaml").write_text(scores, encoding="utf-8")
    with pytest.raises(Misconfigured, match=told):
        Rig(tmp_path, intake=Intake(scoring=read_scoring(tmp_path / "scores.yaml")))


def test_a_score_alone_needs_no_provider_and_holds_up_nobody(tmp_path):
    """It is named, and written nowhere: nothing is recorded for it."""
    (tmp_path / "scores.yaml").write_text("{name: Worth, criteria: [{criteria: '', points: 3}]}", encoding="utf-8")
    rig = Rig(tmp_path, intake=Intake(scoring=read_scoring(tmp_path / "scores.yaml")))
    bob = rig.rest_org.refs["bob"]
    rig.rest_org.insert(
        "Routing_Rule__c", Name="W", Precedence__c=1, Active__c=True, Criteria__c="Worth = 3", Target_User__c=bob
    )
    (lead,) = rig.leads(1)
    rig.drain(rig.worker())
    assert rig.owner(lead) == "Bob"
    assert rig.store.enrichments([lead]) == {}
    rig.close()


@pytest.mark.parametrize("mode", ["ok", "500", "html", "cut", "hang", "redirect", "broken off", "not found", "refused"])
def test_no_log_tells_a_secret_a_value_of_the_lead_or_of_the_answer(hops, outside, mode):
    """F1: at DEBUG, with the libraries' loggers, whatever the provider does; nor does what the router writes."""
    outside.mode = mode
    with loudly("urllib3", "requests") as told:
        (lead,) = hops.leads(1, **PERSON)
        hops.play(20, step_s=1)
    assert hops.owned(lead)
    rows = [{k: v for k, v in row.items() if k != "Lead__c"} for row in hops.rig.ledger()]
    text = told.getvalue() + json.dumps(rows, default=str)
    for canary in (SECRET, "Canary", "canary.person", "canary", "firm.example", "7316429", "5550199"):
        assert canary not in text, canary
    assert told.getvalue().count("lead_assigned") == 1
