"""The audit's report as people read it: on a screen, on a phone, in the dark, and aloud."""

from __future__ import annotations

import pytest

from lead_router.audit import Assumed, gather, judge, page
from support.chromium import PHONE, SCREEN, Window
from support.org_past import CLEAN, FIRST_DAY, FULL, OrgPast

pytestmark = pytest.mark.browser

VIEWS = {"light": (SCREEN, "light"), "dark": (SCREEN, "dark"), "phone": (PHONE, "light"), "phone-dark": (PHONE, "dark")}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("plant", [FULL, CLEAN], ids=["full", "clean"])
def test_the_report_is_read_by_anybody(chromium, tmp_path, view, plant):
    """axe-core finds nothing, with the lists of leads open; nothing is fetched, nothing wider than its window."""
    past = OrgPast(7, 2_500, plant)
    audit = judge(gather(past, FIRST_DAY, past.end, hours=None, zone=""), Assumed())
    (tmp_path / "audit.html").write_text(page(audit), encoding="utf-8")
    size, scheme = VIEWS[view]
    window = Window(chromium, tmp_path.as_uri(), size=size, scheme=scheme)
    try:
        shown = window.go("/audit.html")
        shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")

        assert window.violations() == []
        assert window.too_wide() <= 0
        assert (window.complaints, window.foreign) == ([], [])
        window.picture(f"audit-{'full' if plant is FULL else 'clean'}-{view}")
    finally:
        window.close()
