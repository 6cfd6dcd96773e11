"""A plan tells what would become of leads, and writes nothing; an explanation tells the whole decision about a lead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lead_router.app.explaining import explained_in
from lead_router.app.planning import plan_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account
from lead_router.cli.preview import _table
from lead_router.core.model import Assign, Hold, Rollout, Skip, Switch
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.salesforce.configuration import Intake
from support.hearing import Life
from support.rest_org import RestOrg, best
from support.worker_rig import Rig

OBJECTS = ("Lead", "Lead_Assignment__c", "Round_Robin_Group__c", "Round_Robin_Member__c", "Routing_Rule__c")


@pytest.fixture
def org():
    return RestOrg(best())


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def wired(org: RestOrg) -> Wired:
    return Wired(org.holder, org.rest, org.client)


def plan(org: RestOrg, *, csv=None, soql=None, at=None, anew=False):
    return plan_in(wired(org), csv=csv, soql=soql, at=at, anew=anew)


def _csv(tmp_path, text):
    path = tmp_path / "leads.csv"
    path.write_text(text)
    return path


def _stored(org: RestOrg):
    return {name: [dict(row) for row in org.rows(name)] for name in OBJECTS}


def _second_group(org: RestOrg) -> None:
    """A group of three by weight for Norway, above the catch-all, and a member who takes few."""
    group = org.insert("Round_Robin_Group__c", Name="Nord", Key__c="nord", Mode__c="Live", Turn__c=7, Clock__c=3)
    for order, (name, weight) in enumerate({"Cem": 3, "Dia": 2, "Eli": 1}.items(), start=1):
        user = org.insert("User", Username=f"{name.lower()}@sim.example", LastName=name)
        accepts = "AnnualRevenue > 500" if name == "Eli" else None
        org.insert(
            "Round_Robin_Member__c",
            Group__c=group,
            User__c=user,
            Weight__c=weight,
            Sort_Order__c=order,
            Accepts__c=accepts,
        )
    org.insert(
        "Routing_Rule__c", Name="Nord", Precedence__c=10, Criteria__c="Country = 'Norway'", Target_Group__c=group
    )


def test_a_plan_writes_nothing(org, tmp_path):
    """Leads, ledger, groups, members and rules are as before, from a file and from a query."""
    for _ in range(3):
        org.lead("a@x.example")
    before = _stored(org)
    plan(org, csv=_csv(tmp_path, "Email\na@x.example\nb@x.example\n"))
    plan(org, soql="")

    assert _stored(org) == before


def test_a_plan_of_a_file_tells_each_line(org, tmp_path):
    """Turns go on from the live rotation; a second lead of a submission follows the first, which its line names."""
    path = _csv(tmp_path, "Email,LastName\na@x.example,A\nb@x.example,B\nA@x.example,A\n")
    told = plan(org, csv=path)

    assert [(one.line, one.decision, one.owner, one.group, one.turn, one.rule) for one in told.leads] == [
        (2, "assign", "Ann", "emea", 1, "All"),
        (3, "assign", "Bob", "emea", 2, "All"),
        (4, "follow", "Ann", None, None, None),
    ]
    assert "it follows lead of line 2" in told.leads[2].reason
    assert [(one.owner, one.group, one.leads) for one in told.shares] == [
        ("Ann", None, 1), ("Ann", "emea", 1), ("Bob", "emea", 1),
    ]  # fmt: skip
    assert dict(told.counts) == {"assign": 2, "follow": 1}


def test_a_plan_knows_submissions_that_were_given_out(rig, tmp_path):
    """A lead of the file whose submission the ledger knows follows the first lead to its owner."""
    (first,) = rig.leads(1, email="a@x.example")
    rig.drain()
    told = plan(rig.rest_org, csv=_csv(tmp_path, "Email\na@x.example\n"), at=rig.clock.now())

    assert [(one.decision, one.owner_id) for one in told.leads] == [("follow", rig.lead(first)["OwnerId"])]


def test_a_plan_knows_the_owners_of_matching_records(org, tmp_path):
    """Records are looked for by the org's own leads, also those of a file; a line without an Id is told of."""
    org.assign("Lead_Router_Matching")
    org.insert("Routing_Rule__c", Name="Known", Precedence__c=1, Active__c=True, Target_Match__c="Contact")
    org.insert("Contact", LastName="Known", Email="a@acme.example", OwnerId=org.refs["bob"])
    lead = org.lead("a@acme.example")
    (known,) = plan(org, soql="").leads
    told = plan(org, csv=_csv(tmp_path, f"Id,Email\n{lead},a@acme.example\n,a@acme.example\n,z@acme.example\n"))

    assert (known.owner_id, known.rule, known.turn) == (org.refs["bob"], "Known", None)
    assert (told.leads[0].owner_id, told.leads[0].rule) == (org.refs["bob"], "Known")
    assert told.leads[1].decision == "follow"
    assert "fell through: no matching records were looked for, as the lead has no Id." in told.leads[2].reason
    assert told.warnings[-1].startswith("2 leads have no Id, so no matching records were looked for")


def test_held_and_skipped_leads_have_their_reasons(org, tmp_path):
    """A group that is off holds, an owned lead is skipped, an observing group says whom it would choose."""
    ann, emea = org.refs["ann"], org.refs["emea"]
    path = _csv(tmp_path, f"OwnerId\n{ann}\n{org.queue('Lead_Intake')[:15]}\n")

    assert [(one.decision, one.reason) for one in plan(org, csv=path).leads] == [
        ("skip", "already owned"),
        ("assign", "Rule 'All' chose group 'emea'; turn 1 went to Ann."),
    ]
    org.update(emea, Mode__c="Off")
    off = "group 'emea' is off: nothing is given out until its Mode is Live; then it would assign"
    assert [(one.decision, one.group, one.reason) for one in plan(org, csv=path).leads][1] == (
        "hold",
        "emea",
        f"{off}: Rule 'All' chose group 'emea'; turn 1 went to Ann.",
    )  # fmt: skip
    org.update(emea, Mode__c="Observe")
    (observed,) = plan(org, csv=path).leads[1:]
    assert (observed.decision, observed.owner, observed.group) == ("observe", "Ann", "emea")
    assert "only observes; it would assign" in observed.reason


def test_what_a_group_that_is_off_would_do_is_told_turn_by_turn(org, tmp_path):
    """The leads that wait for it get its turns in their order; leads of live groups are planned as they are."""
    _second_group(org)
    org.update(org.refs["emea"], Mode__c="Off")
    told = plan(org, csv=_csv(tmp_path, "Country\nFrance\nNorway\nFrance\n")).leads

    assert [one.decision for one in told] == ["hold", "assign", "hold"]
    assert [one.reason.rpartition("; ")[2] for one in told] == [
        "turn 1 went to Ann.",
        "turn 8 went to Cem. Passed over: Eli: does not accept this lead.",
        "turn 2 went to Bob.",
    ]
    assert _stored(org)["Round_Robin_Group__c"][0]["Mode__c"] == "Off"


def test_the_instant_decides_who_is_absent(org, tmp_path):
    """`--at` judges absences and hours at that instant, whatever the time is now."""
    start = datetime(2026, 12, 1, tzinfo=UTC)
    span = {"Start__c": start.isoformat(), "End__c": (start + timedelta(days=2)).isoformat()}
    org.insert("Member_Absence__c", User__c=org.refs["ann"], **span)
    path = _csv(tmp_path, "Email\na@x.example\n")

    def at(days):
        return [one.owner for one in plan(org, csv=path, at=start + timedelta(days=days)).leads]

    assert (at(-1), at(1), at(2)) == (["Ann"], ["Bob"], ["Ann"])


@pytest.mark.parametrize(
    ("soql", "told"),
    [
        ("Contry = 'NO'", "--soql, character 1: there is no field Contry; did you mean Country?"),
        ("Country =", "--soql, character 10: the clause ends"),
        ("SELECT Id FROM Lead WHERE Contry = 'NO'", "--soql: "),
        ("SELECT Id FROM Lead LIMIT x", "--soql: "),
    ],
)
def test_a_query_that_cannot_be_read_is_refused(org, soql, told):
    """A clause is told with its place; a whole SELECT with Salesforce's own words."""
    with pytest.raises((BadCriteria, Misconfigured)) as refused:
        plan(org, soql=soql)
    assert str(refused.value).startswith(told)


def test_a_whole_select_keeps_its_order_and_limit(org):
    """Only its columns are replaced."""
    made = [org.lead(f"b{number}@x.example", Company=f"C{number}") for number in range(4)]
    told = plan(org, soql="select Id, Name\nfrom lead WHERE Company LIKE 'C%' ORDER BY Company DESC LIMIT 2")

    assert [one.lead for one in told.leads] == [made[3], made[2]]


def test_an_unknown_column_is_refused_before_any_lead_is_read(org, tmp_path):
    """F13: the org's own describe knows the right one."""
    with pytest.raises(Misconfigured, match="no field AnualRevenue on Lead; did you mean 'AnnualRevenue'"):
        plan(org, csv=_csv(tmp_path, "AnualRevenue\n1\n"))


def test_an_empty_batch_is_a_plan_of_nothing(org, tmp_path):
    """No leads, no shares."""
    for told in (plan(org, csv=_csv(tmp_path, "Email\n")), plan(org, soql="Email = 'none@x.example'")):
        assert (told.leads, told.shares, dict(told.counts)) == ((), (), {})


@pytest.mark.parametrize(
    ("position", "decision", "told"),
    [
        (Switch.OFF, "assign", "Rule 'All' chose group 'emea'; turn 2 went to Bob."),
        (
            Switch.OBSERVE,
            "assign",
            "Duplicates are only observed; live, it follows lead of line 2 of the same submission",
        ),
        (Switch.LIVE, "follow", "A second lead of one submission: it follows lead of line 2 to its owner."),
    ],
)
def test_a_plan_goes_by_the_switches(tmp_path, position, decision, told):
    """What the next position would change is seen beforehand, with the settings of that position."""
    org = RestOrg(best(), Intake(rollout=Rollout(duplicates=position)))
    second = plan(org, csv=_csv(tmp_path, "Email\na@x.example\nA@x.example\n")).leads[1]

    assert (second.decision, second.reason[: len(told)]) == (decision, told)


def _clocked(org: RestOrg) -> None:
    """The group is open from nine to five, on Mondays alone, and gives its people an hour."""
    days = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    shut = {f"{day}{end}Time": None for day in days for end in ("Start", "End")}
    open_at = {"MondayStartTime": "09:00", "MondayEndTime": "17:00"}
    hours = org.insert("BusinessHours", Name="Mondays", TimeZoneSidKey="UTC", **open_at, **shut)
    org.update(org.refs["emea"], Business_Hours__c=hours, Accept_Within__c=60)


@pytest.mark.parametrize(
    ("at", "due"),
    [
        (datetime(2026, 11, 30, 9, tzinfo=UTC), datetime(2026, 11, 30, 10, tzinfo=UTC)),
        (datetime(2026, 11, 30, 16, 30, tzinfo=UTC), datetime(2026, 12, 7, 9, 30, tzinfo=UTC)),
    ],
    ids=["at the start", "half an hour before the end"],
)
def test_a_plan_tells_until_when_a_lead_is_to_be_touched(tmp_path, at, due):
    """In the working time of the group whose turn it takes, as the first-touch clock reckons; observing has none."""
    org = RestOrg(best(), Intake(rollout=Rollout(first_touch=Switch.LIVE)))
    _clocked(org)
    made = plan(org, csv=_csv(tmp_path, "Email\na@x.example\n"), at=at)
    rule = "Rule 'All' chose group 'emea'"

    assert [one.touch_by for one in made.leads] == [due]
    assert made.leads[0].reason.startswith(rule)
    assert f"EMEA (emea)     1  {due:%Y-%m-%d %H:%M}" in _table(made)
    org.update(org.refs["emea"], Mode__c="Observe")
    assert [one.touch_by for one in plan(org, csv=_csv(tmp_path, "Email\na@x.example\n"), at=at).leads] == [None]


@pytest.mark.parametrize("org", [RestOrg(best(), Intake(rollout=Rollout(first_touch=Switch.OFF)))], ids=["off"])
def test_a_plan_tells_of_no_clock_that_does_not_run(org, tmp_path):
    """Switched off, nobody is reminded, and no column stands there."""
    _clocked(org)
    made = plan(org, csv=_csv(tmp_path, "Email\na@x.example\n"), at=datetime(2026, 11, 30, 9, tzinfo=UTC))

    assert [one.decision for one in made.leads] == ["assign"]
    assert [one.touch_by for one in made.leads] == [None]
    assert "first touch" not in _table(made)


def test_owned_leads_are_planned_anew_only_when_asked_for(rig):
    """Before it goes live, a group's last week tells who would have got what; a real run leaves it alone."""
    org = rig.rest_org
    rig.leads(1, Email="a@x.example", Company="One")
    rig.clock.advance(1)
    rig.leads(1, Email="a@x.example", Company="Two")
    rig.leads(1, Email="c@x.example", Company="Three", OwnerId=org.refs["bob"])
    rig.drain()
    rig.clock.advance(60)
    before = _stored(org)
    honest = plan(org, soql="CreatedDate = TODAY")
    anew = plan(org, soql="CreatedDate = TODAY", anew=True)

    assert [(one.decision, one.reason) for one in honest.leads] == [("skip", "already owned")] * 3
    assert (honest.owned, honest.shares) == (3, ())
    assert "3 leads have owners already: --anew shows who would get them" in _table(honest)
    assert [(one.decision, one.owner, one.turn) for one in anew.leads] == [
        ("assign", "Bob", 2), ("follow", "Bob", None), ("assign", "Ann", 3),
    ]  # fmt: skip
    assert anew.owned == 0
    assert "each as though it had just come in: 2 assign, 1 follow; nothing was written" in _table(anew)
    assert _stored(org) == before


def test_what_counts_as_unassigned_narrows_a_plan_anew_too():
    """A lead that no router would ever touch gets nobody, however it came by its owner; its old round is no bar."""
    org = RestOrg(best(), Intake(unassigned="Company != 'Ours' AND Routing_Round__c = null"))
    for name in ("Ours", "Theirs"):
        org.lead(Company=name, OwnerId=org.refs["bob"], Routing_Round__c=1, Country=name)
    told = plan(org, soql="", anew=True)

    assert {one.decision: one.reason for one in told.leads} == {
        "skip": "never routed: the setting LEAD_ROUTER_UNASSIGNED leaves it out",
        "assign": "Rule 'All' chose group 'emea'; turn 1 went to Ann.",
    }


def test_a_lead_is_explained_before_and_after_its_routing(rig):
    """Item by item: rules met and not, every member with a reason, the decision; and the ledger's own words later."""
    org = rig.rest_org
    _second_group(org)
    (lead_id,) = rig.leads(1, Country="Norway", AnnualRevenue=3)
    wires = Wired(org.holder, org.rest, rig.client)
    before = explained_in(wires, lead_id[:15], at=None)

    assert [(one.rule.name, one.met, one.decided) for one in before.account.rules] == [
        ("Nord", True, True), ("All", True, False),
    ]  # fmt: skip
    (group,) = before.account.groups
    assert [(one.name, one.reason, one.picked) for one in group.members] == [
        ("Cem", None, True), ("Dia", None, False), ("Eli", "does not accept this lead", False),
    ]  # fmt: skip
    assert isinstance(before.account.decision, Assign)
    assert (before.history, before.owner_is_intake) == ((), True)

    rig.drain(rig.worker())
    after = explained_in(wires, lead_id, at=None)
    (row,) = after.history
    assert (row.number, row.outcome, row.owner_id, row.group) == (1, "Assigned", rig.lead(lead_id)["OwnerId"], "nord")
    assert "Passed over: Eli: does not accept this lead." in row.explanation
    assert isinstance(after.account.decision, Skip)
    assert after.account.settled == "already owned"


def test_a_held_lead_is_explained_with_the_instant_that_ends_it(org):
    """When everybody is away, the hold says until when, and each member since when they can."""
    start = org.clock.now() - timedelta(hours=1)
    for name, hours in (("ann", 5), ("bob", 3)):
        span = {"Start__c": start.isoformat(), "End__c": (start + timedelta(hours=hours)).isoformat()}
        org.insert("Member_Absence__c", User__c=org.refs[name], **span)
    told = explained_in(wired(org), org.lead("a@x.example"), at=None)

    assert isinstance(told.account.decision, Hold)
    assert told.account.decision.until == start + timedelta(hours=3)
    (group,) = told.account.groups
    assert {one.name: one.available_at for one in group.members} == {
        "Ann": start + timedelta(hours=5), "Bob": start + timedelta(hours=3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lead_id", "told"),
    [
        ("me", "no id of a lead: 15 or 18 characters that begin with 00Q"),
        ("00Q5f000000ZZZZEAG", "its last 3 characters do not fit the others: copy it again"),
        ("00Q000000000001", "there is no lead 00Q0"),
    ],
)
def test_a_lead_that_is_none_is_named(org, lead_id, told):
    """A wrong id is told as one, an unknown lead by its id."""
    with pytest.raises(Misconfigured, match=told):
        explained_in(wired(org), lead_id, at=None)


@pytest.mark.parametrize(("most", "often"), [(1, "once"), (2, "2 times")])
def test_a_lead_returned_too_often_is_planned_and_explained_as_held(rig, most, often):
    """D7: what the router would hold is not shown as assigned; nobody is picked, and the next lead gets the turn."""
    life = Life(rig)
    org = rig.rest_org
    lead = org.lead(Company="Acme")
    life.goes_on()
    for _ in range(most):
        org.update(lead, OwnerId=org.queue("Lead_Intake"))
        life.goes_on()
    org.update(lead, OwnerId=org.queue("Lead_Intake"))
    told = explained_in(wired(org), lead, at=None, reroutes_max=most)
    made = plan_in(wired(org), csv=None, soql="Company = 'Acme'", at=None, reroutes_max=most)
    reason = f"was routed anew {often} within an hour: see who or what returns it"

    assert isinstance(told.account.decision, Hold)
    assert told.account.decision.reason == reason
    assert not any(one.picked for group in told.account.groups for one in group.members)
    assert [(one.decision, one.reason, one.rule) for one in made.leads] == [("hold", reason, "All")]


def test_a_second_lead_is_explained_without_a_verdict_of_rules_that_were_not_asked(rig):
    """A duplicate follows its first lead: its rule is met, and was not asked."""
    rig.leads(2, Email="buyer@acme.example")
    rig.drain()
    second = rig.ledger()[-1]
    shown = _account(explained_in(wired(rig.rest_org), second["Lead__c"], at=None))

    assert second["Outcome__c"] == "Duplicate"
    assert "  met, not asked  " in shown
    assert "fell through" not in shown
