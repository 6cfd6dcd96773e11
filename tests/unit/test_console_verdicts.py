"""Verdicts: what needs a person, for how long, and which lead it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from lead_router.app.lying import Glance
from lead_router.app.recent import Recent, Unassigned
from lead_router.console.looks import Sight
from lead_router.console.rendering import coded
from lead_router.console.verdicts import alarms
from lead_router.ports import ListenerView, QueueView

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DAYS_S = 3 * 86_400.0
LISTENER = ListenerView("c", "one", 1, listens=True, age_s=DAYS_S, subscribed=True, turned_age_s=DAYS_S)
QUEUE = QueueView(0, 0, 0, 0, 0, 0, None, 0, (), None, None, (LISTENER,))


def lead(number: int, waits_s: float) -> Unassigned:
    return Unassigned(f"00Q5f0000000{number:03}AAA", NOW - timedelta(seconds=waits_s))


def told(*waiting: Unassigned, listener: ListenerView = LISTENER, off: dict[str, str] | None = None, **known):
    sight = Sight(Recent(NOW, len(waiting), waiting, (), (), off or {}), 0.0)
    found = alarms(Glance(replace(QUEUE, listeners=(listener,)), **known), None, sight)
    return [(one.text, one.page, one.grave) for one in found]


def test_a_stream_is_told_of_by_how_long_it_is_lost():
    """A router that is up for days has its minute of grace at each loss, and what is told is the loss."""
    lost = replace(LISTENER, subscribed=False, turned_age_s=20.0)
    assert told(listener=lost) == []
    assert told(listener=replace(lost, turned_age_s=130.0)) == [("The stream is not subscribed, for 2 min", "", True)]


def test_the_oldest_lead_is_named_and_one_that_a_discard_let_lie_is_not_it():
    """Nobody is called for a lead that a person chose to leave."""
    left, other = lead(1, 900), lead(2, 400)
    assert told(left, let_lie=(left,)) == []
    assert told(left, other, let_lie=(left,)) == [
        (f"The oldest unassigned lead, {other.lead}, waits for 6 min", "", True)
    ]


def test_a_lead_of_no_job_is_told_of_after_a_minute_and_once():
    """Leads do not flow where no event tells of them, though none waits for long yet; a minute is the event's own."""
    young, old = lead(2, 50), lead(1, 120)
    assert told(young, no_job=(young,)) == []
    text = f"1 lead waits for more than a minute without an open job: {old.lead}"
    assert told(old, young, no_job=(old, young)) == [(text, "", False)]
    oldest = lead(3, 400)
    assert [one[2] for one in told(oldest, no_job=(oldest,))] == [True]
    assert told(old) == []


def test_a_group_that_is_off_and_holds_leads_is_told():
    """Whoever turned it off may have forgotten it."""
    off = {"g": "EMEA (emea)", "h": "Other"}
    assert told(off=off, held={"g": 3, "x": 1}) == [("Group EMEA (emea) is off: 3 leads are held", "/groups", False)]


def test_a_lead_s_id_in_an_alarm_leads_to_its_story():
    """And a text from outside stays a text."""
    shown = str(coded(f"{lead(1, 1).lead} <b> `x`"))
    assert shown == f'<a href="/lead/{lead(1, 1).lead}">{lead(1, 1).lead}</a> &lt;b&gt; <code>x</code>'
