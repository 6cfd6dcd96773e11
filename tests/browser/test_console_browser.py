"""The console as people use it: by keyboard, on a phone, in the dark, without a script, and with hostile leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from support.chromium import PHONE, SCREEN, Window
from support.console_rig import Browser, ConsoleRig, console_rig

pytestmark = pytest.mark.browser

TOKEN = "correct horse battery staple"
VIEWS = {
    "light": (SCREEN, "light"),
    "dark": (SCREEN, "dark"),
    "phone": (PHONE, "dark"),
}
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
REFUSAL = "FIELD_CUSTOM_VALIDATION_EXCEPTION: a lead of this country needs a tax number before it is given to anybody"


@dataclass
class Scene:
    """An org at work: leads given, one that waits, one that is dead, somebody away."""

    rig: ConsoleRig
    lead: str
    job: int
    browser: Browser

    @property
    def paths(self) -> dict[str, str]:
        """Every page, by the name of its picture."""
        return {
            "now": "/",
            "now-paused": "/?live=off",
            "groups": "/groups",
            "lead": "/lead",
            "story": f"/lead/{self.lead}",
            "dead": "/dead",
            "job": f"/dead/{self.job}",
            "plan": "/plan",
            "fault": "/nowhere",
        }


@pytest.fixture
def scene(tmp_path) -> Iterator[Scene]:
    with console_rig(tmp_path) as rig:
        org = rig.rest_org
        cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
        org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=cem, Weight__c=2, Sort_Order__c=3)
        for wait_s in (0.2, 0.4, 0.9, 3, 14, 50, 170, 420, 900):
            leads = rig.leads(3, FirstName="Jo", Company="Acme & Sons")
            rig.clock.advance(wait_s)
            rig.drain()
        end = rig.clock.now() + timedelta(hours=3)
        org.insert("Member_Absence__c", User__c=cem, Start__c=rig.clock.now().isoformat(), End__c=end.isoformat())
        job = rig.bury(org.lead(), REFUSAL)
        with rig.console() as browser:
            yield Scene(rig, leads[0], job, browser)


@pytest.fixture
def window(chromium, scene) -> Iterator[Window]:
    opened = Window(chromium, scene.browser.url)
    yield opened
    opened.close()


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_is_clean_to_axe_and_fits_its_window(chromium, scene: Scene, tmp_path, view):
    """No violation, no sideways scrolling, no word in the browser's console, nothing asked of another host."""
    size, scheme = VIEWS[view]
    window = Window(chromium, scene.browser.url, size=size, scheme=scheme)
    found: dict[str, Any] = {}

    def judge(name: str) -> None:
        window.picture(f"{name}-{view}")
        found[name] = (window.violations(), window.too_wide())

    for name, path in scene.paths.items():
        window.go(path)
        judge(name)
    page = window.go("/lead")
    page.get_by_label("Id, e-mail").fill("doe")
    page.get_by_role("button", name="Find").click()
    judge("found")
    page = window.go(f"/dead/{scene.job}")
    page.locator("#reason").fill(" ")
    page.get_by_role("button", name="Discard").click()
    judge("job-refused")
    page.get_by_role("button", name="Retry").click()
    judge("job-retried")
    (tmp_path / "leads.csv").write_text("Email\n" + "".join(f"b{at}@x.example\n" for at in range(30)))
    page = window.go("/plan")
    page.set_input_files("#leads", tmp_path / "leads.csv")
    page.get_by_role("button", name="Plan").click()
    judge("planned")
    window.close()

    assert {name: told for name, told in found.items() if told != ([], 0)} == {}
    assert [one for one in window.complaints if "404" not in one and "422" not in one] == []
    assert window.foreign == []


def test_everything_is_done_by_the_keyboard_alone(scene: Scene, window: Window):
    """The first stop leads past the menu; then from the alarm to the dead job, and back to life with it."""
    page = window.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    def tab_to(text: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent").strip() == text:
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                return
        raise AssertionError(f"no stop at {text}")

    tab_to("See why, mend the cause, retry.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/dead")
    tab_to(str(scene.job))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/dead/{scene.job}")
    tab_to(f"Retry job {scene.job}")
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()

    assert "Queued again" in page.get_by_role("status").inner_text()
    assert scene.rig.store.job(scene.job).status == "queued"


def test_the_page_shows_itself_anew_where_the_reader_is(scene: Scene, window: Window):
    """What changed is there within seconds, without a reload; focus and scroll stay where they were."""
    page = window.go("/")
    page.evaluate("window.mark = 1")
    page.locator("#given a").last.focus()
    focused = page.evaluate("document.activeElement.id")
    page.evaluate("scrollTo(0, 350)")
    scene.rig.bury(scene.rig.rest_org.lead(), REFUSAL)
    page.get_by_text("2 jobs are dead").wait_for()

    assert page.evaluate("[window.mark, document.activeElement.id, scrollY]") == [1, focused, 350]
    assert page.title().startswith("3 to see to")


def test_a_paused_page_stays_as_it_is(scene: Scene, window: Window):
    """Pause is a link, and so is going on; neither needs a script."""
    page = window.go("/")
    page.get_by_role("link", name="Pause").click()
    page.wait_for_url("**live=off")
    assert page.evaluate("[document.scripts.length, document.body.dataset.every ?? null]") == [0, None]
    page.get_by_role("link", name="Go on").click()
    page.wait_for_url("**live=on")
    assert page.evaluate("document.scripts.length") == 1


def test_a_console_that_is_gone_is_told_on_the_open_page(chromium, scene: Scene, window: Window):
    """What stands there is old, and says so."""
    page = window.go("/")
    page.route("**/*", lambda route: route.abort())
    page.locator("#stale").wait_for(state="visible")
    page.unroute("**/*")
    page.locator("#stale").wait_for(state="hidden")


def test_without_scripts_the_page_reloads_itself_and_every_form_works(chromium, scene: Scene):
    """The script is a comfort."""
    window = Window(chromium, scene.browser.url, java_script_enabled=False)
    page = window.go("/")
    assert page.locator('meta[http-equiv="refresh"]').count() == 1
    assert page.locator("h1").inner_text() == "3 things need you"
    page.goto(scene.browser.url + "/lead")
    page.get_by_label("Id, e-mail").fill(scene.lead[:15])
    page.get_by_role("button", name="Find").click()
    assert page.url.endswith(scene.lead)
    page.goto(f"{scene.browser.url}/dead/{scene.job}")
    page.locator("#reason").fill("a test lead")
    page.get_by_role("button", name="Discard").click()
    assert "Ended for good" in page.get_by_role("status").inner_text()
    window.close()


def test_nothing_of_a_hostile_lead_is_carried_out(scene: Scene, window: Window):
    """Markup, addresses that are scripts, and signs that turn text around are shown as they were written."""
    rig = scene.rig
    (lead,) = rig.leads(1, LastName=HOSTILE, FirstName="javascript:alert(3)", Company="\u202e" + HOSTILE)
    rig.drain()
    job = rig.bury(rig.rest_org.lead(LastName=HOSTILE), HOSTILE)
    for path in ("/", f"/lead/{lead}", "/dead", f"/dead/{job}"):
        page = window.go(path)
        page.wait_for_timeout(50)
        assert page.locator("img, main script").count() == 0
        assert page.locator('a[href^="javascript"]').count() == 0
    assert HOSTILE in page.inner_text("main")
    assert window.complaints == []


def test_a_form_on_another_sites_page_does_nothing(scene: Scene, window: Window):
    """A real browser says whence the form is; its cookie stays at home as well."""
    window.go("/")
    other = window.context.new_page()
    other.set_content(
        f'<form method="post" action="{scene.browser.url}/dead/{scene.job}/retry"><button>Win</button></form>'
    )
    other.get_by_role("button").click()
    other.wait_for_url("**/retry")

    assert "Forbidden" in other.inner_text("h1")
    assert scene.rig.store.job(scene.job).status == "dead"


def test_the_token_is_asked_for_and_opens_the_way(chromium, scene: Scene):
    """By keyboard: type it, press Enter; a wrong one is told."""
    with scene.rig.console(token=TOKEN) as locked:
        window = Window(chromium, locked.url)
        page = window.go("/dead")
        assert page.url.endswith("/sign-in")
        assert (window.violations(), window.too_wide()) == ([], 0)
        window.picture("sign-in-light")
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        page.get_by_role("alert").wait_for()
        page.keyboard.type(TOKEN)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="things need you").wait_for()
        elsewhere = window.context.new_page()
        elsewhere.set_content(f'<a href="{locked.url}/dead">see</a>')
        elsewhere.get_by_role("link").click()
        elsewhere.get_by_role("heading", name="1 job is dead").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in")
        window.close()
