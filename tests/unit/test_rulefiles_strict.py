"""Rule files are read with strict types: what looks like a text stays one, and a fault is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lead_router.errors import Misconfigured
from lead_router.rulefiles import read_folder, strict

TYPES = """a: NO
b: [SE, no, on, off, Yes, y, True, NULL]
c: 010
d: 22:30
e: 2026-01-31
f: 0x1F
g: 1_000
h: .5
i: 1e3
j: "true"
k: =
l: <<
"""


def _read(folder: Path, text: str):
    (folder / "rules.yaml").write_text(text, encoding="utf-8")
    return read_folder(folder)


def test_what_yaml_once_took_for_something_else_stays_a_text():
    """E16: NO is Norway, 010 a text, 22:30 a time as written; no date, no octal number, no number of seconds."""
    part = strict.read(TYPES, "x.yaml")
    assert isinstance(part, strict.Row)
    values = {key: one.value for key, one in part.entries.items() if isinstance(one, strict.Leaf)}
    column = part.entries["b"]
    assert isinstance(column, strict.Column)

    assert [one.value for one in column.items if isinstance(one, strict.Leaf)] == [
        "SE", "no", "on", "off", "Yes", "y", "True", "NULL",
    ]  # fmt: skip
    assert values == {
        "a": "NO", "c": "010", "d": "22:30", "e": "2026-01-31", "f": "0x1F", "g": "1_000", "h": ".5", "i": "1e3",
        "j": "true", "k": "=", "l": "<<",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("-3", -3), ("0", 0), ("1.5", 1.5), ("true", True), ("false", False), ("null", None), ("~", None),
     ("", None)],
)  # fmt: skip
def test_numbers_flags_and_nothing_are_what_they_look_like(text, value):
    """The core schema's scalars, with their Python types."""
    part = strict.read(f"a: {text}", "x.yaml")
    assert isinstance(part, strict.Row)
    leaf = part.entries["a"]

    assert isinstance(leaf, strict.Leaf)
    assert (leaf.value, type(leaf.value)) == (value, type(value))


REFUSED = [
    ("rules:\n- nme: A", "rules.yaml:2: a rule has no key 'nme'; did you mean 'name'?"),
    ("ruls: []", "rules.yaml:1: a rule file has no key 'ruls'; did you mean 'rules'?"),
    ("rules:\n- name: A\n  precedence: 010\n  group: g", "rules.yaml:3: a precedence is a whole number, not '010'"),
    ("rules:\n- name: A\n  precedence: true\n  group: g", "rules.yaml:3: a precedence is a whole number, not true"),
    ("rules:\n- name: A\n  precedence: 1.5\n  group: g", "rules.yaml:3: a precedence is a whole number, not 1.5"),
    (
        "rules:\n- name: 7\n  precedence: 1\n  group: g",
        "rules.yaml:2: a rule's name is a text, not 7: put it in quotes",
    ),
    ("rules:\n- name: A\n  precedence: 1\n  group: false", "rules.yaml:4: group of rule 'A' is a text, not false"),
    (
        "rules:\n- name: A\n  precedence: 1\n  group: g\n  active: yes",
        "rules.yaml:5: active is true or false, not 'yes'",
    ),
    ("rules:\n- name: A\n  precedence: 1", "rules.yaml:2: rule 'A' has no target"),
    (
        "rules:\n- name: A\n  precedence: 1\n  group: g\n  user: u",
        "rules.yaml:5: rule 'A' has two targets, group and user",
    ),
    ("rules:\n- precedence: 1\n  group: g", "rules.yaml:2: a rule has no name"),
    ("rules:\n- name: A\n  name: B", "rules.yaml:3: the key 'name' is given twice, first in line 2"),
    ("rules:\n- &x {name: A, precedence: 1, group: g}\n- *x", "rules.yaml:2: anchors and aliases are not used here"),
    ("rules:\n- name: &x A\n  precedence: 1\n  group: g", "rules.yaml:2: anchors and aliases are not used here"),
    ("rules: &x\n- name: A\n  precedence: 1\n  group: g", "rules.yaml:1: anchors and aliases are not used here"),
    ("rules:\n- <<: *x", "rules.yaml:2: anchors and aliases are not used here"),
    ("rules:\n- !!python/object:os.system {}", "rules.yaml:2: tags such as"),
    ("rules: !!set {a, b}", "rules.yaml:1: tags such as"),
    ("rules:\n- name: !!binary aGk=\n  precedence: 1\n  group: g", "rules.yaml:2: tags such as"),
    ("rules:\n- name: !!int x\n  precedence: 1\n  group: g", "rules.yaml:2: this number cannot be read"),
    ("rules:\n  name: A", "rules.yaml:2: 'rules' is a list"),
    ("rules:\n- [a]", "rules.yaml:2: a rule is a mapping"),
    ("rules: [\n", "rules.yaml:2:"),
    ("rules: 'a\n", "rules.yaml:2:"),
    ("a: 1\n---\nb: 2\n", "rules.yaml:2:"),
    ("? [a]\n: b", "rules.yaml:1: a key is a text"),
    ("rules: \x00", "rules.yaml: this is not YAML"),
    ("[" * 3000, "rules.yaml"),
    (
        "rules:\n- {name: A, precedence: 1, group: g}\n- {name: A, precedence: 2, group: g}",
        "rules.yaml:3: rule 'A' stands in rules.yaml:2 already",
    ),
    (
        "rules:\n- {name: A, precedence: 1, group: g}\n- {name: B, precedence: 1, group: g}",
        "rules.yaml:3: rule 'B' has precedence 1, as has 'A'",
    ),
    (
        "rules:\n- {name: A, precedence: 1, matched: Acount}",
        "rules.yaml:2: matched cannot be 'Acount'; did you mean 'Account'?",
    ),
    (
        "rules:\n- {name: A, precedence: 1, group: g, match_on: Email}",
        "rules.yaml:2: rule 'A' has match_on, which goes with matched alone",
    ),
    ("cases:\n- lead: {}\n", "rules.yaml:2: a case says which rule it expects"),
    ("cases:\n- rule: A\n", "rules.yaml:2: a case has no lead"),
    ("cases:\n- rule: A\n  lead:\n    Country: [NO]\n", "rules.yaml:4: field Country of a lead is one value"),
]


@pytest.mark.parametrize(("text", "told"), REFUSED, ids=range(len(REFUSED)))
def test_a_fault_is_told_with_file_and_line(tmp_path, text, told):
    """F13: an unknown key is refused with the nearest right one; every refusal names file and line."""
    with pytest.raises(Misconfigured) as refused:
        _read(tmp_path, text)

    assert str(refused.value).startswith(told)


def test_a_folder_that_is_none_is_refused(tmp_path):
    """The remedy is a pull."""
    with pytest.raises(Misconfigured, match="rules pull --to"):
        read_folder(tmp_path / "none")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_in_another_encoding_is_refused_with_the_remedy(tmp_path, encoding):
    """F13: as some editors and shells save texts."""
    (tmp_path / "rules.yaml").write_bytes("rules: []  # \xc5land\n".encode(encoding))
    with pytest.raises(Misconfigured, match=r"^rules\.yaml is not UTF-8: save it as UTF-8$"):
        read_folder(tmp_path)


def test_a_rule_file_that_cannot_be_opened_is_told_in_the_system_s_words(tmp_path):
    """A folder named as a file is, for one."""
    (tmp_path / "rules.yaml").mkdir()
    with pytest.raises(Misconfigured, match=r"^cannot read .*rules\.yaml: Is a directory$"):
        read_folder(tmp_path)


def test_rules_of_several_files_come_in_order_of_precedence(tmp_path):
    """Files are one set of rules; blank criteria are every lead; an empty file says nothing."""
    (tmp_path / "a.yaml").write_text("rules:\n- {name: Late, precedence: 20, group: g, criteria: }\n")
    (tmp_path / "b.yml").write_text('\ufeffrules:\n- {name: First, precedence: 10, queue: Q, criteria: "  A = 1 "}\n')
    (tmp_path / "c.yaml").write_text("# nothing\n")
    read = read_folder(tmp_path)

    assert [(rule.name, rule.criteria, str(rule.where)) for rule in read.rules] == [
        ("First", "A = 1", "queue Q"),
        ("Late", "", "group g"),
    ]
    assert (read.cases, read.pulled) == ((), None)
