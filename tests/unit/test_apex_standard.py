"""What the platform offers to Apex: texts, numbers, dates, collections, digests, JSON, patterns, business hours."""

from __future__ import annotations

import pytest

from support.apex import ApexOrg, apex, check, failure

pytestmark = pytest.mark.apex


def test_texts():
    """String's methods, with Java's edges: split drops trailing blanks, substring is half-open."""
    check(
        {
            "'abc'.substring(1, 2)": "b",
            "'abc'.left(9)": "abc",
            "'abc'.right(2)": "bc",
            "'a,b,,'.split(',')": "(a, b)",
            "'a.b'.split('\\\\.').size()": "2",
            "' x '.trim()": "x",
            "'a-b-c'.substringAfterLast('-')": "c",
            "'a-b-c'.substringBefore('-')": "a",
            "'abc'.indexOf('c')": "2",
            "'abc'.contains('B')": "false",
            "'abc'.containsIgnoreCase('B')": "true",
            "'a1b22'.replaceAll('[0-9]+', '#')": "a#b#",
            "'x'.repeat(3)": "xxx",
            "'7'.leftPad(3, '0')": "007",
            "'abcdefgh'.abbreviate(5)": "ab...",
            "String.join(new List<Object>{ 1, 'a', null }, '-')": "1-a-null",
            "String.format('{0} and {1}', new List<Object>{ 1, 'b' })": "1 and b",
            "String.isBlank(' ')": "true",
            "String.isEmpty(' ')": "false",
            "String.valueOf(1.50)": "1.50",
            "String.escapeSingleQuotes('it\\'s')": "it\\'s",
            "'hello'.hashCode()": "99162322",
            "'ab'.compareTo('b')": "-1",
            "'A'.equalsIgnoreCase('a')": "true",
            "'Aé'.getChars()": "(65, 233)",
            "String.fromCharArray(new List<Integer>{ 65, 66 })": "AB",
        }
    )


def test_numbers():
    """Rounding half up, half even where the guide says so, and Math."""
    check(
        {
            "(2.345).setScale(2)": "2.35",
            "(2.5).round()": "2",
            "(3.5).round()": "4",
            "Math.round(2.5)": "2",
            "Math.max(1, 2L)": "2",
            "Math.floor(-1.5)": "-2",
            "Math.ceil(1.2)": "2",
            "Math.abs(-3)": "3",
            "(7.9).intValue()": "7",
            "Decimal.valueOf('1.20').scale()": "2",
            "Integer.MAX_VALUE": "2147483647",
            "(1234567.5).format()": "1,234,567.5",
            "Math.pow(2, 10)": "1024.0",
            "Math.signum(-2.5)": "-1",
        }
    )


def test_dates_and_times():
    """In GMT and in the user's zone (Los Angeles, 8 hours behind in November); patterns of SimpleDateFormat."""
    at = "Datetime.newInstanceGmt(2026, 1, 31, 23, 5, 9)"
    check(
        {
            f"{at}.formatGmt('yyyy-MM-dd\\'T\\'HH:mm:ss.SSS')": "2026-01-31T23:05:09.000",
            f"{at}.format('d MMM yyyy h:mm a')": "31 Jan 2026 3:05 PM",
            f"{at}.format('EEE', 'Asia/Tokyo')": "Sun",
            f"{at}.addMinutes(55).dateGmt()": "2026-02-01 00:00:00",
            f"{at}.date()": "2026-01-31 00:00:00",
            f"{at}.getTime()": "1769900709000",
            f"{at}.addMonths(1).formatGmt('yyyy-MM-dd')": "2026-02-28",
            "Datetime.newInstance(0).yearGmt()": "1970",
            "System.now().formatGmt('yyyy-MM-dd HH:mm')": "2026-11-29 20:26",
            "Date.newInstance(2026, 2, 28).addDays(1).month()": "3",
            "Date.newInstance(2026, 3, 31).daysBetween(Date.newInstance(2026, 4, 1))": "1",
            "Date.newInstance(2024, 2, 29).addYears(1).day()": "28",
            "String.valueOf(Date.newInstance(2026, 1, 2))": "2026-01-02",
            "Datetime.valueOfGmt('2026-01-02 03:04:05').hourGmt()": "3",
            "Date.valueOf('2026-05-06') > Date.valueOf('2026-05-05')": "true",
            "TimeZone.getTimeZone('Europe/Paris').getOffset(Datetime.newInstanceGmt(2026, 7, 1, 0, 0, 0))": "7200000",
        }
    )


def test_collections():
    """Order of insertion, answers of add and remove, element types that convert."""
    check(
        {
            "new Set<Integer>{ 2, 1, 2 }": "{2, 1}",
            "new List<Integer>(new Set<Integer>{ 3, 1 })": "(3, 1)",
            "new Map<String, Integer>{ 'a' => 1, 'b' => 2 }": "{a=1, b=2}",
            "new Map<String, Integer>{ 'a' => 1 }.put('a', 2)": "1",
            "new Map<String, Integer>{ 'a' => 1 }.get('A')": "null",
            "new Map<String, Integer>{ 'a' => 1 }.values()": "(1)",
            "new Map<String, Integer>{ 'a' => 1 }.keySet()": "{a}",
            "new Set<String>{ 'a' }.addAll(new List<String>{ 'a' })": "false",
            "new List<String>{ 'b', 'a' }.contains('A')": "false",
            "new List<Integer>{ 5, 6 }.indexOf(6)": "1",
            "new Integer[2]": "(null, null)",
            "new List<Integer>{ 5, 6 }.remove(0)": "5",
            "new Set<Integer>{ 1, 2 }.containsAll(new Set<Integer>{ 2 })": "true",
        }
    )
    assert apex("List<Integer> a = new List<Integer>{ 3, null, 1 }; a.sort(); return a;").items == [None, 1, 3]


def test_objects_sort_by_their_own_order():
    """Comparable, and a Comparator of one's own."""
    source = """public class Probe implements Comparable {
        Integer n;
        Probe(Integer n) { this.n = n; }
        public Integer compareTo(Object other) { return n - ((Probe) other).n; }
        class Down implements Comparator<Probe> { public Integer compare(Probe a, Probe b) { return b.n - a.n; } }
        public static Object run() {
            List<Probe> ps = new List<Probe>{ new Probe(2), new Probe(3), new Probe(1) };
            ps.sort();
            String s = '' + ps[0].n + ps[2].n;
            ps.sort(new Down());
            return s + ps[0].n;
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "133"


def test_digests_and_encodings():
    """SHA-256 of `abc` as FIPS 180-2 has it."""
    check(
        {
            "EncodingUtil.convertToHex(Crypto.generateDigest('SHA-256', Blob.valueOf('abc')))": (
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ),
            "EncodingUtil.base64Encode(Blob.valueOf('hi'))": "aGk=",
            "EncodingUtil.urlEncode('a b&c', 'UTF-8')": "a+b%26c",
        }
    )


def test_json_goes_both_ways():
    """Objects, maps and lists; untyped numbers by their size; unknown members of typed objects are left out."""
    source = """public class Probe {
        public class Item { public String name; public Integer count; public List<Item> parts; }
        public static Object run() {
            Item i = (Item) JSON.deserialize('{"name":"a","count":2,"parts":[{"name":"b"}],"more":1}', Item.class);
            Map<String, Object> m = (Map<String, Object>) JSON.deserializeUntyped('{"a":1,"b":[1.5,null,3000000000]}');
            List<Object> l = (List<Object>) m.get('b');
            return i.name + i.count + i.parts[0].name + (m.get('a') instanceof Integer) + (l[0] instanceof Decimal)
                + (l[2] instanceof Long)
                    + JSON.serialize(new Map<String, Object>{ 'x' => new List<Object>{ 1, 'q', true, null } });
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == 'a2btruetruetrue{"x":[1,"q",true,null]}'


def test_patterns():
    """Matches is for the whole text, find for the next piece; groups from 1."""
    body = """
        Matcher m = Pattern.compile('(\\\\w)(\\\\d)').matcher('a1 b2');
        String s = '' + m.matches();
        while (m.find()) { s += m.group(2) + m.group(1); }
        return s + Pattern.matches('a+', 'aa') + m.groupCount();"""
    assert apex(body) == "false1a2btrue2"


def test_business_hours_are_those_of_the_orgs_rows():
    """Half-open windows in the zone of the hours, holidays closed, the next start as the platform answers it."""
    body = """
        BusinessHours h = new BusinessHours(Name = 'Paris', TimeZoneSidKey = 'Europe/Paris', IsActive = true,
            MondayStartTime = Time.newInstance(9, 0, 0, 0), MondayEndTime = Time.newInstance(17, 0, 0, 0),
            TuesdayStartTime = Time.newInstance(9, 0, 0, 0), TuesdayEndTime = Time.newInstance(17, 0, 0, 0));
        insert h;
        insert new Holiday(Name = 'Closed', ActivityDate = Date.newInstance(2026, 12, 1), IsAllDay = true);
        Datetime open = Datetime.newInstanceGmt(2026, 11, 30, 8, 0, 0);
        Datetime shut = Datetime.newInstanceGmt(2026, 11, 30, 16, 0, 0);
        return '' + BusinessHours.isWithin(h.Id, open) + BusinessHours.isWithin(h.Id, shut)
            + BusinessHours.nextStartDate(h.Id, open.addHours(-3)).formatGmt('HH:mm')
            + BusinessHours.nextStartDate(h.Id, shut).formatGmt(' dd HH:mm')
            + ' ' + BusinessHours.diff(h.Id, open.addHours(-1), shut);"""
    assert apex(body) == "truefalse08:00 07 08:00 28800000"


def test_custom_metadata_is_read_without_a_query():
    """GetInstance and getAll; changes in memory stay there."""
    body = """
        Lead_Routing_Setting__mdt one = Lead_Routing_Setting__mdt.getInstance('Default');
        return one.Mode__c + Lead_Routing_Setting__mdt.getAll().size()
            + (Lead_Routing_Setting__mdt.getInstance('No') == null)
            + Limits.getQueries();"""
    assert apex(body) == "Off1true0"


def test_describes_of_objects_and_fields():
    """Tokens, lengths and labels as the metadata has them."""
    body = """
        Schema.DescribeFieldResult d = Lead.Routing_Error__c.getDescribe();
        Lead l = new Lead();
        l.put('Company', 'C');
        l.put(Lead.LastName, 'L');
        return d.getLength() + d.getName() + Lead.SObjectType + l.get('company') + l.LastName
            + (l.getSObjectType() == Lead.SObjectType) + String.valueOf(Lead.Company);"""
    assert apex(body) == "255Routing_Error__cLeadCLtrueCompany"


def test_a_field_that_is_not_there_is_an_exception():
    """By name, at run time."""
    assert failure("return new Lead().get('Nope');") == ("SObjectException", "Invalid field Nope for Lead")
