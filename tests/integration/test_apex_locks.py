"""FOR UPDATE between transactions of the org: waited for, read fresh, given up after ten seconds."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from typing import Any

import pytest

from org_simulator.switches import Switches
from support.apex import ApexOrg
from support.sim_engine import Thread, until, until_waiting

pytestmark = pytest.mark.apex

COUNTER = """public class Counter {{
    public static Object run() {{
        Round_Robin_Group__c g = [SELECT Id, Manager__c, Fallback_Queue__c FROM Round_Robin_Group__c
            WHERE Key__c = 'g' {lock}];
        Integer n = g.Fallback_Queue__c == null ? 0 : Integer.valueOf(g.Fallback_Queue__c);
        Meeting.point();
        g.Fallback_Queue__c = String.valueOf(n + 1);
        update g;
        return n + 1;
    }}
}}"""
MEETING = "public class Meeting { public static void point() { System.debug('here'); } }"
WATCHED = """public class Watched {
    public static Object run() {
        try { List<Round_Robin_Group__c> g = [SELECT Id FROM Round_Robin_Group__c FOR UPDATE]; return g.size(); }
        catch (QueryException e) { return e.getMessage(); }
    }
    public static Object save() {
        Round_Robin_Group__c g = [SELECT Id FROM Round_Robin_Group__c LIMIT 1];
        g.Name = 'mine';
        try { update g; return 'saved'; } catch (DmlException e) { return e.getDmlType(0).name(); }
    }
}"""


def counting(lock: str) -> ApexOrg:
    org = ApexOrg({"Counter.cls": COUNTER.format(lock=lock), "Meeting.cls": MEETING, "Watched.cls": WATCHED})
    with org.org.transaction(org.org.admin_user_id) as tx:
        tx.insert("Round_Robin_Group__c", {"Name": "G", "Key__c": "g"})
    return org


def both_at_once(org: ApexOrg) -> list[int]:
    """Two transactions; each waits after its query for the other to have asked, or to wait for the lock."""
    met, found = threading.Barrier(2), []
    meeting = org.program.classes["meeting"].methods["point"][0]
    plain = meeting.run

    def point(frame):
        met.wait(0.3) if not met.broken else None
        return plain(frame)

    def patient(frame):
        try:
            return point(frame)
        except threading.BrokenBarrierError:
            return plain(frame)

    meeting.run = patient
    threads = [Thread(lambda: found.append(org.call("Counter"))) for _ in range(2)]
    assert [thread.code for thread in threads] == ["done", "done"]
    return sorted(found)


def test_with_for_update_the_second_reads_what_the_first_wrote():
    """Both count on: the lock is held to the end of the transaction and the row read fresh behind it."""
    assert both_at_once(counting("FOR UPDATE")) == [1, 2]


def test_without_for_update_an_update_is_lost():
    """The same two transactions without the lock: so the test above can fail."""
    assert both_at_once(counting("")) == [1, 1]


@pytest.mark.parametrize(("method", "words"), [("run", "Record Currently Unavailable"), ("save", "UNABLE_TO_LOCK_ROW")])
def test_a_lock_that_does_not_come_is_given_up_after_ten_seconds(method, words):
    """QueryException for a query, DmlException for DML; not before, and catchable."""
    org, found = counting(""), []
    with org.org.transaction(org.org.admin_user_id) as holder:
        [group] = list(holder.rows("Round_Robin_Group__c"))
        holder.update("Round_Robin_Group__c", group["Id"], {"Name": "held"})
        waiter = Thread(lambda: found.append(org.call("Watched", method)))
        until_waiting(org.org, 1)
        org.clock.advance(9)
        assert waiter.working
        org.clock.advance(1.1)
        assert waiter.code == "done"
    assert words in found[0]


class Crossing(random.Random):
    """Dice by which every second shuffle is the other way round."""

    turned = False

    def shuffle(self, x: Any) -> None:
        self.turned = not self.turned
        x.sort(reverse=self.turned)


def two_waiters(*, by_id: bool) -> list[str]:
    """Two queries FOR UPDATE of the same two groups begin while another transaction holds both; what they answer."""
    org, found = counting(""), list[str]()
    org.org.switches = replace(Switches(), for_update_locks_by_id=by_id)
    org.org.dice = Crossing(1)
    with org.org.transaction(org.org.admin_user_id) as tx:
        tx.insert("Round_Robin_Group__c", {"Name": "H", "Key__c": "h"})
    with org.org.transaction(org.org.admin_user_id) as holder:
        for row in list(holder.rows("Round_Robin_Group__c")):
            holder.update("Round_Robin_Group__c", row["Id"], {"Name": "held"})
        waiters = [Thread(lambda: found.append(org.call("Watched", "run")))]
        until_waiting(org.org, 1)
        waiters.append(Thread(lambda: found.append(org.call("Watched", "run"))))
        until_waiting(org.org, 2)

    def ended() -> bool:
        org.clock.advance(1.0)
        return not any(waiter.working for waiter in waiters)

    if not by_id:
        until(ended)
    assert [waiter.code for waiter in waiters] == ["done", "done"]
    return [str(each) for each in found]


def test_locks_in_the_order_of_ids_never_meet_crosswise():
    """The one waits for the other, and both have both rows."""
    assert two_waiters(by_id=True) == ["2", "2"]


def test_locks_in_any_order_may_meet_crosswise_and_then_end_by_the_time_limit():
    """Each has what the other wants: so the router can be tried where an org locks in another order."""
    assert any("Record Currently Unavailable" in each for each in two_waiters(by_id=False))
