from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import parse_qs

import jwt
import pytest
import requests
import responses
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from lead_router.core.ids import to18
from lead_router.errors import ContractMismatch, LoginRefused, Misconfigured, Unreachable
from lead_router.salesforce.auth import Login, TokenHolder, audience, checked
from lead_router.salesforce.wire import base_url, open_session
from org_simulator.clock import ManualClock

NOW = datetime(2026, 11, 29, 20, 0, 0, tzinfo=UTC)
HOST = "https://acme.my.salesforce.com"
TOKEN_URL = f"{HOST}/services/oauth2/token"
ORG, USER = to18("00D000000000001"), to18("005000000000001")
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
SECRET = Login(HOST, "client", "canary-secret")


def answer(**changes: object) -> dict[str, object]:
    plain = {
        "access_token": "00D!canary",
        "instance_url": HOST,
        "id": f"https://login.salesforce.com/id/{ORG}/{USER}",
        "token_type": "Bearer",
    }
    return {name: value for name, value in {**plain, **changes}.items() if value is not None}


def holder(login: Login = SECRET) -> TokenHolder:
    return TokenHolder(
        login, open_session(login.login_url), now=lambda: NOW, sleep=lambda _: None, dice=random.Random(1)
    )


@responses.activate
def test_a_token_is_asked_for_once_and_kept() -> None:
    asked = responses.post(TOKEN_URL, json=answer())
    tokens = holder()
    first, again = tokens.token(), tokens.token()
    assert first is again
    assert asked.call_count == 1
    assert (first.access_token, first.instance_url, first.org_id, first.user_id) == ("00D!canary", HOST, ORG, USER)
    form = parse_qs(str(responses.calls[0].request.body))
    assert form == {"grant_type": ["client_credentials"], "client_id": ["client"], "client_secret": ["canary-secret"]}


@responses.activate
def test_a_jwt_says_who_asks_for_whom_for_three_minutes() -> None:
    responses.post(TOKEN_URL, json=answer())
    holder(Login(HOST, "client", private_key=PEM + "\n", username="router@acme.example")).token()
    assertion = parse_qs(str(responses.calls[0].request.body))["assertion"][0]
    claims = jwt.decode(
        assertion, KEY.public_key(), ["RS256"], audience="https://login.salesforce.com", options={"verify_exp": False}
    )
    assert claims == {
        "iss": "client",
        "sub": "router@acme.example",
        "aud": "https://login.salesforce.com",
        "exp": int((NOW + timedelta(minutes=3)).timestamp()),
    }


@pytest.mark.parametrize(
    ("login_url", "expected"),
    [
        ("https://login.salesforce.com", "https://login.salesforce.com"),
        ("https://acme.my.salesforce.com", "https://login.salesforce.com"),
        ("https://test.salesforce.com", "https://test.salesforce.com"),
        ("https://acme--dev.sandbox.my.salesforce.com", "https://test.salesforce.com"),
    ],
)
def test_the_audience_is_the_shared_login_host(login_url, expected) -> None:
    assert audience(login_url) == expected


@responses.activate
def test_only_a_refused_token_is_replaced() -> None:
    responses.post(TOKEN_URL, json=answer(access_token="one"))
    responses.post(TOKEN_URL, json=answer(access_token="two", instance_url="https://moved.my.salesforce.com/"))
    tokens = holder()
    assert tokens.token().access_token == "one"
    assert tokens.token(refused="older").access_token == "one"
    replaced = tokens.token(refused="one")
    assert (replaced.access_token, replaced.instance_url) == ("two", "https://moved.my.salesforce.com")


@responses.activate
def test_threads_that_wait_for_a_failing_login_share_its_failure() -> None:
    """B2: a login that fails is not repeated by each of the threads that waited for it."""
    arrived = threading.Barrier(4)

    class Gate:
        """The holder's lock, which nobody takes before four threads have come to it."""

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __enter__(self) -> None:
            arrived.wait(10)
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    def refuse(_: object) -> tuple[int, dict[str, str], str]:
        return 400, {}, '{"error": "invalid_grant", "error_description": "inactive user"}'

    responses.add_callback(responses.POST, TOKEN_URL, refuse)
    tokens = holder()
    tokens._lock = Gate()

    def ask(_: int) -> str:
        try:
            return tokens.token().access_token
        except LoginRefused as refused:
            return str(refused)

    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(ask, range(4)))
    assert len(texts) == 1
    assert len(responses.calls) == 1


@responses.activate
def test_a_refused_login_is_repeated_after_growing_pauses_only() -> None:
    """B2: whoever asks meanwhile gets the same refusal, and the first that is accepted begins anew."""
    watch = ManualClock(NOW)
    session = open_session(HOST)
    tokens = TokenHolder(
        SECRET, session, now=watch.now, sleep=watch.advance, dice=random.Random(1), monotonic=watch.monotonic
    )

    def asked(seconds: int) -> list[int]:
        """The seconds in which a login was sent."""
        sent: list[int] = []
        for second in range(seconds):
            before = len(responses.calls)
            with suppress(LoginRefused):
                tokens.token()
            sent += [second] * (len(responses.calls) - before)
            watch.advance(1)
        return sent

    responses.post(TOKEN_URL, json={"error": "invalid_grant", "error_description": "inactive user"}, status=400)
    assert asked(200) == [0, 5, 15, 35, 75, 135, 195]
    watch.advance(60)
    responses.replace(responses.POST, TOKEN_URL, json=answer())
    assert tokens.token().access_token == "00D!canary"
    responses.replace(responses.POST, TOKEN_URL, json={"error": "invalid_grant"}, status=400)
    for _ in range(2):
        with pytest.raises(LoginRefused):
            tokens.token(refused="00D!canary")
        watch.advance(5)
    assert len(responses.calls) == 10


@responses.activate
def test_a_refusal_names_what_to_check_and_how_far_the_clock_is_off() -> None:
    """B5: an expired assertion is most often a wrong clock."""
    body = {"error": "invalid_grant", "error_description": "expired authorization code"}
    there = format_datetime(NOW + timedelta(minutes=10), usegmt=True)
    responses.post(TOKEN_URL, json=body, status=400, headers={"Date": there})
    tokens = holder(Login(HOST, "client", private_key=PEM, username="router@acme.example"))
    with pytest.raises(LoginRefused) as refused:
        tokens.token()
    for said in ("expired authorization code", "LEAD_ROUTER_AUDIENCE", "approved", "600 s behind"):
        assert said in str(refused.value)
    assert tokens.skew_s == -600


@responses.activate
def test_a_small_skew_is_not_blamed() -> None:
    there = format_datetime(NOW + timedelta(seconds=59), usegmt=True)
    responses.post(TOKEN_URL, json={"error": "invalid_client"}, status=400, headers={"Date": there})
    with pytest.raises(LoginRefused) as refused:
        holder().token()
    assert "behind" not in str(refused.value)
    assert "LEAD_ROUTER_CLIENT_SECRET" in str(refused.value)


@responses.activate
def test_who_is_logged_in_is_asked_where_the_answer_does_not_say() -> None:
    responses.post(TOKEN_URL, json=answer(id=None))
    asked = responses.get(
        f"{HOST}/services/oauth2/userinfo", json={"organization_id": ORG[:15], "user_id": USER, "sub": "x"}
    )
    token = holder().token()
    assert (token.org_id, token.user_id) == (ORG, USER)
    assert asked.calls[0].request.headers["Authorization"] == "Bearer 00D!canary"


@responses.activate
def test_another_org_behind_the_same_login_is_refused() -> None:
    """Keys hold the org's id: a running router must not be moved to another org, and waits for a person to say so."""
    responses.post(TOKEN_URL, json=answer(access_token="one"))
    other = to18("00D000000000002")
    responses.post(TOKEN_URL, json=answer(access_token="two", id=f"https://x/id/{other}/{USER}"))
    tokens = holder()
    tokens.token()
    with pytest.raises(LoginRefused, match=f"LEAD_ROUTER_LOGIN_URL .* lead to org {other} now: .* restart"):
        tokens.token(refused="one")


@responses.activate
@pytest.mark.parametrize("body", [{"access_token": "00D!canary"}, {"instance_url": HOST}])
def test_an_answer_without_a_token_is_a_contract_mismatch(body) -> None:
    responses.post(TOKEN_URL, json=body)
    with pytest.raises(ContractMismatch):
        holder().token()


@responses.activate
def test_an_instance_that_is_not_encrypted_gets_no_token() -> None:
    responses.post(TOKEN_URL, json=answer(instance_url="http://acme.my.salesforce.com"))
    with pytest.raises(Misconfigured, match="https"):
        holder().token()


@responses.activate
def test_nothing_that_fails_shows_a_secret() -> None:
    """F1: not in texts, not in reprs, not in a chain of causes."""
    responses.post(TOKEN_URL, body=requests.exceptions.InvalidHeader("Authorization: canary-secret"))
    with pytest.raises(Unreachable) as refused:
        holder().token()
    assert "canary" not in f"{refused.value!r}{refused.value.__cause__!r}{SECRET!r}"
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("login", "told"),
    [
        (Login(HOST, "", "secret"), "LEAD_ROUTER_CLIENT_ID"),
        (Login(HOST, "client"), "LEAD_ROUTER_PRIVATE_KEY_FILE or LEAD_ROUTER_CLIENT_SECRET"),
        (Login(HOST, "client", "  \n"), "LEAD_ROUTER_CLIENT_SECRET"),
        (Login(HOST, "client", "canary\nsecret"), "LEAD_ROUTER_CLIENT_SECRET holds a line break"),
        (Login(HOST, "client", private_key="canary", username="u"), "LEAD_ROUTER_PRIVATE_KEY_FILE"),
        (Login(HOST, "client", private_key=PEM), "LEAD_ROUTER_USERNAME"),
        (Login("https://login.salesforce.com", "client", "secret"), "My Domain"),
        (Login("http://acme.my.salesforce.com", "client", "secret"), "https://"),
        (Login("acme.my.salesforce.com", "client", "secret"), "LEAD_ROUTER_LOGIN_URL"),
        (Login("https://https://acme.my.salesforce.com", "client", "secret"), "LEAD_ROUTER_LOGIN_URL"),
    ],
)
def test_a_bad_setting_is_named_and_never_shown(login, told) -> None:
    with pytest.raises(Misconfigured, match=told) as refused:
        checked(login)
    assert "canary" not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_stray_line_ends_around_secrets_are_taken_off() -> None:
    """F2: an editor's newline at the end of a secret's file."""
    assert checked(Login(HOST + "/", " client\n", "secret\r\n")) == Login(HOST, "client", "secret")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://acme.my.salesforce.com/", "https://acme.my.salesforce.com"),
        ("https://Acme.my.salesforce.com/services?x=1", "https://acme.my.salesforce.com"),
        ("http://localhost:8500/", "http://localhost:8500"),
        ("http://127.0.0.1:8500", "http://127.0.0.1:8500"),
    ],
)
def test_a_url_is_normalised_once(url, expected) -> None:
    """B22: with and without a slash, one base."""
    assert base_url(url, "x") == expected
