"""Nothing that is secret or a person's leaves the process or stays in the job database, whatever fails.

Searched are standard output and error, the log at DEBUG with the loggers of the libraries, the job database's file and
what the router wrote into the org; for each text as such, and as JSON, URLs, base64 and `repr` write it.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import random
import sqlite3
from argparse import Namespace
from collections import deque
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import psycopg
import pytest
import requests
import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from urllib3 import HTTPResponse

from lead_router import cli
from lead_router.cli import commands
from lead_router.errors import LeadRouterError, StoreUnavailable
from lead_router.jobs import open_store
from lead_router.log import configure
from lead_router.ports import NewJob
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.pubsub import PubSubSource
from lead_router.salesforce.wire import open_session
from org_simulator.wire.adapter import OrgAdapter
from support.cometd_rig import CHANNEL, QUICK
from support.console_rig import console_rig
from support.fault_cometd import CONNECT, HANDSHAKE, SUBSCRIBE, FaultServer, Http, Say
from support.fault_pubsub import FaultPubSub, Refusal, Told
from support.pubsub_rig import BRISK
from support.worker_rig import Rig

EMAIL, PHONE = "canary.person+x@buyer.example", "+49 (30) 5550199-77"
SECRET, REFRESH = "canary/Secret+0987654321=", "5Aep861canaryRefresh.Token"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)
KEY_TEXT = KEY.decode()
LIBRARIES = ("urllib3", "requests", "aiohttp", "asyncio", "grpc", "psycopg", "simple_salesforce", "charset_normalizer")
TURNS = 7  # parts that an echo is made of, each first once
PAGE = "text/html; charset=utf-8"


def forms(canary: str) -> set[str]:
    """How a text may be written, its base64 wherever it stands in what was encoded."""
    coded = {
        base64.b64encode(b"x" * before + canary.encode())[4 * (before > 0) : -4].decode().lstrip("=")
        for before in range(3)
    }
    written = {canary, quote(canary), quote(canary, safe=""), quote_plus(canary), repr(canary)[1:-1]}
    return written | {json.dumps(canary)[1:-1]} | {part for part in coded if len(part) > 7}


def hits(text: str, canaries: dict[str, str]) -> list[str]:
    """The names of the canaries that the text holds in any form."""
    return [name for name, canary in canaries.items() if any(form in text for form in forms(canary))]


class Seen:
    """All that came out: the log, what was printed, and what is kept."""

    def __init__(self, capfd) -> None:
        self.log = io.StringIO()
        self._capfd = capfd

    def text(self, rig: Rig | None = None) -> str:
        told = self._capfd.readouterr()
        kept = ""
        if rig is not None:
            files = sorted(rig.path.glob("*.db*"))
            kept = "".join(path.read_bytes().decode("latin-1") for path in files)
            rows = [rig.rest_org.rows(name) for name in ("Lead_Assignment__c", "Round_Robin_Member__c")]
            routing = [{k: v for k, v in row.items() if k.startswith("Rout")} for row in rig.rest_org.rows("Lead")]
            kept += json.dumps([rows, routing], default=str)
        return self.log.getvalue() + told.out + told.err + kept


@pytest.fixture
def seen(capfd):
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in LIBRARIES}
    found = Seen(capfd)
    configure("debug", found.log)
    structlog.configure(cache_logger_on_first_use=False)  # a logger that is first used here would stay here
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield found
    root.handlers[:], root.level = handlers, level
    structlog.configure(**before)
    for name, former in levels.items():
        logging.getLogger(name).setLevel(former)


class Echoing(OrgAdapter):
    """The org, until `fault` is set: that answers requests whose URL holds `path`, or raises, with what was sent."""

    fault = None
    path = "/composite"
    turn = 1

    def send(self, request, **how):
        if self.fault is None or self.path not in request.url:
            return super().send(request, **how)
        body = request.body if isinstance(request.body, str) else (request.body or b"").decode()
        secrets = self.secrets(request)
        coded = [base64.b64encode(part.encode()).decode() for part in secrets]
        parts = deque([EMAIL, PHONE, quote(EMAIL), *secrets, *coded, f"{dict(request.headers)}", body])
        self.turn -= 1  # texts are cut: each part comes first once
        parts.rotate(self.turn)
        sent = " ".join(parts)
        found = self.fault(sent)
        if isinstance(found, Exception):
            raise found
        status, kind, content = found
        headers = {"Content-Type": kind, "Location": f"https://elsewhere.example/?{quote(sent)}"}
        raw = HTTPResponse(io.BytesIO(content.encode()), headers, status, preload_content=False)
        return self.build_response(request, raw)

    def secrets(self, request) -> list[str]:
        return [SECRET] if "Authorization" not in request.headers else [request.headers["Authorization"][7:]]


def refused(status: int, code: str):
    """An error answer as Salesforce gives it, repeating what was sent."""
    return lambda sent: (status, "application/json", json.dumps([{"errorCode": code, "message": sent, "fields": []}]))


FAULTS = {
    "400": refused(400, "INVALID_FIELD"),
    "400 of an unknown code": refused(400, "NEW_CODE"),
    "401": refused(401, "INVALID_SESSION_ID"),
    "403": refused(403, "API_DISABLED_FOR_ORG"),
    "allowance": refused(403, "REQUEST_LIMIT_EXCEEDED"),
    "414": lambda sent: (414, PAGE, sent),
    "429": lambda sent: (429, PAGE, sent),
    "redirect": lambda sent: (302, PAGE, sent),
    "page 500": lambda sent: (500, PAGE, f"<html><h1>{sent}</h1></html>"),
    "page 200": lambda sent: (200, PAGE, f"<html><h1>{sent}</h1></html>"),
    "malformed": lambda sent: (200, "application/json", json.dumps({"compositeResponse": sent})[:-2]),
    "another shape": lambda sent: (200, "application/json", json.dumps({"compositeResponse": [{"body": sent}]})),
    "time-out": requests.exceptions.ReadTimeout,
    "no connection": requests.exceptions.ConnectionError,
    "proxy": requests.exceptions.ProxyError,
    "TLS": requests.exceptions.SSLError,
    "header": requests.exceptions.InvalidHeader,
}


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    made.rest_org.world.app = type(made.rest_org.world.app)(client_secret=SECRET)
    yield made
    made.close()


def echoing(rig: Rig, path: str = "/composite"):
    """A worker whose way to the org may be spoiled, and what spoils it."""
    adapter = Echoing(rig.rest_org.world)
    adapter.path = path
    url = rig.rest_org.world.base_url
    session = open_session(url, adapter=adapter)
    login = Login(url, rig.rest_org.world.app.client_id, SECRET)
    clock = rig.clock
    holder = TokenHolder(
        login, session, now=clock.now, sleep=lambda _: None, dice=random.Random(1), monotonic=clock.monotonic
    )
    rest = type(rig.client._rest)(holder, session)
    client = type(rig.client)(rest, rig.intake, now=rig.clock.now)
    return adapter, holder, rig.worker(client)


def canaries(token: str) -> dict[str, str]:
    return {"token": token, "secret": SECRET, "e-mail": EMAIL, "phone": PHONE, "refresh": REFRESH, "key": KEY_TEXT}


def show_jobs(rig: Rig) -> None:
    """As an operator would look at them."""
    for as_json in (False, True):
        assert commands._list(rig.store, Namespace(status=None, limit=50, json=as_json)) == 0
        assert commands._show(rig.store, Namespace(job=1, json=as_json)) == 0


def test_whatever_salesforce_answers_nothing_of_it_is_told(rig, seen):
    """F1: each kind of answer repeats token, address and number; neither log nor jobs nor leads do."""
    adapter, holder, worker = echoing(rig)
    rig.leads(1, Email=EMAIL, Phone=PHONE)
    found = {}
    for name, fault in FAULTS.items():
        token = holder.token().access_token
        for _ in range(TURNS):
            adapter.fault = fault
            worker.step()
            adapter.fault = None
            rig.clock.advance(700)
        show_jobs(rig)
        text = seen.text(rig)
        assert "service_faulted" in text
        found |= {name: hits(text, canaries(token))} if hits(text, canaries(token)) else {}
    rig.drain(worker)
    assert hits(seen.text(rig), canaries(token)) == []
    assert found == {}


def refusal(error: str, sent: str) -> str:
    return json.dumps({"error": error, "error_description": sent})


LOGINS = {
    "refused": lambda sent: (
        400,
        "application/json",
        refusal("invalid_grant", sent),
    ),
    "401": lambda sent: (401, "application/json", refusal("invalid_client", sent)),
    "page": lambda sent: (503, PAGE, sent),
    "cut": lambda sent: (200, "application/json", f'{{"refresh_token": "{REFRESH}", "x": "{sent}'),
    "repr": lambda sent: (500, PAGE, f"{{'refresh_token': '{REFRESH}', 'x': {sent}"),
    "no instance": lambda sent: (200, "application/json", json.dumps({"access_token": "x", "refresh_token": REFRESH})),
    "time-out": requests.exceptions.ReadTimeout,
    "header": requests.exceptions.InvalidHeader,
}


def test_whatever_the_login_answers_nothing_of_it_is_told(rig, seen):
    """F1: a refused login repeats its form; the answer of a broken one may hold a refresh token."""
    adapter, holder, worker = echoing(rig, "/oauth2/token")
    rig.leads(1, Email=EMAIL, Phone=PHONE)
    token = holder.token().access_token
    rig.org.sessions.revoke(token)
    found = {}
    for name, fault in LOGINS.items():
        adapter.fault = fault
        for _ in range(TURNS):
            worker.step()
            rig.clock.advance(700)
        show_jobs(rig)
        text = seen.text(rig)
        assert "service_faulted" in text
        found |= {name: hits(text, canaries(token))} if hits(text, canaries(token)) else {}
    assert "login_refused" in seen.log.getvalue()
    assert found == {}


@pytest.mark.parametrize("name", ["refused", "page", "header"])
def test_a_login_by_key_repeats_neither_key_nor_assertion(rig, seen, name):
    """F1: in the text, the repr and the traceback."""
    sent = []
    adapter = Echoing(rig.rest_org.world)
    adapter.path = "/oauth2/token"
    adapter.fault = LOGINS[name]
    adapter.secrets = lambda request: sent.append(request.body) or [KEY_TEXT]
    session = open_session("https://acme.my.salesforce.com", adapter=adapter)
    login = Login("https://acme.my.salesforce.com", "client", private_key=KEY_TEXT, username="router@acme.example")
    holder = TokenHolder(login, session, now=lambda: datetime.now(UTC), sleep=lambda _: None, dice=random.Random(1))
    for _ in range(3):
        try:
            holder.token()
        except LeadRouterError as fault:
            structlog.get_logger("test").exception("login_failed", repr=repr(fault), login=repr(login))
    assertion = sent[0].rpartition("assertion=")[2]
    assert len(assertion) > 100
    assert hits(seen.text(), {**canaries("-" * 20), "assertion": assertion, "body of key": KEY_TEXT[200:260]}) == []


@pytest.mark.parametrize("place", [HANDSHAKE, SUBSCRIBE, CONNECT])
@pytest.mark.parametrize(
    "fault",
    [
        lambda sent: Say(f"400::{sent}"),
        lambda sent: Say("403::no", ext={"sfdc": {"failureReason": f"403::{sent}"}}),
        lambda sent: Http(401, json.dumps([{"errorCode": "INVALID_SESSION_ID", "message": sent}]).encode()),
        lambda sent: Http(403, sent.encode()),
        lambda sent: Http(500, sent.encode()),
        lambda sent: Http(200, f'[{{"channel": "{sent}'.encode()),
        lambda sent: Http(302, b"", {"Location": f"https://elsewhere.example/?{quote(sent)}"}),
    ],
    ids=["error", "reason", "401", "403", "500", "cut", "redirect"],
)
def test_whatever_refuses_the_stream_nothing_of_it_is_told(seen, place, fault):
    """F1: a refusal repeats the token, and a lead's address and number out of an event."""
    token = "00D000000000001!canary.Token_0123456789"
    server = FaultServer()
    server.tokens = {token}
    coded = base64.b64encode(token.encode()).decode()
    server.fail(place, fault(f"Bearer {token} {coded} {quote(token, safe='')} {EMAIL} {PHONE} {'x' * 120} {EMAIL}"))
    source = CometdSource(
        channel=CHANNEL,
        token=lambda _: SimpleNamespace(access_token=token, instance_url=server.url),
        load_position=lambda: None,
        dice=random.Random(1),
        limits=QUICK,
    )
    try:
        for _ in range(100):
            told = source.poll(0.02)
            source.stored(told)
            if "stream_lost" in seen.log.getvalue() or "stream_refused" in seen.log.getvalue():
                break
    finally:
        source.close()
        server.close()
    text = seen.text() + repr(told)
    assert "stream_" in text
    assert hits(text, canaries(token)) == []


SAID = {
    "text": lambda sent: Refusal("INTERNAL", text=sent),
    "text of the way": lambda sent: Refusal("UNAVAILABLE", text=f"failed to connect to all addresses; {sent}"),
    "missing": lambda sent: Refusal("UNIMPLEMENTED", text=sent),
    "too large": lambda sent: Refusal("RESOURCE_EXHAUSTED", text=f"message larger than max {sent}"),
    "code": lambda sent: Refusal("PERMISSION_DENIED", sent.replace("\n", " ")),
    "known code": lambda sent: Refusal("RESOURCE_EXHAUSTED", f"subscription.limit.exceeded {sent}"),
}


@pytest.mark.parametrize("place", ["GetTopic", "Subscribe", "Stream", "GetSchema"])
@pytest.mark.parametrize("kind", [*SAID, "noise", "schema", "body"])
def test_whatever_pubsub_answers_nothing_of_it_is_told(seen, place, kind):
    """F1: status text, trailer, bytes that are no answer, a schema or a body that cannot be read; at DEBUG."""
    token = "00D000000000001!canary.Token_0123456789"
    coded = base64.b64encode(token.encode()).decode()
    sent = f"Bearer {token} {coded} {quote(token, safe='')} {EMAIL} {PHONE} {'x' * 60} {EMAIL}"
    told = []
    with FaultPubSub() as server:
        server.schemas["schema-1"] = sent if kind == "schema" else '{"type": "string"}'
        server.noise = b"\xff" + sent.encode()
        server.say(Told(b"\x01", b"\xff" + sent.encode()))
        if kind in SAID:
            server.refuse(place, SAID[kind](sent))
        elif kind == "noise":
            server.noisy.append("Subscribe" if place == "Stream" else place)
        source = PubSubSource(
            topic=CHANNEL,
            tenant="00D000000000001AAA",
            endpoint=f"http://{server.address}",
            token=lambda _: SimpleNamespace(access_token=token, instance_url="https://localhost"),
            load_position=lambda: None,
            dice=random.Random(1),
            limits=QUICK,
            call_limits=BRISK,
        )
        try:
            for _ in range(100):
                told.append(source.poll(0.02))
                source.stored(told[-1])
                if any(one.unreadable for one in told):
                    break
        finally:
            source.close()
    words = [[one.gap, one.reload, [each.reason for each in one.unreadable]] for one in told]
    text = seen.text() + repr(words)
    assert any(one.unreadable for one in told)
    assert hits(text, canaries(token)) == []


def test_a_fault_that_nobody_foresaw_tells_no_value(rig, seen):
    """F1: it may be told with what it failed on; the job, the lead and the traceback in the log are not."""
    (lead,) = rig.leads(1, Email=EMAIL, Phone=PHONE)
    token = "00D000000000001!canary.Token_0123456789"

    def fail():
        raise ValueError(f"could not convert {EMAIL!r}, {PHONE!r}, {quote(EMAIL)}, {token!r}")

    for _ in range(3):
        rig.client.after_read.append(fail)
        rig.router.step()
        rig.clock.advance(700)
    show_jobs(rig)
    text = seen.text(rig)
    assert "ValueError" in rig.lead(lead)["Routing_Error__c"]
    assert "could not convert" in text
    assert hits(text, canaries(token)) == []


def test_a_refused_lead_tells_no_value(rig, seen):
    """F1: a trigger's or rule's text repeats the lead; its job, its error field and the log do not."""
    (lead,) = rig.leads(1, Email=EMAIL, Phone=PHONE)
    rig.forbid("ISCHANGED(OwnerId)", f"{EMAIL} {PHONE} {quote(EMAIL)} is taken")
    rig.drain()
    rig.allow()
    show_jobs(rig)
    text = seen.text(rig)
    assert [job.status for job in rig.jobs()] == ["dead"]
    assert "is taken" in text
    assert lead in text
    assert hits(text, canaries("-" * 20)) == []


@pytest.mark.postgres
def test_a_database_s_refusal_tells_no_parameter(postgres_url, seen):
    """F1: PostgreSQL repeats the whole failing row."""
    store = open_store(postgres_url, org_id="00D000000000001AAA")
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("ALTER TABLE routing_job ADD CONSTRAINT canary CHECK (lead_id <> '00Q000000000001AAA') NOT VALID")
    try:
        store.record([NewJob("key", "00Q000000000001AAA", "x", {"Email": EMAIL, "Phone": PHONE, "token": REFRESH})])
    except StoreUnavailable as fault:
        structlog.get_logger("test").exception("step_failed", error=str(fault), repr=repr(fault))
    store.close()
    text = seen.text()
    assert "CheckViolation" in text
    assert hits(text, canaries("-" * 20)) == []


def test_a_damaged_database_tells_no_row(rig, seen, monkeypatch):
    """F1: nor do the commands that look into it."""
    rig.leads(1, Email=EMAIL, Phone=PHONE)
    rig.close()
    path = rig.path / "jobs.db"
    with sqlite3.connect(path) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    opened.close()
    path.write_bytes(path.read_bytes()[:100] + f"{EMAIL} {PHONE} {SECRET}".encode() * 2_000)
    monkeypatch.setenv("LEAD_ROUTER_DATABASE", f"sqlite:///{path}")
    assert cli.main(["jobs", "list"]) in {2, 3}
    assert hits(seen.text(), canaries("-" * 20)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"CLIENT_SECRET": f'"{SECRET}"'},
        {"CLIENT_SECERT": SECRET},
        {"CLIENT_SECRET": SECRET, "CLIENT_SECRET_FILE": "/nowhere"},
        {"CLIENT_SECRET": SECRET, "LEASE_S": "1"},
        {"CLIENT_SECRET": f"{SECRET}\n{SECRET}"},
        {"PRIVATE_KEY": KEY_TEXT},
        {"PRIVATE_KEY": KEY_TEXT[:900], "USERNAME": "router"},
        {"DATABASE": f"postgresql://router:{SECRET}@localhost:1/x", "CLIENT_SECRET": SECRET},
        {"DATABASE": f"mysql://router:{SECRET}@db/x", "CLIENT_SECRET": SECRET},
        {"LOGIN_URL": f"https://user:{SECRET}@acme.my.salesforce.com", "CLIENT_SECRET": SECRET},
    ],
)
def test_a_bad_configuration_is_told_without_its_values(seen, monkeypatch, tmp_path, wrong):
    """F1: by every command that reads settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAD_ROUTER_CLIENT_ID", "client")
    monkeypatch.setenv("LEAD_ROUTER_LOGIN_URL", "http://localhost:1")
    for name, value in wrong.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    codes = [cli.main(words) for words in (["doctor"], ["status"], ["jobs", "list"])]
    assert any(codes)
    text = seen.text()
    assert "LEAD_ROUTER_" in text or "job database" in text
    assert hits(text, {**canaries("-" * 20), "body of key": KEY_TEXT[200:260]}) == []


TOKEN = "canary/Console+token 0987654321="


def knocks(browser):
    """Each way in which somebody may bring the console's token to a wrong place."""
    coded, wrong = quote(TOKEN, safe=""), {"token": TOKEN}
    yield browser.post("/sign-in", wrong, page="/sign-in", headers={"Host": "elsewhere.example"})
    yield browser.post("/sign-in", wrong, page="/sign-in", headers={"Origin": f"http://{coded}.example"})
    yield browser.post("/sign-in", {"slip": TOKEN, "token": TOKEN}, page="/sign-in")
    kind = {"Content-Type": f"multipart/form-data; boundary={coded}"}
    yield browser.session.post(f"{browser.url}/sign-in", TOKEN.encode(), headers=kind, timeout=30)
    yield browser.session.post(f"{browser.url}/dead/1/retry", TOKEN.encode() * 9_000, timeout=30)
    for path in (f"/?token={coded}", f"/dead?token={coded}", f"/{coded}", f"/lead/{coded}", f"/plan/{coded}"):
        yield browser.get(path)
    heads = {"Authorization": f"Bearer {TOKEN}", "Cookie": f"lead_router_console_0={TOKEN}", "X-Token": TOKEN}
    for name, told in {**heads, "Host": f"{coded}.example", "Referer": f"{browser.url}/?{coded}"}.items():
        yield browser.get("/", headers={name: told})
    yield browser.session.request(f"X{coded[:9]}", f"{browser.url}/{coded}", timeout=30)


def test_wherever_the_consoles_token_is_brought_nothing_of_it_is_told(tmp_path, seen):
    """F1: signed in or not, in a form, an address, a cookie or a header: neither log nor page repeats it."""
    logging.getLogger("urllib3").setLevel(logging.INFO)  # the browser's own
    with console_rig(tmp_path) as rig, rig.console(token=TOKEN) as browser:
        told = [browser.post("/sign-in", {"token": f"{TOKEN}x"}, page="/sign-in"), *knocks(browser)]
        right = browser.post("/sign-in", {"token": TOKEN}, page="/sign-in")
        told += [right, *knocks(browser)]
        text = seen.text()
    assert "console_sign_in_refused" in text
    assert "console_refused" in text
    assert right.url == f"{browser.url}/"
    assert {one.status_code for one in told} >= {200, 400, 403, 404, 413, 421}
    assert hits(text, {"token": TOKEN}) == []
    pages = [one for one in told if one.headers["Content-Type"].startswith("text/html")]  # what is no HTTP has none
    answers = "".join(f"{one.status_code} {one.headers} {one.text}" for one in pages)
    assert len(pages) == len(told) - 2
    assert hits(answers, {"token": TOKEN}) == []


@pytest.mark.parametrize("wrong", [{"CONSOLE_TOKEN": "canary/0Short="}, {"CONSOLE_TOKEN": TOKEN, "LEASE_S": "1"}])
def test_a_console_that_cannot_start_tells_no_token(seen, monkeypatch, tmp_path, wrong):
    """F1: neither one that is too short nor the right one beside another fault."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "CLIENT_ID": "client",
        "LOGIN_URL": "http://localhost:1",
        "CLIENT_SECRET": "x",
        **wrong,
    }.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    assert cli.main(["console", "--address", "0.0.0.0:0"]) == 2
    text = seen.text()
    assert "LEAD_ROUTER_" in text
    assert hits(text, {"token": wrong["CONSOLE_TOKEN"]}) == []
