"""Exports as people make them: what is no CSV, what is missing, what contradicts itself; each told with its remedy."""

from __future__ import annotations

import codecs
from datetime import UTC, datetime

import pytest

from lead_router.app.auditing import Asked, audit_files
from lead_router.audit import page, summary
from lead_router.audit.reading.exports import Exports
from lead_router.core.ids import to18
from lead_router.errors import Misconfigured
from support.org_past import FULL, ZONE, OrgPast, write_files

EPOCH = datetime.fromtimestamp(0, UTC)
HEADS = "Id,CreatedDate,OwnerId\n"
LEAD, REP, BEN, QUEUE = "00Q5f0000000001", "0055f0000000001", "0055f0000000002", "00G5f0000000001"
ONE = f"{LEAD},2026-01-31T08:00:00Z,{REP}\n"
HISTORY = "LeadId,CreatedDate,Field,OldValue,NewValue,CreatedById\n"


def refusal(folder, zone=ZONE, **options) -> str:
    with pytest.raises(Misconfigured) as fault:
        audit_files(folder, Asked(zone=zone, **options))
    return str(fault.value)


@pytest.mark.parametrize(
    ("name", "start", "words"),
    [
        ("Lead.csv", b"PK\x03\x04zip", "Lead.csv is no CSV but a zip file or an Excel workbook: unpack it"),
        ("Lead.csv", b"\xd0\xcf\x11\xe0xls", "Lead.csv is no CSV but an Excel workbook: save the sheet as CSV"),
        ("Lead.csv", b"\x1f\x8bgz", "Lead.csv is no CSV but a gzip file: unpack it"),
        ("Lead.csv", b"\xef\xbb\xbf <html><table>", "Lead.csv is no CSV but a web page"),
        ("Lead.xlsx", b"PK\x03\x04", "Lead.xlsx in .* is no CSV: save or unpack it as Lead.csv"),
        ("Lead.zip", b"PK\x03\x04", "Lead.zip in .* is no CSV: save or unpack it as Lead.csv"),
        ("report17.csv", HEADS.encode(), "there is no Lead.csv in .*, which holds report17.csv: give the export"),
        ("Lead.csv", b"", "Lead.csv: it is empty"),
        ("Lead.csv", HEADS.encode(), "Lead.csv: no row stands behind its heads"),
        ("Lead.csv", b"Name,Created;X\n", "line 1: there is no column Id .in reports: Lead ID.*there are: Name, Crea"),
    ],
)
def test_what_is_no_table_is_named_with_its_remedy(tmp_path, name, start, words):
    """A workbook, an archive, a page, an empty file, or another name."""
    (tmp_path / name).write_bytes(start)

    with pytest.raises(Misconfigured, match=words):
        audit_files(tmp_path, Asked(zone=ZONE))


def test_a_folder_is_meant(tmp_path):
    """Not the file in it, and one that is there; of two files of one name neither is guessed."""
    (tmp_path / "Lead.csv").write_text(HEADS + ONE, encoding="utf-8")

    assert refusal(tmp_path / "Lead.csv").endswith("that is a file; name the folder that it is in")
    assert refusal(tmp_path / "none").endswith("there is no such folder")
    (tmp_path / "leads.CSV").write_text(HEADS + ONE, encoding="utf-8")
    assert refusal(tmp_path).startswith("Lead.csv and leads.CSV are both in ")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("00Q5f000005bwLFAAA,2026-01-31T08:00:00Z,x\n", "column Id: not a Salesforce id: its last 3 characters do not"),
        ("0035f0000000001,2026-01-31T08:00:00Z,x\n", "column Id: this is the id of another object: those of leads"),
        (f"{LEAD},2026-01-31T08:00:00Z,0055f000005bwLFAAA\n", "column OwnerId: not a Salesforce id: its last 3"),
        (f"{LEAD},31/1/2026 8:00,x\n", "column CreatedDate: a date and time .*add --day-first: the day comes first"),
        (f"{LEAD},1/31/2026,x\n", "column CreatedDate: only days stand there"),
        (f"{LEAD},2026-01-31T08:00:00Z,Mia, Manager\n", "line 2: it has 4 cells, and line 1 has 3 heads"),
        (f'{LEAD},2026-01-31T08:00:00Z,"A\nB"\n{LEAD},2026-01-31T08:00:00Z\n', "line 4, column OwnerId: the line ends"),
        (f"\n\n{LEAD},bad,x\n", "line 4, column CreatedDate: a date"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(tmp_path, rows, words):
    """The line is the one that the row begins on; blank lines amid the rows hide none of them."""
    (tmp_path / "Lead.csv").write_text(HEADS + rows, encoding="utf-8")

    with pytest.raises(Misconfigured, match=words):
        audit_files(tmp_path, Asked(zone=ZONE))


@pytest.mark.parametrize(
    ("text", "encoding", "mark"),
    [
        ("sep=;\r\nOwnerId;Extra;ID;created DATE\r\n{0};a,b;{1};31.1.2026 09:00\r\n", "utf-8", b""),
        ("Extra\tOwnerId\tId\tCreatedDate\r\nx\t{0}\t{1}\t2026-01-31T08:00:00.000+0000\r\n", "utf-16-le", b""),
        ("Id,CreatedDate,OwnerId\n{1},2026-01-31T08:00:00.000Z,{0}\n", "utf-16-be", codecs.BOM_UTF16_BE),
        ('"Lead ID";"Create Date";"Lead Owner ID"\r"{1}";"1/31/2026, 9:00\u202fAM";"{0}"\r', "utf-8", codecs.BOM_UTF8),
    ],
)
def test_columns_of_any_order_case_and_tool(tmp_path, text, encoding, mark):
    """Excel's first line, UTF-16 with and without its mark, old line ends, a narrow space before AM, other columns."""
    (tmp_path / "Lead.csv").write_bytes(mark + text.format(REP, LEAD).encode(encoding))

    (lead,) = Exports(tmp_path, ZONE).leads(EPOCH)

    assert (lead.id, lead.owner) == (to18(LEAD), to18(REP))
    assert lead.created == datetime(2026, 1, 31, 8, tzinfo=UTC).timestamp()


def test_what_is_not_there_is_told_with_what_it_hides(tmp_path):
    """Each optional file and column: what cannot be judged, and how to export it; on page and terminal."""
    past = OrgPast(1, 300, FULL)
    write_files(past, tmp_path)
    for name in ("LeadHistory", "User", "Group"):
        (tmp_path / f"{name}.csv").unlink()
    (tmp_path / "Lead.csv").write_text(HEADS + ONE, encoding="utf-8")

    audit = audit_files(tmp_path, Asked())

    told = "\n".join(audit.told)
    assert "there is no LeadHistory.csv in " in told
    assert "there is no User.csv in " in told
    assert "leads with inactive users cannot be told" in told
    assert "export User with Id, Name, IsActive" in told
    assert "there is no Group.csv or Queue.csv in " in told
    assert "Lead.csv has no LeadSource" in told
    assert "Lead.csv has no Email and no Phone: buyers with two records cannot be told" in told
    assert "What this cannot tell" in page(audit)
    assert "there is no User.csv" in summary(audit)


def test_a_whole_export_lacks_nothing(tmp_path):
    """But the hours, which no file tells, and the one column that this one has not."""
    write_files(OrgPast(1, 300, FULL), tmp_path)

    told = audit_files(tmp_path, Asked(zone=ZONE)).told

    kinds = "User.csv has no UserType and no licence: who is a machine is judged by writes alone"
    assert [one for one in told if "guess" not in one] == [kinds]


def test_a_lead_that_stands_there_twice_counts_once(tmp_path):
    """As its last row has it; a change that is exported twice is one."""
    again = f"{LEAD},2026-01-31T08:00:00Z,{BEN}\n"
    change = f"{LEAD},2026-01-31T08:01:00Z,Owner,{REP},{BEN},{REP}\n"
    (tmp_path / "Lead.csv").write_text(HEADS + ONE + again, encoding="utf-8")
    (tmp_path / "LeadHistory.csv").write_text(HISTORY + change * 2, encoding="utf-8")

    audit = audit_files(tmp_path, Asked(zone=ZONE))

    assert (audit.leads, audit.changes) == (1, 1)
    assert "Lead.csv has 1 row of leads that stand there twice: once counted" in audit.told


def many(folder, *, created, changed, days=0):
    """Forty leads at these times, each with a change of owner."""
    ids = [f"00Q5f00000{number:05}" for number in range(40)]
    leads = "".join(f"{one},{created},{BEN}\n" for one in ids)
    rows = "".join(f"{one},{changed},Owner,{QUEUE},{BEN},{REP}\n" for one in ids)
    (folder / "Lead.csv").write_text(HEADS + leads, encoding="utf-8")
    (folder / "LeadHistory.csv").write_text(HISTORY + rows, encoding="utf-8")
    if days:
        with (folder / "Lead.csv").open("a", encoding="utf-8") as file:
            file.writelines(f"00Q5f00001{number:05},2026-02-{days:02}T08:00:00Z,{REP}\n" for number in range(30))


def test_files_of_two_time_zones_are_refused(tmp_path):
    """UTC of Data Loader beside a report's local times: waits would be below nothing. Cut minutes are no such thing."""
    many(tmp_path, created="2026-01-31T08:00:40Z", changed="1/31/2026 3:00 AM")
    assert "of 40 of 40 leads the first change of owner came before the creation" in refusal(tmp_path, zone="UTC")

    many(tmp_path, created="2026-01-31T08:00:40Z", changed="1/31/2026 8:00 AM")
    audit = audit_files(tmp_path, Asked(zone="UTC"))
    assert (audit.waits.elapsed.p50, audit.waits.elapsed.most) == (0.0, 0.0)


def test_leads_that_are_newer_than_the_history_are_left_out(tmp_path):
    """Their first owner is not known: taken for the present one, they would have waited for nothing."""
    many(tmp_path, created="2026-01-31T08:00:00Z", changed="2026-01-31T08:20:00Z", days=9)

    audit = audit_files(tmp_path, Asked(zone=ZONE))

    assert audit.leads == 40
    assert any(told.startswith("30 leads are left out that were created after the last change") for told in audit.told)


def test_dates_that_may_be_turned_round_are_told(tmp_path):
    """Unless one of them says which number is the day, or the asker does."""
    (tmp_path / "Lead.csv").write_text(f"{HEADS}{LEAD},3/4/2026 8:00 AM,{REP}\n", encoding="utf-8")
    assert any("taken for March 4" in told for told in audit_files(tmp_path, Asked(zone=ZONE)).told)
    assert not any("March" in told for told in audit_files(tmp_path, Asked(zone=ZONE, day_first=True)).told)

    with (tmp_path / "Lead.csv").open("a", encoding="utf-8") as file:
        file.write(f"00Q5f0000000002,3/14/2026 8:00 AM,{REP}\n")
    assert not any("March" in told for told in audit_files(tmp_path, Asked(zone=ZONE)).told)


def test_names_obey_no_terminal(tmp_path):
    """Nor does a source: what a file says is shown, never carried out."""
    history = HISTORY + "".join(
        f"00Q5f00000{number:05},2026-01-31T08:{number:02}:00Z,Owner,Queue,\x1b[31mAna <b>,\x1b]0;Bot\x07\n"
        for number in range(40)
    )
    leads = "".join(f"00Q5f00000{number:05},2026-01-31T08:00:00Z,Ana\n" for number in range(40))
    (tmp_path / "Lead.csv").write_text(HEADS + leads, encoding="utf-8")
    (tmp_path / "LeadHistory.csv").write_text(history, encoding="utf-8")

    audit = audit_files(tmp_path, Asked(zone=ZONE))

    assert "Ana <b>" not in page(audit)
    assert "machines that write owners: 1 (" in summary(audit)
    assert not set("\x1b\x07") & set(summary(audit))
