"""The console lets in whom it should, acts only on its own forms, and keeps its pages to itself."""

from __future__ import annotations

import http.client
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode, urlsplit

import pytest

from lead_router.console import signing
from lead_router.console.places import is_known, place_of
from lead_router.console.seals import SIGNED_IN_S, Seals
from lead_router.console.signing import WAITING_MAX, whence
from lead_router.errors import Misconfigured
from lead_router.settings import Settings
from support.console_rig import ConsoleRig, console_rig, words

TOKEN = "correct horse battery staple"
ELSEWHERE = "http://elsewhere.example"


@pytest.fixture
def rig(tmp_path):
    with console_rig(tmp_path) as made:
        yield made


@pytest.mark.parametrize("address", ["0.0.0.0:9467", "[::]:9467", "192.0.2.7:9467", "console.example:9467"])
def test_off_the_loopback_address_it_refuses_to_start_without_a_token(address):
    """An open console would let anybody read leads and discard jobs."""
    with pytest.raises(Misconfigured, match=r"open to whoever reaches .*LEAD_ROUTER_CONSOLE_TOKEN_FILE"):
        place_of(Settings(), address)
    assert place_of(Settings(console_token=TOKEN), address).token == TOKEN


def test_a_name_of_its_own_needs_a_token_and_a_token_its_length(tmp_path):
    """A proxy before the loopback address opens it as well; a short token can be guessed."""
    with pytest.raises(Misconfigured, match=r"open to whoever reaches console\.example"):
        place_of(Settings(console_hosts=("console.example",)), "127.0.0.1:9467")
    with pytest.raises(Misconfigured, match="shorter than 16 characters"):
        place_of(Settings(console_token="short"), "127.0.0.1:9467")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert place_of(Settings(console_token_file=file), "9467").token == TOKEN
    with pytest.raises(Misconfigured, match="is no address and port"):
        place_of(Settings(), "127.0.0.1")


@pytest.mark.parametrize("host", ["elsewhere.example", "elsewhere.example:9467", "localhost.elsewhere.example", ""])
def test_a_foreign_host_is_refused_also_on_loopback(rig: ConsoleRig, host):
    """A page elsewhere whose name is made to resolve to this machine (DNS rebinding) reads nothing and does nothing."""
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        slip = browser.slip()
        read = browser.get("/dead", headers={"Host": host})
        done = browser.post(f"/dead/{job}/retry", {"slip": slip}, headers={"Host": host, "Origin": f"http://{host}"})

    assert (read.status_code, done.status_code) in {(421, 421), (400, 400)}
    assert "00Q" not in read.text
    assert [one.status for one in rig.jobs()] == ["dead"]


@pytest.mark.parametrize(
    "host", ["[::1", "127.0.0.1.elsewhere.example", "x@elsewhere.example", "0x7f.1", "[v1.x]", "\x00"]
)
def test_what_is_no_address_and_no_name_of_ours_is_not_known(host):
    """Nor is what only looks like one."""
    assert not is_known(host, frozenset({"console.example"}))


@pytest.mark.parametrize("host", ["127.0.0.1:9467", "localhost:8000", "[::1]:1", "10.1.2.3", "Console.Example.:80"])
def test_addresses_localhost_and_its_own_names_are_known(host):
    """At any port: a tunnel has another one than the console."""
    assert is_known(host, frozenset({"console.example"}))


@pytest.mark.parametrize(
    ("headers", "slip"),
    [
        ({"Origin": ELSEWHERE}, None),
        ({"Origin": "null"}, None),
        ({"Origin": "http://127.0.0.1:1"}, None),
        ({"Sec-Fetch-Site": "cross-site"}, None),
        ({"Sec-Fetch-Site": "same-site"}, None),
        ({}, ""),
        ({}, "0" * 64),
    ],
    ids=["other site", "no origin", "other port", "cross-site", "same-site", "no slip", "wrong slip"],
)
def test_a_form_of_another_page_does_nothing(rig: ConsoleRig, headers, slip):
    """CSRF: another site's form, another local server's, or one without this browser's slip, is refused."""
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        fields = {} if slip is None else {"slip": slip}
        answer = browser.post(f"/dead/{job}/discard", {"reason": "x", **fields}, headers=headers)

    assert answer.status_code == 403
    assert "nothing was done" in answer.text or "out of date" in answer.text
    assert [one.status for one in rig.jobs()] == ["dead"]


def test_another_browsers_slip_is_none_of_ours(rig: ConsoleRig):
    """A slip that an attacker fetched for themselves opens nothing for others."""
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        foreign = browser.slip()
        browser.session.cookies.clear()
        answer = browser.post(f"/dead/{job}/retry", {"slip": foreign})

    assert answer.status_code == 403
    assert [one.status for one in rig.jobs()] == ["dead"]


def test_nothing_is_shown_or_done_before_the_token_is_given(rig: ConsoleRig):
    """Every page leads to the login, every form is refused; the right token opens all, and signing out closes it."""
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console(token=TOKEN) as browser:
        for path in ("/", "/groups", "/lead", "/dead", f"/dead/{job}", "/plan", f"/lead/{rig.jobs()[0].lead_id}"):
            seen = browser.get(path)
            assert (seen.url, "00Q" in seen.text) == (f"{browser.url}/sign-in", False)
        assert browser.post(f"/dead/{job}/retry", page="/sign-in").status_code == 403
        wrong = browser.post("/sign-in", {"token": "correct horse battery stapl"}, page="/sign-in")
        assert (wrong.status_code, "That is not it." in words(wrong)) == (403, True)
        right = browser.post("/sign-in", {"token": TOKEN}, page="/sign-in", allow_redirects=False)
        cookie = right.headers["Set-Cookie"]
        assert (right.status_code, right.headers["Location"]) == (303, "/")
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert TOKEN not in cookie
        assert "1 job is dead" in words(browser.get("/dead"))
        browser.post("/sign-out")
        assert browser.get("/dead").url == f"{browser.url}/sign-in"
    assert [one.status for one in rig.jobs()] == ["dead"]


def test_a_link_of_another_site_signs_nobody_out(rig: ConsoleRig):
    """Its request brings no cookie: none is overwritten, and nothing is shown, before the page has asked by itself."""
    with rig.console(token=TOKEN) as browser:
        browser.post("/sign-in", {"token": TOKEN}, page="/sign-in")
        mine = browser.session.cookies.copy()
        browser.session.cookies.clear()
        arriving = browser.get("/dead", headers={"Sec-Fetch-Site": "cross-site"})
        browser.session.cookies = mine
        assert ("Set-Cookie" in arriving.headers, 'http-equiv="refresh" content="0"' in arriving.text) == (False, True)
        assert "No job is dead" in words(browser.get("/dead", headers={"Sec-Fetch-Site": "same-origin"}))


def test_behind_tls_the_cookie_never_goes_without_it(rig: ConsoleRig):
    """A proxy says that the browser came by TLS."""
    with rig.console(token=TOKEN, names=("console.example",)) as browser:
        told = {"Host": "console.example", "X-Forwarded-Proto": "https"}
        assert "Secure" in browser.get("/sign-in", headers=told).headers["Set-Cookie"]
        assert "Secure" not in browser.get("/sign-in").headers["Set-Cookie"]


def test_every_answer_bears_what_keeps_it_to_itself(rig: ConsoleRig):
    """No script or style but its own files, no frame, no cache; also on faults and refusals."""
    with rig.console() as browser:
        answers = [browser.get(path) for path in ("/", "/nowhere", "/dead/7", "/console.css", "/console.js")]
        answers.append(browser.get("/", headers={"Host": "elsewhere.example"}))
        for answer in answers:
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
            assert "unsafe" not in policy
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_cookie_is_believed_only_as_it_was_made():
    """Another process's, a changed and an old one are nobody's; what a browser sends may be anything."""
    moment = [1_000_000.0]
    seals = Seals(lambda: moment[0])
    visit = seals.new()
    cookie = seals.sealed(visit)
    told = cookie.split(".")

    assert seals.opened(cookie) == visit
    assert seals.opened(".".join([told[0], "1", *told[2:]])) is None
    assert Seals(lambda: moment[0]).opened(cookie) is None
    for junk in (None, "", "...", "a.b.c.d", "\udcff", "x" * 10_000, f"{cookie}x"):
        assert seals.opened(junk) is None
    moment[0] += SIGNED_IN_S + 1
    assert seals.opened(cookie) is None


def test_guesses_wait_for_one_another_and_hold_up_nobody_elsewhere(rig: ConsoleRig, monkeypatch):
    """Of one address a few wait, one is told after another, more are sent away; the right token of another goes in."""
    monkeypatch.setattr(signing, "WRONG_S", 0.5)
    with rig.console(token=TOKEN) as browser:
        page = browser.get("/sign-in")
        slip = re.search(r'name="slip" value="(\w+)"', page.text)[1]
        heads = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": "; ".join(f"{one.name}={one.value}" for one in browser.session.cookies),
        }

        def tried(token, address="127.0.0.1"):
            to = urlsplit(browser.url)
            line = http.client.HTTPConnection(to.hostname, to.port, timeout=30, source_address=(address, 0))
            line.request("POST", "/sign-in", urlencode({"slip": slip, "token": token}), heads)
            status = line.getresponse().status
            line.close()
            return status

        began = time.monotonic()
        with ThreadPoolExecutor(2 * WAITING_MAX) as others:
            guesses = [others.submit(tried, f"{TOKEN}{at}") for at in range(2 * WAITING_MAX)]
            early = tried(TOKEN, "127.0.0.2"), [one.done() for one in guesses].count(True)
            told = sorted(one.result() for one in guesses)

    assert (early[0], early[1] <= WAITING_MAX + 1) == (303, True)
    assert told == [403] * WAITING_MAX + [429] * WAITING_MAX
    assert time.monotonic() - began >= WAITING_MAX * 0.5


def test_who_guesses_is_told_by_what_a_host_cannot_choose():
    """Of version 6 the network; an address of version 4 stays itself, however it is written."""
    assert whence("2001:db8::1") == whence("2001:db8::2:3") != whence("2001:db8:0:1::1")
    assert whence("::ffff:192.0.2.7") == whence("192.0.2.7") != whence("192.0.2.8")
    assert whence("fe80::1%eth0") == whence("fe80::2")
    assert whence(None) == whence("") == ""


def test_a_file_is_taken_by_the_page_for_it_alone(rig: ConsoleRig):
    """Before the token is given nobody has megabytes kept, nor sends a form of no length."""
    with rig.console(token=TOKEN) as browser:
        large = browser.post("/sign-in", page="/sign-in", files={"token": ("a", b"x" * 100_000)})
        endless = browser.session.post(f"{browser.url}/sign-in", iter([b"token=x"]), timeout=30)
    assert (large.status_code, endless.status_code) == (413, 413)


def test_what_is_no_http_costs_one_line_that_holds_nothing_of_it(rig: ConsoleRig, caplog):
    """TLS to a plain port, a header of 18 kB, a broken one: answered, told as no fault, and the next is served."""
    with rig.console() as browser:
        to = urlsplit(browser.url)
        for junk in (
            b"\x16\x03\x01\x02\x00\x01",
            b"GET / HTTP/1.1\r\nX: " + b"canary" * 3_000,
            b"GET canary / HTTP/9\r\n\r\n",
        ):
            with socket.create_connection((to.hostname, to.port), timeout=30) as line:
                line.sendall(junk + b"\r\n\r\n")
                assert b" 400 " in line.recv(1000)
        seen = browser.get("/")

    assert (seen.status_code, seen.headers["Server"]) == (200, "lead-router")
    assert [one.levelname for one in caplog.records if one.levelname in {"ERROR", "WARNING"}] == []
    assert "canary" not in caplog.text
