"""Signals: the first SIGTERM drains, the second ends at once, whatever the org does meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from support import company
from support.router import Router, environment, until
from support.simulator import simulator
from support.third_program import Form, meanwhile
from support.verdict import all_owned, promises_kept

LEADS = 400
SETTLE_S = 30.0
DRAIN_S = 20.0
AT_ONCE_S = 5.0
COMMIT = "PATCH"  # in the body of a commit alone: a snapshot only reads
# With these, one hanging call outlasts the patience of a test by far.
SLOW = {"read_timeout_s": "60", "lease_s": "75"}


def test_sigterm_drains_while_leads_arrive_and_a_restart_routes_the_rest(router_at):
    """C22: exit 0 within 20 s with nothing left claimed; what came meanwhile waits in the org and is routed later."""
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org).start().subscribed()
        form = Form(org)
        with meanwhile(form, [company.lead(number) for number in range(LEADS)], together=4):
            until(lambda: all_owned(org, 40), SETTLE_S, "the first leads with an owner")
            router.terminate()
            asked = time.monotonic()
            assert router.wait(DRAIN_S) == 0
            took = time.monotonic() - asked
        assert took < DRAIN_S
        assert not all_owned(org, LEADS)  # else it ended after the last lead
        queue = router.run("status", "--json").json()["queue"]
        assert queue["working"] == 0, "a drained router holds no claim"
        router.start()
        until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
        promises_kept(org, form.created)
        assert router.stop() == 0


def test_a_second_sigterm_ends_at_once(router_at):
    """While a commit hangs, the first SIGTERM waits for its answer; the second does not. The lead is routed later."""
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org, **SLOW).start().subscribed()
        form = Form(org)
        org.control("faults", {"name": "hang", "body": COMMIT})
        form.post(company.lead(1))
        until(lambda: org.control("state")["faults"] == [], SETTLE_S, "the commit to hang")
        router.terminate()
        router.await_event("stream_closed")  # the intake has drained, the worker cannot
        assert router.process is not None
        assert router.process.poll() is None
        asked = time.monotonic()
        router.terminate()
        assert router.wait(AT_ONCE_S) == 128 + 15
        assert time.monotonic() - asked < AT_ONCE_S
        until(lambda: all_owned(org, 1), SETTLE_S, "the hanging commit's own end")
        promises_kept(org, form.created)


def test_sigterm_while_the_org_is_out_of_reach(router_at, tmp_path):
    """Exit 0 soon: at the start, when no org was ever found or it hangs, and in the middle, when it went away."""
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org).start().subscribed()
        org.control("faults", {"name": "hang", "path": "/describe"})
        hung = router_at(org, name="hung", **SLOW).start()
        until(lambda: org.control("state")["faults"] == [], SETTLE_S, "a start to hang")
        asked = time.monotonic()
        assert hung.stop() == 0  # there is nothing to drain yet
        assert time.monotonic() - asked < AT_ONCE_S
        never = Router(tmp_path / "never", environment(org, "sqlite:///jobs.db", login_url="http://localhost:9"))
    never.start().await_event("start_waits")
    router.await_event("stream_lost")  # the org has ended
    for one in (router, never):
        asked = time.monotonic()
        assert one.stop() == 0
        assert time.monotonic() - asked < DRAIN_S / 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["lead_router.cli.commands", "lead_router.settings", "lead_router.app"])
def test_a_router_that_is_told_to_end_before_it_began_ends_with_0(tmp_path, module, number):
    """C22: while the program is still being loaded there is nothing to drain and nothing to say.

    The signal comes when the given module is asked for: an import hook sends it.
    """
    ended = _struck(tmp_path, module, number, "run")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_what_holds_up_the_end_is_left_behind_soon_after_the_drain(tmp_path):
    """C22: a login that hangs in a thread of its own does not outlast it: exit code 1."""
    program = """
import os, signal, threading
from lead_router.app import running

running.LAST_S = 0.1
with running._signals(()):
    threading.Thread(target=threading.Event().wait).start()  # the interpreter waits for it
    os.kill(os.getpid(), signal.SIGTERM)
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False, timeout=30)
    assert ended.returncode == 1


def test_ctrl_c_ends_any_other_command_with_130_and_no_traceback(tmp_path):
    """The shell's own code for it."""
    ended = _struck(tmp_path, "lead_router.app", signal.SIGINT, "status")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def _struck(folder, module, number, *words):
    """`lead-router` with these words, in a process that sends itself a signal on the import of a module."""
    program = f"""
import os, signal, sys
from lead_router.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run behind a shell that had it ignored

class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Strike())
sys.exit(main({list(words)!r}))
"""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LEAD_ROUTER_")}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=bare, capture_output=True, text=True, check=False, timeout=30
    )
