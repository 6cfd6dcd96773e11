"""A real Prometheus scrapes a running router, with the shipped alerts, and is asked what it has."""

from __future__ import annotations

import shutil
import socket
import subprocess
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
import requests
import yaml

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned

LEADS = 3
SETTLE_S = 40.0


@pytest.fixture
def prometheus():
    found = shutil.which("prometheus")
    if found is None:
        pytest.skip("prometheus is not here: install the package of that name")
    return found


@contextmanager
def scraping(program, folder, port, deploy):
    """A Prometheus of its own that scrapes the port each second, by the shipped example otherwise."""
    settings = yaml.safe_load((deploy / "prometheus.yml").read_text(encoding="utf-8"))
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings["rule_files"] = [str(deploy / "alerts.yml")]
    settings["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{port}"]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    place = _free_port()
    words = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address=127.0.0.1:{place}",
    ]
    with (folder / "prometheus.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            yield f"http://127.0.0.1:{place}/api/v1"
        finally:
            process.kill()


def asked(api, query):
    """The values of an instant query by their labels, {} while there is no answer."""
    try:
        answer = requests.get(f"{api}/query?{urlencode({'query': query})}", timeout=5)
    except requests.ConnectionError:
        return {}
    if answer.status_code != requests.codes.ok:
        return {}
    found = answer.json()["data"]["result"]
    return {tuple(sorted(one["metric"].items())): float(one["value"][1]) for one in found}


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.peer
def test_prometheus_has_what_the_router_tells(router_at, tmp_path, prometheus, pytestconfig):
    """Leads by outcome, their latency, the queue and health arrive as series; the shipped rules are loaded."""
    port = _free_port()
    with (
        simulator(scenario=company.scenario()) as org,
        routers(router_at(org, health_address=str(port))) as (router,),
        scraping(prometheus, tmp_path, port, pytestconfig.rootpath / "deploy") as api,
    ):
        Form(org).post_all([company.lead(number) for number in range(LEADS)])
        until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
        given = 'sum(lead_router_leads_total{outcome=~"assigned|matched|duplicate|fallback"})'
        until(lambda: LEADS in asked(api, given).values(), SETTLE_S, "the leads in Prometheus")
        latency = asked(api, 'sum(lead_router_stage_seconds_count{stage="event_owner"})')
        until(lambda: 1.0 in asked(api, "lead_router_listener_up").values(), SETTLE_S, "who listens")
        health = asked(api, "lead_router_ready and on (job) lead_router_database_up == 1")
        queue = until(lambda: asked(api, 'lead_router_queue_jobs{status="queued"}'), SETTLE_S, "the queue")
        left = asked(api, "lead_router_api_left")
        gap = asked(api, "max(lead_router_fairness_gap_leads)")
        rules = requests.get(f"{api}/rules", timeout=5).json()["data"]["groups"][0]["rules"]
        assert router.stop() == 0

    assert list(latency.values()) == [LEADS]
    assert (len(queue), len(left)) == (1, 1)
    assert list(health.values()) == [1.0]
    assert all(0 <= value < 1 for value in gap.values())
    assert {rule["health"] for rule in rules} == {"ok"}
