"""The audit of exported files: any tool's columns, separators and encodings; faults name file, line and column."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lead_router.app.auditing import Asked, audit_files
from lead_router.audit import page, summary
from lead_router.audit.reading import cells
from lead_router.audit.reading.exports import Exports
from lead_router.errors import Misconfigured
from support.org_past import FULL, ZONE, OrgPast, write_files

LEADS = "Id,CreatedDate,OwnerId\n"
ONE = "00Q5f0000000001,2026-01-31T08:00:00Z,0055f0000000001\n"
EPOCH = datetime.fromtimestamp(0, UTC)


@pytest.mark.parametrize(
    ("style", "delimiter", "encoding"),
    [("loader", ",", "utf-8"), ("report", ";", "utf-8-sig"), ("report", "\t", "cp1252"), ("loader", ",", "utf-16")],
)
def test_files_of_any_tool_tell_the_same(tmp_path, style, delimiter, encoding):
    """Data Loader's ids or a report's names, to the second: the planted leads and no others."""
    past = OrgPast(2, 2_000, FULL)
    write_files(past, tmp_path, style=style, delimiter=delimiter, encoding=encoding)

    audit = audit_files(tmp_path, Asked(zone=ZONE))

    assert {one.lead for one in audit.doubles} == past.doubled
    assert [one.kind for one in audit.findings if one.kind in {"poll", "reset"}] == ["poll", "reset"]
    assert audit.resets[0].lead == past.reset_at
    assert {lead for one in audit.left for lead in one.leads} == past.left
    assert audit.leads == 2_000


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "there is no Lead.csv"),
        ({"Lead.csv": "Id,OwnerId\n"}, "Lead.csv, line 1: there is no column CreatedDate"),
        (
            {"lead.csv": LEADS + "00Qxx,2026-01-31T08:00:00Z,me\n"},
            "lead.csv, line 2, column Id: not a Salesforce id: 15 or 18 letters",
        ),
        (
            {"Lead.csv": LEADS + "00Q5f0000000001,yesterday,me\n"},
            "Lead.csv, line 2, column CreatedDate: a date and time",
        ),
        ({"Lead.csv": LEADS + "00Q5f0000000001\n"}, "Lead.csv, line 2, column CreatedDate: the line ends before it"),
        (
            {"Lead.csv": LEADS + ONE, "LeadHistory.csv": "LeadId,CreatedDate,Field\n"},
            "LeadHistory.csv, line 1: there is no column NewValue",
        ),
        (
            {"Lead.csv": LEADS + ONE, "User.csv": "Id,Name,IsActive\n0055f0000000001,A,perhaps\n"},
            "User.csv, line 2, column IsActive",
        ),
    ],
)
def test_a_fault_names_file_line_and_column(tmp_path, files, words):
    """And never the value, which may be a person's."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(Misconfigured, match=words):
        audit_files(tmp_path, Asked(zone=ZONE))


def test_a_report_s_foot_is_no_row(tmp_path):
    """Behind a blank line a report says who made it; other fields' history is passed over; quoted lines are one row."""
    (tmp_path / "Leads.csv").write_text(
        'Lead ID,Create Date,Lead Owner,Lead Source\n00Q5f0000000001,1/31/2026 8:00 AM,"Ana\nMaria",Web\n\n'
        "Leads by source\nCopyright (c) 2026\n",
        encoding="utf-8",
    )
    (tmp_path / "Lead History.csv").write_text(
        "Lead ID,Edit Date,Field / Event,Old Value,New Value\n00Q5f0000000001,1/31/2026,Lead Status,Open,Closed\n",
        encoding="utf-8",
    )

    exports = Exports(tmp_path, "UTC")

    (lead,) = exports.leads(EPOCH)
    assert (lead.owner, lead.source) == ("Ana Maria", "Web")
    assert list(exports.owner_rows(EPOCH)) == []


def test_what_is_deleted_or_older_is_left_out(tmp_path):
    """Exports of all records have what lies in the recycle bin too."""
    (tmp_path / "Lead.csv").write_text(
        "Id,CreatedDate,OwnerId,IsDeleted\n00Q5f0000000001,2026-01-31T08:00:00Z,me,true\n"
        "00Q5f0000000002,2026-01-31T08:00:00Z,me,false\n00Q5f0000000003,2025-01-31T08:00:00Z,me,false\n",
        encoding="utf-8",
    )

    (lead,) = Exports(tmp_path, "UTC").leads(datetime(2026, 1, 1, tzinfo=UTC))

    assert lead.id.startswith("00Q5f0000000002")


def test_without_a_history_what_leads_tell_is_told(tmp_path):
    """Shares and records of one buyer are there still; waits and doubles are not, and the reason is told."""
    past = OrgPast(1, 1_000, FULL)
    write_files(past, tmp_path)
    (tmp_path / "LeadHistory.csv").unlink()
    (tmp_path / "User.csv").unlink()

    audit = audit_files(tmp_path, Asked(zone=ZONE))

    assert any("there is no LeadHistory.csv" in told for told in audit.told)
    assert (audit.history, audit.doubles, audit.waits.elapsed.leads) == (False, (), 0)
    assert audit.twins


def test_without_a_history_nobody_is_said_to_have_given_leads_out(tmp_path):
    """Who created a lead is known, not who gave it an owner; groups and weights are not known either."""
    past = OrgPast(1, 1_000, FULL)
    write_files(past, tmp_path)
    (tmp_path / "LeadHistory.csv").unlink()
    leads = (tmp_path / "Lead.csv").read_text(encoding="utf-8")
    (tmp_path / "Lead.csv").write_text(leads.replace(past.ids["Cleo"], past.ids["Ben"]), encoding="utf-8")

    audit = audit_files(tmp_path, Asked(zone=ZONE))
    (skew,) = [one for one in audit.findings if one.kind == "skew"]

    assert (audit.writers, audit.rivals, {one.writer for one in audit.shares}) == ((), (), {""})
    assert "who gave them out is not known without LeadHistory" in skew.told
    assert "if groups or weights are meant, judge each group by itself" in skew.told
    for shown in (page(audit), summary(audit)):
        assert "Web Integration" not in shown
    assert "not told" not in summary(audit)
    assert "plus 1 minute until" in page(audit)


@pytest.mark.parametrize(
    ("text", "day_first", "expected"),
    [
        ("2026-01-31T08:00:00.000+0000", False, "2026-01-31T08:00:00+00:00"),
        ("2026-01-31 08:00:00", False, "2026-01-31T08:00:00+01:00"),
        ("1/31/2026, 8:05 PM", False, "2026-01-31T20:05:00+01:00"),
        ("12:00 AM", False, None),
        ("1/31/2026 12:00 AM", False, "2026-01-31T00:00:00+01:00"),
        ("31.1.2026 08:00", False, "2026-01-31T08:00:00+01:00"),
        ("3/4/2026 08:00", True, "2026-04-03T08:00:00+02:00"),
        ("3/4/26", False, "2026-03-04T00:00:00+01:00"),
        ("31/1/2026", False, None),
        ("", False, None),
    ],
)
def test_instants_of_tools_and_reports(text, day_first, expected):
    """What names no zone is of the asker's; what cannot be a date is refused."""
    read = cells.reader_of_instants("Europe/Berlin", day_first=day_first)
    if expected is None:
        with pytest.raises(cells.Misfit):
            read(text)
    else:
        assert read(text) == datetime.fromisoformat(expected).timestamp()


def test_addresses_are_kept_as_digests():
    """Alike whatever case or prefix; blanks and dummies are none."""
    assert cells.email_digest(" A@b.example ") == cells.email_digest("a@B.example") != 0
    assert cells.phone_digest("+49 (30) 123 456 78") == cells.phone_digest("0030 12345678") != 0
    assert [cells.phone_digest(text) for text in ("", "n/a", "000 000 0000", "12345")] == [0, 0, 0, 0]
    assert cells.email_digest("  ") == 0
