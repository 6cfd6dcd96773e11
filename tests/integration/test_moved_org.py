"""An org whose My Domain changes under a running router: its former host redirects, with the token never along."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from lead_router.core.ids import to18
from lead_router.errors import LoginRefused, OutcomeUnknown
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.switches import Switches
from org_simulator.wire.adapter import OrgAdapter
from support.rest_org import RestOrg

LOGIN, FORMER, PRESENT = (f"https://{name}.my.salesforce.com" for name in ("login-of-acme", "acme", "acme-group"))
LEADS = "SELECT Id FROM Lead"


class Hosts(OrgAdapter):
    """One org under several names; of those that it `left`, each redirects to the present one."""

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self.left: set[str] = set()
        self.asked: list[tuple[str, str]] = []

    def send(self, request: requests.PreparedRequest, *args: Any, **named: Any) -> requests.Response:
        url = urlsplit(request.url or "")
        self.asked.append((f"https://{url.netloc}", url.path))
        if f"https://{url.netloc}" not in self.left:
            return super().send(request, *args, **named)
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = 301, request, request.url or ""
        answer.headers["Location"] = f"{PRESENT}{url.path}?sid=canary-of-an-address"
        answer._content = b"<html>Moved</html>"
        return answer


class Move:
    """A router at work on the former host; `left` and `names` are what an administrator changes."""

    def __init__(self) -> None:
        self.org = RestOrg(Switches())
        self.hosts = Hosts(self.org.world)
        self.org.world.base_url = FORMER
        session, app = open_session(LOGIN, adapter=self.hosts), self.org.world.app
        self.tokens = TokenHolder(
            Login(LOGIN, app.client_id, app.client_secret),
            session,
            now=self.org.clock.now,
            sleep=self.org.slept.append,
            dice=random.Random(1),
            monotonic=self.org.clock.monotonic,
        )
        self.rest = Rest(self.tokens, session)
        self.lead = self.org.lead()
        assert self.rest.query(LEADS)
        self.hosts.asked.clear()

    def changes(self, *, told: bool = True) -> None:
        """My Domain; `told`: the login names the new address."""
        self.hosts.left.add(FORMER)
        self.org.world.base_url = PRESENT if told else FORMER

    def asked(self, host: str) -> int:
        return sum(each == host for each, _ in self.hosts.asked)


@pytest.fixture
def move():
    return Move()


def test_a_read_goes_on_at_the_address_that_a_new_login_names(move: Move):
    """One login, and the former host is not asked again; the stream has its token and address of the same holder."""
    move.changes()
    found = [move.rest.query(LEADS) for _ in range(3)]

    assert [len(rows) for rows in found] == [1, 1, 1]
    assert [move.asked(host) for host in (FORMER, LOGIN, PRESENT)] == [1, 1, 3]
    assert move.tokens.token().instance_url == PRESENT


def test_a_write_is_looked_after_before_it_is_sent_again(move: Move):
    """Whether a host that redirects has carried it out is not known; a read finds the new address."""
    move.changes()
    path = f"sobjects/Lead/{move.lead}"
    with pytest.raises(OutcomeUnknown, match=r"acme\.my\.salesforce\.com redirects to acme-group"):
        move.rest.send("PATCH", path, {"Title": "Chief"})
    unwritten = move.rest.query("SELECT Title FROM Lead")[0]["Title"]
    move.rest.send("PATCH", path, {"Title": "Chief"})

    assert (unwritten, move.rest.query("SELECT Title FROM Lead")[0]["Title"]) == (None, "Chief")
    assert move.asked(FORMER) == 2


def test_a_login_that_leads_to_the_former_host_is_an_error_with_its_remedy(move: Move):
    """No token goes where nobody configured it, logins are as seldom as refused ones, and it ends by itself."""
    move.changes(told=False)
    told = set()
    for _ in range(60):
        with pytest.raises(LoginRefused) as refused:
            move.rest.query(LEADS)
        told.add(str(refused.value))
        move.org.clock.advance(1)
    logins, strayed = move.asked(LOGIN), move.asked(PRESENT)
    move.org.world.base_url = PRESENT
    move.org.clock.advance(60)

    (text,) = told
    assert text == (
        "acme.my.salesforce.com redirects to acme-group.my.salesforce.com, where no token is sent, and a new login "
        "leads to acme.my.salesforce.com again: if the org's My Domain was changed, set LEAD_ROUTER_LOGIN_URL to the "
        "org's present My Domain address and restart this router"
    )
    assert (logins <= 5, strayed, len(move.rest.query(LEADS))) == (True, 0, 1)


def test_a_login_that_is_redirected_is_an_error_with_its_remedy(move: Move):
    """The setting names the former address: neither secret nor assertion is sent on, and a start ends by it."""
    move.changes()
    move.hosts.left.add(LOGIN)
    with pytest.raises(LoginRefused) as refused:
        move.rest.query(LEADS)

    assert str(refused.value) == (
        "the login to login-of-acme.my.salesforce.com is redirected to acme-group.my.salesforce.com, where no secret "
        "is sent: set LEAD_ROUTER_LOGIN_URL to the org's present My Domain address and restart this router"
    )
    assert move.asked(PRESENT) == 0


def test_another_org_at_the_new_address_is_left_alone(move: Move):
    """The new login names another org: nothing is read there."""
    move.changes()
    stranger = RestOrg(Switches())
    stranger.world.base_url = PRESENT
    move.hosts.world = stranger.world
    stranger.org.org_id = to18("00D000000000999")
    with pytest.raises(LoginRefused, match=f"lead to org {stranger.org.org_id} now"):
        move.rest.query(LEADS)

    assert move.asked(PRESENT) == 0
