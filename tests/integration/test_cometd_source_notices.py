"""One client, several channels: what comes beside the stream says only that something changed, and costs it nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from lead_router.salesforce.cometd import CometdSource
from org_simulator.changes import DELETE
from org_simulator.clock import SystemClock
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import lead_id
from support.served import served
from support.shelf import Shelf, fill, fill_for
from support.stream_org import INTEGRATION, VIEWER, StreamOrg

WIDGETS = "/data/Widget__ChangeEvent"
NOWHERE = "/data/Nowhere__ChangeEvent"


class Heard:
    """A source with notices on an org's stream; `reloads` are all the reasons that it told, in order."""

    def __init__(self, org: StreamOrg, url: str, notices: tuple[str, ...]) -> None:
        self.org = org
        self.shelf = Shelf()
        given = [org.sessions.issue(INTEGRATION)]

        def token(refused: str | None) -> SimpleNamespace:
            if refused == given[-1]:
                given.append(org.sessions.issue(INTEGRATION))
            return SimpleNamespace(access_token=given[-1], instance_url=url)

        self.source = CometdSource(
            channel=CHANNEL,
            token=token,
            load_position=self.shelf.load,
            dice=random.Random(1),
            notices=notices,
            limits=QUICK,
        )

    @property
    def reloads(self) -> list[str]:
        return [delivery.reload for delivery in self.shelf.deliveries if delivery.reload]

    def until(self, told: int) -> None:
        fill(self.shelf, self.source, lambda: len(self.reloads) >= told)

    def leads(self) -> set[str]:
        return {change.record_id for change in self.shelf.kept.values()}


@pytest.fixture
def org():
    return StreamOrg(clock=SystemClock())


@pytest.fixture
def listening(org):
    """Makes a source on the org's stream."""
    made = []
    with served(org) as url:

        def listen(*notices: str) -> Heard:
            made.append(Heard(org, url, notices))
            return made[-1]

        yield listen
        for heard in made:
            heard.source.close()


def create(org, number):
    org.commit(org.change(lead_id(number), LastName="Doe"))


def widget(org, *changes, number=1):
    record_id = f"a00{number:012d}AAA"
    org.commit(*(changes or [org.change(record_id, sobject="Widget__c", Name="x")]))


def test_a_change_beside_the_stream_is_told_and_makes_no_change_of_a_lead(org, listening):
    """Creation and deletion alike; a lead of the same moment comes as ever."""
    heard = listening(WIDGETS)
    heard.until(1)
    widget(org)
    heard.until(2)
    widget(org, org.change("a00000000000001AAA", DELETE, "Widget__c", before={"Name": "x"}))
    heard.until(3)
    create(org, 1)
    fill(heard.shelf, heard.source, lambda: len(heard.leads()) == 1)

    assert heard.reloads == ["subscribed", WIDGETS, WIDGETS]
    assert heard.shelf.gaps == []


@pytest.mark.parametrize("kind", ["gap", "overflow"])
def test_a_gap_beside_the_stream_is_a_change_like_any_other(org, listening, kind):
    """A25: whatever comes on such a channel, it asks for a look, and never for a sweep."""
    heard = listening(WIDGETS)
    heard.until(1)
    if kind == "gap":
        org.log.gap("Widget__c", ["a00000000000001AAA"])
    else:
        org.log.overflow("Widget__c")
    heard.until(2)

    assert heard.reloads[1:] == [WIDGETS]
    assert (heard.shelf.gaps, heard.leads()) == ([], set())


def test_what_comes_beside_the_stream_never_moves_its_position(org, listening):
    """A28: a position behind a notice would skip a lead whose event comes later under a lower id of its own stream."""
    heard = listening(WIDGETS)
    create(org, 1)
    fill(heard.shelf, heard.source, lambda: heard.shelf.position is not None and heard.reloads != [])
    fill_for(heard.shelf, heard.source, 0.2)
    before = heard.shelf.position
    widget(org)
    heard.until(2)
    fill_for(heard.shelf, heard.source, 0.2)

    assert heard.shelf.position == before


def test_each_new_session_asks_for_a_look(org, listening):
    """No position is kept for these channels: what changed while nobody listened is seen by looking."""
    heard = listening(WIDGETS)
    heard.until(1)
    org.log.hold()
    org.log.drop_sessions()
    widget(org)
    org.log.release()
    heard.until(2)

    assert heard.reloads[1].startswith("subscribed")


def test_a_channel_that_the_org_lacks_is_one_warning_and_costs_the_stream_nothing(org, listening):
    """A23: leads come as ever, in every session; the other channel is heard; the warning names the remedy, once."""
    with capture_logs() as lines:
        heard = listening(NOWHERE, WIDGETS)
        heard.until(1)
        org.log.drop_sessions()
        create(org, 1)
        heard.until(2)
        fill(heard.shelf, heard.source, lambda: heard.leads() == {lead_id(1)})
        widget(org)
        heard.until(3)

    (told,) = [line for line in lines if line["event"] == "notices_refused"]
    assert (told["channel"], told["log_level"]) == (NOWHERE, "warning")
    assert "salesforce_metadata" in told["remedy"]
    assert heard.source.state() == "subscribed"


def test_a_right_that_is_missing_is_asked_for_again_and_again(org, listening):
    """Change events ask for View All on the object: granted later, the channel is heard without a new start."""
    whole, sets = org.schema, org.schema.permission_sets
    viewer = sets[VIEWER.name]
    lesser = replace(viewer, objects={"lead": viewer.objects["lead"]})
    org.schema = replace(whole, permission_sets={VIEWER.name: lesser})
    with capture_logs() as lines:
        heard = listening(WIDGETS)
        create(org, 1)
        fill(heard.shelf, heard.source, lambda: heard.leads() == {lead_id(1)})
        fill_for(heard.shelf, heard.source, 2 * QUICK.refused_s)
        refused = (heard.source.state(), list(heard.reloads))
        org.schema = whole
        heard.until(1)
        widget(org)
        heard.until(2)

    (told,) = [line for line in lines if line["event"] == "notices_refused"]
    assert told["reason"].startswith("403::")
    assert refused == ("subscribed", [])
    assert heard.reloads == ["subscribed", WIDGETS]
