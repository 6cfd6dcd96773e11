"""One call to a provider over HTTP: it ends in time, with a value, whatever the other side does."""

from __future__ import annotations

import logging
import time

import pytest

from lead_router.core.enrichment import Request
from lead_router.hops.http_json import ANSWER_MAX_BYTES, HttpJson
from lead_router.ports import Answered, Faulted, NothingKnown, Pending, Unfit
from support.loudly import loudly
from support.provider import provider

SECRET = "canary-Secret0987654321"
TIMEOUT_S = 0.4


@pytest.fixture
def outside():
    with provider() as made:
        made.answer = {"company": {"industry": "Steel", "size": 40}}
        yield made


def asked(outside, mode="ok", *, method="GET", body=None, headers=None):
    outside.mode = mode
    client = HttpJson(headers or {"Authorization": f"Bearer {SECRET}"}, timeout_s=TIMEOUT_S)
    return client.ask(Request(method, f"{outside.url}/find?email=ann%40acme.example", body))


def test_an_answer_is_the_provider_s_json(outside):
    """With the header of the secret, and nothing of ours besides."""
    assert asked(outside) == Answered(outside.answer)
    (call,) = outside.asked
    assert (call.method, call.path) == ("GET", "/find?email=ann%40acme.example")
    assert call.headers["Authorization"] == f"Bearer {SECRET}"
    assert "Cookie" not in call.headers


def test_a_body_is_posted_as_json(outside):
    """As the file says."""
    assert asked(outside, method="POST", body='{"email": "ann"}') == Answered(outside.answer)
    (call,) = outside.asked
    assert (call.method, call.body, call.headers["Content-Type"]) == ("POST", b'{"email": "ann"}', "application/json")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("500", Faulted("status 500")),
        ("html", Faulted("its answer is no JSON")),
        ("garbage", Faulted("its answer is no JSON")),
        ("cut", Faulted("its answer is no JSON")),
        ("nan", Faulted("its answer is no JSON")),
        ("nested", Faulted("its answer is no JSON")),
        ("empty", Faulted("its answer is no JSON")),
        ("large", Faulted(f"its answer is longer than {ANSWER_MAX_BYTES} bytes")),
        ("broken off", Faulted("no connection, or it broke off")),
        ("no content", NothingKnown()),
        ("not found", NothingKnown()),
        ("page not found", Faulted("status 404 with a page")),
        ("looking", Pending(7.0)),
        ("refused", Unfit("status 422")),
        ("no key", Faulted("status 401")),
        ("no money", Faulted("status 402")),
        ("too many", Faulted("status 429", 30.0)),
        ("till a date", Faulted("status 503", 60.0)),
        ("redirect", Faulted("status 302")),
    ],
)
def test_each_fault_is_told_in_words_and_blames_whom_it_must(outside, mode, expected):
    """A lead, or the provider; no text repeats what was sent or answered."""
    answer = asked(outside, mode)
    assert answer == expected or (mode == "broken off" and isinstance(answer, Faulted))


@pytest.mark.parametrize("mode", ["hang", "dribble", "dribbled head"])
def test_a_call_ends_in_time(outside, mode):
    """However the other side spends it: silent, or a byte at a time, which keeps every time-out of a single wait."""
    began = time.monotonic()
    assert asked(outside, mode) == Faulted("no answer in time")
    assert time.monotonic() - began < TIMEOUT_S * 4


def test_who_is_not_there_is_no_exception():
    """A port that nobody listens to."""
    with provider() as gone:
        pass
    assert isinstance(asked(gone), Faulted)


def test_a_redirect_carries_no_secret_elsewhere(outside):
    """It is not followed."""
    with provider() as other:
        outside.elsewhere = other.url
        asked(outside, "redirect")
        assert other.asked == []


def test_cookies_are_not_kept(outside):
    """No lead's call is told by another one's."""
    client = HttpJson({}, timeout_s=TIMEOUT_S)
    outside.mode = "cookie"
    for _ in range(2):
        assert isinstance(client.ask(Request("GET", f"{outside.url}/a")), Answered)
    assert [call.headers.get("Cookie") for call in outside.asked] == [None, None]


@pytest.mark.parametrize("mode", ["ok", "500", "garbage", "broken off", "hang", "dribbled head"])
def test_no_log_at_any_level_tells_whom_it_was_about_or_the_secret(outside, mode):
    """urllib3 logs whole addresses at DEBUG, and of strange headers at WARNING."""
    with loudly("urllib3", "requests") as told:
        answer = asked(outside, mode)
        logging.getLogger("urllib3.connectionpool").debug("others still do")
    assert "others still do" in told.getvalue()
    text = told.getvalue() + (repr(answer) if not isinstance(answer, Answered) else "")
    assert not any(word in text for word in (SECRET, "acme", "ann%40", "/find"))
