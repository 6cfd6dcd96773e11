"""What `rules check` and `rules test` say of a folder, without an org."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lead_router.errors import BadCriteria, Misconfigured
from lead_router.rulefiles import (
    FileRule,
    Pulled,
    PulledRule,
    Surroundings,
    Where,
    WhereKind,
    check,
    org_text,
    read_folder,
    read_sheet,
    rules_text,
    tried,
)
from lead_router.rulefiles.nouns import CRITERIA_MAX, NAME_MAX, PRECEDENCE_MAX
from support import shipped_metadata as shipped

AT = datetime(2026, 3, 4, tzinfo=UTC)
FIELDS = {"Country": "string", "PostalCode": "string", "AnnualRevenue": "currency", "NumberOfEmployees": "int",
          "DoNotCall": "boolean", "Born__c": "date", "CreatedDate": "datetime", "OwnerId": "reference",
          "Owner.Type": "string"}  # fmt: skip
AROUND = Surroundings(FIELDS, {"north": 3, "empty": 0}, frozenset({"Lead_Intake", "Lost_Leads"}))
RULES = """rules:
- name: Norway
  precedence: 10
  criteria: Country = 'NO'
  group: north
- name: Rich
  precedence: 20
  criteria: AnnualRevenue >= 1000000
  user: ann@company.example
- name: Rest
  precedence: 30
  group: south
"""


def _rules(tmp_path, text):
    (tmp_path / "rules.yaml").write_text(text)
    return read_folder(tmp_path).rules


def _rule(name, precedence, criteria="", where=None, **changes):
    return FileRule(name, precedence, criteria, where or Where(WhereKind.GROUP, "north"), **changes)


def _told(rules, around=AROUND):
    return [(one.name, one.ok, one.warning, one.detail) for one in check(rules, around)]


def test_rules_without_fault_are_told_in_one_line():
    """A check that finds nothing says how much it looked at."""
    assert _told([_rule("A", 1, "Country = 'NO'"), _rule("B", 2)]) == [
        ("rules", True, False, "2 rules, nothing to mend")
    ]


FOUND = [
    (
        [_rule("A", 1, "Contry = 'NO'"), _rule("B", 2)],
        "character 1: there is no field Contry; did you mean Country?",
        False,
    ),
    ([_rule("A", 1, "Country = 5"), _rule("B", 2)], "character 11: Country is compared with a quoted text", False),
    ([_rule("A", 1, "Country ="), _rule("B", 2)], "character 10: the clause ends where", False),
    ([_rule("A", 1, "Contry = 'NO'", active=False), _rule("B", 2)], "there is no field Contry", False),
    ([_rule("A", 1), _rule("B", 1, "Country = 'x'")], "has precedence 1, as has rule 'A'", False),
    ([_rule("A", 1, where=Where(WhereKind.GROUP, "nord"))], "there is no group 'nord'; did you mean 'north'?", False),
    (
        [_rule("A", 1, where=Where(WhereKind.QUEUE, "Lost_Lead"))],
        "there is no queue 'Lost_Lead'; did you mean 'Lost_Leads'?",
        False,
    ),
    (
        [_rule("A", 1, where=Where(WhereKind.GROUP, "empty"))],
        "group 'empty' has no member who can ever be on duty",
        True,
    ),
    ([_rule("A", 1, "Country = 'NO'")], "no rule takes every lead", True),
    ([], "there are no rules", True),
    ([_rule("A", 1), _rule("B", 2, "Country = 'NO'")], "is never reached: rule 'A' above it takes all its leads", True),
    (
        [_rule("A", 1, "Country = 'NO'"), _rule("B", 2, "Country = 'SE'"), _rule("C", 3, "Country IN ('NO','SE')")],
        "is never reached: rules 'A' and 'B' above it take all its leads",
        True,
    ),
    ([_rule("A" * 81, 1)], "its name has 81 characters, 80 are allowed", False),
    ([_rule("A", 1_000_000_000)], "its precedence 1000000000 is beyond 999999999", False),
    ([_rule("A", 1, "Country = '" + "x" * 32_768 + "'", active=False)], "32,780 characters, 32,768 are allowed", False),
    ([_rule("A", 1, "Country = 'NO' AND Country = 'SE'"), _rule("B", 2)], "no lead can meet its criteria", True),
]


@pytest.mark.parametrize(("rules", "text", "warning"), FOUND, ids=range(len(FOUND)))
def test_each_fault_is_found(rules, text, warning):
    """P65, E16: unknown field, wrong type, unreachable, no catch-all, empty group, unknown target."""
    assert [(text in detail, ok, warns) for _, ok, warns, detail in _told(rules) if text in detail] == [
        (True, False, warning)
    ]


def test_what_just_fits_the_org_s_fields_is_no_fault():
    """Limits are those of the shipped fields, and of Salesforce's Name."""
    fields = shipped.SOURCES / "objects" / "Routing_Rule__c" / "fields"
    precision = f"<precision>{len(str(PRECEDENCE_MAX))}</precision>"
    assert precision in (fields / "Precedence__c.field-meta.xml").read_text(encoding="utf-8")
    assert f"<length>{CRITERIA_MAX}<" in (fields / "Criteria__c.field-meta.xml").read_text(encoding="utf-8")
    assert _told([_rule("A" * NAME_MAX, PRECEDENCE_MAX)]) == [("rules", True, False, "1 rule, nothing to mend")]


def test_files_are_warned_of_amounts_in_an_org_of_several_currencies():
    """As the router itself warns, by the fields that the last pull saw."""
    rules = [_rule("A", 1, "AnnualRevenue > 5"), _rule("B", 2)]
    several = Surroundings(FIELDS | {"CurrencyIsoCode": "picklist"}, AROUND.groups, AROUND.queues)
    assert [(one[0], one[1:3], "whatever the lead's currency" in one[3]) for one in _told(rules, several)] == [
        ("rule 'A'", (False, True), True)
    ]
    named = [_rule("A", 1, "AnnualRevenue > 5 AND CurrencyIsoCode = 'EUR'"), _rule("B", 2)]
    assert [one[1] for one in _told(named, several)] == [one[1] for one in _told(rules)] == [True]


def test_an_inactive_rule_takes_no_leads_and_a_matched_rule_lets_leads_pass():
    """Neither shadows the rules below it, and a matched rule without criteria is no catch-all."""
    matched = Where(WhereKind.MATCHED, "Any", "Email", "Next Rule")
    rules = [_rule("A", 1, active=False), _rule("B", 2, where=matched), _rule("C", 3, "Country = 'NO'")]

    assert [one[3] for one in _told(rules)] == ["no rule takes every lead: leads that match none are held"]


def test_without_an_org_the_check_says_what_it_could_not_look_at(tmp_path):
    """The place of a rule is its file and line; groups are not known without a pull."""
    told = _told(_rules(tmp_path, RULES.replace("= 'NO'", "= NO")), Surroundings())

    assert [one[0] for one in told] == ["rules.yaml:2 rule 'Norway'", "groups"]
    assert "line 4, character 11" in told[0][3]


CASES = """cases:
- lead: {Country: NO}
  rule: Norway
  group: north
- name: rich Swede
  lead: {Country: SE, AnnualRevenue: 1000000}
  user: ann@company.example
- lead: {Owner.Type: Queue}
  rule: Rest
- lead: {Country: SE, AnnualRevenue: 7}
  rule: Rich
- lead: {Country: NO}
  group: south
- lead: {country: NO}
  rule: null
"""


def test_cases_are_tried_on_the_rules(tmp_path):
    """E16: `Country: NO` is Norway. A case that fails says what was expected and what came, with its line."""
    (tmp_path / "cases.yaml").write_text(CASES)
    _rules(tmp_path, RULES)
    read = read_folder(tmp_path)
    found = tried(read.cases, read.rules, FIELDS, AT)

    assert [(str(one.case.at), one.fault) for one in found] == [
        ("cases.yaml:2", ""),
        ("cases.yaml:5", ""),
        ("cases.yaml:8", ""),
        ("cases.yaml:10", "expected rule 'Rich', got rule 'Rest'"),
        ("cases.yaml:12", "expected group south, got rule 'Norway' to group north"),
        ("cases.yaml:14", "expected no rule, got rule 'Norway'"),
    ]


BAD_CASES = [
    ("{lead: {Contry: NO}, rule: Norway}", "cases.yaml:2: there is no field Contry on Lead; did you mean 'Country'?"),
    ("{lead: {Country: true}, rule: Norway}", "cases.yaml:2: Country takes a text, not true"),
    ("{lead: {PostalCode: 12345}, rule: Norway}", "cases.yaml:2: PostalCode takes a text, not 12345: put it in quotes"),
    ("{lead: {AnnualRevenue: '5'}, rule: Norway}", "cases.yaml:2: AnnualRevenue takes a number, not '5'"),
    ("{lead: {DoNotCall: yes}, rule: Norway}", "cases.yaml:2: DoNotCall takes true or false, not 'yes'"),
    ("{lead: {Born__c: 31.1.2026}, rule: Norway}", "cases.yaml:2: Born__c takes a date such as 2026-01-31"),
    (
        "{lead: {CreatedDate: 2026-01-31}, rule: Norway}",
        "cases.yaml:2: CreatedDate takes a date and time with its zone",
    ),
    ("{lead: {OwnerId: abc}, rule: Norway}", "cases.yaml:2: OwnerId takes a record id"),
    ("{lead: {Country: NO}, rule: Norwey}", "cases.yaml:2: there is no rule 'Norwey'; did you mean 'Norway'?"),
]


@pytest.mark.parametrize(("case", "told"), BAD_CASES)
def test_a_case_with_a_wrong_field_or_type_is_refused_by_line(tmp_path, case, told):
    """E16, F13: a boolean where a text belongs is refused with its line, an unknown field with the nearest."""
    (tmp_path / "cases.yaml").write_text(f"cases:\n- {case}\n")
    _rules(tmp_path, RULES)
    read = read_folder(tmp_path)

    with pytest.raises(Misconfigured) as refused:
        tried(read.cases, read.rules, FIELDS, AT)
    assert str(refused.value).startswith(told)


def test_criteria_that_cannot_be_read_stop_the_cases(tmp_path):
    """A case cannot be tried on rules that do not load."""
    with pytest.raises(BadCriteria, match=r"rules\.yaml:2 rule 'Norway': criteria, character 1: there is no field"):
        tried((), _rules(tmp_path, RULES.replace("Country", "Contry")), FIELDS, AT)


def test_what_is_written_is_read_again_as_it_was(tmp_path):
    """E16: names that other YAML readers would take for something else are quoted; lines and accents stay."""
    where = Where(WhereKind.MATCHED, "Contact", "Domain", "Wait")
    rules = (
        _rule("NO", 10, "Country = 'NO'\n  AND Name LIKE '%\u00e9: #\\'%'"),
        _rule("010", 20, where=where, active=False),
        _rule("22:30", 30, where=Where(WhereKind.USER, "yes")),
    )
    pulled = Pulled("00D", tuple(PulledRule(f"a{at}", one) for at, one in enumerate(rules)), FIELDS, {"on": 2}, ("no",))
    (tmp_path / "rules.yaml").write_text(rules_text(rules), encoding="utf-8")
    (tmp_path / "org.yaml").write_text(org_text(pulled), encoding="utf-8")

    read = read_folder(tmp_path)
    assert (read.rules, read.pulled) == (rules, pulled)
    assert "'NO'" in rules_text(rules)


def _sheet(tmp_path, text):
    path = tmp_path / "leads.csv"
    path.write_text(text, encoding="utf-8")
    return read_sheet(path, FIELDS)


def test_a_csv_file_gives_typed_and_nested_fields(tmp_path):
    """Columns in any letter case; blanks are null; a byte order mark, blank lines and quoted line breaks do no harm."""
    sheet = _sheet(
        tmp_path,
        '\ufeffcountry,AnnualRevenue,DoNotCall,Owner.Type,PostalCode\nNO,1000000.5,TRUE,Queue,0123\n\n"a\nb",7,,,\n',
    )

    assert sheet.leads == (
        {
            "Country": "NO",
            "AnnualRevenue": 1000000.5,
            "DoNotCall": True,
            "Owner": {"Type": "Queue"},
            "PostalCode": "0123",
        },
        {"Country": "a\nb", "AnnualRevenue": 7, "DoNotCall": None, "Owner": {"Type": None}, "PostalCode": None},
    )
    assert sheet.lines == (2, 5)


BAD_SHEETS = [
    ("Contry\nNO\n", "leads.csv:1: there is no field Contry on Lead; did you mean 'Country'?"),
    ("Country,country\nNO,NO\n", "leads.csv:1: column Country stands there twice"),
    ("", "leads.csv:1: the first line names the columns"),
    ("Country\nNO,SE\n", "leads.csv:2: 2 values for 1 columns"),
    ("AnnualRevenue\n1\nlots\n", "leads.csv:3: AnnualRevenue takes a number"),
    ("AnnualRevenue\nnan\n", "leads.csv:2: AnnualRevenue takes a number"),
    ("NumberOfEmployees\n1.5\n", "leads.csv:2: NumberOfEmployees takes a number"),
    ("OwnerId\nme\n", "leads.csv:2: OwnerId takes a record id"),
    ("CreatedDate\n2026-01-31T08:00:00\n", "leads.csv:2: CreatedDate takes a date and time with its zone"),
    ('Country\n"NO\n', "leads.csv: this is not CSV"),
]


@pytest.mark.parametrize(("text", "told"), BAD_SHEETS, ids=range(len(BAD_SHEETS)))
def test_a_csv_file_at_fault_is_refused_by_line_and_column(tmp_path, text, told):
    """F13: an unknown column is refused by name, with the nearest right one; values are never repeated."""
    with pytest.raises(Misconfigured) as refused:
        _sheet(tmp_path, text)
    assert str(refused.value).startswith(told)


def test_a_csv_file_that_is_not_there_is_named(tmp_path):
    """The path stands in the refusal."""
    with pytest.raises(Misconfigured, match=r"none\.csv: No such file"):
        read_sheet(tmp_path / "none.csv", FIELDS)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("Country\nÅland\n".encode("cp1252"), "leads.csv is not UTF-8: save it as CSV UTF-8"),
        ("Country\nNO\n".encode("utf-16"), "leads.csv is not UTF-8: save it as CSV UTF-8"),
        (
            b"Country;Email\nNO;a@x.example\n",
            "leads.csv:1: semicolons separate the columns: save it as CSV with commas",
        ),
        (b"Country\tEmail\nNO\ta@x.example\n", "leads.csv:1: tabs separate the columns: save it as CSV with commas"),
        (None, "leads.csv: Is a directory"),
    ],
    ids=["cp1252", "utf-16", "semicolons", "tabs", "folder"],
)
def test_a_sheet_that_a_spreadsheet_saved_otherwise_is_refused_with_what_to_do(tmp_path, content, told):
    """Encoding and separator are named, not what a parser made of them; so is a folder where a file should be."""
    path = tmp_path / "leads.csv"
    path.mkdir() if content is None else path.write_bytes(content)

    with pytest.raises(Misconfigured) as refused:
        read_sheet(path, FIELDS)
    assert str(refused.value).endswith(told)
