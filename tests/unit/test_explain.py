"""Explain: the whole decision about one lead as a value: every rule, every member, in order, with reasons."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lead_router.core.decide import decide
from lead_router.core.explain import Account, GroupAccount, MemberAccount, RuleAccount, explain
from lead_router.core.model import Absence, Assign, Follow, Hold, Mode, Observed, Skip, ToGroup
from support.decide_scene import NOW, ask, configuration, lead, pool, rep, row, rule, snapshot, user

ASIA, REST = rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2)
SETTINGS = configuration(ASIA, REST, absences={user("B"): (Absence(user("B"), NOW, NOW + timedelta(hours=1)),)})
EMEA = pool("emea", [rep("A", accepts="Country = 'FR'"), rep("B", sort_order=1), rep("C", sort_order=2)], turn=4)


def member(name, reason=None, *, at=NOW, picked=False):
    return MemberAccount(name, user(name), name, reason, at, picked)


MEMBERS = (
    member("A", "does not accept this lead", at=None),
    member("B", "absent until 4 Mar 13:00 +00:00", at=NOW + timedelta(hours=1)),
    member("C", picked=True),
)


def test_the_whole_decision_rule_by_rule_and_member_by_member():
    """An admin reads why: which rules were met, who would have come first, who could not, who did."""
    seen = snapshot([lead(1, Country="DE")], [EMEA])
    (decision,) = decide(SETTINGS, seen, [ask(1)])
    assert isinstance(decision, Assign)
    assert explain(SETTINGS, seen, ask(1)) == Account(
        at=NOW,
        lead_id=lead(1).id,
        settled=None,
        former=frozenset(),
        rules=(RuleAccount(ASIA, met=False, decided=False), RuleAccount(REST, met=True, decided=True)),
        matches=(),
        groups=(GroupAccount("g1", "emea", EMEA.name, Mode.LIVE, 5, MEMBERS),),
        decision=decision,
    )


def test_a_lead_that_has_an_owner_is_explained_as_though_it_had_just_come_in():
    """What a rep asks is "why not me?"; the answer does not depend on who has the lead now."""
    owned = lead(1, owner_id=user("C"), round=1, Country="DE")
    ledger = [row(1, user("C"), assigned_to=user("C"), idempotency_key="job-1")]
    account = explain(SETTINGS, snapshot([owned], [EMEA], ledger), ask(1))
    assert account is not None
    assert (account.settled, account.decision) == ("already routed", Skip(ask(1), "already routed"))
    assert account.groups == (GroupAccount("g1", "emea", EMEA.name, Mode.LIVE, 5, MEMBERS),)
    assert account.former == frozenset()


def test_a_held_lead_shows_every_group_that_was_asked():
    """The fallback chain, each group with its members and when they are back."""
    off = replace(EMEA, members=EMEA.members[:2], fallback_group="g2")
    account = explain(SETTINGS, snapshot([lead(1, Country="DE")], [off, pool("apac", "")]), ask(1))
    assert account is not None
    assert isinstance(account.decision, Hold)
    assert [rule.decided for rule in account.rules] == [False, True]
    assert [(group.key, [one.picked for one in group.members]) for group in account.groups] == [
        ("emea", [False, False]),
        ("apac", []),
    ]


def test_observed_following_and_returned_leads_are_explained_too():
    """Who would have been picked; whom it follows; who had it before."""
    observing = replace(EMEA, mode=Mode.OBSERVE)
    account = explain(SETTINGS, snapshot([lead(1, Country="DE")], [observing]), ask(1))
    assert isinstance(account.decision, Observed)
    assert account.groups[0].members == MEMBERS
    returned = explain(
        SETTINGS,
        snapshot([lead(1, Country="DE")], [EMEA], [row(1, None, assigned_to=user("C"))]),
        ask(1),
    )
    assert returned.former == {user("C")}
    assert returned.groups[0].members[2] == member("C", "had this lead before", at=None)
    second = lead(1, "ann@example.com")
    keys = decide(SETTINGS, snapshot([second], [EMEA]), [ask(1)])[0].submission
    first = row(2, user("A"), submission_even=keys.even, submission_odd=keys.odd)
    follows = explain(SETTINGS, snapshot([second], [EMEA], [first]), ask(1))
    assert isinstance(follows.decision, Follow)
    assert not any(rule.decided for rule in follows.rules)


def test_a_lead_that_is_not_there_has_no_account():
    assert explain(SETTINGS, snapshot([], [EMEA]), ask(1)) is None
