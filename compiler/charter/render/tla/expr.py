"""Prints core expressions as TLA+."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.operators import OPERATORS, StrictOp
from charter.core.walk import locals_of, operands
from charter.render.tla.boxes import (
    Around,
    Binding,
    Bullets,
    Choice,
    Doc,
    Indexed,
    Infix,
    Listed,
    ListItem,
    Text,
    Where,
    call,
    parens,
)
from charter.render.tla.names import TlaNames
from charter.render.tla.types import TlaTypePrinter, bare, union_field

ATOM, OPERATOR, COMPARE, CONNECTIVE, OPEN = range(5, 0, -1)
"""How tightly a text holds together. Operands of operators are atoms; members of `/\\` and `\\/`
may be comparisons; `IF`, `LET`, `CASE`, quantifiers and `=>` stand open to the right."""

Structure: TypeAlias = (
    "n.MapGet[s.Expr] | n.RecordNew[s.Expr] | n.UnionNew[s.Expr]"
    " | n.MapNew[s.Expr] | n.SetNew[s.Expr] | n.SeqNew[s.Expr]"
    " | n.Comprehend[s.Expr]"
)
TRUE = n.Literal(True, type=t.Bool())


def infix_sign(op: StrictOp) -> str:
    """The sign of an operator in TLA+."""
    match op:
        case "lt" | "le" | "gt" | "ge" | "add" | "sub" | "mul":
            return OPERATORS[op].sign
        case "eq":
            return "="
        case "ne":
            return "#"
        case "in":
            return "\\in"
        case "subset":
            return "\\subseteq"
        case "union":
            return "\\cup"
        case "intersection":
            return "\\cap"
        case "difference":
            return "\\"


@dataclass(frozen=True, slots=True)
class TlaPiece:
    """A printed expression and its precedence, which decides about parentheses."""

    doc: Doc
    level: int = ATOM


@dataclass(slots=True)
class State:
    """How state variables are read: by name, as a field of `self` inside an operation of a part, or
    as a field of the part's variable."""

    names: TlaNames
    prefix: str = ""
    parts: Mapping[str, n.Part] = field(default_factory=dict)
    work: Mapping[str, str] | None = None

    def whole(self, name: str, primed: bool) -> str:
        """The text of a module variable. Primed inside a step: its value after the calls so far."""
        if self.work is not None and primed:
            return self.work.get(name, name)
        return f"{name}'" if primed else name

    def split(self, name: str) -> tuple[n.Part, str] | None:
        """The part and its variable, if `name` has the form `part.variable`."""
        part, _, variable = name.partition(".")
        return (self.parts[part], variable) if part in self.parts else None


@dataclass(slots=True)
class Printer:
    """Prints the expressions of one declaration. `renamed` maps locals to texts other than their
    names; `elements` are the names of sort elements, if an instance is known."""

    names: TlaNames
    types: TlaTypePrinter
    state: State
    renamed: dict[str, str] = field(default_factory=dict)
    elements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    # --- helpers ---------------------------------------------------------------------------------

    def doc(self, e: s.Expr, level: int = OPEN) -> Doc:
        """Prints `e`, in parentheses if its precedence is below `level`."""
        piece = self.piece(e)
        return piece.doc if piece.level >= level else parens(piece.doc)

    def local(self, name: str) -> str:
        """The text of a local."""
        known = self.renamed.get(name)
        if known is None:
            known = self.names.free(name.replace("#", "_"))
            while known in self.renamed.values():
                known += "_"
            self.renamed[name] = known
        return known

    def item(self, e: s.Expr, note: str = "") -> ListItem:
        """Prints `e` as a member of a list of `/\\` or `\\/`, with a note."""
        piece = self.piece(e)
        tight = piece.doc if piece.level >= COMPARE else parens(piece.doc)
        return ListItem(piece.doc, tight, note)

    def equal(self, variable: str, value: s.Expr) -> Doc:
        """Prints `variable = value`. In TLA+ `=` binds tighter than `/\\` and `\\/`, and cannot
        stand beside another comparison: such values are in parentheses."""
        return Around(f"{variable} = ", self.doc(value, OPERATOR))

    def members(self, domain: s.Expr) -> Doc:
        """Prints the set after `\\in`."""
        return self.doc(domain, OPERATOR)

    # --- expressions -----------------------------------------------------------------------------

    def piece(self, e: s.Expr) -> TlaPiece:
        """Prints an expression."""
        match e:
            case n.Literal():
                return TlaPiece(Text(self.literal(e)))
            case n.Local(name=name):
                return TlaPiece(Text(self.local(name)))
            case n.StateRef():
                return TlaPiece(Text(self.variable(e)))
            case n.ConstRef(name=name):
                return TlaPiece(Text(self.names.of("const", name)))
            case n.Domain():
                return TlaPiece(Text(self.types.set(t.inner_of(e.type))))
            case n.Call(function=name, args=args):
                return TlaPiece(call(self.names.of("function", name), *(self.doc(a) for a in args)))
            case n.Primitive():
                return self.primitive(e)
            case n.Checked():
                return TlaPiece(call("Checked", self.doc(e.condition), self.doc(e.value)))
            case n.FieldOf(field=name):
                return TlaPiece(Around("", self.doc(e.target, ATOM), f".{name}"))
            case n.Present():
                return self.piece(e.inner)
            case n.IsCase():
                return self.is_case(e)
            case n.CaseArg():
                return self.case_arg(e)
            case n.Took(branch=branch):
                return TlaPiece(Text(f'event\'.branch = "{branch}"'), COMPARE)
            case n.Unary(op="not"):
                return self.negate(e.operand)
            case n.Unary():
                return TlaPiece(Around("-", self.doc(e.operand, ATOM)), OPERATOR)
            case n.Binary():
                return self.binary(e)
            case n.If():
                doc = Choice(self.doc(e.condition), self.doc(e.then), self.doc(e.otherwise))
                return TlaPiece(doc, OPEN)
            case n.Let():
                return TlaPiece(self.let(e), OPEN)
            case n.Quantified(kind="sum", name=name):
                over = Around(f"{self.local(name)} \\in ", self.members(e.domain))
                return TlaPiece(Around("SumOf([", Infix(over, "|->", self.doc(e.body)), "])"))
            case n.Quantified():
                return TlaPiece(self.print_quantifier(e), OPEN)
            case _:
                return TlaPiece(self.structure(e))

    def literal(self, e: n.Literal) -> str:
        """Prints a constant."""
        match e.type, e.value:
            case _, None:
                return "None"
            case t.Sort(name=name), int() as position:
                return self.elements[name][position]
            case _, bool() as value:
                return "TRUE" if value else "FALSE"
            case _, int() as number:
                return str(number) if number >= 0 else f"({number})"
            case _, value:
                return f'"{value}"'

    def variable(self, e: n.StateRef) -> str:
        """Prints a state variable. A variable of a part that is a map becomes a function from the
        part's keys."""
        inside = self.state.split(e.name)
        if inside is None:
            if self.state.prefix:
                return f"{self.state.prefix}{e.name}"
            return self.state.whole(self.names.of("variable", e.name), e.primed)
        part, variable = inside
        whole = self.state.whole(self.names.of("variable", part.name), e.primed)
        if part.index is None:
            return f"{whole}.{variable}"
        keys = bare(self.types.set(part.index))
        key = self.names.free("k")
        return f"[{key} \\in {keys} |-> {whole}[{key}].{variable}]"

    def get(self, e: n.MapGet[s.Expr]) -> Doc:
        """Prints `f[key]`; for a variable of a part, `part[key].variable`."""
        key = self.doc(e.key)
        if not sure(t.map_of(e.target.type).key, e.key):
            return call("Get", self.doc(e.target), key)
        inside = self.state.split(e.target.name) if isinstance(e.target, n.StateRef) else None
        if isinstance(e.target, n.StateRef) and inside is not None and inside[0].index is not None:
            part, variable = inside
            whole = self.state.whole(self.names.of("variable", part.name), e.target.primed)
            return Listed(f"{whole}[", (key,), f"].{variable}")
        target = self.doc(e.target, ATOM)
        if isinstance(target, Text):
            return Listed(f"{target.text}[", (key,), "]")
        return Indexed(target, key)

    def structure(self, e: Structure) -> Doc:
        """Prints records, maps, sets and sequences."""
        match e:
            case n.MapGet():
                return self.get(e)
            case n.RecordNew(fields=values):
                pairs = zip(t.record_of(e.type).fields, values, strict=True)
                return self.record([(name, self.doc(value)) for (name, _), value in pairs])
            case n.UnionNew(tag=tag, args=values):
                union = t.union_of(e.type)
                params = zip(union.params(tag), values, strict=True)
                rows = [(union_field(union, tag, name), self.doc(v)) for (name, _), v in params]
                return self.record([("case", Text(f'"{tag}"')), *rows])
            case n.MapNew(name=name):
                keys = bare(self.types.set(t.map_of(e.type).key))
                head = f"[{self.local(name)} \\in {keys} |-> "
                return Around(head, self.doc(e.value), "]")
            case n.SetNew(items=items):
                return Listed("{", tuple(self.doc(i) for i in items), "}")
            case n.SeqNew(items=items):
                listed = Listed("<<", tuple(self.doc(i) for i in items), ">>")
                plain = all(isinstance(i, n.Literal) for i in items)
                apart = len({i.value for i in items if isinstance(i, n.Literal)}) == len(items)
                if isinstance(e.type, t.Ranking) and len(items) > 1 and not (plain and apart):
                    return call("Distinct", listed)
                return listed
            case n.Comprehend():
                return self.comprehend(e)

    @staticmethod
    def record(rows: list[tuple[str, Doc]]) -> Doc:
        """Prints `[field |-> value, ...]`."""
        if not rows:
            return Text("<<>>")
        return Listed("[", tuple(Around(f"{name} |-> ", value) for name, value in rows), "]")

    def comprehend(self, e: n.Comprehend[s.Expr]) -> Doc:
        """Prints `{x \\in S : P}`, `{f : x \\in S}`, or both nested."""
        name = self.local(e.name)
        chosen: Doc = self.members(e.domain)
        whole = isinstance(e.body, n.Local) and e.body.name == e.name
        if e.condition != TRUE:
            head = Around(f"{name} \\in ", chosen)
            chosen = Around("{", Binding(head, self.doc(e.condition)), "}")
            if whole:
                return chosen
        elif whole:
            return parens(chosen) if self.piece(e.domain).level < ATOM else chosen
        built = Around("{", Binding(self.doc(e.body), Around(f"{name} \\in ", chosen)), "}")
        return Around("(UNION ", built, ")") if e.flatten else built

    # --- operators -------------------------------------------------------------------------------

    def negate(self, operand: s.Expr) -> TlaPiece:
        """Prints `~x`; or `x \\notin S`, `a # b`."""
        if isinstance(operand, n.Binary) and operand.op in ("in", "eq"):
            sign = "\\notin" if operand.op == "in" else "#"
            left, right = self.doc(operand.left, OPERATOR), self.doc(operand.right, OPERATOR)
            return TlaPiece(Infix(left, sign, right), COMPARE)
        return TlaPiece(Around("~", self.doc(operand, ATOM)), COMPARE)

    def binary(self, e: s.Binary) -> TlaPiece:
        """Prints an infix operation."""
        match e.op:
            case "and" | "or":
                items = tuple(self.item(part) for part in operands(e, e.op))
                return TlaPiece(Bullets("/\\" if e.op == "and" else "\\/", items), CONNECTIVE)
            case "implies":
                left, right = self.doc(e.left, COMPARE), self.doc(e.right, COMPARE)
                return TlaPiece(Infix(left, "=>", right), OPEN)
            case op if e.traits.is_test:
                left, right = self.doc(e.left, OPERATOR), self.doc(e.right, OPERATOR)
                return TlaPiece(Infix(left, infix_sign(op), right), COMPARE)
            case op:
                again = isinstance(e.left, n.Binary) and e.left.op == op
                left = self.doc(e.left, OPERATOR if e.traits.is_associative and again else ATOM)
                return TlaPiece(Infix(left, infix_sign(op), self.doc(e.right, ATOM)), OPERATOR)

    # --- control ---------------------------------------------------------------------------------

    def print_quantifier(self, e: n.Quantified[s.Expr]) -> Doc:
        """Prints `\\A a \\in S, b \\in T : body`. Nested quantifiers share one head if their
        domains do not depend on each other."""
        binders = [Around(f"{self.local(e.name)} \\in ", self.members(e.domain))]
        seen, body = {e.name}, e.body
        while isinstance(body, n.Quantified) and body.kind == e.kind:
            if seen & locals_of(body.domain):
                break
            binders.append(Around(f"{self.local(body.name)} \\in ", self.members(body.domain)))
            seen.add(body.name)
            body = body.body
        word = "\\A " if e.kind == "forall" else "\\E "
        return Binding(Listed(word, tuple(binders), ""), self.doc(body))

    def let(self, e: n.Let[s.Expr]) -> Doc:
        """Prints `LET`; nested lets share one list of definitions."""
        rows = [(self.local(e.name), self.doc(e.value))]
        body = e.body
        while isinstance(body, n.Let):
            rows.append((self.local(body.name), self.doc(body.value)))
            body = body.body
        return Where(tuple(rows), self.doc(body))

    def is_case(self, e: n.IsCase[s.Expr]) -> TlaPiece:
        """Prints the test that an option is none, or that a union is in a case."""
        left, sign, right = self.doc(e.target, ATOM), "=", f'"{e.tag}"'
        if isinstance(e.target.type, t.Union):
            left = Around("", left, ".case")
        if isinstance(e.target.type, t.Option):
            sign, right = "=" if e.tag == "none" else "#", "None"
        return TlaPiece(Infix(left, sign, Text(right)), COMPARE)

    def case_arg(self, e: n.CaseArg[s.Expr]) -> TlaPiece:
        """Prints the value inside an option, or a field of a union."""
        if not isinstance(e.target.type, t.Union):
            return self.piece(e.target)
        name = e.target.type.params(e.tag)[e.position][0]
        field_ = union_field(e.target.type, e.tag, name)
        return TlaPiece(Around("", self.doc(e.target, ATOM), f".{field_}"))

    # --- built-ins -------------------------------------------------------------------------------

    def primitive(self, e: n.Primitive[s.Expr]) -> TlaPiece:
        """Prints a primitive; a sequence that grows is checked against its limit."""
        match e.name:
            case "size":
                word = "Cardinality" if isinstance(e.args[0].type, t.Set) else "Len"
            case "least" | "greatest" if not isinstance(e.type, t.Int | t.Counter):
                word = "AnyOf"
            case "least" | "greatest":
                word = "Min" if e.name == "least" else "Max"
            case "set":
                word = "Members"
            case "nth" | "keep" | "take" | "drop":
                word = e.name.capitalize()
            case "join":
                both = Infix(self.doc(e.args[0], ATOM), "\\o", self.doc(e.args[1], ATOM))
                if not isinstance(e.type, t.Seq):
                    return TlaPiece(both, OPERATOR)
                return TlaPiece(call("Bounded", both, Text(self.types.limit(e.type.limit))))
        return TlaPiece(call(word, *(self.doc(a) for a in e.args)))


def sure(kind: t.Type, key: s.Expr) -> bool:
    """Whether a key is certainly in a map: its type holds no number, or it is bound to the map's
    keys."""
    return not t.may_miss(kind) or key.type == kind
