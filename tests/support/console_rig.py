"""A console on a loopback socket, before a simulated org without sockets and a real job database; and a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import requests
from aiohttp import web

from lead_router.app.wiring import Wired
from lead_router.console.places import Place
from lead_router.console.serving import application, runner_of
from lead_router.ports import Bury
from lead_router.settings import Settings
from support.beside import served_beside
from support.worker_rig import Rig

ANSWER_S = 30.0


class Browser:
    """What a browser does: it keeps cookies, follows redirections, and sends a form's slip and the page's origin."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, path: str, **more: Any) -> requests.Response:
        return self.session.get(self.url + path, timeout=ANSWER_S, **more)

    def post(self, path: str, fields: dict[str, str] | None = None, *, page: str = "/lead", **more: Any) -> Any:
        """Send the form that stands on `page`; headers and all else as given."""
        slip = self.slip(page)
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin", **more.pop("headers", {})}
        filled = {"slip": slip, **(fields or {})}
        return self.session.post(self.url + path, data=filled, headers=headers, timeout=ANSWER_S, **more)

    def slip(self, page: str = "/lead") -> str:
        found = re.search(r'name="slip" value="([0-9a-f]+)"', self.get(page).text)
        assert found is not None
        return found[1]


def words(page: requests.Response) -> str:
    """What a person reads on a page, without its marks."""
    text = re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]*>", " ", page.text)
    return " ".join(unescape(text).split())


@asynccontextmanager
async def _listening(made: web.Application) -> AsyncIterator[str]:
    runner = runner_of(made)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class ConsoleRig(Rig):
    """A rig whose router's database the console reads."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.store.record([], sweep="start")  # as each router's start does: by this the org is known
        self.settings = Settings(database=self.database or f"sqlite:///{self.path / 'jobs.db'}")

    @contextmanager
    def console(self, *, token: str | None = None, names: tuple[str, ...] = (), **settings: Any) -> Iterator[Browser]:
        """The console, and a browser that has not been there yet."""
        org = self.rest_org
        wired = Wired(org.holder, org.rest, org.client)
        place = Place("127.0.0.1", 0, token, frozenset(names))
        made = application(self.settings.model_copy(update=settings), wired, place)
        with served_beside(_listening(made)) as url:
            browser = Browser(url)
            try:
                yield browser
            finally:
                browser.session.close()

    def bury(self, lead_id: str, error: str) -> int:
        """A dead job of the lead."""
        self.told(lead_id)
        (claimed,) = self.store.claim("one", limit=1, lease_s=60)
        self.store.end([(claimed, Bury(error))])
        return claimed.id


@contextmanager
def console_rig(path: Path, database: str = "") -> Iterator[ConsoleRig]:
    """A rig until the end of the block; `database` as Rig has it."""
    made = ConsoleRig(path, database=database)
    try:
        yield made
    finally:
        made.close()
