"""Statements, classes and exceptions of Apex. Expectations are the Apex Developer Guide's, worked out by hand."""

from __future__ import annotations

import pytest

from org_simulator.apex.faults import Unparsable, Unsupported
from support.apex import ApexOrg, apex, failure, probe

pytestmark = pytest.mark.apex


def test_loops_leave_and_go_on():
    """for, while, do, for-each with break and continue; steps before and after."""
    body = """
        String s = '';
        for (Integer i = 0, j = 9; i < j; i++) { if (i == 2) { continue; } if (i == 5) { break; } s += i; }
        Integer k = 3;
        while (k-- > 0) { s += 'w' + k; }
        do { s += 'd'; } while (++k < 1);
        for (String each : new List<String>{ 'x', 'y' }) { s += each; }
        return s;"""
    assert apex(body) == "0134w2w1w0ddxy"


def test_switch_takes_values_enums_types_and_else():
    """One branch runs; several values in one branch; null is a value; a record's type gives it a name."""
    source = """public class Probe {
        enum Colour { RED, GREEN }
        static String of(Integer n) { switch on n { when 1, 2 { return 'low'; } when null { return 'none'; }
            when else { return 'more'; } } }
        static String of(Colour c) { switch on c { when RED { return 'r'; } when GREEN { return 'g'; } } return '?'; }
        static String of(SObject s) { switch on s { when Lead found { return found.LastName; } when else
            { return 'other'; } } }
        public static Object run() {
            Integer none;
            return of(2) + of(9) + of(none) + of(Colour.GREEN) + of(new Lead(LastName = 'L')) + of(new Account());
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "lowmorenonegLother"


def test_safe_navigation_ends_the_whole_chain():
    """`a?.b.c()` is null where a is null; the base is computed once; `??` takes the right side only for null."""
    source = """public class Probe {
        static Integer asked = 0;
        static Lead none() { asked++; return null; }
        public static Object run() {
            String a = none()?.LastName.toLowerCase();
            String b = none()?.LastName ?? 'd';
            String c = new Lead(LastName = 'X')?.LastName?.toLowerCase() ?? 'no';
            return a + b + c + asked;
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "nulldx2"


def test_classes_inherit_override_and_call_their_parents():
    """virtual, abstract, interface, super; the object's own class decides which method runs."""
    source = """public class Probe {
        interface Named { String name(); }
        abstract class Base implements Named {
            protected Integer count = 1;
            Base(Integer n) { count += n; }
            public virtual String name() { return 'base' + count; }
            public String shout() { return name().toUpperCase(); }
            public abstract Integer size();
        }
        class Child extends Base {
            Child() { super(4); }
            public override String name() { return 'child of ' + super.name(); }
            public override Integer size() { return count; }
        }
        public static Object run() {
            Base b = new Child();
            Named n = b;
            return b.shout() + b.size() + n.name() + (n instanceof Child) + (b instanceof Named);
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "CHILD OF BASE55child of base5truetrue"


def test_fields_initialisers_and_constructors_run_in_order():
    """Fields, then blocks, then the constructor; this(…) does not initialise twice; statics at the first use."""
    source = """public class Probe {
        static String log = '';
        static { log += 'S'; }
        class Thing {
            Integer a = note('f');
            { note('b'); }
            Thing() { this(1); note('0'); }
            Thing(Integer n) { note('1'); }
        }
        static Integer note(String s) { log += s; return 1; }
        public static Object run() { new Thing(); return log; }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "Sfb10"


def test_a_constructor_begins_with_its_parents():
    """Without super(…) the parent's constructor without parameters runs first, and its fields before it."""
    source = """public class Probe {
        static String log = '';
        static Integer note(String s) { log += s; return 1; }
        virtual class Base { Integer a = note('a'); Base() { note('B'); } }
        class Child extends Base { Integer c = note('c'); Child() { note('C'); } }
        class Silent extends Base { }
        public static Object run() { new Child(); new Silent(); return log; }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "aBcCaB"


def test_properties_run_their_accessors():
    """Get and set with bodies, automatic ones, and static ones; `value` is what is set."""
    source = """public class Probe {
        public Integer plain { get; private set; }
        public Integer doubled { get { return plain * 2; } set { plain = value + 1; } }
        public static String lazy { get { if (lazy == null) { lazy = 'made'; } return lazy; } set; }
        public static Object run() { Probe p = new Probe(); p.doubled = 4; p.plain++; return p.doubled + lazy; }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "12made"


def test_the_nearest_overload_is_called():
    """By the types of the arguments: Integer before Long before Decimal before Object."""
    source = """public class Probe {
        static String f(Integer x) { return 'I'; }
        static String f(Long x) { return 'L'; }
        static String f(Decimal x) { return 'D'; }
        static String f(String x) { return 'S'; }
        static String f(List<Object> x) { return 'l'; }
        static String f(Object x) { return 'O'; }
        public static Object run() { Object o = true; return f(1) + f(1L) + f(1.5) + f('a') + f(o); }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "ILDSO"


def test_exceptions_are_caught_by_type_and_finally_always_runs():
    """The first fitting catch; a cause; finally after return; own exceptions with the platform's constructors."""
    source = """public class Probe {
        class Own extends Exception { }
        static String log = '';
        static Integer inner() { try { return 1; } finally { log += 'f'; } }
        public static Object run() {
            inner();
            try { throw new Own('m', new Own('cause')); }
            catch (DmlException e) { log += 'dml'; }
            catch (Own e) { log += e.getMessage() + e.getCause().getMessage() + e.getTypeName(); }
            finally { log += 'g'; }
            try { Integer x = 1 / 0; } catch (Exception e) { log += e.getTypeName() + e.getLineNumber(); }
            try { throw new Own(); } catch (Own e) { log += e.getMessage(); }
            return log;
        }
    }"""
    expected = "fmcauseProbe.OwngSystem.MathException11Script-thrown exception"
    assert ApexOrg({"Probe.cls": source}).call("Probe") == expected


def test_enums_know_name_order_and_values():
    """values(), valueOf(), name(), ordinal(); constants compare by identity."""
    source = """public class Probe {
        public enum Kind { A, B }
        public static Object run() {
            Map<Kind, Integer> m = new Map<Kind, Integer>{ Kind.A => 1 };
            return Kind.values().size() + Kind.valueOf('b').name() + Kind.B.ordinal() + m.get(Kind.A)
                + (Kind.A == Kind.B);
        }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == "2B11false"


def test_names_are_found_in_any_case_and_locals_hide_fields():
    """Classes, methods, variables and fields in any letter case; `this` reaches what a parameter hides."""
    source = """public class Probe {
        Integer n = 1;
        void keep(Integer n) { THIS.n = N + this.N; }
        public static Object run() { probe P = new PROBE(); p.KEEP(4); return p.n; }
    }"""
    assert ApexOrg({"Probe.cls": source}).call("Probe") == 5


def test_no_catch_sees_limits_or_failed_assertions():
    """LimitException and AssertException pass every catch (Apex Developer Guide, Exception class)."""
    body = "try { System.assertEquals(1, 2, 'no'); } catch (Exception e) { return 'caught'; } return 'passed';"
    assert failure(body) == ("AssertException", "Assertion Failed: no: Expected: 1, Actual: 2")
    deep = """public class Probe { static Integer f(Integer n) { return f(n + 1); } public static Object run()
        { return f(0); } }"""
    with pytest.raises(Exception, match="Maximum stack depth reached: 1001"):
        ApexOrg({"Probe.cls": deep}).call("Probe")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("\n\nreturn 'a'.noSuchMethod();", "Probe.cls:3: unsupported: String.noSuchMethod"),
        ("\nreturn nobody;", "Probe.cls:2: unsupported: the name nobody"),
        ("\nreturn new Lead(Nope__c = 1);", "Probe.cls:2: unsupported: Lead has no field Nope__c"),
        ("\nNobody x;", "Probe.cls:2: unsupported: type Nobody"),
        ("\nreturn Math.abs(1, 2);", "Probe.cls:2: unsupported: Math.abs with 2 arguments"),
        ("\nList<List<SObject>> f = [FIND 'x' IN ALL FIELDS RETURNING Lead];", "Probe.cls:2: unsupported: SoslExpr"),
        ("\nreturn [SELECT Id FROM Nothing__c];", "Probe.cls:2: unsupported: a query of Nothing__c"),
        (
            "\nreturn [SELECT Id FROM Lead ORDER BY Id FOR UPDATE];",
            "Probe.cls:2: unsupported: ORDER BY with FOR UPDATE",
        ),
    ],
)
def test_what_is_not_run_is_named_by_file_and_line_when_loaded(body, what):
    """Nothing that this interpreter does not know passes silently."""
    with pytest.raises(Unsupported) as caught:
        ApexOrg({"Probe.cls": probe(body)})
    assert what in str(caught.value)


def test_what_shows_only_when_it_runs_is_named_by_file_and_line_too():
    """A method of a value whose type is not known while loading."""
    with pytest.raises(Unsupported, match=r"Probe\.cls:2: unsupported: Integer\.trim"):
        apex("Object o = 1;\nreturn o.trim();")


def test_what_the_platforms_parser_refuses_is_refused_by_line():
    """The first fault of the syntax."""
    with pytest.raises(Unparsable, match=r"Probe\.cls:2: "):
        ApexOrg({"Probe.cls": probe("\nreturn 1 +;")})


OWN = """public class Point {
    public Integer x;
    public Boolean equals(Object other) { return other instanceof Point && ((Point) other).x == x; }
    public Integer hashCode() { return x; }
}"""


@pytest.mark.parametrize(
    "use",
    [
        "return new Set<Point>{ new Point() };",
        "Set<Point> s = new Set<Point>();\ns.add(new Point());",
        "Map<Point, String> m = new Map<Point, String>();\nm.put(new Point(), 'a');",
        "return new List<Point>{ new Point() }.contains(new Point());",
        "return new Point() == new Point();",
    ],
)
def test_objects_with_an_equality_of_their_own_are_refused_by_file_and_line(use):
    """Comparing them by identity would be wrong in silence."""
    body = f"\n{use}" if "\n" in use else f"\n\n{use}"
    found = ApexOrg({"Probe.cls": probe(body + ("\nreturn null;" if "\n" in use else "")), "Point.cls": OWN})
    with pytest.raises(Unsupported, match=r"Probe\.cls:3: unsupported: objects of Point, which has equals of its own"):
        found.call("Probe")


def test_objects_without_one_are_equal_to_themselves_alone():
    """Another signature of the same name is none."""
    plain = "public class Point { public Boolean equals(Point a, Point b) { return true; } }"
    body = "Point p = new Point(); return new Set<Point>{ p, p, new Point() }.size() + (p == new Point() ? 10 : 0);"
    assert ApexOrg({"Probe.cls": probe(body), "Point.cls": plain}).call("Probe") == 2
