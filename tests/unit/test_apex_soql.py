"""Queries of Apex: binds, parents, children, figures, what was not asked for, and how many there may be."""

from __future__ import annotations

import pytest

from support.apex import apex, failure

pytestmark = pytest.mark.apex

THREE = """
    List<Lead> made = new List<Lead>{
        new Lead(LastName = 'A', Company = 'x', AnnualRevenue = 1),
        new Lead(LastName = 'B', Company = 'x', AnnualRevenue = 2),
        new Lead(LastName = 'it\\'s', Company = 'y') };
    insert made;
    """


def test_binds_are_values_never_text():
    """Texts with quotes, lists, sets, records, empty collections, expressions, nulls."""
    body = (
        THREE
        + """
        String name = 'it\\'s';
        Set<Id> none = new Set<Id>();
        Integer n = 1;
        return '' + [SELECT COUNT() FROM Lead WHERE LastName = :name]
            + [SELECT COUNT() FROM Lead WHERE Id IN :made]
            + [SELECT COUNT() FROM Lead WHERE Id IN :none]
            + [SELECT COUNT() FROM Lead WHERE Id NOT IN :none AND LastName IN :new List<String>{ 'a', name }]
            + [SELECT COUNT() FROM Lead WHERE AnnualRevenue > :n + 0.5]
            + [SELECT COUNT() FROM Lead WHERE AnnualRevenue = :(Decimal) null]
            + [SELECT Id FROM Lead ORDER BY LastName LIMIT :n].size();"""
    )
    assert apex(body) == "1302111"


def test_parents_and_children_come_with_a_record():
    """Owner.Name of a polymorphic owner; a child relationship by its name; a missing parent is null."""
    body = """
        Round_Robin_Group__c g = new Round_Robin_Group__c(Name = 'G', Key__c = 'g');
        insert g;
        insert new List<Round_Robin_Member__c>{
            new Round_Robin_Member__c(Group__c = g.Id, User__c = UserInfo.getUserId(), Weight__c = 2),
            new Round_Robin_Member__c(Group__c = g.Id, User__c = UserInfo.getUserId(), Weight__c = 3) };
        Round_Robin_Group__c found = [
            SELECT Key__c, Owner.Name, Fallback_Group__r.Key__c, (SELECT Weight__c, User__r.Name
                FROM Members__r ORDER BY Weight__c DESC)
            FROM Round_Robin_Group__c WHERE Id = :g.Id];
        Round_Robin_Member__c m = [SELECT Group__r.Key__c FROM Round_Robin_Member__c WHERE Weight__c = 3];
        return found.Owner.Name + found.Fallback_Group__r?.Key__c + found.Members__r.size()
            + found.Members__r[0].Weight__c
            + found.Members__r[0].User__r.Name + m.Group__r.Key__c;"""
    assert apex(body) == "Ada Adminnull23Ada Adming"


def test_figures_by_group():
    """Aliases, and what has none; counts are Integers, sums Decimals."""
    body = (
        THREE
        + """
        String s = '';
        for (AggregateResult r : [SELECT Company c, COUNT(Id) n, SUM(AnnualRevenue) FROM Lead GROUP BY Company]) {
            s += (String) r.get('c') + (Integer) r.get('n') + r.get('expr0') + ';';
        }
        return s;"""
    )
    assert apex(body) == "x23;y1null;"


def test_a_field_that_was_not_asked_for_cannot_be_read():
    """In the platform's words; what Apex sets itself can."""
    body = THREE + "Lead l = [SELECT Id FROM Lead LIMIT 1]; l.Company = 'z'; return l.Company + l.LastName;"
    expected = "SObject row was retrieved via SOQL without querying the requested field: Lead.LastName"
    assert failure(body) == ("SObjectException", expected)


@pytest.mark.parametrize(("where", "words"), [("'no'", "List has no rows"), ("'x'", "List has more than 1 row")])
def test_one_record_is_one_row(where, words):
    """Assigned to a record, a query must find one."""
    name, text = failure(THREE + f"Lead l = [SELECT Id FROM Lead WHERE Company = {where}]; return l;")
    assert name == "QueryException"
    assert words in text


def test_dynamic_queries_bind_by_name():
    """queryWithBinds; a name that is not given, and text that is no SOQL."""
    body = (
        THREE
        + """
        Map<String, Object> binds = new Map<String, Object>{ 'names' => new Set<String>{ 'a', 'B' }, 'most' => 1 };
        List<Lead> found = Database.queryWithBinds(
            'SELECT LastName FROM Lead WHERE LastName IN :names ORDER BY LastName LIMIT :most',
                binds, AccessLevel.SYSTEM_MODE);
        return found[0].LastName + Database.countQueryWithBinds(
            'SELECT COUNT() FROM Lead WHERE LastName IN :names', binds, AccessLevel.SYSTEM_MODE);"""
    )
    assert apex(body) == "A2"
    assert failure("return Database.query('SELECT Id FROM Lead WHERE Nope__c = 1');")[0] == "QueryException"
    assert failure("return Database.query('SELECT Id FROM Lead WHERE Id = :x');")[1] == "Variable does not exist: x"


def test_loops_over_queries_get_records_or_lists():
    """A for loop over a query, one by one or in lists of 200."""
    body = """
        List<Lead> many = new List<Lead>();
        for (Integer i = 0; i < 250; i++) { many.add(new Lead(LastName = 'n' + i, Company = 'c')); }
        insert many;
        String s = '';
        for (List<Lead> part : [SELECT Id FROM Lead]) { s += part.size() + ','; }
        Integer n = 0;
        for (Lead l : [SELECT Id FROM Lead]) { n++; }
        return s + n;"""
    assert apex(body) == "200,50,250"


def test_semi_joins_and_date_literals():
    """An inner query in WHERE; literals count from the org's own clock."""
    body = (
        THREE
        + """
        insert new Lead_Assignment__c(Lead__c = made[1].Id, Idempotency_Key__c = 'k', Lead_Key__c = 'l');
        Lead l = [SELECT LastName FROM Lead WHERE Id IN (SELECT Lead__c FROM Lead_Assignment__c WHERE Lead__c IN :made)
            AND CreatedDate = LAST_N_DAYS:3];
        return l.LastName;"""
    )
    assert apex(body) == "B"


def test_the_hundred_and_first_query_ends_the_transaction():
    """No catch helps (Apex Developer Guide, Execution Governors and Limits)."""
    body = """try { for (Integer i = 0; i < 101; i++) { Integer n = [SELECT COUNT()
        FROM Lead]; } } catch (Exception e) { } return 1;"""
    assert failure(body) == ("LimitException", "Too many SOQL queries: 101")
