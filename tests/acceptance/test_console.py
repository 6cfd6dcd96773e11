"""The newcomer's path, from outside: the demo, its report, and the console open on the demo's org."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import requests

from support.console_rig import Browser, words
from support.router import until

LIMIT_S = 90


def test_the_demo_goes_on_with_the_console_until_it_is_interrupted(tmp_path):
    """The report, then an address: leads flow, somebody is away; an interrupt ends all, by the report's code.

    Also where interrupts were ignored when it began, as in the background of a script.
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ignored = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    command = [*ignored, sys.executable, "-m", "lead_router", "demo", "--leads", "40", "--console"]
    demo = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        told: list[str] = []
        for line in demo.stdout:
            told.append(line)
            if line.startswith("console: "):
                break
        url = re.fullmatch(r"console: (http://127\.0\.0\.1:\d+)/  \(Ctrl-C ends it\)\n", told[-1])[1]
        browser = Browser(url)
        until(lambda: "Leads flow" in words(browser.get("/")), LIMIT_S, "leads flow")
        groups, plan = (
            words(browser.get("/groups")),
            browser.post("/plan", files={"leads": ("a.csv", b"Country\nFrance\n")}),
        )
        browser.session.close()
        demo.send_signal(signal.SIGINT)
        rest, _ = demo.communicate(timeout=LIMIT_S)
    finally:
        demo.kill()

    assert any(line.startswith("leads          40") for line in told)
    assert re.search(r"^other commands: .* --env-file \S+ status$", "".join(told) + rest, re.MULTILINE)
    assert "Hana 1" in groups
    assert "absent until" in groups
    assert "1 assign" in words(plan)
    assert (demo.returncode, rest.splitlines()[-1]) == (0, "the console, the router and the org are stopped")
    assert list(tmp_path.iterdir()) == []
    try:
        requests.get(url, timeout=1)
    except requests.ConnectionError:
        return
    raise AssertionError("the console answers still")
