"""Notices from outside: a real router, killed amid its work, and a real endpoint that hears of each lead once."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from support import company
from support.endpoint import endpoint
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned

LEADS = 120
SECRET = "T0KEN-canary-4711"


def test_each_lead_is_told_once_through_kills(router_at, tmp_path):
    """`kill -9` twice while 120 leads are routed and told: no lead is told twice, and none is passed over.

    The one letter that was on its way at a kill counts as unknown. No log line holds the endpoint's secret.
    """
    pytest.importorskip("apprise", reason="apprise is not installed: pip install 'lead-router[operations]'")
    with simulator(scenario=company.scenario()) as org, endpoint() as outside:
        (tmp_path / "address").write_text(outside.url(SECRET), encoding="utf-8")
        file = tmp_path / "notices.yaml"
        file.write_text("channels:\n  - {name: team, url_file: address, every_s: 0, deadline_s: 2}\n", encoding="utf-8")
        router = router_at(org, notice_file=str(file))
        with routers(router):
            form = Form(org)
            form.post_all([company.lead(number) for number in range(LEADS)], threads=4)
            for told in (LEADS // 4, LEADS // 2):
                until(lambda told=told: len(outside.got) > told, 60, f"{told} leads told")
                router.kill()
                router.start()
            until(lambda: all_owned(org, LEADS), 60, f"{LEADS} owners")
            until(lambda: not unsent(router), 90, "all told")
            told = Counter(re.search(r"/Lead/(\w+)/view", one["message"])[1] for one in outside.got)
            ended = Counter(one["status"] for one in notices(router))
            assert router.stop() == 0

        assert max(told.values()) == 1
        assert ended["sent"] + ended["unknown"] == LEADS == ended.total()
        assert ended["unknown"] <= 2
        assert ended["sent"] <= len(told) <= LEADS
        assert SECRET not in router.log.read_text(encoding="utf-8")


def notices(router):
    return json.loads(router.run("notices", "list", "--limit", "1000", "--json").out)


def unsent(router):
    return [one for one in notices(router) if one["status"] in {"queued", "sending"}]
