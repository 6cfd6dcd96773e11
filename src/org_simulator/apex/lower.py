"""Statements and declarations of the syntax tree to the internal form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.lower_expr import Lowering as Expressions
from org_simulator.apex.raw import Node, constant, line, name, refuse, some, tag
from org_simulator.apex.tree import ClassDecl, Decl, Expr, Marks, Stmt, TriggerDecl, TypeName


def unit(node: Node, file: str) -> ClassDecl | TriggerDecl:
    """A whole file: a class, interface, enum or trigger. Raises Unsupported by file and line."""
    to = Lowering(file)
    match tag(node):
        case "CompilationUnit$TriggerDeclUnit":
            return to.trigger(node)
        case "CompilationUnit$ClassDeclUnit" | "CompilationUnit$InterfaceDeclUnit" | "CompilationUnit$EnumDeclUnit":
            return to.declared(node["body"])
        case other:
            raise refuse(other, node, file)


class Lowering(Expressions):
    """Of one file."""

    # ---- statements -------------------------------------------------------------------------------------------------

    def stmt(self, node: Node) -> Stmt:
        """One statement."""
        known = _STATEMENTS.get(tag(node).removeprefix("Stmnt$"))
        if known is None:
            raise refuse(tag(node).removeprefix("Stmnt$"), node, self.file)
        return known(self, node)

    def maybe_stmt(self, node: Any) -> Stmt | None:
        """A statement that may be absent."""
        held = some(node)
        return None if held is None else self.stmt(held)

    def block(self, node: Node) -> tree.Block:
        """A block."""
        return tree.Block(tuple(self.stmt(each) for each in node["stmnts"]), line(node))

    # ---- declarations -----------------------------------------------------------------------------------------------

    def trigger(self, node: Node) -> TriggerDecl:
        """A trigger and its statements."""
        body: list[Stmt] = []
        for member in node["members"]:
            match tag(member):
                case "BlockMember$StmntBlockMember":
                    body.append(self.stmt(member["stmnt"]))
                case "BlockMember$FieldMember":
                    body.append(_local(self, member))
                case other:
                    raise refuse(f"{other} in a trigger", member, self.file)
        events = frozenset(constant(each).lower().replace("_", " ") for each in node["usages"])
        target = ".".join(name(part) for part in node["target"])
        return TriggerDecl(name(node["name"]), target, events, tree.Block(tuple(body), line(node)))

    def declared(self, node: Node) -> ClassDecl:
        """A class, interface or enum."""
        kind = tag(node).removesuffix("Decl").lower()
        marks = self.marks(node["modifiers"])
        if kind == "enum":
            values = tuple(name(each) for each in node["members"])
            return ClassDecl(kind, name(node["name"]), marks, None, (), (), values, line(node))
        members = tuple(each for member in node["members"] for each in self.member(member))
        above = some(node.get("superClass" if kind == "class" else "superInterface"))
        parent = None if above is None else self.type(above)
        interfaces = tuple(self.type(each) for each in node.get("interfaces", ()))
        if kind == "interface" and parent is not None:
            interfaces, parent = (parent,), None
        return ClassDecl(kind, name(node["name"]), marks, parent, interfaces, members, (), line(node))

    def member(self, node: Node) -> list[Decl]:
        """The declarations of one member; a field statement may hold several."""
        match tag(node).removeprefix("BlockMember$"):
            case "MethodMember":
                return [self.method(node["methodDecl"])]
            case "FieldMember":
                return self.fields(node["variableDecls"])
            case "PropertyMember":
                return [self.property(node["propertyDecl"])]
            case "InnerClassMember" | "InnerEnumMember" | "InnerInterfaceMember":
                return [self.declared(node["body"])]
            case "StaticStmntBlockMember":
                return [tree.InitDecl(static=True, body=self.block(node["stmnt"]), line=line(node))]
            case "StmntBlockMember":
                return [tree.InitDecl(static=False, body=self.block(node["stmnt"]), line=line(node))]
            case other:
                raise refuse(other, node, self.file)

    def method(self, node: Node) -> tree.MethodDecl:
        """A method or constructor."""
        result = some(node["type"])
        body = some(node["stmnt"])
        return tree.MethodDecl(
            name=name(node["name"]),
            marks=self.marks(node["modifiers"]),
            type=None if result is None else self.type(result),
            params=tuple((self.type(each["typeRef"]), name(each["name"])) for each in node["parameters"]),
            body=None if body is None else self.block(body),
            line=line(node["name"]) or line(node),
        )

    def fields(self, node: Node) -> list[Decl]:
        """Fields declared together."""
        marks, kind = self.marks(node["modifiers"]), self.type(node["type"])
        return [
            tree.FieldDecl(name(each["name"]), marks, kind, self.maybe(each["assignment"]), line(each))
            for each in node["decls"]
        ]

    def property(self, node: Node) -> tree.PropertyDecl:
        """A property."""
        return tree.PropertyDecl(
            name=name(node["name"]),
            marks=self.marks(node["modifiers"]),
            type=self.type(node["type"]),
            getter=self.accessor(node["getter"]),
            setter=self.accessor(node["setter"]),
            line=line(node["name"]) or line(node),
        )

    def accessor(self, node: Any) -> tree.Block | str | None:
        """The body of `get` or `set`, "auto" if it has none, None if there is no accessor."""
        held = some(node)
        if held is None:
            return None
        body = some(held["stmnt"])
        return "auto" if body is None else self.block(body)

    def marks(self, nodes: list[Node]) -> Marks:
        """Modifiers and annotations."""
        words, annotations = set(), {}
        for node in nodes:
            if tag(node) == "Modifier$Annotation":
                annotations[name(node["name"]).lower()] = dict(map(_parameter, node["parameters"]))
            else:
                words.add(tag(node).removeprefix("Modifier$").removesuffix("Modifier").lower())
        return Marks(frozenset(words), annotations)


def _parameter(node: Node) -> tuple[str, Any]:
    if tag(node) != "AnnotationParameter$AnnotationKeyValue":
        return "value", node.get("value")
    held = node["value"]
    match tag(held):
        case "AnnotationValue$TrueAnnotationValue":
            return name(node["key"]).lower(), True
        case "AnnotationValue$FalseAnnotationValue":
            return name(node["key"]).lower(), False
        case _:
            return name(node["key"]).lower(), held.get("value")


# ---- statements, one function a kind --------------------------------------------------------------------------------


def _local(to: Lowering, node: Node) -> Stmt:
    declared = node["variableDecls"]
    names = tuple((name(each["name"]), to.maybe(each["assignment"])) for each in declared["decls"])
    return tree.Local(to.type(declared["type"]), names, line(declared["decls"]) or line(declared))


def _if(to: Lowering, node: Node) -> Stmt:
    branches = tuple((to.expr(each["expr"]), to.stmt(each["stmnt"])) for each in node["ifBlocks"])
    other = some(node["elseBlock"])
    return tree.If(branches, None if other is None else to.stmt(other["stmnt"]), line(node["ifBlocks"]))


def _for(to: Lowering, node: Node) -> Stmt:
    control, body, at = node["forControl"], to.maybe_stmt(node["stmnt"]), line(node)
    if tag(control) == "ForControl$EnhancedForControl":
        given = control["init"]
        over = to.maybe(given["expr"])
        if over is None:
            raise refuse("a for loop over nothing", node, to.file)
        return tree.ForEach(to.type(control["type"]), name(given["name"][0]), over, body, at)
    inits: tuple[Stmt, ...] = ()
    if (given := some(control["inits"])) is not None:
        kind = some(given["type"])
        named = [(each["name"], to.maybe(each["expr"])) for each in given["inits"]]
        if kind is not None:
            inits = (tree.Local(to.type(kind), tuple((name(names[0]), value) for names, value in named), at),)
        else:
            inits = tuple(_reset(names, value, at) for names, value in named if value is not None)
    return tree.For(inits, to.maybe(control["condition"]), to.maybe(control["control"]), body, at)


def _reset(names: Any, value: Expr, at: int) -> Stmt:
    """`for (i = 0; …)` with an `i` from outside."""
    target: Expr | None = None
    for each in names if isinstance(names, list) else [names]:
        target = tree.Name(name(each), at) if target is None else tree.Member(target, name(each), safe=False, line=at)
    return tree.Do(value if target is None else tree.Assign(target, "", value, at), at)


def _try(to: Lowering, node: Node) -> Stmt:
    catches = tuple(
        (to.type(each["parameter"]["typeRef"]), name(each["parameter"]["name"]), to.stmt(each["stmnt"]))
        for each in node["catchBlocks"]
    )
    last = some(node["finallyBlock"])
    return tree.Try(to.stmt(node["tryBlock"]), catches, None if last is None else to.stmt(last["stmnt"]), line(node))


def _switch(to: Lowering, node: Node) -> Stmt:
    return tree.Switch(to.expr(node["expr"]), tuple(_when(to, each) for each in node["whenBlocks"]), line(node))


def _when(to: Lowering, node: Node) -> tree.When:
    body = to.stmt(node["stmnt"])
    match tag(node):
        case "WhenBlock$ValueWhen":
            return tree.When(tuple(_case(to, each) for each in node["whenCases"]), None, "", body)
        case "WhenBlock$TypeWhen":
            return tree.When((), to.type(node["typeRef"]), name(node["name"]), body)
        case _:
            return tree.When((), None, "", body)


def _case(to: Lowering, node: Node) -> Expr:
    if tag(node) == "WhenCase$EnumCase":
        return tree.Name(name(node["identifiers"][-1]), line(node))
    return to.expr(node["expr"])


def _dml(op: str) -> Callable[[Lowering, Node], Stmt]:
    def made(to: Lowering, node: Node) -> Stmt:
        mode, key = some(node.get("runAsMode")), some(node.get("id"))
        field = "" if key is None else name(key["field"])
        return tree.Dml(op, to.expr(node["expr"]), name(mode).lower() if mode else "", field, line(node))

    return made


def _run_as(to: Lowering, node: Node) -> Stmt:
    given = to.exprs(node["inputParameters"])
    if len(given) != 1:
        raise refuse("System.runAs without one user", node, to.file)
    return tree.RunAs(given[0], to.stmt(node["stmnt"]), line(node))


_STATEMENTS: dict[str, Callable[[Lowering, Node], Stmt]] = {
    "BlockStmnt": lambda to, node: to.block(node),
    "VariableDeclStmnt": _local,
    "ExpressionStmnt": lambda to, node: tree.Do(to.expr(node["expr"]), line(node)),
    "ReturnStmnt": lambda to, node: tree.Return(to.maybe(node["expr"]), line(node)),
    "IfElseBlock": _if,
    "ForLoop": _for,
    "WhileLoop": lambda to, node: tree.While(
        to.expr(node["condition"]), to.maybe_stmt(node["stmnt"]), first=False, line=line(node)
    ),
    "DoLoop": lambda to, node: tree.While(
        to.expr(node["condition"]), to.maybe_stmt(node["stmnt"]), first=True, line=line(node)
    ),
    "BreakStmnt": lambda _to, node: tree.Leave(again=False, line=line(node)),
    "ContinueStmnt": lambda _to, node: tree.Leave(again=True, line=line(node)),
    "ThrowStmnt": lambda to, node: tree.Throw(to.expr(node["expr"]), line(node)),
    "TryCatchFinallyBlock": _try,
    "SwitchStmnt": _switch,
    "RunAsBlock": _run_as,
    "DmlInsertStmnt": _dml("insert"),
    "DmlUpdateStmnt": _dml("update"),
    "DmlUpsertStmnt": _dml("upsert"),
    "DmlDeleteStmnt": _dml("delete"),
    "DmlUndeleteStmnt": _dml("undelete"),
}

__all__ = ["Lowering", "TypeName", "unit"]
