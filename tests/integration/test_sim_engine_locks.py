from __future__ import annotations

import threading

import pytest

from org_simulator.failures import Failure
from org_simulator.org import Org
from org_simulator.switches import Switches
from support.sim_engine import PATIENCE_S, Thread, add, add_lead, add_user, build_org, field, until, until_waiting


@pytest.fixture
def org() -> Org:
    return build_org()


def key_row(key: str) -> dict[str, str]:
    return {"Idempotency_Key__c": key, "Lead_Key__c": key}


def insert_key(org: Org, key: str) -> None:
    with org.transaction(org.integration_user_id) as tx:
        tx.insert("Lead_Assignment__c", key_row(key))


def rename(org: Org, lead: str, name: str) -> None:
    with org.transaction(org.admin_user_id) as tx:
        tx.update("Lead", lead, {"LastName": name})


def test_a_locked_row_is_waited_for_and_then_read_fresh(org: Org) -> None:
    """The waiter's rules see what the holder committed: the owner moved, so its claim is refused."""
    ada, bob = add_user(org, "ada"), add_user(org, "bob")
    lead = add_lead(org, OwnerId=ada)
    expecting_ada = {"OwnerId": bob, "Routing_Round__c": 1, "Routing_Expected_Owner__c": ada}

    def claim() -> None:
        with org.transaction(org.integration_user_id, auto_assign=False) as tx:
            tx.update("Lead", lead, expecting_ada)

    with org.transaction(org.admin_user_id, auto_assign=False) as holder:
        holder.update("Lead", lead, {"OwnerId": bob})
        waiter = Thread(claim)
        until_waiting(org, 1)
        assert waiter.working
    assert waiter.code == "FIELD_CUSTOM_VALIDATION_EXCEPTION"
    assert field(org, "Lead", lead, "Routing_Round__c") is None


def test_stale_load_lets_the_waiters_rules_see_the_old_owner(org: Org) -> None:
    """With the original loaded before the lock the same claim passes: no promise may rest on the rule alone."""
    org = build_org(Switches(stale_load=True))
    ada, bob = add_user(org, "ada"), add_user(org, "bob")
    lead = add_lead(org, OwnerId=ada, Phone="1")

    def claim() -> None:
        with org.transaction(org.integration_user_id, auto_assign=False) as tx:
            tx.update("Lead", lead, {"OwnerId": bob, "Routing_Round__c": 1, "Routing_Expected_Owner__c": ada})

    with org.transaction(org.admin_user_id, auto_assign=False) as holder:
        holder.update("Lead", lead, {"OwnerId": bob, "Phone": "2"})
        waiter = Thread(claim)
        until_waiting(org, 1)
    assert waiter.code == "done"
    assert field(org, "Lead", lead, "Routing_Round__c") == 1.0
    assert field(org, "Lead", lead, "Phone") == "2", "fields that the waiter did not write are kept"


def test_under_stale_load_a_second_save_of_the_transaction_is_fresh() -> None:
    """Touching the leads first takes their locks, so that the claim behind it sees the present owner."""
    org = build_org(Switches(stale_load=True))
    ada, bob = add_user(org, "ada"), add_user(org, "bob")
    lead = add_lead(org, OwnerId=ada)

    def touch_then_claim() -> None:
        with org.transaction(org.integration_user_id, auto_assign=False) as tx:
            tx.update("Lead", lead, {"Routing_Expected_Owner__c": ada})
            tx.update("Lead", lead, {"OwnerId": bob, "Routing_Round__c": 1, "Routing_Expected_Owner__c": ada})

    with org.transaction(org.admin_user_id, auto_assign=False) as holder:
        holder.update("Lead", lead, {"OwnerId": bob})
        waiter = Thread(touch_then_claim)
        until_waiting(org, 1)
    assert waiter.code == "FIELD_CUSTOM_VALIDATION_EXCEPTION"


def test_preloaded_originals_are_as_old_as_the_preload() -> None:
    """A chunk whose records are all loaded before its first lock: the last record's original is the stalest."""
    org = build_org(Switches(stale_load=True))
    ada, bob = add_user(org, "ada"), add_user(org, "bob")
    lead = add_lead(org, OwnerId=ada)
    with org.transaction(org.integration_user_id, auto_assign=False) as tx:
        tx.preload("Lead", [lead])
        with org.transaction(org.admin_user_id, auto_assign=False) as person:
            person.update("Lead", lead, {"OwnerId": bob})
        tx.update("Lead", lead, {"OwnerId": ada, "Routing_Round__c": 1, "Routing_Expected_Owner__c": ada})
    assert field(org, "Lead", lead, "OwnerId") == ada


def test_a_row_lock_is_waited_for_ten_seconds(org: Org) -> None:
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as holder:
        holder.update("Lead", lead, {"LastName": "Held"})
        waiter = Thread(lambda: rename(org, lead, "Late"))
        until_waiting(org, 1)
        org.clock.advance(9.75)
        until(lambda: org.clock.waits[-1] < 1)
        assert waiter.working
        assert (org.clock.waits[0], org.clock.waits[-1]) == (10.0, 0.25)
        org.clock.advance(0.25)
        assert waiter.code == "UNABLE_TO_LOCK_ROW"
    assert field(org, "Lead", lead, "LastName") == "Held"


def test_the_text_of_a_lock_failure(org: Org) -> None:
    lead = add_lead(org)
    seen: list[Failure] = []

    def work() -> None:
        try:
            rename(org, lead, "Late")
        except Failure as failure:
            seen.append(failure)

    with org.transaction(org.admin_user_id) as holder:
        holder.update("Lead", lead, {"LastName": "Held"})
        waiter = Thread(work)
        until_waiting(org, 1)
        org.clock.advance(10)
        assert waiter.code == "done"
    assert [failure.message for failure in seen] == [
        f"unable to obtain exclusive access to this record or 1 records: {lead[:15]}"
    ]


def test_readers_never_wait_and_see_committed_values_only(org: Org) -> None:
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as holder:
        holder.update("Lead", lead, {"LastName": "Unseen"})
        own = holder.row("Lead", lead)
        assert own is not None
        assert own["LastName"] == "Unseen"
        assert Thread(lambda: field(org, "Lead", lead, "LastName")).code == "done"
        assert field(org, "Lead", lead, "LastName") == "Doe"
        with org.transaction(org.admin_user_id) as reader:
            assert [row["LastName"] for row in reader.rows("Lead")] == ["Doe"]
    assert field(org, "Lead", lead, "LastName") == "Unseen"


def test_a_second_inserter_of_an_uncommitted_key_waits_and_loses(org: Org) -> None:
    with org.transaction(org.integration_user_id) as holder:
        holder.insert("Lead_Assignment__c", key_row("k"))
        waiter = Thread(lambda: insert_key(org, "k"))
        until_waiting(org, 1)
        assert waiter.working
    assert waiter.code == "DUPLICATE_VALUE"


def test_a_second_inserter_wins_if_the_first_rolls_back(org: Org) -> None:
    holder = org.transaction(org.integration_user_id)
    holder.insert("Lead_Assignment__c", key_row("k"))
    waiter = Thread(lambda: insert_key(org, "k"))
    until_waiting(org, 1)
    holder.rollback()
    assert waiter.code == "done"


def test_a_unique_value_is_waited_for_ten_seconds(org: Org) -> None:
    with org.transaction(org.integration_user_id) as holder:
        holder.insert("Lead_Assignment__c", key_row("k"))
        waiter = Thread(lambda: insert_key(org, "k"))
        until_waiting(org, 1)
        org.clock.advance(10)
        assert waiter.code == "UNABLE_TO_LOCK_ROW"


def test_a_key_given_up_stays_taken_until_commit(org: Org) -> None:
    """An update away from a value may yet be rolled back, so the value is not free before."""
    with org.transaction(org.integration_user_id) as tx:
        row = tx.insert("Lead_Assignment__c", key_row("k"))
    holder = org.transaction(org.integration_user_id)
    holder.update("Lead_Assignment__c", row, key_row("other"))
    waiter = Thread(lambda: insert_key(org, "k"))
    until_waiting(org, 1)
    holder.rollback()
    assert waiter.code == "DUPLICATE_VALUE"


def test_locks_outlive_a_savepoint(org: Org) -> None:
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as holder:
        point = holder.savepoint()
        holder.update("Lead", lead, {"LastName": "Gone"})
        holder.rollback_to(point)
        waiter = Thread(lambda: rename(org, lead, "Next"))
        until_waiting(org, 1)
        assert waiter.working
    assert waiter.code == "done"
    assert field(org, "Lead", lead, "LastName") == "Next"


def crossed(org: Org) -> list[str]:
    """Two transactions that each hold one lead and want the other's; the second to close the circle comes last."""
    one, two = add_lead(org), add_lead(org)
    hold = threading.Barrier(2)

    def work(first: str, second: str) -> None:
        with org.transaction(org.admin_user_id) as tx:
            tx.update("Lead", first, {"LastName": "Mine"})
            hold.wait(PATIENCE_S)
            tx.update("Lead", second, {"LastName": "Mine"})

    threads = [Thread(lambda: work(one, two)), Thread(lambda: work(two, one))]
    if not org.switches.deadlock_detected_at_once:
        until_waiting(org, 2)
        org.clock.advance(10)
    return sorted(thread.code for thread in threads)


def test_a_deadlock_ends_with_the_time_limit(org: Org) -> None:
    codes = crossed(org)
    assert "UNABLE_TO_LOCK_ROW" in codes
    assert set(codes) <= {"UNABLE_TO_LOCK_ROW", "done"}


def test_a_deadlock_may_be_detected_at_once() -> None:
    """By switch the transaction that closes the circle fails, the other goes on; no time passes."""
    org = build_org(Switches(deadlock_detected_at_once=True))
    assert crossed(org) == ["UNABLE_TO_LOCK_ROW", "done"]
    assert org.clock.monotonic() == 0


def test_waiters_are_served_in_order(org: Org) -> None:
    lead = add_lead(org)
    seen: list[str | None] = []
    org.listeners.append(lambda changes: seen.extend(change.after["LastName"] for change in changes))
    with org.transaction(org.admin_user_id) as holder:
        holder.update("Lead", lead, {"LastName": "0"})
        threads = []
        for number in range(1, 6):
            threads.append(Thread(lambda name=str(number): rename(org, lead, name)))
            until_waiting(org, number)
    assert [thread.code for thread in threads] == ["done"] * 5
    assert seen == ["0", "1", "2", "3", "4", "5"]


def test_a_detail_locks_its_master(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Name="G", Key__c="g")
    rep = add_user(org, "rep")

    def add_member() -> None:
        add(org, "Round_Robin_Member__c", Group__c=group, User__c=rep)

    with org.transaction(org.admin_user_id) as holder:
        holder.update("Round_Robin_Group__c", group, {"Name": "H"})
        waiter = Thread(add_member)
        until_waiting(org, 1)
    assert waiter.code == "done"


@pytest.mark.parametrize("locks", [False, True])
def test_a_lookup_locks_its_target_by_switch_alone(*, locks: bool) -> None:
    org = build_org(Switches(lookup_insert_locks_parent=locks))
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as holder:
        holder.update("Lead", lead, {"LastName": "Held"})
        thread = Thread(lambda: add(org, "Lead_Assignment__c", Lead__c=lead, **key_row("k")))
        if locks:
            until_waiting(org, 1)
        else:
            assert thread.code == "done"
    assert thread.code == "done"


def test_fifty_claims_of_one_turn_have_one_winner(org: Org) -> None:
    """The unique index decides, whatever the order of threads (P25)."""
    threads = [Thread(lambda: insert_key(org, "g.1.1")) for _ in range(50)]
    codes = sorted(thread.code for thread in threads)
    assert codes == ["DUPLICATE_VALUE"] * 49 + ["done"]


def test_turns_are_taken_once_under_contention(org: Org) -> None:
    """Eight threads take twenty turns each: 1 to 160, each once (P25).

    A second claim of an equal turn changes nothing on the group, so the rule stays silent; the unique key decides.
    """
    group = add(org, "Round_Robin_Group__c", Name="G", Key__c="g")
    taken: list[float] = []
    refusals: list[str] = []

    def take(turn: int) -> None:
        with org.transaction(org.integration_user_id) as tx:
            tx.update("Round_Robin_Group__c", group, {"Turn__c": turn, "Expected_Turn__c": f"0.{turn - 1}"})
            tx.insert("Lead_Assignment__c", {**key_row(f"{turn}"), "Turn_Key__c": f"g.0.{turn}"})

    def take_twenty() -> None:
        mine = 0
        while mine < 20:
            turn = int(field(org, "Round_Robin_Group__c", group, "Turn__c")) + 1
            try:
                take(turn)
            except Failure as failure:
                refusals.append(failure.message.partition(":")[0])
                continue
            taken.append(turn)
            mine += 1

    threads = [Thread(take_twenty) for _ in range(8)]
    assert [thread.code for thread in threads] == ["done"] * 8
    assert sorted(taken) == list(range(1, 161))
    assert set(refusals) <= {"Turn_Moved", "duplicate value found"}


def test_an_equal_turn_passes_the_rule_and_meets_the_unique_key(org: Org) -> None:
    """Two routers with one snapshot write equal values: nothing is changed, so Turn_Moved cannot fire."""
    group = add(org, "Round_Robin_Group__c", Name="G", Key__c="g")
    claim = {"Turn__c": 1, "Clock__c": 5, "Expected_Turn__c": "0.0"}
    with org.transaction(org.integration_user_id) as tx:
        tx.update("Round_Robin_Group__c", group, claim)
        tx.insert("Lead_Assignment__c", {**key_row("a"), "Turn_Key__c": "g.0.1"})
    with org.transaction(org.integration_user_id) as tx:
        tx.update("Round_Robin_Group__c", group, claim)
        with pytest.raises(Failure, match="Turn_Key__c"):
            tx.insert("Lead_Assignment__c", {**key_row("b"), "Turn_Key__c": "g.0.1"})
