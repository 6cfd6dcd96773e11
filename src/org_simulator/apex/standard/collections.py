"""List, Set and Map."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

from org_simulator.apex.collections import element, elements, keyed, put_all
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import dispatch
from org_simulator.apex.operators import equal, order
from org_simulator.apex.platform import method
from org_simulator.apex.raising import thrown
from org_simulator.apex.records import Record
from org_simulator.apex.texts import text
from org_simulator.apex.values import EnumValue, Instance, ListValue, MapValue, SetValue, key


@method("List.size|Set.size|Map.size", "Integer")
def size(_session: Any, value: Any) -> int:
    return len(value.items)


@method("List.isEmpty|Set.isEmpty|Map.isEmpty", "Boolean")
def is_empty(_session: Any, value: Any) -> bool:
    return not value.items


@method("List.clear|Set.clear|Map.clear", "void")
def clear(_session: Any, value: Any) -> None:
    value.items.clear()


# ---- List -----------------------------------------------------------------------------------------------------------


@method("List.add", "void", 1, 2)
def add(_session: Any, value: ListValue, *given: Any) -> None:
    if len(given) == 1:
        value.items.append(element(given[0], value.of))
    else:
        at, new = given
        _within(value, at, len(value.items) + 1)
        value.items.insert(at, element(new, value.of))


def _within(value: ListValue, at: int, end: int) -> None:
    if not 0 <= at < end:
        raise thrown("ListException", f"List index out of bounds: {at}")
    del value


@method("List.addAll", "void", 1)
def add_all(_session: Any, value: ListValue, given: Any) -> None:
    value.items.extend(elements(given, value.of))


@method("List.get", "T", 1)
def get(_session: Any, value: ListValue, at: int) -> Any:
    _within(value, at, len(value.items))
    return value.items[at]


@method("List.set", "void", 2)
def set_(_session: Any, value: ListValue, at: int, new: Any) -> None:
    _within(value, at, len(value.items))
    value.items[at] = element(new, value.of)


@method("List.remove", "T", 1)
def remove(_session: Any, value: ListValue, at: int) -> Any:
    _within(value, at, len(value.items))
    return value.items.pop(at)


@method("List.contains", "Boolean", 1)
def contains(session: Any, value: ListValue, wanted: Any) -> bool:
    return index_of(session, value, wanted) >= 0


@method("List.indexOf", "Integer", 1)
def index_of(_session: Any, value: ListValue, wanted: Any) -> int:
    """The first place of an equal element; texts by case, as a Set has them."""
    sought = key(element(wanted, value.of))
    return next((at for at, each in enumerate(value.items) if key(each) == sought), -1)


@method("List.clone", "This")
def clone(_session: Any, value: ListValue) -> ListValue:
    return ListValue(list(value.items), value.of)


@method("List.deepClone", "This", 0, 1, 2, 3)
def deep_clone(_session: Any, value: ListValue, keep_id: bool = False, *_keep: bool) -> ListValue:
    if any(_keep):
        raise Unsupported("deepClone that keeps times or auto numbers")
    return ListValue([each.copy(keep_id=keep_id) for each in value.items], value.of)


@method("List.sort", "void", 0, 1)
def sort(session: Any, value: ListValue, comparator: Any = None) -> None:
    """Numbers, dates and texts in their order, objects by compareTo, or all by a Comparator; null first."""
    if comparator is not None:
        compare = comparator.cls.named("compare")[0]
        value.items.sort(key=cmp_to_key(lambda one, two: dispatch(session, compare, comparator, [one, two])))
        return
    value.items.sort(key=cmp_to_key(lambda one, two: _order(session, one, two)))


def _order(session: Any, one: Any, two: Any) -> int:
    if isinstance(one, Instance) and isinstance(two, Instance):
        if not one.cls.is_named("comparable"):
            raise thrown("ListException", f"One or more of the items in this list is not Comparable: {one.cls.name}")
        return int(dispatch(session, one.cls.named("compareto")[0], one, [two]))
    if isinstance(one, EnumValue) and isinstance(two, EnumValue):
        return one.ordinal - two.ordinal
    if isinstance(one, Record) or isinstance(two, Record):
        raise Unsupported("a sort of records, whose order the platform decides by fields")
    if isinstance(one, str) and isinstance(two, str):
        by_case = session.org.switches.apex_sorts_texts_by_code_point
        left, right = (("", str(each)) if by_case else (str(each).casefold(), str(each)) for each in (one, two))
        return (left > right) - (left < right)
    return order(one, two)


# ---- Set ------------------------------------------------------------------------------------------------------------


@method("Set.add", "Boolean", 1)
def set_add(_session: Any, value: SetValue, given: Any) -> bool:
    new = element(given, value.of)
    name = key(new)
    if name in value.items:
        return False
    value.items[name] = new
    return True


@method("Set.addAll", "Boolean", 1)
def set_add_all(_session: Any, value: SetValue, given: Any) -> bool:
    before = len(value.items)
    for name, each in keyed(elements(given, value.of)).items():
        value.items.setdefault(name, each)
    return len(value.items) > before


@method("Set.contains", "Boolean", 1)
def set_contains(_session: Any, value: SetValue, wanted: Any) -> bool:
    return key(element(wanted, value.of)) in value.items


@method("Set.containsAll", "Boolean", 1)
def set_contains_all(_session: Any, value: SetValue, wanted: Any) -> bool:
    return all(key(each) in value.items for each in elements(wanted, value.of))


@method("Set.remove", "Boolean", 1)
def set_remove(_session: Any, value: SetValue, given: Any) -> bool:
    name = key(element(given, value.of))
    found = name in value.items
    value.items.pop(name, None)
    return found


@method("Set.removeAll", "Boolean", 1)
def set_remove_all(session: Any, value: SetValue, given: Any) -> bool:
    return sum(set_remove(session, value, each) for each in list(elements(given, value.of))) > 0


@method("Set.retainAll", "Boolean", 1)
def set_retain_all(_session: Any, value: SetValue, given: Any) -> bool:
    kept = keyed(elements(given, value.of))
    before = len(value.items)
    value.items = {name: each for name, each in value.items.items() if name in kept}
    return len(value.items) < before


@method("Set.clone", "This")
def set_clone(_session: Any, value: SetValue) -> SetValue:
    return SetValue(value.of, dict(value.items))


# ---- Map ------------------------------------------------------------------------------------------------------------


@method("Map.put", "V", 2)
def put(_session: Any, value: MapValue, name: Any, new: Any) -> Any:
    """Answers the value that was there."""
    kept = element(name, value.of)
    at = key(kept)
    before = value.items.get(at)
    value.items[at] = (kept if before is None else before[0], element(new, value.to))
    return None if before is None else before[1]


@method("Map.get", "V", 1)
def map_get(_session: Any, value: MapValue, name: Any) -> Any:
    found = value.items.get(key(element(name, value.of)))
    return None if found is None else found[1]


@method("Map.containsKey", "Boolean", 1)
def contains_key(_session: Any, value: MapValue, name: Any) -> bool:
    return key(element(name, value.of)) in value.items


@method("Map.remove", "V", 1)
def map_remove(_session: Any, value: MapValue, name: Any) -> Any:
    found = value.items.pop(key(element(name, value.of)), None)
    return None if found is None else found[1]


@method("Map.putAll", "void", 1)
def map_put_all(_session: Any, value: MapValue, given: Any) -> None:
    put_all(value, given)


@method("Map.keySet", "Set<K>")
def key_set(_session: Any, value: MapValue) -> SetValue:
    return SetValue(value.of, {name: pair[0] for name, pair in value.items.items()})


@method("Map.values", "List<V>")
def values(_session: Any, value: MapValue) -> ListValue:
    return ListValue([pair[1] for pair in value.items.values()], value.to)


@method("Map.clone", "This")
def map_clone(_session: Any, value: MapValue) -> MapValue:
    return MapValue(value.of, value.to, dict(value.items))


# ---- Object ---------------------------------------------------------------------------------------------------------


@method("Object.toString", "String")
def to_string(session: Any, value: Any) -> str:
    return text(value, session.zone())


@method("Object.equals", "Boolean", 1)
def equals(_session: Any, value: Any, other: Any) -> bool:
    return equal(value, other)


@method("Object.hashCode", "Integer")
def hash_code(_session: Any, value: Any) -> int:
    return hash(key(value)) & 0x7FFFFFFF


@method("Enum.name", "String")
def name(_session: Any, value: EnumValue) -> str:
    return value.name


@method("Enum.ordinal", "Integer")
def ordinal(_session: Any, value: EnumValue) -> int:
    return value.ordinal
