"""The loop that tells a channel: each assignment once, in order, nothing that is no longer so, and nobody held up."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from lead_router.errors import Unreachable
from lead_router.ports.notices import Declined, Down, NewNotice, NoticeKind, Unclear
from support.notice_rig import HOME, Mailbox, NoticeRig, to_team


@pytest.fixture
def rig(tmp_path):
    made = NoticeRig(tmp_path, channels=to_team)
    yield made
    made.close()


class Killed(BaseException):
    """The process ends here; nothing of ours may catch it."""


def die():
    raise Killed


class TestTelling:
    def test_each_assignment_is_told_once_with_link_and_reason(self, rig):
        """To whom, why, and where the lead is; nothing of the lead itself unless a person asked for it."""
        leads = [rig.leads(1, Company="Secret Ltd", Email=f"secret{number}@buyer.example")[0] for number in range(2)]
        rig.drain()
        box = Mailbox()
        loop = rig.post(box)
        rig.steps(loop)
        rig.steps(loop)

        assert [one.title for one in box.letters] == ["New lead for Ann", "New lead for Bob"]
        assert [one.lines for one in box.letters] == [(f"Rule 'All', group 'emea', turn {turn}.",) for turn in (1, 2)]
        assert [one.link for one in box.letters] == [f"{HOME}/lightning/r/Lead/{lead}/view" for lead in leads]
        assert "ecret" not in repr(box.letters)
        assert rig.statuses() == ["sent", "sent"]

    def test_named_fields_are_shown_as_plain_text(self, rig):
        """What a stranger typed into a form is neither a link nor a mention nor markup where it is shown."""
        rig.leads(1, Company="<!channel> *Acme* [x](http://evil.example) @here")
        rig.drain()
        box = Mailbox()
        rig.steps(rig.post(box, fields=("Company", "LeadSource")))

        assert box.letters[0].lines[1:] == ("Company: channel Acme x (http //evil. example) here", "LeadSource: -")

    def test_a_fresh_notice_costs_no_call(self, rig):
        """Who owns the lead was known a moment ago; Salesforce is not asked for it."""
        rig.leads(3)
        rig.drain()
        loop = rig.post(Mailbox())
        before = rig.calls()
        rig.steps(loop)

        assert rig.calls() == before

    def test_late_ones_are_looked_at_together(self, rig):
        """After an outage one call tells who owns the leads of up to 200 late notices."""
        rig.leads(40)
        rig.drain()
        rig.clock.advance(600)
        loop = rig.post(Mailbox())
        before = rig.calls()
        rig.steps(loop)

        assert (rig.calls() - before, set(rig.statuses())) == (1, {"sent"})

    def test_reminders_of_others_are_told_too(self, rig):
        """Whoever hands in a notice under a key of its own has it told once, to whom it names."""
        (lead,) = rig.leads(1)
        rig.drain()
        manager, owner = rig.rest_org.refs["bob"], rig.rest_org.refs["ann"]
        told = NewNotice(
            f"{lead}.untouched.1", NoticeKind.REMINDER, lead, manager, 1, "Nobody has called.", "Bob", "emea", owner
        )
        rig.store.notify([told])
        rig.store.notify([told])
        rig.clock.advance(600)
        box = Mailbox()
        rig.steps(rig.post(box))

        assert [one.title for one in box.letters] == ["New lead for Ann", "A lead is waiting for Bob"]


class TestNoLongerSo:
    @pytest.mark.parametrize("touch", [{"Status": "Working - Contacted"}, {"Phone": "+32 2 555 01 02"}, None])
    def test_a_late_reminder_of_a_lead_that_was_touched_is_not_told(self, rig, touch):
        """The channel was away; meanwhile the owner set its status, or changed it. Of one that lies, it is told."""
        (lead,) = rig.leads(1)
        rig.drain()
        owner = rig.rest_org.refs["ann"]
        box = Mailbox()
        loop = rig.post(box)
        loop.step()
        key = f"{lead}.untouched.1.reminder"
        rig.store.notify([NewNotice(key, NoticeKind.REMINDER, lead, owner, 1, "To be touched.", "Ann", "emea")])
        rig.clock.advance(600)
        if touch is not None:
            with rig.org.transaction(owner, auto_assign=False) as opened:
                opened.update("Lead", lead, touch)
        rig.steps(loop)

        assert [one.title for one in box.letters] == [
            "New lead for Ann",
            *["A lead is waiting for Ann"] * (touch is None),
        ]
        assert rig.statuses() == ["sent", "sent" if touch is None else "dropped"]

    def test_a_lead_that_a_person_took_is_not_told(self, rig):
        """The former owner hears nothing of a lead that is no longer theirs, however late Slack comes back."""
        (lead,) = rig.leads(1)
        rig.drain()
        rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
        rig.clock.advance(600)
        box = Mailbox()
        rig.steps(rig.post(box))

        assert (box.letters, rig.statuses()) == ([], ["dropped"])

    @pytest.mark.parametrize("end", ["deleted", "converted"])
    def test_a_lead_that_is_gone_is_not_told(self, rig, end):
        """There is nothing to open behind its link."""
        (lead,) = rig.leads(1)
        rig.drain()
        if end == "deleted":
            rig.rest_org.delete(lead)
        else:
            rig.org.convert_lead(lead)
        rig.clock.advance(600)
        box = Mailbox()
        rig.steps(rig.post(box))

        assert (box.letters, rig.statuses()) == ([], ["dropped"])

    def test_a_lead_given_out_again_is_told_to_its_new_owner_alone(self, rig):
        """Routed anew before the first notice went out: one letter, to whom has it now."""
        (lead,) = rig.leads(1)
        rig.drain()
        queue = rig.org.queue_id("Lead_Intake")
        rig.rest_org.update(lead, OwnerId=queue)
        rig.upkeep().step()
        rig.drain()
        box = Mailbox()
        rig.steps(rig.post(box))

        assert ([one.title for one in box.letters], rig.statuses()) == (["New lead for Bob"], ["dropped", "sent"])
        assert box.letters[0].lines == ("Rule 'All', group 'emea', turn 2, round 2.",)


class TestCrashes:
    """Killed between every two steps: told once, or it is said that nobody knows."""

    def test_killed_before_it_was_sent(self, rig):
        """Nothing had gone out: the next process sends it, once."""
        rig.leads(1)
        rig.drain()
        box = Mailbox()
        with pytest.raises(Killed):
            rig.post(box, home=die).step()
        rig.clock.advance(600)
        rig.steps(rig.post(box))

        assert (len(box.letters), rig.statuses()) == (1, ["sent"])

    def test_killed_amid_the_sending(self, rig):
        """It may have gone out: it is never sent again, and counted as unknown."""
        rig.leads(1)
        rig.drain()
        box = Mailbox()
        box.before.append(die)
        with pytest.raises(Killed):
            rig.post(box).step()
        rig.clock.advance(600)
        rig.steps(rig.post(box))

        assert (box.letters, rig.statuses()) == ([], ["unknown"])

    def test_killed_after_it_was_sent(self, rig):
        """It went out, and nobody wrote that down: not a second time."""
        rig.leads(1)
        rig.drain()
        box = Mailbox()

        class Dies(Mailbox):
            def send(self, letter):
                box.send(letter)
                raise Killed

        with pytest.raises(Killed):
            rig.post(Dies()).step()
        rig.clock.advance(600)
        rig.steps(rig.post(box))

        assert (len(box.letters), rig.statuses()) == (1, ["unknown"])

    def test_a_database_that_went_away_hears_of_it_later(self, rig, tmp_path):
        """What came of a letter is kept until the database takes it: it is sent, and not unknown."""
        rig.leads(1)
        rig.drain()
        box = Mailbox()
        loop = rig.post(box)
        path = tmp_path / "jobs.db"
        box.before.append(lambda: path.rename(tmp_path / "away.db"))
        with pytest.raises(Exception, match="moved, deleted or replaced"):
            loop.step()
        (tmp_path / "away.db").rename(path)
        rig.steps(loop)

        assert (len(box.letters), rig.statuses()) == (1, ["sent"])

    def test_two_processes_tell_it_once(self, rig):
        """Both serve the channel of one database."""
        rig.leads(6)
        rig.drain()
        boxes = [Mailbox(), Mailbox()]
        loops = [rig.post(box) for box in boxes]
        for _ in range(6):
            for loop in loops:
                loop.step()

        told = [one.lead_id for box in boxes for one in box.letters]
        assert (len(told), len(set(told)), set(rig.statuses())) == (6, 6, {"sent"})


class TestFaults:
    def test_a_channel_that_is_away_loses_nothing_and_costs_no_attempt(self, rig):
        """Down for an hour: each notice goes out once afterwards, and the channel was asked about once a minute."""
        rig.leads(5)
        rig.drain()
        box = Mailbox([Down("no connection")] * 70)
        loop = rig.post(box)
        for _ in range(360):
            loop.step()
            rig.clock.advance(10)
        asked = len(box.letters)
        box.answers.clear()
        for _ in range(30):
            rig.steps(loop)
            rig.clock.advance(10)

        assert 40 < asked < 75
        assert (len(box.letters) - asked, rig.statuses()) == (5, ["sent"] * 5)
        assert {one.attempts for one in rig.store.notices()} == {1}

    def test_one_that_is_given_up_is_told_of(self, rig):
        """A channel that is away for longer than its notices are good for: failed, in the log and in the list."""
        rig.leads(1)
        rig.drain()
        loop = rig.post(Mailbox([Down("no connection")]), give_up_s=3_600.0)
        loop.step()
        rig.clock.advance(4_000)
        with capture_logs() as logs:
            rig.steps(loop)

        assert rig.statuses() == ["failed"]
        assert [line["log_level"] for line in logs if line["event"] == "notice_failed"] == ["error"]

    def test_a_letter_that_is_refused_is_tried_a_bounded_number_of_times(self, rig):
        """Others go out meanwhile, but for those of the same person, who are told in order."""
        rig.leads(3)
        rig.drain()
        box = Mailbox([Declined("status 400")])
        loop = rig.post(box, tries=3)
        rig.steps(loop)
        assert rig.statuses() == ["queued", "sent", "queued"]
        box.answers = [Declined("status 400")] * 2
        for _ in range(10):
            rig.steps(loop)
            rig.clock.advance(5)

        assert rig.statuses() == ["failed", "sent", "sent"]
        (failed,) = rig.store.notices(status="failed")
        assert (failed.attempts, failed.last_error) == (3, "status 400")

    def test_what_nobody_knows_is_not_sent_again(self, rig):
        """A time-out after the letter went out: unknown, and the next one waits for a moment."""
        rig.leads(2)
        rig.drain()
        box = Mailbox([Unclear("no answer within 10 s")])
        loop = rig.post(box)
        rig.steps(loop)
        assert rig.statuses() == ["unknown", "queued"]
        for _ in range(5):
            rig.clock.advance(10)
            rig.steps(loop)

        assert (len(box.letters), rig.statuses()) == (2, ["unknown", "sent"])

    def test_a_fault_of_the_router_itself_ends_neither_loop_nor_notices(self, rig):
        """Whatever the messenger raises, one notice is unknown by it, and the others go out."""
        rig.leads(2)
        rig.drain()
        box = Mailbox()
        box.before.append(lambda: {}["nothing"])
        loop = rig.post(box)
        for _ in range(3):
            rig.steps(loop)
            rig.clock.advance(5)

        assert rig.statuses() == ["unknown", "sent"]

    def test_while_salesforce_is_away_late_notices_wait(self, rig):
        """Whether they are still so cannot be told; none is lost, and they go out when it answers again."""
        rig.leads(1)
        rig.drain()
        rig.clock.advance(600)
        box = Mailbox()
        loop = rig.post(box)
        rig.rest_org.fault("unreachable", path="/composite")
        with pytest.raises(Unreachable):
            loop.step()
        assert box.letters == []
        rig.clock.advance(11)
        rig.steps(loop)

        assert (len(box.letters), rig.statuses()) == (1, ["sent"])

    def test_an_unknown_field_keeps_no_notice_back(self, rig):
        """A channel that shows a field which is not there tells of leads without it, and says so."""
        rig.leads(1)
        rig.drain()
        box = Mailbox()
        with capture_logs() as logs:
            rig.steps(rig.post(box, fields=("Nonsense__c",)))

        assert len(box.letters) == 1
        assert "lead_not_looked_at" in {line["event"] for line in logs}

    def test_a_channel_s_pace_is_kept(self, rig):
        """A burst goes out one by one, no faster than the channel takes them."""
        rig.leads(4)
        rig.drain()
        box = Mailbox()
        loop = rig.post(box, pace_s=1.0)
        counts = []
        for _ in range(4):
            rig.steps(loop)
            counts.append(len(box.letters))
            rig.clock.advance(1.01)

        assert counts == [1, 2, 3, 4]

    def test_a_dead_channel_delays_neither_routing_nor_another_channel(self, tmp_path):
        """Each channel has a loop and a breaker of its own, and routing waits for none of them."""
        rig = NoticeRig(tmp_path, channels=lambda _notice: ("team", "dead"))
        dead = rig.post(Mailbox([Down("no connection")] * 99), name="dead")
        box = Mailbox()
        live = rig.post(box)
        for _ in range(3):
            rig.leads(2)
            rig.drain()
            dead.step()
            rig.steps(live)

        assert (rig.outcomes(), len(box.letters)) == (["assigned"] * 6, 6)
        assert (rig.statuses("team"), set(rig.statuses("dead"))) == (["sent"] * 6, {"queued"})
        rig.close()
