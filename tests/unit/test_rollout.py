"""The switches: in each position, what is decided of duplicates, matched owners and re-routes, and what is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import batches, decide
from lead_router.core.explain import explain
from lead_router.core.keys import submission_of
from lead_router.core.model import (
    Absence,
    Ask,
    Assign,
    Cause,
    Follow,
    Hold,
    Match,
    MatchBy,
    MatchOn,
    Mode,
    Reroute,
    Rollout,
    Skip,
    Switch,
    ToGroup,
    ToMatched,
)
from lead_router.loops.asks import held
from lead_router.loops.causes import cause_of
from lead_router.ports import Change
from support.decide_scene import (
    FALLBACK,
    INTAKE,
    NOW,
    ask,
    configuration,
    lead,
    lead_id,
    pool,
    rep,
    row,
    rule,
    snapshot,
    user,
)

OFF, OBSERVE, LIVE = Switch
EMEA = pool("emea", "ABC")
MAIL = "ann@example.com"
KEYS = submission_of(lead(1, MAIL).fields, configuration())
LATER = NOW + timedelta(hours=1)


def test_live_is_what_an_operator_has_who_sets_nothing():
    assert configuration().rollout == Rollout(LIVE, LIVE, LIVE)


# ---- duplicates -----------------------------------------------------------------------------------------------------


def first(owner, **changes):
    """The ledger row of lead 1, which holds the keys of the submission."""
    return row(1, owner, **({"submission_even": KEYS.even, "submission_odd": KEYS.odd} | changes))


def second(position, ledger, waited_s=0.0):
    settings = configuration(rollout=Rollout(duplicates=position))
    (decision,) = decide(settings, snapshot([lead(2, MAIL)], [EMEA], ledger), [ask(2, waited_s)])
    return decision


OWN_TURN = "Rule 'all' chose group 'emea'; turn 1 went to A."


@pytest.mark.parametrize(
    ("ledger", "observed", "live"),
    [
        (
            [first(user("Z"))],
            f"Duplicates are only observed; live, it follows lead {lead_id(1)} of the same submission to its owner.",
            Follow,
        ),
        (
            [first(FALLBACK)],
            (
                f"Duplicates are only observed; live, it waits for lead {lead_id(1)} of the same submission, "
                "which has no owner yet."
            ),
            Hold,
        ),
        ([first(None)], "An earlier lead of the same submission is gone.", Assign),
    ],
    ids=["to follow", "to wait for", "gone"],
)
def test_a_second_lead_of_a_submission(ledger, observed, live):
    """Off: as any other. Observed: the same turn, told of, without keys, which the first lead holds. Live: as ever."""
    off, seen = second(OFF, ledger), second(OBSERVE, ledger)
    assert (off.owner_id, off.turn.number, off.submission, off.explanation) == (user("A"), 1, None, OWN_TURN)
    assert (seen.owner_id, seen.turn.number, seen.submission) == (user("A"), 1, None)
    assert seen.explanation == f"{observed} {OWN_TURN}"
    assert isinstance(second(LIVE, ledger), live)


@pytest.mark.parametrize(
    ("position", "keys", "owners"),
    [(OFF, [None] * 3, "ABC"), (OBSERVE, [KEYS, None, None], "ABC"), (LIVE, [KEYS], "AAA")],
)
def test_three_leads_of_one_submission_in_one_batch(position, keys, owners):
    """Only the first holds the keys, so that no commit is refused; where nobody looks for duplicates, none does."""
    seen = snapshot([lead(number, MAIL) for number in (1, 2, 3)], [EMEA])
    decisions = decide(configuration(rollout=Rollout(duplicates=position)), seen, [ask(1), ask(2), ask(3)])
    assert [one.submission for one in decisions if isinstance(one, Assign)] == keys
    assert [one.owner_id for one in decisions] == [user(name) for name in owners]
    assert len(batches(decisions)) == 1


def test_behind_a_held_first_the_observed_second_takes_the_keys_along():
    """Nobody holds them yet; a third lead must be able to see one of the two."""
    settings = configuration(rule("french", 1, "Country = 'FR'"), rollout=Rollout(duplicates=OBSERVE))
    seen = snapshot([lead(1, MAIL), lead(2, MAIL, Country="FR"), lead(3, MAIL, Country="FR")], [EMEA])
    decisions = decide(settings, seen, [ask(1), ask(2), ask(3)])
    assert [type(one) for one in decisions] == [Hold, Assign, Assign]
    assert [one.submission for one in decisions[1:]] == [KEYS, None]
    assert f"live, it follows lead {lead_id(2)} " in decisions[2].explanation


# ---- matched owner --------------------------------------------------------------------------------------------------

VERA = Match(MatchOn.CONTACT, MatchBy.EMAIL, "003V", user("V"), "Vera")
KNOWN = rule("known", 1, "", ToMatched((MatchOn.CONTACT,), MatchBy.EMAIL, falls_through=False))
AWAY = {user("V"): (Absence(user("V"), NOW, LATER),)}


def matched(position, matches=(VERA,), **changes):
    settings = configuration(KNOWN, rule("all", 2), rollout=Rollout(matched_owner=position), **changes)
    seen = snapshot([lead(1)], [EMEA], matches={lead_id(1): matches})
    (decision,) = decide(settings, seen, [ask(1)])
    return decision


@pytest.mark.parametrize(
    ("position", "changes", "said"),
    [
        (OFF, {}, "matched owners are switched off"),
        (OFF, {"absences": AWAY}, "matched owners are switched off"),
        (OFF, {"matches": ()}, "matched owners are switched off"),
        (
            OBSERVE,
            {},
            (
                "matched owners are only observed; live, it goes to Vera, the owner of Contact 003V of the same e-mail "
                "address"
            ),
        ),
        (
            OBSERVE,
            {"absences": AWAY},
            (
                "matched owners are only observed; live, it waits for that owner: "
                "Contact of Vera: absent until 4 Mar 13:00 +00:00"
            ),
        ),
        (OBSERVE, {"matches": ()}, "the lead has no e-mail address"),
    ],
)
def test_a_rule_for_matched_owners_is_passed_over_and_says_why(position, changes, said):
    """The next rule is asked, whatever the first would have come to."""
    decision = matched(position, **changes)
    assert (decision.owner_id, decision.turn.number) == (user("A"), 1)
    assert decision.explanation == f"Rule 'known' fell through: {said}. {OWN_TURN}"


def test_a_live_rule_for_matched_owners_is_followed():
    assert matched(LIVE).owner_id == user("V")
    assert isinstance(matched(LIVE, absences=AWAY), Hold)


@pytest.mark.parametrize(("position", "again"), [(OFF, True), (OBSERVE, True), (LIVE, False)])
def test_a_rule_that_is_passed_over_does_not_keep_a_lead_in_its_group(position, again):
    """Whether a changed lead belongs to another group is asked of the rules that are followed."""
    rules = (KNOWN, rule("asia", 2, "Country = 'JP'", ToGroup("g2")), rule("rest", 3))
    settings = configuration(*rules, rollout=Rollout(matched_owner=position))
    (decision,) = decide(settings, _changed(), [_asked(Cause.CHANGED)])
    assert isinstance(decision, Assign if again else Skip)


# ---- re-routes ------------------------------------------------------------------------------------------------------

ASIA = (rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2))
GROUPS = (pool("emea", "AB", reroute=Reroute.REROUTE, turn=4), pool("apac", "XY"))
ROUTED = row(1, user("A"), assigned_to=user("A"), group_id="g1", created_at=NOW)


def _asked(cause):
    return Ask(1, "job-1", lead_id(1), LATER, 0.0, cause)


def _returned(*more, groups=GROUPS):
    return snapshot([lead(1, round=1), *more], groups, [replace(ROUTED, lead_owner_id=INTAKE)])


def _owned(**fields):
    return snapshot([lead(1, owner_id=user("A"), round=1, **fields)], GROUPS, [ROUTED])


def _changed():
    return _owned(Country="JP")


def rerouting(position, **changes):
    return configuration(*ASIA, intake_statuses=frozenset({"New"}), rollout=Rollout(reroutes=position), **changes)


NEXT = "Rule 'rest' chose group 'emea'; turn 5 went to B. Passed over: A: had this lead before."


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (OFF, "re-routing is switched off: it was returned"),
        (OBSERVE, f"re-routing is only observed: it was returned. Live, it is given out: {NEXT}"),
    ],
)
def test_a_returned_lead_stays_where_it_is_and_keeps_its_job(position, reason):
    """Nothing is written, not even that it is held; its job waits as a held one, so that it is seen and not swept."""
    (decision,) = decide(rerouting(position), _returned(), [ask(1)])
    assert isinstance(decision, Hold)
    assert (decision.reason, decision.shown, decision.group_id) == (reason, False, None)
    release = held(decision, configuration(), NOW)
    assert (release.delay_s, release.reason, release.group_id) == (900.0, f"held: {reason}", None)


@pytest.mark.parametrize(
    ("cause", "why", "fields", "said"),
    [
        (Cause.STATUS, "its status was set back", {}, NEXT),
        (
            Cause.CHANGED,
            "it now matches group 'apac'",
            {"Country": "JP", "status": "Working"},
            "Rule 'asia' chose group 'apac'; turn 1 went to X.",
        ),
    ],
)
def test_a_lead_that_has_an_owner_keeps_them(cause, why, fields, said):
    """Nobody waits, so the job ends, and says what was left undone."""
    for position, reason in (
        (OFF, f"re-routing is switched off: {why}"),
        (OBSERVE, f"re-routing is only observed: {why}. Live, it is given out: {said}"),
    ):
        (decision,) = decide(rerouting(position), _owned(**fields), [_asked(cause)])
        assert decision == Skip(_asked(cause), reason)
    (decision,) = decide(rerouting(LIVE), _owned(**fields), [_asked(cause)])
    assert (type(decision), decision.round) == (Assign, 2)
    assert decision.explanation == f"Routed anew: {why}. {said}"


def test_what_would_be_held_or_only_observed_is_told_too():
    """Whatever would become of it: nobody else may have it, or its group only observes."""
    alone = pool("emea", [rep("A"), rep("B", daily_cap=1, day="2026-03-04", day_count=1)])
    (decision,) = decide(rerouting(OBSERVE), _returned(groups=(alone,)), [ask(1)])
    assert decision.reason.startswith(
        "re-routing is only observed: it was returned. Live, nobody gets it yet: group 'emea': nobody can take it: "
    )
    assert decision.rule == ASIA[1]
    watched = (replace(GROUPS[0], mode=Mode.OBSERVE),)
    (decision,) = decide(rerouting(OBSERVE), _returned(groups=watched), [ask(1)])
    assert decision.reason.endswith(f"Its group only observes. Live, it is given out: {NEXT}")


@pytest.mark.parametrize(("position", "turn"), [(OFF, 5), (OBSERVE, 5), (LIVE, 6)])
def test_what_is_only_thought_of_takes_no_turn(position, turn):
    """The newer lead gets the turn that the returned one would have had."""
    decisions = decide(rerouting(position), _returned(lead(2)), [ask(1), ask(2)])
    assert (decisions[1].owner_id, decisions[1].turn.number) == (user("A"), turn)


@pytest.mark.parametrize("position", list(Switch))
def test_a_returned_lead_that_waits_for_members_lets_newer_ones_pass_once_it_is_left(position):
    """A held lead from before the switch was turned must not stand in the way of leads for ever."""
    waiting = replace(_returned(lead(2)), waiting=(ask(1),))
    settings = configuration(rollout=Rollout(reroutes=position))
    groups = {"g1": pool("emea", [rep("B"), rep("A", active=False)])}
    (decision,) = decide(settings, replace(waiting, groups=groups), [replace(ask(2), event_at=LATER)])
    assert isinstance(decision, Hold if position is LIVE else Assign)


@pytest.mark.parametrize("position", [OFF, OBSERVE])
def test_explain_says_why_a_returned_lead_is_left(position):
    """A lead in the queue that nobody gives out is the first thing that is asked about."""
    account = explain(rerouting(position), _returned(), ask(1))
    assert account is not None
    word = "switched off" if position is OFF else "only observed"
    assert account.settled == f"re-routing is {word}: it was returned"
    assert isinstance(account.decision, Hold)
    assert [(one.rule.name, one.decided) for one in account.rules] == [("asia", False), ("rest", True)]


@pytest.mark.parametrize(("position", "cause"), [(OFF, None), (OBSERVE, Cause.CHANGED), (LIVE, Cause.CHANGED)])
def test_changed_fields_ask_only_where_somebody_wants_to_know(position, cause):
    """Off: the change of a lead that has an owner makes no job, and so no call."""
    change = Change(lead_id(1), "UPDATE", "tx.1", "", user("P"), LATER, frozenset({"Country"}), {"Country": "JP"})
    assert cause_of(change, rerouting(position, roster=GROUPS)) is cause
