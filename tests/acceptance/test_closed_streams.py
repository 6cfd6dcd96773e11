"""Started with closed standard streams, as by `2>&-`: what would be said goes nowhere, and all else is as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import company
from support.router import COMMAND_S, Router, environment, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, promises_kept

LEADS = 5
SETTLE_S = 30.0
CLOSING = """
import os, sys

for number in sys.argv[1].split(","):
    os.close(int(number))
os.execv(sys.executable, [sys.executable, "-m", "lead_router", *sys.argv[2:]])
"""
"""A program that closes the streams of its first word and becomes a `lead-router` with the other words."""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux shows what a process has open")
@pytest.mark.parametrize("numbers", ["1", "2", "0,1,2"])
def test_a_router_without_standard_streams_routes_and_drains(tmp_path, numbers):
    """F8: nothing but the null device stands where a stream was, so that no line of the log ends up in a connection."""
    with simulator(scenario=company.scenario()) as org:
        settings = environment(org, "sqlite:///jobs.db")
        router = Router(tmp_path, settings, program=("-c", CLOSING, numbers, "run")).start()
        assert router.process is not None
        try:
            form = Form(org)
            form.post_all([company.lead(number) for number in range(LEADS)])
            until(lambda: all_owned(org, LEADS) or router.process.poll() is not None, SETTLE_S, "leads with an owner")
            assert router.process.poll() is None, router.log.read_text(encoding="utf-8")
            places = {os.path.realpath(f"/proc/{router.process.pid}/fd/{number}") for number in numbers.split(",")}
            assert router.stop() == 0
            promises_kept(org, form.created)
        finally:
            router.kill()
    assert places == {os.devnull}
    assert bool(router.events("router_started")) == ("2" not in numbers)


def test_a_command_whose_answer_nobody_takes_ends_as_ever(tmp_path):
    """Its exit code is told, without a traceback; an answer and a refusal go where they belong, or nowhere."""
    with simulator(scenario=company.scenario()) as org:
        settings = environment(org, "sqlite:///jobs.db")
        router = Router(tmp_path, settings).start().subscribed()
        try:
            for numbers in ("1", "2", "1,2"):
                for words in (("status",), ("jobs", "list")):
                    ended = _closed(tmp_path, settings, numbers, *words)
                    assert (ended.returncode, ended.stderr, bool(ended.stdout)) == (0, "", "1" not in numbers), words
                ended = _closed(tmp_path, settings, numbers, "jobs", "retry", "77")
                refusal = "" if "2" in numbers else "lead-router: there is no job 77\n"
                assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", refusal)
        finally:
            router.kill()


def _closed(folder: Path, settings: dict[str, str], numbers: str, *words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", CLOSING, numbers, *words]
    return subprocess.run(
        program, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=COMMAND_S
    )
