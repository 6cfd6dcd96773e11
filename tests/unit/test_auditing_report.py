"""The audit's report, summary and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from lead_router.audit import Assumed, Audit, gather, judge, page, summary
from lead_router.audit.judging.answers import Thin
from lead_router.cli import main
from lead_router.cli.auditing import hours
from lead_router.errors import Misconfigured
from support.org_past import CLEAN, FIRST_DAY, FULL, ZONE, OrgPast, write_files

VOID = {"meta", "rect", "line", "circle", "polyline", "br"}


def audited(plant, leads=2_000) -> Audit:
    past = OrgPast(4, leads, plant)
    return judge(gather(past, FIRST_DAY, past.end, hours=None, zone=""), Assumed())


@pytest.fixture(scope="module")
def full() -> Audit:
    return audited(FULL)


class Outline(HTMLParser):
    """Tags with their attributes, headings, and what is left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == name]


def test_the_page_stands_alone_and_is_read_aloud(full):
    """One file: no script, nothing fetched; every drawing says what it shows, every head what it heads."""
    text = page(full)
    outline = Outline(text)

    assert outline.open == []
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert {tag for tag, _ in outline.tags} & {"script", "link", "img", "iframe", "object"} == set()
    assert outline.of("html") == [{"lang": "en"}]
    assert len(outline.of("svg")) >= 8
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in outline.of("svg"))
    assert all(attrs.get("scope") in {"col", "row"} for attrs in outline.of("th"))
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_finding_stands_there_with_its_change_and_leads(full):
    """In the same order on page and terminal."""
    text, told = page(full), summary(full)

    places = [text.index(f"<h3>{escape(one.title)}</h3>") for one in full.findings]
    assert places == sorted(places)
    for one in full.findings:
        assert one.title in told
        assert all(lead in text for lead in one.leads[:10])
    assert "smallest change: " in told
    assert "machines that write owners: 3 (Router API of " in told


def test_names_are_shown_and_never_obeyed(full):
    """A name may hold any letters."""
    names = dict.fromkeys(full.names, '<b onload="x">&"')

    text = page(replace(full, names=names))

    assert "<b onload" not in text
    assert Outline(text).open == []


def test_a_clean_org_is_told_so():
    """The report says what was looked for."""
    clean = audited(CLEAN)

    assert "change nothing" in page(clean)
    assert "change nothing" in summary(clean)
    few = summary(replace(clean, thin=(Thin("pollers", 12, 60, "round of one writer and source"),)))
    assert "pollers: too little to say (12 of 60 rounds of one writer and source needed)" in few
    assert "change nothing" not in few
    assert "change nothing" not in page(replace(clean, history=False))


def test_the_command_reads_files_and_writes_the_report(tmp_path, capsys):
    """Without any settings: `--csv` needs no org. JSON holds every lead of every finding."""
    past = OrgPast(4, 2_000, FULL)
    write_files(past, tmp_path)
    report = tmp_path / "audit.html"

    assert main(["audit", "--csv", str(tmp_path), "--zone", ZONE, "--html", str(report), "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    doubles = next(one for one in found["findings"] if one["kind"] == "doubles")
    assert set(doubles["leads"]) == past.doubled
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--zone", "Mars"], "time zone 'Mars' is not known"),
        (["--hours", "Mon-Fri 9-17"], "--hours needs the time zone it is in: add --zone, as in --zone Europe/Paris"),
        (["--html", "/nowhere/at/all.html"], "--html /nowhere/at/all.html"),
        (["--csv", "/nowhere"], "there is no such folder"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, capsys, words, told):
    """With exit code 2."""
    (tmp_path / "Lead.csv").write_text("Id,CreatedDate,OwnerId\n", encoding="utf-8")

    assert main(["audit", "--csv", str(tmp_path), *words]) == 2
    assert told in capsys.readouterr().err


def test_the_example_of_the_help_is_whole(capsys):
    """What is copied from there is not refused."""
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    shown = " ".join(capsys.readouterr().out.split())

    assert "--hours 'Mon-Fri 9-17' --zone Europe/Paris" in shown


def test_hours_are_told_in_words():
    """Days in any case, over the week's end, several parts; what makes no sense is refused."""
    week = hours("Mon-Thu 8:30-17:00, fri 8-12", "Europe/Paris").week

    assert week == (*(((510, 1020),) for _ in range(4)), ((480, 720),), (), ())
    assert [bool(day) for day in hours("Sat-Mon 10-14", "UTC").week] == [True, False, False, False, False, True, True]
    for text in ("9-17", "Mon-Fri", "Xyz 9-17", "Mon 17-9", "Mon 9-25"):
        with pytest.raises(Misconfigured):
            hours(text, "UTC")
