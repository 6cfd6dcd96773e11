"""Sources to classes and triggers: declared, then linked, then every body compiled, so that faults show at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import org_simulator.apex.compile_flow
import org_simulator.apex.compile_stmt
import org_simulator.apex.standard  # noqa: F401 - these fill the registers of statements and of the platform
from org_simulator.apex import parser as parsing
from org_simulator.apex import tree
from org_simulator.apex.classes import EXCEPTIONS, ApexClass, ApexField, ApexMethod, Frame, Read
from org_simulator.apex.compile_block import body
from org_simulator.apex.compile_expr import compile_expr
from org_simulator.apex.compile_names import assigned
from org_simulator.apex.faults import Place, Unparsable, Unsupported
from org_simulator.apex.lower import unit
from org_simulator.apex.resolving import INTERFACES, Resolver
from org_simulator.apex.scope import Scope
from org_simulator.apex.tree import ClassDecl, TriggerDecl
from org_simulator.apex.types import VOID, Type, coercer
from org_simulator.apex.values import EnumValue

if TYPE_CHECKING:
    from org_simulator.schema import Schema

PARSERS = 4  # parser processes at once


@dataclass(slots=True, eq=False)
class Trigger:
    """A compiled trigger; `cls` stands for its place in coverage and stack traces."""

    name: str
    sobject: str
    events: frozenset[str]
    cls: ApexClass
    run: Callable[[Frame], Any]
    slots: int


@dataclass(slots=True)
class Program:
    """All that was loaded; classes by lower-cased name."""

    resolver: Resolver
    classes: dict[str, ApexClass] = field(default_factory=dict)
    triggers: list[Trigger] = field(default_factory=list)

    def every(self) -> list[ApexClass]:
        """All classes, inner ones too."""
        return [each for top in self.classes.values() for each in _with_inner(top)]


def sources(root: Path) -> list[Path]:
    """The class and trigger files below a folder, by path."""
    return sorted(
        file for ending in ("cls", "trigger") for file in root.rglob(f"*.{ending}") if "node_modules" not in file.parts
    )


def load(root: Path, schema: Schema, parser: Path | None = None, *, tests: bool = True) -> Program:
    """Parse, link and compile every file below `root`; test classes only if `tests`.

    Raises ParserMissing, Unparsable, or Unsupported naming file and line.
    """
    found = parser or parsing.binary(root)
    files = sources(root)
    with ThreadPoolExecutor(PARSERS) as pool:
        shown = [str(file.relative_to(root)) for file in files]
        units = list(
            pool.map(lambda pair: parsing.parse(pair[0], found, shown=pair[1]), zip(files, shown, strict=True))
        )
    return link([unit(each, name) for each, name in zip(units, shown, strict=True)], shown, schema, tests=tests)


def load_texts(texts: dict[str, str], schema: Schema, parser: Path) -> Program:
    """As `load`, of sources at hand by file name."""
    units = [unit(parsing.parse_text(text.encode(), parser, name), name) for name, text in texts.items()]
    return link(units, list(texts), schema)


def link(units: list[ClassDecl | TriggerDecl], files: list[str], schema: Schema, *, tests: bool = True) -> Program:
    """Declared units to a program."""
    classes: dict[str, ApexClass] = {}
    program = Program(Resolver(schema, classes), classes)
    for declared, file in zip(units, files, strict=True):
        if isinstance(declared, ClassDecl) and (tests or "istest" not in declared.marks.annotations):
            if declared.name.lower() in classes:
                raise Unparsable(Place(file, declared.line), f"there are two classes {declared.name}")
            classes[declared.name.lower()] = _declare(declared, file, None)
    for cls in program.every():
        _link(cls, program.resolver)
    for cls in program.every():
        _fill_virtual(cls)
    for cls in program.every():
        _compile(cls, program.resolver)
    for declared, file in zip(units, files, strict=True):
        if isinstance(declared, TriggerDecl):
            program.triggers.append(_trigger(declared, file, program.resolver))
    return program


def _with_inner(cls: ApexClass) -> list[ApexClass]:
    return [cls, *(each for inner in cls.inner.values() for each in _with_inner(inner))]


def _declare(decl: ClassDecl, file: str, outer: ApexClass | None) -> ApexClass:
    name = decl.name if outer is None else f"{outer.name}.{decl.name}"
    test = "istest" in decl.marks.annotations or (outer is not None and outer.test)
    cls = ApexClass(name, decl.kind, file, decl, outer, test=test)
    cls.values = {value.lower(): EnumValue(name, value, at) for at, value in enumerate(decl.values)}
    for member in decl.members:
        if isinstance(member, ClassDecl):
            cls.inner[member.name.lower()] = _declare(member, file, cls)
    return cls


# ---- linking --------------------------------------------------------------------------------------------------------


def _link(cls: ApexClass, resolver: Resolver) -> None:
    decl = cls.decl
    if decl is None:
        return
    try:
        _ancestors(cls, decl, resolver)
        for member in decl.members:
            match member:
                case tree.MethodDecl():
                    _method(cls, member, resolver)
                case tree.FieldDecl():
                    _field(cls, member, resolver)
                case tree.PropertyDecl():
                    _property(cls, member, resolver)
                case _:
                    continue
    except Unsupported as fault:
        raise fault.at(Place(cls.file, decl.line)) from None


def _ancestors(cls: ApexClass, decl: ClassDecl, resolver: Resolver) -> None:
    if decl.parent is not None:
        parent = resolver.type(decl.parent, cls).cls
        if parent is None:
            raise Unsupported(f"extends {decl.parent}")
        cls.parent = parent
    for written in decl.interfaces:
        found = resolver.find(written.path, cls)
        if found is not None and found.cls is not None:
            cls.interfaces.append(found.cls)
        elif written.path[-1].lower() in INTERFACES:
            cls.platform.add(written.path[-1].lower())
        else:
            raise Unsupported(f"implements {written}")


def _method(cls: ApexClass, decl: tree.MethodDecl, resolver: Resolver) -> ApexMethod:
    params = tuple(resolver.type(written, cls) for written, _ in decl.params)
    made = ApexMethod(
        owner=cls,
        name=decl.name,
        decl=decl,
        static="static" in decl.marks.words or "testmethod" in decl.marks.words,
        params=params,
        result=VOID if decl.type is None else resolver.type(decl.type, cls),
        coerce=tuple(coercer(each) for each in params),
    )
    if decl.type is None:
        cls.constructors.append(made)
    else:
        cls.methods.setdefault(decl.name.lower(), []).append(made)
    return made


def _field(cls: ApexClass, decl: tree.FieldDecl, resolver: Resolver) -> None:
    static = "static" in decl.marks.words
    cls.fields[decl.name.lower()] = ApexField(cls, decl.name, resolver.type(decl.type, cls), static)


def _property(cls: ApexClass, decl: tree.PropertyDecl, resolver: Resolver) -> None:
    static = "static" in decl.marks.words
    kind = resolver.type(decl.type, cls)
    made = cls.fields[decl.name.lower()] = ApexField(cls, decl.name, kind, static, decl)
    if isinstance(decl.getter, tree.Block):
        made.getter = ApexMethod(cls, decl.name, None, static, (), kind)
    if isinstance(decl.setter, tree.Block):
        made.setter = ApexMethod(cls, decl.name, None, static, (kind,), VOID, (coercer(kind),))


def _fill_virtual(cls: ApexClass) -> None:
    for each in reversed(cls.chain()):
        for methods in each.methods.values():
            for method in methods:
                if method.decl is not None and method.decl.body is not None and not method.static:
                    cls.virtual[method.signature] = method


# ---- compiling ------------------------------------------------------------------------------------------------------


def _compile(cls: ApexClass, resolver: Resolver) -> None:
    for method in (*cls.constructors, *(each for methods in cls.methods.values() for each in methods)):
        decl = method.decl
        if decl is None or decl.body is None:
            continue
        scope = Scope(resolver, cls, compile_expr, static=method.static)
        for (_, name), kind in zip(decl.params, method.params, strict=True):
            scope.declare(name, kind)
        first = decl.body.body[0] if decl.body.body else None
        chained = first.expr if isinstance(first, tree.Do) else None
        method.chains = isinstance(chained, tree.ConstructorCall) and not chained.parent
        _finish(method, decl.body, scope)
    for made in cls.fields.values():
        _accessors(made, resolver)
    _initialisers(cls, resolver)


def _finish(method: ApexMethod, block: tree.Block, scope: Scope) -> None:
    scope.result = method.result
    run = body(block, scope)

    def whole(frame: Frame) -> Any:
        done = run(frame)
        return done[0] if type(done) is tuple else None

    method.run = whole
    method.slots = scope.top


def _accessors(made: ApexField, resolver: Resolver) -> None:
    decl = made.decl
    if decl is None:
        return
    if made.getter is not None and isinstance(decl.getter, tree.Block):
        _finish(made.getter, decl.getter, _accessor_scope(made, resolver))
    if made.setter is not None and isinstance(decl.setter, tree.Block):
        scope = _accessor_scope(made, resolver)
        scope.declare("value", made.type)
        _finish(made.setter, decl.setter, scope)


def _accessor_scope(made: ApexField, resolver: Resolver) -> Scope:
    """Inside its own accessors a property's name is its stored value."""
    scope = Scope(resolver, made.owner, compile_expr, static=made.static)
    scope.inside = made.name.lower()
    return scope


def _initialisers(cls: ApexClass, resolver: Resolver) -> None:
    for member in cls.decl.members if cls.decl is not None else ():
        match member:
            case tree.FieldDecl(value=value) if value is not None:
                made = cls.fields[member.name.lower()]
                cls.lines.add(member.line)
                read = _initial(cls, made.static, value, made.type, resolver, member.line)
                (cls.statics if made.static else cls.instances).append((member.name.lower(), read))
            case tree.InitDecl():
                scope = Scope(resolver, cls, compile_expr, static=member.static)
                (cls.statics if member.static else cls.instances).append(("", body(member.body, scope)))
                cls.initial_slots = max(cls.initial_slots, scope.top)
            case _:
                continue


def _initial(cls: ApexClass, static: bool, value: tree.Expr, kind: Type, resolver: Resolver, line: int) -> Read:
    scope = Scope(resolver, cls, compile_expr, static=static)
    read = assigned(scope.expr(value).read, kind)

    def run(frame: Frame) -> Any:
        frame[0].hits[cls].add(line)
        return read(frame)

    return run


def _trigger(decl: TriggerDecl, file: str, resolver: Resolver) -> Trigger:
    described = resolver.sobject(decl.sobject.lower())
    if described is None:
        raise Unsupported(f"a trigger on {decl.sobject}", Place(file, decl.body.line))
    cls = ApexClass(decl.name, "trigger", file)
    scope = Scope(resolver, cls, compile_expr, static=True)
    scope.result = VOID
    run = body(decl.body, scope)
    return Trigger(decl.name, described.name, decl.events, cls, run, scope.top)


__all__ = ["EXCEPTIONS", "Program", "Trigger", "load", "load_texts"]
