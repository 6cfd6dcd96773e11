"""DML and triggers of Apex: order of execution, all or none and in part, savepoints, limits, after the commit."""

from __future__ import annotations

import pytest

from org_simulator import bulk
from org_simulator.failures import Failure
from support.apex import ApexOrg, apex, failure, probe

pytestmark = pytest.mark.apex

LEAD = {"LastName": "L", "Company": "C"}


def triggered(
    body: str, events: str = "before insert, after insert, before update, after update", **more: str
) -> ApexOrg:
    """An org with a trigger on Lead."""
    sources = {f"{name}.cls": source for name, source in more.items()}
    return ApexOrg({"T.trigger": f"trigger T on Lead ({events}) {{ {body} }}", **sources})


def insert(org: ApexOrg, **fields: object) -> str:
    """A lead saved as REST saves it."""
    with org.org.transaction(org.org.admin_user_id) as tx:
        return tx.insert("Lead", {**LEAD, **fields})


def test_before_triggers_run_before_validation_and_after_triggers_behind_the_save():
    """What a before-trigger sets is validated and saved; the after-trigger sees id and final values (facts 5.3)."""
    org = triggered(
        """if (Trigger.isBefore) { for (Lead l : Trigger.new) { l.Company = l.Company + '!'; l.Id.to15(); } }""",
        events="before update",
    )
    org = triggered(
        """
        for (Lead l : Trigger.new) {
            if (Trigger.isBefore) { l.Company = l.Company + '!' + (l.Id == null) + (l.CreatedDate == null); }
            else { insert new Account(Name = l.Company + l.Id + l.Status); }
        }""",
        events="before insert, after insert",
    )
    lead_id = insert(org)
    [account] = org.rows("Account")
    assert account["Name"] == f"C!truetrue{lead_id}Open - Not Contacted"
    assert org.rows("Lead")[0]["Company"] == "C!truetrue"


def test_a_before_trigger_may_give_what_is_required_or_take_what_is_wrong():
    """Required fields and lengths are judged behind before-triggers (facts 5.3, step 5)."""
    org = triggered("for (Lead l : Trigger.new) { l.LastName = 'given'; l.FirstName = null; }", events="before insert")
    with org.org.transaction(org.org.admin_user_id) as tx:
        tx.insert("Lead", {"Company": "C", "FirstName": "x" * 50})
    assert org.rows("Lead")[0]["LastName"] == "given"
    bad = triggered("for (Lead l : Trigger.new) { l.LastName = null; }", events="before insert")
    with pytest.raises(Failure, match="REQUIRED_FIELD_MISSING"):
        insert(bad)


def test_validation_rules_see_what_before_triggers_set():
    """A weight out of range, set by a trigger, is refused by the shipped rule."""
    org = ApexOrg(
        {
            "T.trigger": "trigger T on Round_Robin_Member__c (before insert) { Trigger.new[0].Weight__c = 500; }",
            "Probe.cls": probe(
                """Round_Robin_Group__c g = new Round_Robin_Group__c(Name = 'G', Key__c = 'g'); insert g;
                try { insert new Round_Robin_Member__c(Group__c = g.Id, User__c = UserInfo.getUserId(),
                    Weight__c = 1); }
                catch (DmlException e) { return e.getDmlType(0).name() + e.getDmlMessage(0); } return null;"""
            ),
        }
    )
    assert org.call("Probe").startswith("FIELD_CUSTOM_VALIDATION_EXCEPTIONWeight_Range")


def test_trigger_variables_are_those_of_the_event():
    """Old and maps only where the event has them; records of after-triggers are read-only."""
    org = triggered(
        """
        System.debug(Trigger.operationType + ' ' + (Trigger.new == null) + (Trigger.old == null)
            + (Trigger.newMap == null)
            + (Trigger.oldMap == null) + Trigger.size + Trigger.isUpdate);
        Log.add(Trigger.operationType.name() + (Trigger.new == null) + (Trigger.old == null) + (Trigger.newMap == null)
            + (Trigger.oldMap == null) + Trigger.size + Trigger.isUpdate);
        if (Trigger.isAfter && Trigger.isUpdate) {
            try { Trigger.new[0].Company = 'x'; } catch (FinalException e) { Log.add(e.getMessage()); }
            Log.add(Trigger.oldMap.get(Trigger.new[0].Id).Company + Trigger.new[0].Company);
        }""",
        events="before insert, after insert, before update, after update, before delete, after delete, after undelete",
        Log="""public class Log { public static List<String> all = new List<String>();
            public static void add(String s) { all.add(s); }
            public static Object run() {
                Lead l = new Lead(LastName = 'a', Company = 'one'); insert l;
                l.Company = 'two'; update l; delete l; undelete l;
                return String.join(all, '|');
            } }""",
    )
    assert org.call("Log").split("|") == [
        "BEFORE_INSERTfalsetruetruetrue1false",
        "AFTER_INSERTfalsetruefalsetrue1false",
        "BEFORE_UPDATEfalsefalsefalsefalse1true",
        "AFTER_UPDATEfalsefalsefalsefalse1true",
        "Record is read-only",
        "onetwo",
        "BEFORE_DELETEtruefalsetruefalse1false",
        "AFTER_DELETEtruefalsetruefalse1false",
        "AFTER_UNDELETEfalsetruefalsetrue1false",
    ]


def test_triggers_see_two_hundred_records_at_a_time():
    """Statics last for the transaction, over all portions."""
    org = triggered(
        "Log.add(Trigger.new.size());",
        events="before insert",
        Log="""public class Log { static String all = ''; public static void add(Integer n) { all += n + ','; }
            public static Object run() {
                List<Lead> many = new List<Lead>();
                for (Integer i = 0; i < 450; i++) { many.add(new Lead(LastName = 'n' + i, Company = 'c')); }
                insert many; return all + Limits.getDmlStatements() + ',' + Limits.getDmlRows();
            } }""",
    )
    assert org.call("Log") == "200,200,50,1,450"


def test_add_error_refuses_its_record_and_all_or_none_the_rest():
    """Of a record or of a field; the others go with it where all or none was asked for."""
    org = triggered(
        """for (Lead l : Trigger.new) {
            if (l.Company == 'bad') { l.addError('no bad'); l.addError(Lead.Email, 'field'); } }""",
        events="before insert",
        Probe="""public class Probe { public static Object run() {
            List<Lead> three = new List<Lead>{ new Lead(LastName = 'a', Company = 'ok'),
                new Lead(LastName = 'b', Company = 'bad') };
            String s = '';
            try { insert three; } catch (DmlException e) {
                s = e.getNumDml() + ',' + e.getDmlIndex(0) + ',' + e.getDmlMessage(0) + ',' + e.getDmlType(0) + ','
                    + three[0].Id;
            }
            List<Database.SaveResult> r = Database.insert(three, false);
            return s + ',' + r[0].isSuccess() + r[1].isSuccess() + r[1].getErrors().size()
                + r[1].getErrors()[1].getFields()
                + [SELECT COUNT() FROM Lead];
        } }""",
    )
    assert org.call("Probe") == "1,1,no bad,FIELD_CUSTOM_VALIDATION_EXCEPTION,null,truefalse2(Email)1"


def test_all_or_none_undoes_the_portions_before():
    """The 201st record is refused: none of the first 200 stays."""
    body = """List<Lead> many = new List<Lead>();
        for (Integer i = 0; i < 200; i++) { many.add(new Lead(LastName = 'n', Company = 'c')); }
        many.add(new Lead(LastName = 'n'));
        try { insert many; }
        catch (DmlException e) { return e.getDmlIndex(0) + [SELECT COUNT() FROM Lead]; } return -1;"""
    assert apex(body) == 200


def test_foreign_keys_are_judged_before_the_first_trigger():
    """Of what the API sends, step 2 checks these alone (Apex Developer Guide, Order of Execution)."""
    org = triggered("Integer x = 1 / 0;", events="before insert")
    with pytest.raises(Failure, match="INVALID_CROSS_REFERENCE_KEY"):
        insert(org, Routing_Duplicate_Of__c="00Q5f000005bwLFEAY")


def test_in_part_the_good_records_are_saved_again_with_limits_as_before():
    """Triggers fire again for the survivors; statics keep what they counted, limits do not (facts 8, T12)."""
    org = triggered(
        """Log.seen += Trigger.new.size() + ','; Integer n = [SELECT COUNT() FROM Lead];
        for (Lead l : Trigger.new) { if (l.Company == 'bad') { l.addError('no'); } }""",
        events="before insert",
        Log="""public class Log { public static String seen = ''; public static Object run() {
            List<Lead> three = new List<Lead>();
            for (Integer i = 0; i < 3; i++) { three.add(new Lead(LastName = 'a' + i, Company = i == 1 ? 'bad'
                : 'ok')); }
            Database.insert(three, false);
            return seen + Limits.getQueries();
        } }""",
    )
    assert org.call("Log") == "3,2,1"


def test_an_exception_in_a_trigger_fails_its_records_and_what_the_trigger_did():
    """CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY with cause and place; its own DML is undone (facts 3.3, T10)."""
    org = triggered("insert new Account(Name = 'a');\nString s; s.length();", events="after insert")
    with pytest.raises(Failure) as caught:
        insert(org)
    assert caught.value.code == "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY"
    assert caught.value.message == (
        "T: execution of AfterInsert\n\ncaused by: System.NullPointerException: Attempt to de-reference a null object"
        "\n\nT: line 2, column 1"
    )
    assert (org.rows("Account"), org.rows("Lead")) == ([], [])


def test_a_collection_over_rest_meets_its_triggers_once():
    """All records of a request in one go; under partial success the bad one alone is refused."""
    org = triggered(
        """insert new Account(Name = 'size ' + Trigger.new.size()); for (Lead l : Trigger.new)
            { if (l.City == 'x') l.addError('no'); }""",
        events="before insert",
    )
    with org.org.transaction(org.org.admin_user_id) as tx:
        items = [(None, {**LEAD, "City": city}) for city in ("a", "x", "b")]
        results = bulk.save_all(tx, "insert", "Lead", items, together=False)
    assert [isinstance(each, Failure) for each in results] == [False, True, False]
    assert [row["Name"] for row in org.rows("Account")] == ["size 2"], "what the first try did is undone"


def test_assignment_rules_come_behind_after_triggers_and_not_for_apex():
    """Step 9: they override what triggers decided; DML of Apex asks for them by DMLOptions alone."""
    org = triggered(
        "for (Lead l : Trigger.new) { l.City = String.valueOf(l.OwnerId == UserInfo.getUserId()); }",
        events="before insert",
        Probe=probe(
            """Database.DMLOptions o = new Database.DMLOptions(); o.assignmentRuleHeader.useDefaultRule = true;
            insert new Lead(LastName = 'a', Company = 'c');
            Database.insert(new Lead(LastName = 'b', Company = 'c'), o); return null;"""
        ),
    )
    queue = org.org.queue_id("Lead_Intake")
    org.org.assignment_rule = lambda _lead: queue
    insert(org, LastName="rest")
    org.call("Probe")
    owners = {row["LastName"]: row["OwnerId"] == queue for row in org.rows("Lead")}
    assert owners == {"rest": True, "a": False, "b": True}
    assert {row["City"] for row in org.rows("Lead")} == {"true"}


def test_savepoints_undo_records_events_and_jobs_but_not_limits():
    """Database.setSavepoint and rollback each count as a DML statement."""
    org = ApexOrg(
        {
            "Job.cls": """public class Job implements Queueable {
                public void execute(QueueableContext c) { insert new Account(Name = 'job'); } }""",
            "Probe.cls": probe(
                """insert new Lead(LastName = 'kept', Company = 'c');
                Savepoint p = Database.setSavepoint();
                Lead l = new Lead(LastName = 'gone', Company = 'c'); insert l;
                EventBus.publish(new Lead_Routing_Requested__e(Lead_Id__c = l.Id));
                System.enqueueJob(new Job());
                Database.rollback(p);
                return [SELECT COUNT() FROM Lead] + ',' + Limits.getDmlStatements();"""
            ),
        }
    )
    assert org.call("Probe") == "1,5"
    assert org.automation.work() == 0
    assert org.org.events.state()["published"] == 1, "the one lead's change"


def test_events_and_jobs_run_behind_the_commit_in_transactions_of_their_own():
    """Queueables with asynchronous limits; a platform event's trigger; a job that fails is told."""
    org = ApexOrg(
        {
            "OnAsk.trigger": """trigger OnAsk on Lead_Routing_Requested__e (after insert) {
                for (Lead_Routing_Requested__e e : Trigger.new) { insert new Account(Name = 'asked '
                    + e.Lead_Id__c); } }""",
            "Job.cls": """public class Job implements Queueable {
                Integer left; public Job(Integer left) { this.left = left; }
                public void execute(QueueableContext c) {
                    insert new Account(Name = 'job ' + Limits.getLimitQueries());
                    if (left > 0) { System.enqueueJob(new Job(left - 1)); } else { Integer x = 1 / 0; }
                } }""",
            "Probe.cls": probe(
                """EventBus.publish(new Lead_Routing_Requested__e(Lead_Id__c = '1'));
                System.enqueueJob(new Job(1)); return [SELECT COUNT() FROM Account];"""
            ),
        }
    )
    assert org.call("Probe") == 0
    assert org.automation.work() == 3
    assert sorted(row["Name"] for row in org.rows("Account")) == ["asked 1", "job 200"]
    assert org.automation.failures == ["MathException: Divide by 0"]


def test_upsert_update_and_delete_by_keys_and_ids():
    """Upsert by an external id; an update sends what was set; a list may not name a record twice."""
    body = """
        Round_Robin_Group__c g = new Round_Robin_Group__c(Name = 'G', Key__c = 'g');
        upsert g Key__c;
        Round_Robin_Group__c same = new Round_Robin_Group__c(Name = 'H', Key__c = 'g');
        Database.UpsertResult r = Database.upsert(same, Round_Robin_Group__c.Key__c, false);
        String s = '' + r.isCreated() + (r.getId() == g.Id) + [SELECT Name FROM Round_Robin_Group__c].Name;
        try { update new List<Round_Robin_Group__c>{ g, g }; } catch (ListException e) { s += e.getMessage().left(9); }
        try { insert g; } catch (DmlException e) { s += e.getDmlMessage(0); }
        delete g;
        return s + [SELECT COUNT() FROM Round_Robin_Group__c];"""
    assert apex(body) == "falsetrueHDuplicatecannot specify Id in an insert call0"


def test_the_text_of_a_failed_statement():
    """`Insert failed. First exception on row 0; first error: …` with code, text and fields."""
    name, text = failure("insert new Lead(Company = 'c'); return 1;")
    assert name == "DmlException"
    assert text == (
        "Insert failed. First exception on row 0; first error: REQUIRED_FIELD_MISSING, Required fields are missing: "
        "[LastName]: [LastName]"
    )


def test_unique_keys_are_the_orgs_own():
    """DUPLICATE_VALUE names field and record, as REST would."""
    body = """
        insert new Lead_Assignment__c(Idempotency_Key__c = 'k', Lead_Key__c = 'a');
        Lead_Assignment__c twin = new Lead_Assignment__c(Idempotency_Key__c = 'k', Lead_Key__c = 'b');
        Database.SaveResult r = Database.insert(twin, false);
        return r.getErrors()[0].getStatusCode() == StatusCode.DUPLICATE_VALUE
            ? r.getErrors()[0].getMessage().left(40) : 'no';"""
    assert apex(body) == "duplicate value found: Idempotency_Key__"


def test_statements_and_rows_are_counted_to_their_limits():
    """150 statements, 10,000 rows, 16 triggers within triggers."""
    assert failure("for (Integer i = 0; i < 151; i++) { Database.setSavepoint(); } return 1;") == (
        "LimitException",
        "Too many DML statements: 151",
    )
    recursive = triggered("insert new Lead(LastName = 'r', Company = 'c');", events="after insert")
    with pytest.raises(Failure, match="Maximum trigger depth exceeded"):
        insert(recursive)
    assert recursive.rows("Lead") == []


def test_user_mode_asks_for_the_users_rights():
    """A user without a permission set neither reads nor writes custom objects in user mode; system mode does."""
    org = ApexOrg(
        {
            "Probe.cls": """public class Probe {
                public static Object run() {
                    String s = '' + [SELECT COUNT() FROM Routing_Rule__c WITH SYSTEM_MODE];
                    try { Integer n = [SELECT COUNT() FROM Routing_Rule__c WITH USER_MODE]; s += 'read'; }
                    catch (QueryException e) { s += 'no'; }
                    try { insert as user new Round_Robin_Group__c(Name = 'x', Key__c = 'x'); s += 'written'; }
                    catch (DmlException e) { s += e.getDmlType(0); }
                    insert as system new Round_Robin_Group__c(Name = 'x', Key__c = UserInfo.getUserId());
                    return s + FeatureManagement.checkPermission('Lead_Router');
                } }"""
        }
    )
    with org.org.transaction(org.org.admin_user_id) as tx:
        user_id = tx.insert("User", {"LastName": "U", "Username": "u@x.example", "Email": "u@x.example"})
    assert org.call("Probe", user_id=user_id) == "0noINSUFFICIENT_ACCESS_OR_READONLYfalse"
    assert org.call("Probe", user_id=org.org.integration_user_id).endswith("true")


def test_setup_and_other_objects_are_not_saved_in_one_transaction():
    """MIXED_DML_OPERATION, unless runAs stands between them; a User without a role goes with either."""
    mixed = "insert new Account(Name = 'a'); insert new Group(Name = 'g', Type = 'Regular'); return 1;"
    assert "MIXED_DML_OPERATION" in failure(mixed)[1]
    apart = """insert new Account(Name = 'a');
        insert new User(LastName = 'u', Username = 'u@x.example', Email = 'u@x.example');
        System.runAs(new User(Id = UserInfo.getUserId())) { insert new Group(Name = 'g', Type = 'Regular'); }
        return [SELECT COUNT() FROM Group WHERE Name = 'g'];"""
    assert apex(apart) == 1


def test_conversion_passes_triggers_by_and_mass_transfer_does_not():
    """The org's default for conversion; owner changes of list views meet triggers, though no validation rule."""
    org = triggered("insert new Account(Name = 't');", events="after update")
    first, second = insert(org), insert(org)
    org.org.mass_transfer([first], org.org.integration_user_id)
    org.org.convert_lead(second)
    assert [row["Name"] for row in org.rows("Account")] == ["t", "C"]
