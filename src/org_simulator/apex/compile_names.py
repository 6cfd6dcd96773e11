"""What a name or a member means, to read and to assign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.classes import ApexField, Frame, Read
from org_simulator.apex.conversion import single, type_of
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import invoke
from org_simulator.apex.platform import CONSTANTS
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record, field_type, relation
from org_simulator.apex.scope import Code, Scope
from org_simulator.apex.tree import Expr
from org_simulator.apex.types import OBJECT, PLAIN, SOBJECT, Type, coercer
from org_simulator.apex.values import Instance, Native


def path_of(expr: Expr | None) -> tuple[str, ...] | None:
    """`a.b.c` as names, None if it is anything else."""
    match expr:
        case tree.Name(name=found):
            return (found,)
        case tree.Member(base=base, name=found, safe=False):
            before = path_of(base)
            return None if before is None else (*before, found)
        case _:
            return None


def name(expr: tree.Name, scope: Scope) -> Code:
    """A bare name: a local, or a field."""
    found = scope.local(expr.name)
    if found is not None:
        slot, kind = found
        return Code(lambda frame: frame[slot], kind)
    field = scope.field(expr.name)
    if field is None:
        raise scope.refuse(f"the name {expr.name}", expr.line)
    return _field(field, lambda frame: frame[1], bare=scope.inside == expr.name.lower())


def _field(field: ApexField, this: Read, *, bare: bool = False) -> Code:
    """A field of an object, or a static one; `bare` leaves a property's accessors out."""
    key, owner = field.name.lower(), field.owner
    if field.getter is not None and not bare:
        getter = field.getter
        if field.static:
            return Code(lambda frame: invoke(frame[0], getter, None, ()), field.type)
        return Code(lambda frame: invoke(frame[0], getter, _object(this(frame)), ()), field.type)
    if field.static:
        return Code(lambda frame: frame[0].static_of(owner)[key], field.type)
    return Code(lambda frame: _object(this(frame)).values[key], field.type)


def _object(value: Any) -> Any:
    if value is None:
        raise null_pointer()
    return value


def member(expr: tree.Member, scope: Scope) -> Code:
    """`base.name`: of a type, of a record, or of an object."""
    path = path_of(expr.base)
    if path is not None and not expr.safe:
        static = _of_type(path, expr, scope)
        if static is not None:
            return static
    base = scope.link(expr.base, safe=expr.safe)
    if isinstance(expr.base, tree.Soql) and base.type.args:
        rows = base.read
        base = Code(lambda frame: single(rows(frame)), base.type.args[0])
    key = expr.name.lower()
    kind = _member_type(base.type, key, expr, scope)
    of = base.read
    if base.type.cls is not None and (field := base.type.cls.field(key)) is not None:
        return _field(field, of)

    def read(frame: Frame) -> Any:
        value = of(frame)
        if type(value) is Record:
            found = value.values.get(key)
            return value.read(key) if found is None else found
        return member_of(value, key)

    return Code(read, kind)


def member_of(value: Any, key: str) -> Any:
    """A member of whatever the value is."""
    if value is None:
        raise null_pointer()
    if isinstance(value, Record):
        return value.read(key)
    if isinstance(value, Instance) and key in value.values:
        return value.values[key]
    if isinstance(value, Native) and isinstance(value.held, dict) and key in value.held:
        return value.held[key]
    raise Unsupported(f"{type_of(value)}.{key}")


def _member_type(base: Type, key: str, expr: tree.Member, scope: Scope) -> Type:
    """The type of a record's field or parent; Unsupported where the schema has none."""
    if base.cls is not None and (field := base.cls.field(key)) is not None:
        return field.type
    described = None if base.sobject is None else scope.resolver.sobject(base.sobject.lower())
    if described is None:
        if base.name not in {"Object", "SObject", "DMLOptions"}:
            raise scope.refuse(f"{base}.{expr.name}", expr.line)
        return OBJECT
    if (column := described.fields.get(key)) is not None:
        return field_type(column)
    if (step := relation(described, key)) is not None:
        target = scope.resolver.sobject(step.reference_to[0].lower()) if len(step.reference_to) == 1 else None
        return SOBJECT if target is None else Type(target.name, sobject=target.name)
    if key.endswith(("__r", "s")):
        return Type("List", (SOBJECT,))
    raise scope.refuse(f"{base.sobject} has no field {expr.name}", expr.line)


def _of_type(path: tuple[str, ...], expr: tree.Member, scope: Scope) -> Code | None:
    """A constant or static field of a type; None if the path is no type."""
    kind = scope.named_type(path)
    low = ".".join(path).lower().removeprefix("system.")
    if kind is None:
        return _token(low, expr, scope) if path[0].lower() == "schema" else None
    key = expr.name.lower()
    if kind.cls is not None:
        return _static(kind, key)
    if kind.sobject is not None:
        return _token(f"{kind.name.lower()}.", expr, scope)
    made = CONSTANTS.get(f"{kind.name.lower()}.{key}")
    if made is None:
        return None
    value = made[0]()
    return Code(lambda _frame: value, scope.hint(made[1]))


def _static(kind: Type, key: str) -> Code | None:
    cls = kind.cls
    if cls is None:
        return None
    if key in cls.values:
        value = cls.values[key]
        return Code(lambda _frame: value, kind)
    field = cls.field(key)
    return _field(field, lambda _frame: None) if field is not None and field.static else None


def _token(low: str, expr: tree.Member, scope: Scope) -> Code | None:
    """`Lead.SObjectType`, `Lead.Company`, `Lead.fields.Company`, `Schema.SObjectType.Lead`."""
    key = expr.name.lower()
    if low == "schema.sobjecttype":
        described = scope.resolver.sobject(key)
        if described is None:
            raise scope.refuse(f"Schema.SObjectType.{expr.name}", expr.line)
        describe = Native("DescribeSObjectResult", described.name)
        return Code(lambda _frame: describe, Type("DescribeSObjectResult"))
    owner = scope.resolver.sobject(low.rstrip("."))
    if owner is None:
        return None
    if key == "sobjecttype":
        token = Native("SObjectType", owner.name)
        return Code(lambda _frame: token, Type("SObjectType"))
    if key not in owner.fields:
        raise scope.refuse(f"{owner.name} has no field {expr.name}", expr.line)
    column = Native("SObjectField", (owner.name, owner.fields[key].name))
    return Code(lambda _frame: column, Type("SObjectField"))


# ---- assignment -----------------------------------------------------------------------------------------------------


def assigned(read: Read, kind: Type) -> Read:
    """The value as the type takes it: numbers widened, ids checked, a query's one record."""
    record = kind.sobject is not None or kind.name == "SObject"
    convert = single if record else coercer(kind)
    if convert is None:
        return read
    change: Callable[[Any], Any] = convert
    plain = Record if record else PLAIN[kind.name]

    def converted(frame: Frame) -> Any:
        value = read(frame)
        return value if value is None or type(value) is plain else taken(value, change, kind)

    return converted


def taken(value: Any, change: Callable[[Any], Any], kind: Type) -> Any:
    """A value through a coercion, its complaints in Apex's words."""
    try:
        return change(value)
    except ValueError as fault:
        raise thrown("StringException", str(fault)) from None
    except TypeError:
        raise Unsupported(f"an assignment of {type_of(value)} to {kind}") from None


def store(target: Expr, value: Code, scope: Scope) -> Code:
    """An assignment; its value is what was assigned."""
    match target:
        case tree.Name():
            return _store_name(target, value, scope)
        case tree.Member():
            return _store_member(target, value, scope)
        case tree.Index():
            return _store_index(target, value, scope)
        case _:
            raise scope.refuse("an assignment to what is no variable", target.line)


def _store_name(target: tree.Name, value: Code, scope: Scope) -> Code:
    found = scope.local(target.name)
    if found is not None:
        slot, kind = found
        read = assigned(value.read, kind)

        def keep(frame: Frame) -> Any:
            kept = frame[slot] = read(frame)
            return kept

        return Code(keep, kind)
    field = scope.field(target.name)
    if field is None:
        raise scope.refuse(f"the name {target.name}", target.line)
    return _store_field(field, lambda frame: frame[1], value, bare=scope.inside == target.name.lower())


def _store_field(field: ApexField, this: Read, value: Code, *, bare: bool = False) -> Code:
    key, owner, read = field.name.lower(), field.owner, assigned(value.read, field.type)
    setter, static = None if bare else field.setter, field.static

    def keep(frame: Frame) -> Any:
        kept = read(frame)
        if setter is not None:
            invoke(frame[0], setter, None if static else _object(this(frame)), (kept,))
        elif static:
            frame[0].static_of(owner)[key] = kept
        else:
            _object(this(frame)).values[key] = kept
        return kept

    return Code(keep, field.type)


def _store_member(target: tree.Member, value: Code, scope: Scope) -> Code:
    path = path_of(target.base)
    kind = None if path is None else scope.named_type(path)
    key = target.name.lower()
    if kind is not None and kind.cls is not None:
        field = kind.cls.field(key)
        if field is None or not field.static:
            raise scope.refuse(f"{kind}.{target.name}", target.line)
        return _store_field(field, lambda _frame: None, value)
    base = scope.expr(target.base)
    if base.type.cls is not None and (field := base.type.cls.field(key)) is not None:
        return _store_field(field, base.read, value)
    wanted = _member_type(base.type, key, target, scope)
    of, read = base.read, assigned(value.read, wanted)

    def keep(frame: Frame) -> Any:
        owner = _object(of(frame))
        kept = read(frame)
        if isinstance(owner, Record):
            owner.write(key, kept)
        elif isinstance(owner, Instance) and key in owner.values:
            owner.values[key] = kept
        elif isinstance(owner, Native) and isinstance(owner.held, dict) and key in owner.held:
            owner.held[key] = kept
        else:
            raise Unsupported(f"an assignment to {type_of(owner)}.{target.name}")
        return kept

    return Code(keep, wanted)


def _store_index(target: tree.Index, value: Code, scope: Scope) -> Code:
    base, index = scope.expr(target.base), scope.expr(target.index)
    of, at, read = base.read, index.read, value.read

    def keep(frame: Frame) -> Any:
        items, place = _object(of(frame)), at(frame)
        convert = coercer(items.of)
        kept = read(frame)
        kept = kept if convert is None else taken(kept, convert, items.of)
        if not 0 <= place < len(items.items):
            raise thrown("ListException", f"List index out of bounds: {place}")
        items.items[place] = kept
        return kept

    return Code(keep, base.type.args[0] if base.type.args else OBJECT)
