"""`lead-router verify --repair` as a person meets it: the difference first, then a question, then the write or none."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from lead_router.cli import main
from support.tampering import tamper
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Ten leads routed; then a member's number of leads is edited. Commands reach this org, and no job database."""
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    made = Rig(tmp_path)
    monkeypatch.setattr("lead_router.app.verifying.wire", lambda _: SimpleNamespace(rest=made.rest_org.rest))
    made.leads(10)
    made.drain()
    tamper(made.org, member(made), Leads_Received__c=40)
    yield made
    made.close()


class Typed(io.StringIO):
    """A terminal at which somebody types this, after `meanwhile` happened."""

    meanwhile = staticmethod(lambda: None)

    def isatty(self):
        return True

    def readline(self, *args):
        self.meanwhile()
        return super().readline(*args)


def member(rig):
    return rig.rest_org.refs["ann_emea"]


def count(rig):
    return rig.rest_org.row(member(rig))["Leads_Received__c"]


def typed(monkeypatch, text, meanwhile=lambda: None):
    terminal = Typed(text)
    terminal.meanwhile = meanwhile
    monkeypatch.setattr("sys.stdin", terminal)


def test_without_a_terminal_nothing_is_written_unless_told(rig, monkeypatch, capsys):
    """Drift and difference stand there, members by name; the code says that drift is left."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    assert main(["verify", "--repair"]) == 1
    out = capsys.readouterr().out
    assert "DRIFT group 'emea', epoch 1, turn 9, member Ann (" in out
    assert f"write member Ann ({member(rig)}) Leads Received: 40 → 5  (it counts 40 leads, the ledger 5)" in out
    assert "1 change, nothing was written: nobody is at a terminal to agree; add --yes to write" in out
    assert count(rig) == 40


@pytest.mark.parametrize("answer", ["", "\n", "no\n", "yess\n"])
def test_only_a_yes_is_a_yes(rig, monkeypatch, capsys, answer):
    """Return, another word, or the end of what is typed."""
    typed(monkeypatch, answer)

    assert main(["verify", "--repair"]) == 1
    assert "nothing was written" in capsys.readouterr().out
    assert count(rig) == 40


def test_the_difference_is_shown_before_the_question_and_the_write(rig, monkeypatch, capsys):
    """A yes writes it; the same command again finds nothing to write, and writes nothing."""
    before: list[object] = []
    typed(monkeypatch, "y\n", lambda: before.extend((capsys.readouterr().out, count(rig))))

    assert main(["verify", "--repair"]) == 0
    assert "Leads Received: 40 → 5" in str(before[0])
    assert before[1] == 40
    assert "1 of 1 change written; judged again since" in capsys.readouterr().out
    assert count(rig) == 5
    stands = rig.rest_org.row(member(rig))["SystemModstamp"]
    rig.clock.advance(60)
    assert main(["verify", "--repair", "--yes"]) == 0
    out = capsys.readouterr().out
    assert ("nothing to write" in out, "write member" in out) == (True, False)
    assert rig.rest_org.row(member(rig))["SystemModstamp"] == stands


def test_a_turn_that_is_taken_while_a_person_thinks_refuses_the_write(rig, monkeypatch, capsys):
    """No lead is lost, no turn taken twice; asked again, it is written."""
    typed(monkeypatch, "y\n", lambda: (rig.leads(3), rig.drain()))

    assert main(["verify", "--repair"]) == 1
    out = capsys.readouterr().out
    assert f"FAIL  member Ann ({member(rig)}) Leads Received: not written: " in out
    assert "0 of 1 change written" in out
    assert rig.turns() == list(range(1, 14))
    assert main(["verify", "--repair", "--yes"]) == 0
    assert count(rig) < 10


def test_an_org_that_goes_away_amid_it_is_told_as_such(rig, monkeypatch, capsys):
    """Exit code 3, and that asking again is safe."""
    typed(monkeypatch, "y\n", lambda: [rig.rest_org.fault("drop_before") for _ in range(9)])

    assert main(["verify", "--repair"]) == 3
    assert "may have been written in part: ask again" in capsys.readouterr().err


def test_a_machine_s_json_asks_nobody(rig, monkeypatch, capsys):
    """Without --yes nothing is written, terminal or not."""
    typed(monkeypatch, "y\n")

    assert main(["verify", "--repair", "--json"]) == 1
    assert '"written": false' in capsys.readouterr().out
    assert count(rig) == 40


def test_a_group_s_name_is_not_its_key(rig, capsys):
    """The key is what status and plan show; who types the name is told it."""
    assert main(["verify", "--group", "EMEA"]) == 2
    assert "no group with the key 'EMEA'; the group of that name has the key 'emea'" in capsys.readouterr().err
    assert main(["verify", "--group", "apac"]) == 2
    assert "no group with the key 'apac'; there are: emea" in capsys.readouterr().err
    assert main(["verify", "--group", ""]) == 2
