"""Letters by apprise to a real endpoint: what came of each is told apart, in time, and no secret leaves its address."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from lead_router.errors import Misconfigured
from lead_router.hops.apprised import HUNG_MAX, Apprised
from lead_router.ports.notices import Declined, Delivered, Down, Letter, Unclear
from support.endpoint import CUT, DRIP, HANG, endpoint
from support.loudly import loudly

pytest.importorskip("apprise", reason="apprise is not installed: pip install 'lead-router[operations]'")

LETTER = Letter("New lead for Ann", ("Rule 'All'.",), "https://acme.example/lightning/r/Lead/00Q1/view", "00Q1", "0051")
SECRET = "T0KEN-canary-4711"


@pytest.fixture
def outside():
    with endpoint() as made:
        yield made


def messenger(outside, *, deadline_s=2.0):
    return Apprised("team", outside.url(SECRET), deadline_s=deadline_s)


def test_a_letter_arrives_whole(outside):
    """Title, reason and link, once."""
    assert messenger(outside).send(LETTER) == Delivered()
    (got,) = outside.got
    assert (got["title"], got["message"]) == (LETTER.title, f"Rule 'All'.\n{LETTER.link}")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (400, Declined),
        (413, Declined),
        (401, Down),
        (403, Down),
        (404, Down),
        (410, Down),
        (429, Down),
        (500, Down),
        (503, Down),
        (502, Unclear),
        (504, Unclear),
        (CUT, Unclear),
    ],
)
def test_each_answer_is_what_it_says(outside, answer, kind):
    """What was surely not sent is told apart from what nobody can know; the letter was handed over once."""
    outside.answers = [answer]
    assert isinstance(messenger(outside).send(LETTER), kind)
    assert len(outside.got) == 1


def test_nobody_who_listens_is_surely_not_sent():
    """Connection refused: nothing left this machine."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        found = Apprised("team", f"json://127.0.0.1:{port}/{SECRET}", deadline_s=2.0).send(LETTER)
    assert found == Down("no connection")


@pytest.mark.parametrize("how", [HANG, DRIP])
def test_a_call_ends_in_time(outside, how):
    """One that says nothing, and one that never ends, cost no more than the deadline; what came of it is unclear."""
    outside.answers = [how]
    began = time.monotonic()
    assert isinstance(messenger(outside, deadline_s=0.3).send(LETTER), Unclear)
    assert time.monotonic() - began < 2.0


def test_calls_that_hang_are_bounded(outside):
    """Beyond a few of them the channel counts as away, and no further thread is begun."""
    outside.answers = [DRIP] * 10
    one = messenger(outside, deadline_s=0.1)
    found = [one.send(LETTER) for _ in range(HUNG_MAX + 2)]
    assert [type(each) for each in found] == [Unclear] * HUNG_MAX + [Down] * 2
    assert len(outside.got) == HUNG_MAX
    assert sum(thread.name == "apprise" for thread in threading.enumerate()) >= HUNG_MAX


@pytest.mark.parametrize("answer", [200, 400, 404, 500, CUT, HANG])
def test_no_secret_is_told(outside, answer):
    """F1: an address holds a token; neither log, at its most talkative, nor answer nor error repeats it."""
    outside.answers = [answer]
    with loudly() as stream:
        found = messenger(outside, deadline_s=0.5).send(LETTER)
    assert len(outside.got) == 1
    assert SECRET not in repr(found)
    assert SECRET not in stream.getvalue()


@pytest.mark.parametrize(
    "address",
    [
        f"slack://{SECRET}",
        f"nothing://{SECRET}",
        SECRET,
        f"json://:{SECRET}@",
        f"mailto://ann:{SECRET}@mail.example?to=a@x.example,b@x.example",
    ],
)
def test_a_bad_address_is_refused_without_being_told(address):
    """F1: by the name of its channel, before anything is routed; so is one with several recipients."""
    with pytest.raises(Misconfigured, match="team") as refused:
        Apprised("team", address, deadline_s=1.0)
    assert SECRET not in str(refused.value)
    assert "canary" not in str(refused.value)
