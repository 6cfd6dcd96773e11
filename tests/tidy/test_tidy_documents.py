"""What the documents name is there."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from lead_router.cli.arguments import parser
from lead_router.settings import Settings

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "README.md",
    "tests/README.md",
    "deploy/COMPARISON.md",
    "deploy/RUNBOOK.md",
    "salesforce_metadata/README.md",
    "salesforce_metadata/CONTRACT.md",
    "salesforce_metadata/extras/README.md",
    "src/lead_router/ARCHITECTURE.md",
    "src/lead_router/rulefiles/README.md",
    "src/org_simulator/README.md",
]
ALARMS = {"warning", "error", "exception", "critical"}
NAMED = re.compile(r"`((?:src|tests|deploy|salesforce_metadata)/[\w./-]+)`")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_a_document_names_exists(document: str):
    """A reader who follows a path finds what was promised."""
    text = (ROOT / document).read_text(encoding="utf-8")

    assert [name for name in NAMED.findall(text) if not (ROOT / name).exists()] == []


def test_every_table_is_whole():
    """A table's rows stand together below its head, each with as many cells: a blank line or a bare `|` breaks it."""
    broken = []
    for path in sorted(ROOT.glob("**/*.md")):
        if {"node_modules", ".venv"} & set(path.parts):
            continue
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
            rows = block.splitlines()
            cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
            if len(rows) < 2 or not re.fullmatch(r"[|: -]+", rows[1]) or len(cells) > 1:
                broken.append(f"{path.relative_to(ROOT)}: {rows[0][:60]}")

    assert broken == []


def test_every_make_target_that_the_readme_names_exists():
    """The README's commands are the Makefile's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert set(re.findall(r"\bmake ([\w-]+)", text)) <= targets


def test_every_log_event_that_the_runbook_names_is_logged():
    """An operator looks for the word that stands in the log."""
    text = (ROOT / "deploy/RUNBOOK.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/lead_router").rglob("*.py"))
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", text))

    assert {"stream_lost", "step_failed", "start_waits", "service_faulted", "group_stuck", "router_warned"} <= named
    assert {name for name in named if f'"{name}"' not in code} == set()


def test_every_alarm_of_the_log_stands_in_the_runbook():
    """Who is woken by a warning or an error finds there what it means and what to do."""
    text = (ROOT / "deploy/RUNBOOK.md").read_text(encoding="utf-8")
    events = {name for path in (ROOT / "src/lead_router").rglob("*.py") for name in _alarms(path)}

    assert {"stream_lost", "stream_refused", "loop_died", "batch_released"} <= events
    assert {name for name in events if f"`{name}`" not in text} == set()


def _alarms(path: Path) -> set[str]:
    """The events that a file logs above `info`; of a condition that chooses, both."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    named = [call.args[0] for call in calls if call.args and getattr(call.func, "attr", "") in ALARMS]
    each = [one for name in named for one in ((name.body, name.orelse) if isinstance(name, ast.IfExp) else (name,))]
    return {one.value for one in each if isinstance(one, ast.Constant) and re.fullmatch("[a-z_]+", str(one.value))}


def test_every_setting_that_a_document_names_is_one():
    """A misspelt setting is refused, so a document must not misspell it."""
    known = {f"LEAD_ROUTER_{name.upper()}" for name in Settings.model_fields}
    for document in DOCUMENTS:
        named = re.findall(r"`(LEAD_ROUTER_[A-Z_]*[A-Z])\b", (ROOT / document).read_text(encoding="utf-8"))
        assert [name for name in named if name not in known] == [], document


def test_the_commands_that_speak_json_are_those_that_the_readme_names():
    """A program that is told of `--json` must not be refused it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"`--json` makes ([\w, ]+) speak to machines", text)
    asked = {"jobs": ["jobs", "list"]}
    for command in ("run", "status", "doctor", "jobs", "demo", "init"):
        words = [*asked.get(command, [command]), "--json"]
        if command in re.findall(r"\w+", told):
            assert parser().parse_args(words).json
        else:
            with pytest.raises(SystemExit):
                parser().parse_args(words)


def test_every_fact_about_others_has_its_dated_source():
    """What is said of a product stands on a page that is named with its date, or with the word that none is known."""
    said, _, listed = (ROOT / "deploy/COMPARISON.md").read_text(encoding="utf-8").partition("## Sources\n")
    sources = dict(re.findall(r"^(\d+)\. ((?:.|\n(?=   ))+)", listed, re.MULTILINE))
    cited = {number for group in re.findall(r"\[([\d, ]+)\]", said) for number in group.split(", ")}

    assert cited == set(sources)
    assert {n for n, text in sources.items() if not re.search(r"\]\(https://", text)} == set()
    dated = re.compile(r"dates?\s+unknown|, 20\d\d|of \w+ 20\d\d")
    assert {number for number, text in sources.items() if not dated.search(text)} == set()
    assert re.search(r"20\d\d-\d\d-\d\d", listed)


def test_the_service_points_at_nothing_that_no_step_makes():
    """The unit's only files are those of the runbook's installation."""
    unit = (ROOT / "deploy/lead-router.service").read_text(encoding="utf-8")
    runbook = (ROOT / "deploy/RUNBOOK.md").read_text(encoding="utf-8")

    assert [path for path in re.findall(r"(?:=|file:)(/\S+)", unit) if path not in runbook] == []


def test_the_top_level_holds_what_a_stranger_expects():
    """Every room has its door at the top; what is not named here belongs into one of them."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    names = {name.split("/")[0] for name in listed.stdout.splitlines()}
    rooms = {"src", "salesforce_metadata", "tests", "deploy"}
    papers = {"pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md", ".env.example"}

    assert {name for name in names - rooms - papers if not name.startswith(".")} == set()
