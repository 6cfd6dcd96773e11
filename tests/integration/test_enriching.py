"""Leads are enriched before their first routing or after it, and nothing that a provider does holds up another lead."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from lead_router.errors import StoreUnavailable
from lead_router.ports import EnrichmentView
from org_simulator.switches import Switches
from support.hop_rig import SCORES, HopRig
from support.provider import provider

ANSWER = {"company": {"industry": "Steel", "size": 900}, "rating": "Hot"}
FAULTY = ["500", "html", "garbage", "large", "redirect", "broken off", "no key", "page not found", "too many"]


@pytest.fixture
def outside():
    with provider() as made:
        made.answer = ANSWER
        yield made


@pytest.fixture
def hops(tmp_path, outside):
    made = HopRig(tmp_path, outside, rules=["NumberOfEmployees >= 500"])
    yield made
    made.close()


def values(hops, lead):
    row = hops.lead(lead)
    return row["Industry"], row["NumberOfEmployees"], row["Rating"]


def test_a_lead_is_routed_by_what_the_provider_answered(hops):
    """Within its deadline: the rule sees the size, the ledger tells of it, and the fields are written afterwards."""
    (lead,) = hops.leads(1)
    hops.play(0.25)
    assert not hops.owned(lead)
    hops.play(0.5)
    assert (hops.rig.owner(lead), hops.calls()) == ("Bob", 1)
    told = "Enriched: Industry, NumberOfEmployees, Rating. Rule 'Rule 1' names Bob."
    assert hops.explanation(lead) == told
    assert values(hops, lead) == (None, None, None)
    hops.play(15)
    assert values(hops, lead) == ("Steel", 900, "Hot")
    assert (hops.rig.store.enrichment(), hops.calls()) == (EnrichmentView(0, 0, 0), 1)


@pytest.mark.parametrize("mode", ["hang", *FAULTY])
def test_a_lead_is_routed_at_its_deadline_and_enriched_once_the_provider_is_well(hops, outside, mode):
    """Whatever the provider does meanwhile, the lead's own job is done, by what the org knows; later the rest comes."""
    outside.mode = mode
    (lead,) = hops.leads(1)
    hops.play(2.5)
    assert hops.owned(lead)
    assert hops.explanation(lead).startswith("Routed before enrichment answered. Rule 'All'")
    hops.play(60, step_s=2)
    assert values(hops, lead) == (None, None, None)
    outside.mode = "ok"
    hops.play(600, step_s=5)
    assert values(hops, lead) == ("Steel", 900, "Hot")
    assert [job.outcome for job in hops.rig.jobs()] == ["assigned"]
    assert len(hops.rig.ledger()) == 1


def test_a_provider_that_hangs_holds_up_no_other_lead(hops, outside):
    """Those whose calls hang wait two seconds; as soon as it is known to be at fault, nobody waits at all."""
    outside.mode = "hang"
    first = hops.leads(3)
    hops.play(2.25)
    assert all(map(hops.owned, first))
    hops.play(4)
    assert not hops.breaker.closed()
    for _ in range(10):
        (lead,) = hops.leads(1)
        hops.turn()
        assert hops.owned(lead)
        hops.clock.advance(7)
    assert hops.calls() < 10


def test_who_answers_too_late_is_waited_for_by_three_leads_and_no_more(hops):
    """Until an answer comes in time; each is used all the same, as it comes."""
    hops.latency_s = lambda: 4.0
    waits = []
    for _ in range(6):
        (lead,) = hops.leads(1)
        hops.turn()
        waits.append(not hops.owned(lead))
        hops.play(15)
        assert values(hops, lead) == ("Steel", 900, "Hot")
    assert waits == [True] * 3 + [False] * 3
    hops.latency_s = lambda: 0.3
    hops.leads(1)
    hops.play(5)
    hops.leads(1)
    hops.turn()
    assert hops.promptness.worth_waiting()
    assert hops.rig.jobs()[-1].status == "queued"


def test_a_provider_s_call_is_paid_for_once_whatever_befalls_the_routing(hops):
    """The worker is killed between the answer and the commit, then fails, then starts anew: the answer is there."""
    (lead,) = hops.leads(1)
    hops.loop.step()
    hops.clock.advance(0.5)
    hops.pool.tick()
    hops.loop.step()
    assert hops.rig.store.enrichments([lead])[lead].status == "found"
    (claimed,) = hops.rig.store.claim("killed", limit=1, lease_s=30)
    assert claimed.lead_id == lead
    hops.restarted()
    hops.play(1)
    assert not hops.owned(lead)
    hops.play(40, step_s=1)
    assert (hops.rig.owner(lead), hops.calls()) == ("Bob", 1)
    assert values(hops, lead) == ("Steel", 900, "Hot")


def test_an_answer_that_the_database_did_not_take_is_kept_for_it(hops, monkeypatch):
    """It is paid for: the next step stores it, without another call."""
    (lead,) = hops.leads(1)
    hops.loop.step()
    hops.clock.advance(0.5)
    hops.pool.tick()
    store = hops.loop._store
    plain, refusals = store.settle, [1]

    def settle(settled):
        if refusals:
            refusals.pop()
            raise StoreUnavailable("disk full")
        return plain(settled)

    monkeypatch.setattr(store, "settle", settle)
    with capture_logs() as logs:
        assert not hops.loop.step()
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["enriching_failed"]
    hops.play(15)
    assert (hops.rig.owner(lead), hops.calls(), values(hops, lead)) == ("Bob", 1, ("Steel", 900, "Hot"))


def test_a_lead_that_comes_again_and_another_of_the_same_request_cost_no_call(hops):
    """The same company asked for twice at once is one call; later, none; so is a lead that is given back."""
    one, two = hops.leads(2, Email="x@acme.example", Company="Acme", LastName="Same")
    hops.play(12)
    assert (hops.calls(), values(hops, one), values(hops, two)) == (1, ("Steel", 900, "Hot"), ("Steel", 900, "Hot"))
    (three,) = hops.leads(1, Email="y@acme.example", Company="Acme")
    hops.turn()
    assert (hops.owned(three), hops.calls()) == (True, 1)


def test_what_a_person_typed_is_never_overwritten(hops, outside):
    """Not what was there before, nor what is typed between the read and the write; but where the file says so."""
    (before,) = hops.leads(1, Industry="Bakery", NumberOfEmployees=3, Rating="Cold")
    hops.play(0.75)
    assert hops.rig.owner(before) == "Ann"
    (between,) = hops.leads(1)
    plain = hops.loop._filling._org.fill

    def typed(fills):
        if any(fill.lead.id == between for fill in fills) and not hops.lead(between)["Industry"]:
            hops.rig.rest_org.update(between, Industry="Farming")
        return plain(fills)

    hops.loop._filling._org.fill = typed
    hops.play(40, step_s=1)
    assert values(hops, before) == ("Bakery", 3, "Hot")
    assert values(hops, between) == ("Farming", 900, "Hot")


def test_what_is_typed_within_the_same_second_is_not_overwritten_either(hops):
    """The condition tells seconds: a lead that was changed just now is left for later."""
    (lead,) = hops.leads(1)
    hops.play(0.75)
    hops.clock.advance(9)
    hops.rig.rest_org.update(lead, Title="Buyer")
    plain = hops.loop._filling._org.fill

    def typed(fills):
        if not hops.lead(lead)["Industry"]:
            hops.rig.rest_org.update(lead, Industry="Farming")
        return plain(fills)

    hops.loop._filling._org.fill = typed
    hops.play(40, step_s=1)
    assert values(hops, lead) == ("Farming", 900, "Hot")


def test_late_values_are_written_on_a_lead_that_somebody_works_on(hops, outside):
    """It was routed long ago and changed since: what is blank is filled, owner and the rest stay."""
    outside.mode = "hang"
    (lead,) = hops.leads(1)
    hops.play(30, step_s=1)
    hops.rig.rest_org.update(lead, Industry="Farming", Title="Buyer", OwnerId=hops.rig.rest_org.refs["bob"])
    outside.mode = "ok"
    hops.play(300, step_s=3)
    assert values(hops, lead) == ("Farming", 900, "Hot")
    assert (hops.rig.owner(lead), hops.lead(lead)["Title"]) == ("Bob", "Buyer")


def test_values_that_do_not_fit_are_left_out_and_one_that_the_org_refuses_keeps_no_other_away(hops, outside):
    """A provider's types, and what a validation rule or a right refuses: the other fields are written."""
    outside.answer = {"company": {"industry": {"code": 7}, "size": "900"}, "rating": "Lukewarm"}
    (lead,) = hops.leads(1)
    with capture_logs() as logs:
        hops.play(15)
    assert (hops.rig.owner(lead), values(hops, lead)) == ("Bob", (None, 900, None))
    (answered,) = [line for line in logs if line["event"] == "lead_answered"]
    assert (answered["fields"], answered["unfit"]) == (["NumberOfEmployees", "Rating"], ("Industry",))
    assert "900" not in repr([line for line in logs if line["event"] != "lead_assigned"])
    assert "Lukewarm" not in repr(logs)


def test_an_answer_that_no_database_takes_whole_costs_no_second_call_and_holds_up_nobody(hops, outside):
    """JSON has numbers of any length, and halves of characters: what is fit of it is used, as of any other answer."""
    outside.answer = {"company": {"industry": "\ud800Steel\0", "size": 10**400}}
    (lead,) = hops.leads(1)
    with capture_logs() as logs:
        hops.play(15)
    assert (values(hops, lead), hops.calls()) == (("?Steel", None, None), 1)
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == []


@pytest.mark.parametrize("switches", [Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def test_several_fields_that_the_org_refuses_keep_no_other_away(tmp_path, outside, switches):
    """Too long for their fields, and told one at a time or all at once: the third is written, both are named."""
    hops = HopRig(tmp_path, outside, switches=switches)
    outside.answer = {"company": {"industry": "S" * 300, "size": 900}, "rating": "R" * 300}
    (lead,) = hops.leads(1)
    with capture_logs() as logs:
        hops.play(15)
    found = values(hops, lead)
    hops.close()

    assert found == (None, 900, None)
    (told,) = [line for line in logs if line["event"] == "lead_not_enriched"]
    assert (told["fields"], told["error"]) == (["Industry", "Rating"], "STRING_TOO_LONG")


@pytest.mark.parametrize(
    ("mode", "fields", "calls"),
    [("not found", {}, 1), ("no content", {}, 1), ("refused", {}, 1), ("ok", {"Email": None}, 0)],
)
def test_a_lead_that_nobody_knows_is_routed_at_once_and_asked_about_once(hops, outside, mode, fields, calls):
    """An answer that there is none is one; so is a refusal of this request; without an address nobody is asked."""
    outside.mode = mode
    (lead,) = hops.leads(1, **fields)
    hops.play(0.5)
    assert (hops.rig.owner(lead), hops.calls()) == ("Ann", calls)
    hops.play(600, step_s=5)
    assert hops.calls() == calls
    assert hops.breaker.closed()


def test_tries_are_counted_and_end(tmp_path, outside):
    """One lead that the provider fails on, while others do well, is given up, and told."""
    hops = HopRig(tmp_path, outside)
    (lead,) = hops.leads(1)
    with capture_logs() as logs:
        outside.mode = "looking"
        for _ in range(60):
            hops.play(1_900, step_s=950)
    hops.close()
    assert hops.calls() == 40
    (told,) = [line for line in logs if line["event"] == "enrichment_given_up"]
    assert (told["lead"], told["error"]) == (lead, "given up after 40 tries: it is looking")


def test_an_outage_of_an_hour_delays_nobody_loses_nothing_and_all_are_enriched_afterwards(hops, outside):
    """Few calls are made while it lasts; every lead has its owner at once, one ledger row, and later its values."""
    leads, waits = [], []

    def arrive(seconds):
        for _ in range(seconds // 60):
            leads.extend(hops.leads(1))
            hops.play(2.5)
            waits.append(hops.owned(leads[-1]))
            hops.play(57.5, step_s=11.5)

    arrive(120)
    outside.mode = "500"
    before = hops.calls()
    arrive(3_600)
    assert all(waits)
    assert hops.calls() - before < 100
    outside.mode = "ok"
    arrive(120)
    hops.play(1_900, step_s=20)
    assert {values(hops, lead) for lead in leads} == {("Steel", 900, "Hot")}
    assert [job.outcome for job in hops.rig.jobs()] == ["assigned"] * len(leads)
    assert hops.rig.store.enrichment() == EnrichmentView(0, 0, 0)


def test_a_score_is_of_what_was_answered_decides_rules_and_is_written(tmp_path, outside):
    """Under its name and its field's; the ledger says which criteria gave it."""
    hops = HopRig(tmp_path, outside, scores=SCORES, rules=["Score >= 65 AND Lead_Score__c >= 65"])
    (rich,) = hops.leads(1)
    hops.play(1)
    outside.mode = "not found"
    (poor,) = hops.leads(1, Industry="Steel")
    hops.play(20, step_s=1)
    told = "Enriched: Industry, NumberOfEmployees, Rating. Score 65: big +50, steel +15."
    assert hops.explanation(rich).startswith(told)
    assert (hops.rig.owner(rich), hops.lead(rich)["Lead_Score__c"]) == ("Bob", 65)
    assert hops.explanation(poor).startswith("Enrichment knew nothing new. Score 15: steel +15.")
    assert (hops.rig.owner(poor), hops.lead(poor)["Lead_Score__c"]) == ("Ann", 15)
    hops.close()


def test_a_fault_of_the_loop_itself_ends_nothing_and_delays_nobody_for_long(hops, monkeypatch):
    """Code that fails is told by its place alone and rested from; jobs wait for it no more."""
    monkeypatch.setattr(hops.loop._org, "leads", lambda *_: 1 / 0)
    (lead,) = hops.leads(1)
    with capture_logs() as logs:
        hops.play(2.25)
    assert hops.owned(lead)
    assert {line["kind"] for line in logs if line["event"] == "enriching_failed"} == {"ZeroDivisionError"}
    (second,) = hops.leads(1)
    hops.turn()
    assert hops.owned(second)


def test_a_loop_that_ends_hears_what_it_has_paid_for_and_gives_back_the_rest(hops):
    """So that the next process neither pays twice nor waits for a lease."""
    one, two = hops.leads(2)
    hops.loop.step()
    hops.pool._under_way[0][1].set_result(hops.pool._under_way[0][2])
    hops.loop.close()
    known = hops.rig.store.enrichments([one, two])
    assert sorted(found.status for found in known.values()) == ["asked", "found"]
    hops.restarted()
    hops.play(20, step_s=1)
    assert hops.calls() == 3
    assert values(hops, one) == values(hops, two) == ("Steel", 900, "Hot")


def test_nothing_is_asked_or_waited_for_where_no_provider_is_set(hops):
    """A configuration without it: the job is due at once, and the store knows of no enrichment."""
    (lead,) = hops.rig.leads(1)
    hops.rig.drain(hops.rig.worker())
    assert hops.owned(lead)
    assert hops.rig.store.enrichments([lead]) == {}
