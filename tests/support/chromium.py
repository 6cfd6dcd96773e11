"""Headless Chromium, as a person's browser: light or dark, a screen or a phone."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCREENSHOTS = Path(os.environ.get("SCREENSHOTS", ROOT / "build" / "screenshots"))
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCREEN, PHONE = (1180, 860), (360, 740)
PAGE_MS = 15_000


def _missing() -> str | None:
    if shutil.which("chromium") is None:
        return "there is no Chromium: apt-get install chromium"
    for package in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed: pip install --editable '.[browser]'"
    return None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; where it is missing the test is skipped, in sight, or fails with BROWSER_CHECK=require."""
    missing = _missing()
    if missing is not None:
        (pytest.fail if os.environ.get("BROWSER_CHECK") == "require" else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        yield browser
        browser.close()


class Window:
    """A browser window of its own: what its pages complain of is kept, and what it asks of other hosts is refused."""

    def __init__(
        self, browser: Any, url: str, *, size: tuple[int, int] = SCREEN, scheme: str = "light", **more: Any
    ) -> None:
        self.url = url
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **more
        )
        self.context.set_default_timeout(PAGE_MS)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("dialog", lambda asked: (self.complaints.append(f"dialog: {asked.message}"), asked.dismiss()))
        self.page.on("request", lambda asked: None if asked.url.startswith(url) else self.foreign.append(asked.url))

    def go(self, path: str) -> Any:
        """The page, loaded."""
        self.page.goto(self.url + path)
        return self.page

    def too_wide(self) -> int:
        """By how many pixels the page is wider than its window."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return found

    def violations(self) -> list[str]:
        """What axe-core finds against WCAG and its best practices, each with the first elements it is about."""
        import axe_playwright_python  # noqa: PLC0415 - an extra

        if not self.page.evaluate("typeof axe !== 'undefined'"):
            self.page.evaluate(next(Path(axe_playwright_python.__file__).parent.glob("axe*.js")).read_text("utf-8"))
        found = self.page.evaluate("axe.run()")["violations"]
        return [f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}" for one in found]

    def picture(self, name: str, *, whole: bool = True) -> Path:
        """A screenshot, in the folder of all."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{re.sub(r'[^a-z0-9-]+', '-', name.lower())}.png"
        self.page.screenshot(path=path, full_page=whole)
        return path

    def close(self) -> None:
        self.context.close()
