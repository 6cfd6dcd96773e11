"""Rules between files and an org: pulled, compared, pushed in one transaction, refused on drift; and checked there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.app.orgrules import read_rules, targets, write_rules
from lead_router.app.ruling import Wrote, check_org_in, pull_in, push_in
from lead_router.app.wiring import Wired
from lead_router.errors import BadRules, Misconfigured, OutcomeUnknown, Rejected
from lead_router.rulefiles import Added, Altered, FileRule, Removed, Where, WhereKind, differences, read_folder
from org_simulator.wire.faults import Fault
from support.rest_org import RestOrg, best, worst

RULE_C = "- name: C\n  precedence: 30\n  criteria: Country = 'C'\n  group: emea\n"
NEW_D = "- {name: D, precedence: 40, user: bob@sim.example}\n"
NORTH = Where(WhereKind.GROUP, "emea")


@pytest.fixture(params=["best", "worst"])
def org(request):
    """The client is an administrator's; in the worst org deleted records keep their unique values."""
    org = RestOrg(best() if request.param == "best" else worst(recycle_bin_keeps_unique_keys=True))
    org.world.app = replace(org.world.app, run_as=org.org.admin_user_id)
    org.holder, org.rest, org.client = org.connect()
    return org


@pytest.fixture
def wired(org):
    return Wired(org.holder, org.rest, org.client)


def _stored(org):
    rows = [row for row in org.rows("Routing_Rule__c") if not row.get("IsDeleted")]
    return {row["Name"]: (int(row["Precedence__c"]), row["Criteria__c"]) for row in rows}


def _edit(folder, *changes):
    path = folder / "rules.yaml"
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def _three(org):
    """Rules A, B, C of precedence 10, 20, 30 above the catch-all."""
    for number, name in enumerate("ABC", start=1):
        criteria = f"Country = '{name}'"
        target = {"Target_Group__c": org.refs["emea"]}
        org.insert(
            "Routing_Rule__c", Name=name, Precedence__c=10 * number, Criteria__c=criteria, Active__c=True, **target
        )


def test_what_is_pulled_is_pushed_as_nothing(org, wired, tmp_path):
    """Every kind of target goes to files by a name that holds in every org, and comes back the same."""
    rule = {"Active__c": True, "Criteria__c": "Country = 'NO'"}
    org.insert("Routing_Rule__c", Name="User", Precedence__c=1, Target_User__c=org.refs["ann"], **rule)
    org.insert("Routing_Rule__c", Name="Queue", Precedence__c=2, Target_Queue__c="Default_Assigned", **rule)
    org.insert("Routing_Rule__c", Name="Asleep", Precedence__c=3, Target_Group__c=org.refs["emea"], Active__c=False)
    org.insert(
        "Routing_Rule__c",
        Name="Known",
        Precedence__c=4,
        Target_Match__c="Any",
        Match_On__c="Domain",
        Match_Off_Duty__c="Wait",
        Active__c=True,
    )
    pull_in(wired, tmp_path, force=False)
    read = read_folder(tmp_path)

    assert [(one.name, str(one.where), one.active) for one in read.rules] == [
        ("User", "user ann@sim.example", True),
        ("Queue", "queue Default_Assigned", True),
        ("Asleep", "group emea", False),
        ("Known", "matched Any by Domain, off duty: Wait", True),
        ("All", "group emea", True),
    ]
    assert read.pulled is not None
    assert (read.pulled.groups, read.pulled.fields["Country"]) == ({"emea": 2}, "string")
    before = org.rows("Routing_Rule__c")
    assert push_in(wired, tmp_path, yes=True).differences == ()
    assert org.rows("Routing_Rule__c") == before


def test_a_push_shows_the_difference_and_writes_only_when_told(org, wired, tmp_path):
    """Changed, removed, new, swapped and renamed rules, in one transaction; a second push finds nothing to do."""
    _three(org)
    pull_in(wired, tmp_path, force=False)
    _edit(
        tmp_path,
        ("name: A\n  precedence: 10", "name: A\n  precedence: 20"),
        ("name: B\n  precedence: 20", "name: B\n  precedence: 10"),
        (RULE_C, NEW_D),
        ("name: All", "name: Everyone"),
    )  # fmt: skip
    before = _stored(org)
    shown = push_in(wired, tmp_path, yes=False)

    assert (shown.written, _stored(org)) == (False, before)
    assert [type(one) for one in shown.differences] == [Altered, Altered, Removed, Added, Altered]
    assert str(shown.differences[0]) == "~ rule 'B'\n    - precedence: 20\n    + precedence: 10"
    assert push_in(wired, tmp_path, yes=True).written
    assert _stored(org) == {
        "B": (10, "Country = 'B'"), "A": (20, "Country = 'A'"), "D": (40, None), "Everyone": (100, None),
    }  # fmt: skip
    assert push_in(wired, tmp_path, yes=True).differences == ()
    _edit(tmp_path, (NEW_D, ""))
    assert push_in(wired, tmp_path, yes=True).written
    assert set(_stored(org)) == {"A", "B", "Everyone"}
    _edit(tmp_path, ("- name: Everyone", NEW_D.replace("D", "E") + "- name: Everyone"))
    assert push_in(wired, tmp_path, yes=True).written, "the number of a removed rule is free again"
    assert _stored(org)["E"] == (40, None)


def test_a_change_in_the_org_since_the_pull_refuses_the_push(org, wired, tmp_path):
    """Drift: whatever someone did to any rule meanwhile is told, and nothing is written."""
    _three(org)
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("Country = 'A'", "Country = 'AA'"))
    org.update(org.refs["all"], Criteria__c="Country = 'ZZ'")
    before = _stored(org)

    with pytest.raises(Misconfigured) as refused:
        push_in(wired, tmp_path, yes=True)
    assert "changed since they were pulled" in str(refused.value)
    assert "    + criteria: Country = 'ZZ'" in str(refused.value)
    assert _stored(org) == before


def test_a_change_at_the_very_moment_of_the_push_is_not_overwritten(org):
    """Between reading and writing someone changes one of the rules: the transaction finds that out by itself."""
    _three(org)
    seen = read_rules(org.rest)
    after = [replace(one.rule, criteria="Country = 'X'") if one.rule.name == "B" else one.rule for one in seen.rules]
    changes = differences(seen.rules, after)
    org.clock.advance(2)
    org.update(next(one.id for one in seen.rules if one.rule.name == "B"), Criteria__c="Country = 'mine'")

    with pytest.raises(Misconfigured, match="at this very moment: nothing was written"):
        write_rules(org.rest, seen, changes, targets(org.rest, changes))
    assert _stored(org)["B"] == (20, "Country = 'mine'")


def test_a_refusal_of_one_rule_leaves_all_as_they_were(org):
    """One transaction: the second new rule takes a number that is taken, so the first is not there either."""
    seen = read_rules(org.rest)
    changes = (Added(FileRule("New", 5, "", NORTH)), Added(FileRule("Taken", 100, "", NORTH)))

    with pytest.raises(Rejected, match="DUPLICATE_VALUE"):
        write_rules(org.rest, seen, changes, targets(org.rest, changes))
    assert set(_stored(org)) == {"All"}


def test_files_that_do_not_fit_are_refused_before_the_org_is_asked_to_change(org, wired, tmp_path):
    """Not pulled, of another org, unknown field or target: each with its remedy."""
    (tmp_path / "rules.yaml").write_text("rules: []\n")
    with pytest.raises(Misconfigured, match="pull first"):
        push_in(wired, tmp_path, yes=True)
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("name: All", "name: All\n  criteria: Contry = 'NO'"))
    with pytest.raises(Misconfigured, match="did you mean Country"):
        push_in(wired, tmp_path, yes=True)
    pull_in(wired, tmp_path, force=True)
    _edit(tmp_path, ("group: emea", "user: nobody@sim.example"))
    for yes in (False, True):
        with pytest.raises(BadRules) as refused:
            push_in(wired, tmp_path, yes=yes)
        assert str(refused.value) == "rules.yaml:4 rule 'All': there is no user 'nobody@sim.example' in this org"
    text = (tmp_path / "org.yaml").read_text()
    (tmp_path / "org.yaml").write_text(text.replace(f"org: {org.org.org_id}", "org: 00D000000000001AAA"))
    with pytest.raises(Misconfigured, match="pulled from org 00D000000000001AAA"):
        push_in(wired, tmp_path, yes=True)
    assert set(_stored(org)) == {"All"}


def test_no_rules_in_the_files_are_no_wish_to_delete_those_of_the_org(org, wired, tmp_path):
    """A wrong checkout empties no org: a missing file is refused by name, an empty list unless it is asked for."""
    pull_in(wired, tmp_path, force=False)
    (tmp_path / "rules.yaml").unlink()
    for yes, delete_all in ((False, False), (True, False), (True, True)):
        with pytest.raises(Misconfigured, match=r"rules\.yaml is missing"):
            push_in(wired, tmp_path, yes=yes, delete_all=delete_all)
    for text in ("", "rules: []\n", "rules:\n"):
        (tmp_path / "rules.yaml").write_text(text)
        for yes in (False, True):
            with pytest.raises(Misconfigured, match="would delete all 1 rules of the org: if that is meant, add --del"):
                push_in(wired, tmp_path, yes=yes)
    assert set(_stored(org)) == {"All"}
    assert not push_in(wired, tmp_path, yes=False, delete_all=True).written
    assert push_in(wired, tmp_path, yes=True, delete_all=True).written
    assert _stored(org) == {}
    assert push_in(wired, tmp_path, yes=True).differences == ()


def test_a_group_that_is_new_in_the_org_becomes_known_without_losing_edits(org, wired, tmp_path):
    """The push tells what to do, the pull renews what is known of the org and keeps the edited rules."""
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("- name: All", "- {name: North, precedence: 5, group: north}\n- name: All"))
    org.insert("Round_Robin_Group__c", Name="North", Key__c="north", Mode__c="Live")
    with pytest.raises(Misconfigured, match="if it is new in the org, run `lead-router rules pull --to DIR`"):
        push_in(wired, tmp_path, yes=True)
    edited = (tmp_path / "rules.yaml").read_text()

    assert pull_in(wired, tmp_path, force=False).wrote is Wrote.KNOWN
    assert (tmp_path / "rules.yaml").read_text() == edited
    assert {path.name for path in tmp_path.iterdir()} == {"org.yaml", "rules.yaml"}
    assert push_in(wired, tmp_path, yes=True).written
    assert set(_stored(org)) == {"North", "All"}


def test_rules_edited_on_both_sides_are_put_beside_each_other_to_be_merged(org, wired, tmp_path):
    """The files' edits stay, the org's rules stand beside them, and what was merged by hand goes through."""
    _three(org)
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("Country = 'A'", "Country = 'mine'"))
    edited = (tmp_path / "rules.yaml").read_text()
    org.update(org.refs["all"], Criteria__c="Country = 'theirs'")
    with pytest.raises(Misconfigured, match="pull, merge, and push again"):
        push_in(wired, tmp_path, yes=True)

    for again in (False, True):
        got = pull_in(wired, tmp_path, force=False)
        assert (got.wrote, len(got.differences)) == (Wrote.BESIDE, 0 if again else 1)
        assert (tmp_path / "rules.yaml").read_text() == edited
        assert "Country = 'theirs'" in (tmp_path / "rules.org.yaml").read_text()
    shown = push_in(wired, tmp_path, yes=False)
    assert [one.before.name for one in shown.differences if isinstance(one, Altered)] == ["A", "All"]
    _edit(tmp_path, ("name: All\n", "name: All\n  criteria: Country = 'theirs'\n"))
    assert push_in(wired, tmp_path, yes=True).written
    assert (_stored(org)["A"], _stored(org)["All"]) == ((10, "Country = 'mine'"), (100, "Country = 'theirs'"))
    assert not (tmp_path / "rules.org.yaml").exists()


def test_rules_written_without_a_pull_are_kept_by_the_first_one(org, wired, tmp_path):
    """No record of the org: its rules stand beside the files' own. Edits meant for another org are still refused."""
    (tmp_path / "rules.yaml").write_text("rules:\n- {name: Mine, precedence: 1, group: emea}\n")
    assert pull_in(wired, tmp_path, force=False).wrote is Wrote.BESIDE
    text = (tmp_path / "org.yaml").read_text()
    (tmp_path / "org.yaml").write_text(text.replace(f"org: {org.org.org_id}", "org: 00D000000000001AAA"))
    with pytest.raises(Misconfigured, match=r"pushed to org 00D000000000001AAA: .*--force"):
        pull_in(wired, tmp_path, force=False)
    assert pull_in(wired, tmp_path, force=True).wrote is Wrote.RULES
    assert {path.name for path in tmp_path.iterdir()} == {"org.yaml", "rules.yaml"}
    assert "Mine" not in (tmp_path / "rules.yaml").read_text()


def test_the_router_s_own_user_may_not_change_rules(tmp_path):
    """Its permission set only reads them: the refusal names the one that a person needs."""
    org = RestOrg(best())
    own = Wired(org.holder, org.rest, org.client)
    pull_in(own, tmp_path, force=False)
    _edit(tmp_path, ("name: All", "name: All\n  criteria: Country = 'NO'"))

    with pytest.raises(Misconfigured, match="Lead_Router_Admin"):
        push_in(own, tmp_path, yes=True)
    assert _stored(org) == {"All": (100, None)}


def test_a_push_whose_answer_is_lost_is_told_as_unknown_and_found_done(org, wired, tmp_path):
    """The org has changed and nobody knows: the next push finds it as wanted, and the one behind it goes through."""
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("name: All", "name: All\n  criteria: Country = 'NO'"))
    org.world.faults.put(Fault("drop_after", path="/composite", body="altered"))

    with pytest.raises(OutcomeUnknown):
        push_in(wired, tmp_path, yes=True)
    assert _stored(org) == {"All": (100, "Country = 'NO'")}
    assert push_in(wired, tmp_path, yes=True).differences == ()
    _edit(tmp_path, ("Country = 'NO'", "Country = 'SE'"))
    assert push_in(wired, tmp_path, yes=True).written


def _found(wired):
    return [(one.name, one.warning, one.detail) for one in check_org_in(wired) if not one.ok]


def test_an_org_in_order_is_told_as_such(wired):
    """Nothing to mend, nothing to say."""
    assert [one.ok for one in check_org_in(wired)] == [True]


def test_people_who_can_never_be_on_duty_are_named(org, wired):
    """Inactive users and members, weight 0, a cap of 0; and a group whose members are all like that."""
    org.update(org.refs["ann"], IsActive=False)
    org.update(org.refs["bob_emea"], Weight__c=0)
    org.insert("Round_Robin_Group__c", Name="Empty", Key__c="empty", Mode__c="Live")
    cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
    org.insert(
        "Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=cem, Accepts__c="Contry = 'NO'", Daily_Cap__c=0
    )
    found = _found(wired)

    assert (
        "rule 'All'",
        True,
        "group 'emea' has no member who can ever be on duty: its leads are held or fall back",
    ) in found
    assert ("group 'empty'", True, "has no members") in found
    assert ("group 'emea' member Ann", True, "can never be on duty: user inactive") in found
    assert ("group 'emea' member Bob", True, "can never be on duty: paused: weight 0") in found
    assert ("group 'emea' member Cem", True, "can never be on duty: cap 0/0 today") in found
    assert [one[1] for one in found if "did you mean Country" in one[2]] == [False]


def test_records_that_the_router_warns_of_are_told_by_the_check_too(org, wired):
    """What stands in no rule, such as a person who is a member twice; what stands in one is told by rule, once."""
    org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=org.refs["ann"])
    org.update(org.rows("Routing_Rule__c")[0]["Id"], Criteria__c="Country = 'NO'")
    told = [one[2] for one in _found(wired)]

    assert [one for one in told if "a user is a member twice" in one] != []
    assert len([one for one in told if "no rule takes every lead" in one]) == 1


def test_rules_that_no_mode_keeps_back_are_told_before_a_group_is_live(org, wired):
    """Looked at in the org, where modes stand: a rule that names a queue gives leads out from the first start on."""
    queue = {"Precedence__c": 1, "Criteria__c": "Country = 'NO'", "Target_Queue__c": "Default_Assigned"}
    org.insert("Routing_Rule__c", Name="Spam", Active__c=True, **queue)
    assert _found(wired) == []
    org.update(org.refs["emea"], Mode__c="Off")
    assert [(name, warns, told.split(":")[0]) for name, warns, told in _found(wired)] == [
        ("rules without a group", True, "'Spam'")
    ]


def test_rules_that_do_not_load_are_all_told(org, wired, tmp_path):
    """The configuration stops at the first fault; the check tells every one, and files can be pulled to mend them."""
    for number, criteria in enumerate(("Contry = 'NO'", "AnnualRevenue = 'x'"), start=1):
        org.insert("Routing_Rule__c", Name=f"Bad {number}", Precedence__c=number, Criteria__c=criteria, Active__c=True,
                   Target_Group__c=org.refs["emea"])  # fmt: skip
    found = _found(wired)

    assert [one[0] for one in found] == ["rule 'Bad 1'", "rule 'Bad 2'", "configuration"]
    pull_in(wired, tmp_path, force=False)
    _edit(tmp_path, ("Contry", "Country"), ("AnnualRevenue = 'x'", "AnnualRevenue > 5"))
    assert push_in(wired, tmp_path, yes=True).written
    assert _found(wired) == []
