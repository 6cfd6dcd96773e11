"""The alerts, the dashboard and the runbook speak of what the program exports, and the alerts fire when they should."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from lead_router.app import gauges
from lead_router.app.gauges import SCRAPED
from lead_router.app.metrics import Metrics
from lead_router.app.queuelook import QueueLook
from lead_router.loops.vitals import Ear, Vitals
from lead_router.ports.meter import FIGURES, LOGGED
from support.worker_rig import Rig

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULE_TESTS = Path(__file__).with_name("alerts.yml")
SOURCES = ROOT / "src/lead_router"
NAME = re.compile(r"\b(?:lead_router|process)_\w+")
SELECTOR = re.compile(r"\b((?:lead_router|process)_\w+)\{([^}]*)\}")
GIVEN = {"job", "instance", "le"}  # by Prometheus, and by a histogram's buckets
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
WORD = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
PROMTOOL_S = 60
CHANNEL = "/data/LeadChangeEvent"
UNTOLD = {"lead_router_stage_seconds_bucket", "lead_router_loop_faults_total"}  # before the first lead, or fault


def alerts():
    """The rules of deploy/alerts.yml."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return group["rules"]


def panels():
    return json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))["panels"]


def expressions():
    """Every query of the alerts and the dashboard, by where it stands."""
    shown = {f"{one['title']} {each['refId']}": each["expr"] for one in panels() for each in one["targets"]}
    return {**{rule["alert"]: rule["expr"] for rule in alerts()}, **shown}


def exported():
    """The names of all series that the program has, with the labels of each."""
    labels = {f"{one.name}{end}": set(one.labels) for one in (*FIGURES, *SCRAPED) for end in SUFFIXES[one.kind]}
    names = {family.name for family in Metrics().registry.collect()}
    # Prometheus' client tells a counter's name without its end.
    assert {one.name.removesuffix("_total") for one in (*FIGURES, *SCRAPED)} <= names
    return {**labels, **{name: set() for name in names if name.startswith("process_")}}


def test_every_query_asks_for_what_the_program_exports():
    """A figure that is renamed takes its alerts and panels along, or this is red; so do its labels."""
    known = exported()
    asked = {where: set(NAME.findall(text)) for where, text in expressions().items()}
    selected = [
        (where, name, set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside)))
        for where, text in expressions().items()
        for name, inside in SELECTOR.findall(text)
    ]

    assert {where: names - known.keys() for where, names in asked.items() if names - known.keys()} == {}
    assert [(where, name, labels) for where, name, labels in selected if labels - known[name] - GIVEN] == []
    assert all(asked.values())


def test_every_figure_is_shown_or_watched():
    """What nobody looks at need not be counted; build information is for joins."""
    asked = {name for text in expressions().values() for name in NAME.findall(text)}
    shown = {re.sub("_(bucket|sum|count)$", "", name) for name in asked}
    unseen = {one.name for one in (*FIGURES, *SCRAPED)} - shown

    assert unseen <= {
        *("lead_router_build_info", "lead_router_sweeps_total", "lead_router_api_used"),
        *("lead_router_stream_subscribed", "lead_router_quarantined_events", "lead_router_last_sweep_age_seconds"),
    }


def test_values_that_alerts_ask_for_are_ones_that_are_told():
    """An event of the log, with its level, is one that the program logs, and is there as 0 before it comes."""
    logged = {pair for path in SOURCES.rglob("*.py") for pair in _warnings(path)}
    events = {
        event
        for text in (rule["expr"] for rule in alerts())
        for name, inside in SELECTOR.findall(text)
        if name == LOGGED.name
        for label, _, values in WORD.findall(inside)
        if label == "event"
        for event in values.split("|")
    }

    assert events == {event for event, _ in LOGGED.known}
    assert set(LOGGED.known) - logged == set()


def _warnings(path):
    """What a file logs as a warning or an error, by event and level."""
    levels = {"warning": "warning", "error": "error", "exception": "error"}
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    for call in calls:
        level = levels.get(getattr(call.func, "attr", ""))
        if level and call.args and isinstance(call.args[0], ast.Constant):
            yield call.args[0].value, level


def test_labels_name_nobody():
    """No figure has a label for a lead, a user or a person, whose number has no end."""
    labels = {label for one in (*FIGURES, *SCRAPED) for label in one.labels}

    assert labels == {
        *("outcome", "group", "stage", "held", "reason", "loop", "kind", "event", "level"),
        *("channel", "ending", "version", "python", "breaker", "status"),
    }


def test_every_alert_has_its_three_steps_in_the_runbook():
    """Who is woken finds under the alert's name what to do first, second and third."""
    text = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r'^\| <a id="(\w+)"></a>(.*)$', text, re.MULTILINE))
    cells = {anchor: [cell.strip() for cell in row.strip(" |").split(" | ")] for anchor, row in rows.items()}
    names = {rule["alert"]: rule["annotations"]["runbook"] for rule in alerts()}

    assert {anchor: row[0] for anchor, row in cells.items()} == {name.lower(): name for name in names}
    assert {anchor for anchor, row in cells.items() if len([cell for cell in row if cell]) != 5} == set()
    assert names == {name: f"deploy/RUNBOOK.md#{name.lower()}" for name in names}
    assert {rule["labels"]["severity"] for rule in alerts()} == {"critical", "warning"}
    assert all(rule["annotations"]["summary"] for rule in alerts())


@pytest.mark.parametrize("on_duty", [True, False], ids=["day", "night"])
def test_a_fresh_router_without_a_lead_raises_no_alarm(tmp_path, on_duty):
    """Two processes, of which one waits for its turn to listen, told as they really tell it, for a day and a night."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not here: install the package `prometheus`")
    rig = Rig(tmp_path)
    if not on_duty:
        for name in ("ann_emea", "bob_emea"):
            rig.rest_org.update(rig.rest_org.refs[name], Active__c=False)
    rig.store.keep(rig.store.hold(CHANNEL, "a", lease_s=60.0), subscribed=True)
    rig.upkeep().step()
    series = [
        {"series": f"{one.name}{{{_labels({**one.labels, 'job': 'lead-router', 'instance': place})}}}", "values": value}
        for place, ear in (("a:9466", Ear("subscribed")), ("b:9466", Ear("standby: a listens")))
        for one, value in _told(rig, ear)
    ]
    quiet = [
        {"eval_time": at, "alertname": rule["alert"], "exp_alerts": []}
        for at in ("1h", "13h", "24h")
        for rule in alerts()
    ]
    whole = {"name": "fresh", "interval": "5m", "input_series": series, "alert_rule_test": quiet}
    file = tmp_path / "fresh.yml"
    told = {"rule_files": [str(DEPLOY / "alerts.yml")], "evaluation_interval": "5m", "tests": [whole]}
    file.write_text(yaml.safe_dump(told), encoding="utf-8")
    rig.close()

    done = subprocess.run(
        [tool, "test", "rules", str(file)], capture_output=True, text=True, timeout=PROMTOOL_S, check=False
    )

    watched = {name for rule in alerts() for name in NAME.findall(rule["expr"])} - UNTOLD
    assert watched <= {one["series"].partition("{")[0] for one in series}
    assert done.returncode == 0, done.stdout + done.stderr


def _labels(labels):
    return ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))


def _told(rig, ear):
    """Every sample of a process that has just begun, as a value that stays for a day."""
    vitals = Vitals(time.monotonic, patience_s=60)
    vitals.stage, vitals.ear = "running", lambda: ear
    metrics, client = Metrics(), rig.client
    client.glance()
    queue = QueueLook(rig.open, time.monotonic)
    metrics.look_at(lambda: gauges.of_process(vitals))
    metrics.look_at(lambda: gauges.of_usage(client._rest.usage()))
    metrics.look_at(lambda: gauges.of_groups(client.groups(), client.configuration(), rig.clock.now()))
    metrics.look_at(lambda: gauges.of_breakers({"routing": rig.breaker}))
    metrics.look_at(lambda: gauges.of_queue(queue.look, CHANNEL))
    text = metrics.text().decode()
    queue.close()
    for family in text_string_to_metric_families(text):
        yield from ((one, f"{one.value:.0f}x300") for one in family.samples)


def test_every_alert_is_seen_firing_and_quiet():
    """The rules' own tests leave none out."""
    tests = yaml.safe_load(RULE_TESTS.read_text(encoding="utf-8"))["tests"]
    seen = {(each["alertname"], bool(each["exp_alerts"])) for test in tests for each in test["alert_rule_test"]}

    assert seen == {(rule["alert"], fires) for rule in alerts() for fires in (True, False)}


@pytest.mark.parametrize(
    "words",
    [("check", "config", str(DEPLOY / "prometheus.yml")), ("test", "rules", str(RULE_TESTS))],
    ids=["config", "rules"],
)
def test_prometheus_itself_takes_them(words):
    """Its own tool reads the example and the alerts, and plays each alert's test."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not here: install the package `prometheus`")
    done = subprocess.run([tool, *words], capture_output=True, text=True, timeout=PROMTOOL_S, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
