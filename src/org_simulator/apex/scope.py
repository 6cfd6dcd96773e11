"""What a name means at one place of the source, and the slots of locals."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from org_simulator.apex import tree
from org_simulator.apex.classes import FIRST_SLOT, ApexClass, ApexField, Frame, Read
from org_simulator.apex.faults import Place, Unsupported
from org_simulator.apex.types import OBJECT, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from org_simulator.apex.resolving import Resolver
    from org_simulator.apex.tree import Expr, TypeName


class Code(NamedTuple):
    """A compiled expression; `type` is what is known of its value while compiling, Object if nothing is."""

    read: Read
    type: Type
    sure: bool = False
    """Never null, such as a comparison."""


Compiler: TypeAlias = "Callable[[Expr, Scope], Code]"


class Scope:
    """Of one method, constructor, initialiser or trigger of `cls`."""

    def __init__(self, resolver: Resolver, cls: ApexClass, compiler: Compiler, *, static: bool) -> None:
        self.resolver = resolver
        self._compiler = compiler
        self.cls = cls
        self.static = static
        self.result = OBJECT
        """What a `return` here answers."""
        self.inside = ""
        """The property, in lower case, of whose accessor this is: there its name is its stored value."""
        self.top = FIRST_SLOT
        self._names: list[dict[str, tuple[int, Type]]] = [{}]

    def expr(self, expr: Expr) -> Code:
        """A compiled expression; Unsupported with its place. Null where a `?.` in its chain met null."""
        code = self._compiler(expr, self)
        return Code(_whole(code.read), code.type) if _has_safe(expr) else code

    def link(self, expr: Expr, *, safe: bool = False) -> Code:
        """An expression as the base of a further link; `safe` ends the whole chain where the base is null."""
        code = self._compiler(expr, self)
        return Code(_or_short(code.read), code.type) if safe else code

    def place(self, line: int) -> Place:
        """A place in this class's file."""
        return Place(self.cls.file, line)

    def refuse(self, what: str, line: int) -> Unsupported:
        """This cannot be run."""
        return Unsupported(what, self.place(line))

    def type(self, written: TypeName, line: int) -> Type:
        """A type as seen from here."""
        try:
            return self.resolver.type(written, self.cls)
        except Unsupported as fault:
            raise fault.at(self.place(line)) from None

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Names declared inside end with it; slots are not used again, so that none shows an older value."""
        self._names.append({})
        try:
            yield
        finally:
            self._names.pop()

    def declare(self, name: str, kind: Type) -> int:
        """A slot for a new local."""
        slot, self.top = self.top, self.top + 1
        self._names[-1][name.lower()] = (slot, kind)
        return slot

    def local(self, name: str) -> tuple[int, Type] | None:
        """The slot and type of a local."""
        low = name.lower()
        return next((names[low] for names in reversed(self._names) if low in names), None)

    def field(self, name: str) -> ApexField | None:
        """A field or property that the bare name means: of the class or an ancestor, or static of an outer class."""
        low = name.lower()
        found = self.cls.field(low)
        if found is not None and (found.static or not self.static):
            return found
        outer = self.cls.outer
        while outer is not None:
            found = outer.field(low)
            if found is not None and found.static:
                return found
            outer = outer.outer
        return None

    def named_type(self, path: tuple[str, ...]) -> Type | None:
        """The type that a path of names means, unless its first is a variable."""
        if self.local(path[0]) is not None or self.field(path[0]) is not None:
            return None
        return self.resolver.find(path, self.cls)

    def hint(self, written: str, receiver: Type = OBJECT) -> Type:
        """The type that the platform's register writes for a result; T, K and V are the receiver's arguments."""
        args: Any = receiver.args
        letters = {"T": args[0], "K": args[0], "V": args[-1]} if args else {}
        return parse_hint(written, letters, self.resolver)


class _Short(Exception):
    """A `?.` met null: the chain that it stands in is null."""


def _has_safe(expr: Any) -> bool:
    while isinstance(expr, tree.Member | tree.Call | tree.Index):
        if not isinstance(expr, tree.Index) and expr.safe:
            return True
        expr = expr.base
    return False


def _whole(read: Read) -> Read:
    def chain(frame: Frame) -> Any:
        try:
            return read(frame)
        except _Short:
            return None

    return chain


def _or_short(read: Read) -> Read:
    def asked(frame: Frame) -> Any:
        value = read(frame)
        if value is None:
            raise _Short
        return value

    return asked


def parse_hint(written: str, letters: dict[str, Type], resolver: Resolver) -> Type:
    """A type of the register's short notation."""
    if written in letters:
        return letters[written]
    name, _, rest = written.partition("<")
    if not rest:
        found = resolver.find(tuple(name.split(".")), None)
        return OBJECT if found is None or len(name) == 1 else found
    args = tuple(parse_hint(each.strip(), letters, resolver) for each in _split(rest[:-1]))
    return Type(name, args)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
