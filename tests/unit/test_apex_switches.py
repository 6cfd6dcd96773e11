"""What no public page settles about Apex is a switch of the simulated org, and both of its settings are played."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from org_simulator.apex.standard.options import REFUSALS
from org_simulator.switches import Switches
from support.apex import ApexOrg, probe
from support.apex_wire import composite, lead, post

pytestmark = pytest.mark.apex

BOTH = pytest.mark.parametrize("setting", [True, False])
COUNTING = {
    "Seen.cls": """public class Seen {
        public static Integer times = 0;
        public static void look() {
            times++;
            List<Account> found = [SELECT Id FROM Account];
        }
    }""",
    "OnLead.trigger": """trigger OnLead on Lead (before insert, after insert) {
        if (Trigger.isAfter) { Seen.look(); } else {
            for (Lead l : Trigger.new) { l.Title = Limits.getQueries() + ' ' + Seen.times; }
        }
    }""",
}


def org(sources: dict[str, str], **switches: Any) -> ApexOrg:
    return ApexOrg(sources, replace(Switches(), **switches))


def answer(body: str, **switches: Any) -> Any:
    return org({"Probe.cls": probe(body)}, **switches).call("Probe")


@pytest.mark.parametrize(
    ("limits", "statics", "second"),
    [(True, True, "1 1"), (False, True, "0 1"), (True, False, "1 0"), (False, False, "0 0")],
)
def test_limits_and_statics_of_a_composite_are_of_the_whole_or_of_each_part(limits, statics, second):
    """What the second part's trigger finds of the first part's query and of its static."""
    made = org(COUNTING, composite_shares_limits=limits, composite_shares_statics=statics)
    told = post(made, "/composite", composite(*({"LastName": name, "Company": "C"} for name in "ab"))).json()
    assert [part["httpStatusCode"] for part in told["compositeResponse"]] == [201, 201]
    assert [row["Title"] for row in made.rows("Lead")] == ["0 0", second]


@BOTH
def test_after_triggers_run_before_an_undo_or_not_at_all(setting, monkeypatch):
    """One record of two is refused: whether the other one's after-trigger ran shows by what it looked up."""
    made = org(COUNTING, after_triggers_run_before_undo=setting)
    looked: list[Any] = []
    [look] = made.program.classes["seen"].methods["look"]
    plain = look.run
    assert plain is not None
    monkeypatch.setattr(look, "run", lambda frame: looked.append(frame) or plain(frame))
    content = {"allOrNone": True, "records": [lead("good"), {"attributes": {"type": "Lead"}, "LastName": "bad"}]}
    assert [each["success"] for each in post(made, "/composite/sobjects", content).json()] == [False, False]
    assert (bool(looked), made.rows("Lead")) == (setting, [])


@BOTH
def test_an_inserted_record_holds_its_defaults_or_its_id_alone(setting):
    """Read without a query: a number's default, and what was set stays what it was."""
    body = """Round_Robin_Group__c g = new Round_Robin_Group__c(Name = 'G', Key__c = 'g'); insert g;
        return g.Id != null && g.Key__c == 'g' ? String.valueOf(g.Turn__c) : 'gone';"""
    assert answer(body, apex_insert_fills_defaults=setting) == ("0" if setting else None)


@BOTH
def test_a_record_whose_insert_failed_holds_neither_id_nor_defaults(setting):
    """DmlException leaves the good ones of the list as they were, too."""
    body = """Round_Robin_Group__c g = new Round_Robin_Group__c(Name = 'G', Key__c = 'g');
        try { insert new List<SObject>{ g, new Lead(LastName = 'no company') }; }
        catch (DmlException e) { return g.Id == null && g.Turn__c == null; }
        return null;"""
    assert answer(body, apex_insert_fills_defaults=setting) is True


@BOTH
def test_texts_are_sorted_by_code_point_or_in_any_case(setting):
    """Upper case before lower, or side by side."""
    body = "List<String> s = new List<String>{ 'b', 'a', 'B', 'A' }; s.sort(); return String.join(s, '');"
    assert answer(body, apex_sorts_texts_by_code_point=setting) == ("ABab" if setting else "AaBb")


def test_the_assignment_rule_runs_behind_the_triggers_and_overwrites_the_owner():
    """No switch: steps 4, 8 and 9 of the order of execution (facts 5.3)."""
    made = org(
        {
            "OnLead.trigger": """trigger OnLead on Lead (before insert, after insert) {
                if (Trigger.isBefore) { Trigger.new[0].OwnerId = UserInfo.getUserId(); }
                else { Seen.owner = Trigger.new[0].OwnerId; Seen.check(); } }""",
            "Seen.cls": """public class Seen { public static Id owner;
                public static void check() { insert new Account(Name = owner == UserInfo.getUserId() ? 'mine' : 'no'); }
            }""",
        }
    )
    queue = made.org.queue_id("Default_Assigned")
    made.org.assignment_rule = lambda row: queue if row["LeadSource"] == "Web" else None
    assert post(made, "/sobjects/Lead", {"LastName": "a", "Company": "C", "LeadSource": "Web"}).status_code == 201
    assert post(made, "/sobjects/Lead", {"LastName": "b", "Company": "C"}).status_code == 201
    assert [row["OwnerId"] for row in made.rows("Lead")] == [queue, made.org.admin_user_id]
    assert [row["Name"] for row in made.rows("Account")] == ["mine", "mine"]


@pytest.mark.parametrize("code", [None, *REFUSALS])
def test_an_org_that_sends_no_mail_for_apex_says_so(code):
    """An exception that Apex can catch, whose text names the code."""
    body = """Messaging.SingleEmailMessage mail = new Messaging.SingleEmailMessage();
        mail.setToAddresses(new List<String>{ 'a@buyer.example' });
        try {
            Messaging.sendEmail(new List<Messaging.SingleEmailMessage>{ mail });
        } catch (EmailException fault) {
            return fault.getMessage();
        }
        return 'sent';"""
    told = org({"Probe.cls": probe(body)}, apex_mail_refusal=code).call("Probe")
    assert told == "sent" if code is None else f"first error: {code}, {REFUSALS[code]}: []" in told


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (False, ["true", "false", "true true", "2 02:00", "3 22:00", "8", "2 02:00"]),
        (True, ["false", "true", "false true", "3 00:00", "3 00:00", "2", "3 02:00"]),
    ],
)
def test_a_holiday_closes_the_windows_begun_on_it_or_its_date(setting, told):
    """D19: the night that reaches into the holiday, and the one behind it, by each verb of the platform's class."""
    body = """
        BusinessHours h = new BusinessHours(Name = 'Night', TimeZoneSidKey = 'UTC', IsActive = true);
        for (String day : 'Mon,Tues,Wednes,Thurs,Fri,Satur,Sun'.split(',')) {
            h.put(day + 'dayStartTime', Time.newInstance(22, 0, 0, 0));
            h.put(day + 'dayEndTime', Time.newInstance(6, 0, 0, 0));
        }
        insert h;
        insert new Holiday(Name = 'All day', ActivityDate = Date.newInstance(2026, 12, 2), IsAllDay = true);
        insert new Holiday(Name = 'Part', ActivityDate = Date.newInstance(2026, 12, 5), IsAllDay = false,
            StartTimeInMinutes = 0, EndTimeInMinutes = 120);
        Datetime eve = Datetime.newInstanceGmt(2026, 12, 1, 20, 0, 0);
        return String.join(new List<String>{
            '' + BusinessHours.isWithin(h.Id, eve.addHours(6)),
            '' + BusinessHours.isWithin(h.Id, eve.addHours(30)),
            BusinessHours.isWithin(h.Id, eve.addHours(77)) + ' ' + BusinessHours.isWithin(h.Id, eve.addHours(79)),
            BusinessHours.nextStartDate(h.Id, eve.addHours(6)).formatGmt('d HH:mm'),
            BusinessHours.nextStartDate(h.Id, eve.addHours(12)).formatGmt('d HH:mm'),
            '' + BusinessHours.diff(h.Id, eve, eve.addHours(24)) / 3600000,
            BusinessHours.add(h.Id, eve, 4 * 3600000).formatGmt('d HH:mm')
        }, ', ');"""
    assert answer(body, holidays_close_dates=setting).split(", ") == told
