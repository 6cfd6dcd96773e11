"""Salesforce's own notifications: our client against the simulated org's action, by what the documents say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.ports.notices import Declined, Delivered, Down, Letter, Unclear
from lead_router.salesforce.names import Permissions
from lead_router.salesforce.notifications import PACE_S, REST_S, Bell
from org_simulator.switches import Switches
from org_simulator.wire.notifying import PER_HOUR
from support.rest_org import RestOrg

LINK = "https://acme.example/lightning/r/Lead/00Q/view"


@pytest.fixture
def org():
    made = RestOrg(Switches())
    made.assign(Permissions.NOTICES_SET)
    return made


def letter(org, *, user="ann", title="New lead for Ann", lines=("Rule 'All'.",), lead="00Q000000000001AAA"):
    return Letter(title, lines, LINK, lead, org.refs.get(user, user))


def test_a_rep_finds_it_in_the_bell(org):
    """Title and reason, and the lead as its target; the type is asked for once."""
    bell = Bell(org.rest)
    lead = org.lead()
    assert bell.send(letter(org, lead=lead)) == Delivered()
    before = org.rest.usage().calls
    assert bell.send(letter(org, lead=lead)) == Delivered()
    (first, _) = org.world.notifications
    assert (first.user_id, first.title, first.body, first.target_id) == (
        org.refs["ann"],
        "New lead for Ann",
        "Rule 'All'.",
        lead,
    )
    assert org.rest.usage().calls - before == 1


def test_people_of_a_queue_find_it(org):
    """A lead in a fallback queue is told to its active members."""
    queue = org.org.queue_id("Lead_Intake")
    for name in ("ann", "bob"):
        org.insert("GroupMember", GroupId=queue, UserOrGroupId=org.refs[name])
    org.update(org.refs["bob"], IsActive=False)
    assert Bell(org.rest).send(letter(org, user=queue)) == Delivered()
    assert [one.user_id for one in org.world.notifications] == [org.refs["ann"]]


def test_long_texts_are_cut_to_their_sizes(org):
    """250 characters of title and 750 of body are possible."""
    assert Bell(org.rest).send(letter(org, title="t" * 400, lines=("l" * 2_000,))) == Delivered()
    (one,) = org.world.notifications
    assert (len(one.title), len(one.body)) == (250, 750)


REFUSALS = pytest.mark.parametrize("form", ["request", "answer", "good answer"])


@REFUSALS
def test_without_the_right_the_channel_is_down_and_says_what_to_assign(form):
    """No other letter would go out either, so that none uses up its attempts, in whatever form that is told."""
    org = RestOrg(replace(Switches(), notification_refused_as=form))
    found = Bell(org.rest).send(letter(org))
    assert isinstance(found, Down)
    assert Permissions.NOTICES_SET in found.text


def test_an_old_org_asks_for_no_right():
    """Made before Winter '21: whoever may call the action may notify."""
    org = RestOrg(replace(Switches(), notifications_need_right=False))
    assert Bell(org.rest).send(letter(org)) == Delivered()


@REFUSALS
def test_an_hour_that_is_used_up_is_waited_for_where_the_org_tells_it(form):
    """Others' notifications count too: a letter is neither given up for that, nor tried again at once."""
    org = RestOrg(replace(Switches(), notification_refused_as=form, notifications_beyond_limit_refused=True))
    org.assign(Permissions.NOTICES_SET)
    bell = Bell(org.rest)
    org.world.notified.extend([org.clock.now()] * PER_HOUR)
    found = bell.send(letter(org))
    org.clock.advance(3_600)
    assert isinstance(found, Down)
    assert found.retry_after >= REST_S
    assert bell.send(letter(org)) == Delivered()


def test_a_refused_letter_is_declined(org):
    """The action refuses one input: an error of that letter."""
    found = Bell(org.rest).send(letter(org, lines=()))
    assert isinstance(found, Declined)
    assert "Missing required input parameter: body" in found.text


def test_without_the_type_nothing_is_sent(org):
    """The metadata is not deployed: the text says so."""
    for row in list(org.rows("CustomNotificationType")):
        org.delete(row["Id"])
    found = Bell(org.rest).send(letter(org))
    assert isinstance(found, Down)
    assert "deploy salesforce_metadata" in found.text


@pytest.mark.parametrize(
    ("fault", "options", "kind"),
    [
        ("unreachable", {}, Down),
        ("drop_after", {}, Unclear),
        ("status", {"value": 503}, Unclear),
        ("request_limit", {"value": "daily"}, Down),
        ("request_limit", {"value": "concurrent"}, Down),
    ],
)
def test_each_fault_of_the_way_is_told_apart(org, fault, options, kind):
    """Surely not sent, or not to be known."""
    bell = Bell(org.rest)
    bell.send(letter(org))
    org.fault(fault, path="/actions/", **options)
    assert isinstance(bell.send(letter(org)), kind)


def test_the_last_calls_of_the_day_are_left_to_routing(org):
    """Notices are the first to go without, when the org's allowance runs out."""
    bell = Bell(org.rest)
    assert bell.send(letter(org)) == Delivered()
    org.org.calls_allowed = org.org.calls_used + 1
    org.rest.get("limits")
    before = org.rest.usage().calls
    assert isinstance(bell.send(letter(org)), Down)
    assert org.rest.usage().calls == before


def test_the_org_loses_what_is_beyond_its_hour(org):
    """10,000 actions an hour, and the rest is lost: our pace stays below it."""
    assert 3_600 / PACE_S < PER_HOUR
    org.world.notified.extend([org.clock.now()] * PER_HOUR)
    assert Bell(org.rest).send(letter(org)) == Delivered()
    assert org.world.notifications == []
