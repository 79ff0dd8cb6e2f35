"""Prints core expressions as readable Python.

Lets that are always evaluated become assignments before the statement; others become a clause of
the comprehension around them. Matches of options become `is None` tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import operands
from charter.render.python_model.choices import Functions
from charter.render.python_model.line_breaks import Block, Doc, Joined, Spread, call, flat, join
from charter.render.python_model.names import Names, is_path
from charter.render.python_model.operators import (
    AND,
    ATOM,
    CHOICE,
    COMPARE,
    FALSE,
    INFIX,
    NOT,
    OR,
    OR_SET,
    TRUE,
    UNARY,
    Assignment,
    InfixSign,
    Piece,
    function_of,
)
from charter.render.python_model.present_values import (
    Known,
    asks_value,
    member,
    only_member,
    present_where,
)
from charter.render.python_model.types import TypePrinter


@dataclass(slots=True)
class ExprPrinter:
    """Prints the expressions of one function or method.

    `world` is the expression for the sizes of the instance, `state` the prefix of state variables.
    `needed` collects lines that must precede the statement; `sure`: whether the expression is
    always evaluated, so that such lines may be added. `chosen` are picks `or none` of sets that are
    never empty; `naming` are values to be assigned to a local variable where they are tested for
    `None`; `taken` are the names of all locals."""

    names: Names
    types: TypePrinter
    functions: Functions
    functions_with_world: frozenset[str]
    world: str = "world"
    state: str = "self."
    needed: list[Assignment] = field(default_factory=list)
    sure: bool = True
    renamed: dict[str, str] = field(default_factory=dict)
    looped: bool = False
    subjects: int = 0
    chosen: set[str] = field(default_factory=set)
    known: Known = field(default_factory=Known)
    naming: dict[n.Expr, str] = field(default_factory=dict)
    taken: dict[str, n.Expr | None] = field(default_factory=dict)

    # --- helpers ---------------------------------------------------------------------------------

    def doc(self, e: n.Expr, level: int = CHOICE) -> Doc:
        """`e`, in parentheses if it binds less tightly than `level`."""
        piece = self.piece(e)
        return piece.doc if piece.level >= level else Block("(", (piece.doc,), ")", "")

    @contextmanager
    def place(self, *, sure: bool = True, looped: bool = False) -> Iterator[None]:
        """Where expressions are printed that are not always evaluated, or in the iterable of a
        comprehension: Python does not allow `:=` there."""
        before = self.sure, self.looped
        self.sure, self.looped = self.sure and sure, self.looped or looped
        yield
        self.sure, self.looped = before

    def unsure(self, e: n.Expr, level: int = CHOICE) -> Doc:
        """`e` where it is not always evaluated."""
        with self.place(sure=False):
            return self.doc(e, level)

    def print_iterable(self, e: n.Expr, level: int = CHOICE) -> Doc:
        """The iterable of a comprehension."""
        with self.place(looped=True):
            return self.doc(e, level)

    @contextmanager
    def knowing(self, condition: n.Expr = TRUE, *, holds: bool = True) -> Iterator[None]:
        """A context for printing expressions that are evaluated only if `condition` is true (or
        false). Everything learned inside is forgotten at its end."""
        before = self.known
        self.known = before.where(condition, holds=holds)
        yield
        self.known = before

    def name_found(self, condition: n.Expr, later: Sequence[n.Expr], *, holds: bool = True) -> None:
        """Assign the map entry that `condition` tests to a local variable if `later` expressions
        use it; they are evaluated only if the condition is true (or false)."""
        for e in () if self.looped else present_where(condition, holds=holds):
            owner = e.target if isinstance(e, n.MapGet) else None
            if isinstance(owner, n.StateRef | n.Local) and asks_value(e, later):
                name = self.names.local(owner.name.rpartition(".")[2])
                while self.taken.setdefault(name, e) != e:
                    name += "_"
                self.naming[e] = name
                self.known = self.known.with_name(e, name)

    def take(self, names: Iterable[str]) -> None:
        """Reserve the names of the locals of the function or method."""
        self.taken.update(dict.fromkeys((self.local(name) for name in names), None))

    def local(self, name: str) -> str:
        """The Python name of a local."""
        return self.renamed.get(name) or self.names.local(name)

    def bound(self, name: str) -> str:
        """The same where the local is bound; it replaces a local of the same name in another
        case."""
        self.renamed.pop(name, None)
        return self.names.local(name)

    def bind(self, name: str, value: n.Expr) -> Assignment:
        """`name = value`, with a type hint where Python cannot infer the type."""
        choosing = isinstance(value, n.If | n.Match | n.UnionNew | n.Literal | n.Present)
        wide = isinstance(value.type, t.Option | t.Union)
        hint = self.types.annotation(value.type) if choosing and wide else ""
        doc = self.doc(value)
        return Assignment(self.bound(name), hint, doc)

    # --- expressions -----------------------------------------------------------------------------

    def piece(self, e: n.Expr) -> Piece:
        """The printed expression."""
        if e not in self.naming and (name := self.known.name(e)):
            return Piece(name)
        match e:
            case n.Literal():
                return Piece(self.types.literal(e, self.world))
            case n.Local(name=name):
                return Piece(self.local(name))
            case n.StateRef(name=name):
                return Piece(f"{self.state}{self.names.attribute(name)}")
            case n.ConstRef(name=name):
                return Piece(f"{self.world}.{self.names.consts[name]}")
            case n.Domain():
                return Piece(self.types.domain(t.inner_of(e.type), self.world))
            case n.Call(function=name, args=args):
                docs = [self.doc(a) for a in args]
                if name in self.functions_with_world:
                    docs.insert(0, self.world)
                return Piece(call(self.names.functions[name], *docs))
            case n.Builtin():
                return self.builtin(e)
            case n.FieldOf(field=name):
                return Piece(join(self.doc(e.target, ATOM), f".{self.names.attribute(name)}"))
            case n.Present():
                return self.piece(e.inner)
            case n.Unary(op=op):
                return self.unary(op, e.operand)
            case n.Binary():
                return self.binary(e)
            case n.If():
                return self.choice(e.condition, e.then, e.otherwise)
            case n.Let():
                return self.let(e)
            case n.Match():
                return self.match(e)
            case n.Quantified():
                return self.print_quantifier(e)
            case n.Took():
                raise TypeError("`took` stands in properties only")
            case n.IsCase() | n.CaseArg() | n.Primitive() | n.Checked():
                raise TypeError("small core")
            case _:
                return Piece(self.structure(e))

    def structure(
        self, e: n.MapGet | n.RecordNew | n.RecordWith | n.UnionNew | n.MapWith | n.MapNew
        | n.SetNew | n.SeqNew | n.Comprehend
    ) -> Doc:  # fmt: skip
        """Records, maps, sets and sequences."""
        match e:
            case n.MapGet():
                return Joined((self.doc(e.target, ATOM), Block("[", (self.doc(e.key),), "]", "")))
            case n.RecordNew(fields=values):
                kind = t.record_of(e.type)
                return self.keywords(self.names.types[kind.name], kind.fields, values)
            case n.RecordWith(fields=changed):
                args = [self.keyword(name, value) for name, value in changed]
                return call("replace", self.doc(e.target), *args)
            case n.UnionNew(tag=tag, args=values):
                params = t.union_of(e.type).params(tag)
                if len(params) == 1:
                    return call(self.names.cases[tag], self.doc(values[0]))
                return self.keywords(self.names.cases[tag], params, values)
            case n.MapWith(entries=entries):
                whole = self.doc(e.target, ATOM)
                for key, value in entries:
                    whole = Joined((whole, call(".put", self.doc(key), self.doc(value))))
                return whole
            case n.MapNew(name=name):
                local = self.bound(name)
                loop = f"for {local} in {self.types.loop(t.map_of(e.type).key, self.world)}"
                entry = join(f"{local}: ", self.unsure(e.value))
                return call("Map", Block("{", (entry, loop), "}", ""))
            case n.SetNew(items=items):
                if not items:
                    return "frozenset()"
                return call("frozenset", Block("{", tuple(self.doc(i) for i in items), "}"))
            case n.SeqNew(items=items):
                comma = "," if len(items) == 1 else ""
                return Block("(", tuple(self.doc(i) for i in items), f"{comma})")
            case n.Comprehend():
                with self.knowing():
                    return self.comprehend(e)

    def keywords(
        self, function: str, fields: Sequence[tuple[str, t.Type]], values: Sequence[n.Expr]
    ) -> Doc:
        """`function(name=value, ...)`."""
        named = zip(fields, values, strict=True)
        return call(function, *(self.keyword(name, value) for (name, _), value in named))

    def keyword(self, name: str, value: n.Expr) -> Doc:
        """`name=value`."""
        return join(f"{self.names.attribute(name)}=", self.doc(value))

    def unary(self, op: n.UnaryOp, operand: n.Expr) -> Piece:
        """`not x`, `-x`; `not x in s` is turned around."""
        if op == "negate":
            return Piece(join("-", self.doc(operand, UNARY)), UNARY)
        if isinstance(operand, n.Binary) and operand.op == "in":
            return self.infix(operand, replace(INFIX["in"], text="not in"))
        return Piece(join("not ", self.doc(operand, NOT)), NOT)

    def binary(self, e: n.Binary) -> Piece:
        """An infix operation."""
        if e.op in ("eq", "ne") and isinstance(e.right, n.Literal) and e.right.value is None:
            word = "is" if e.op == "eq" else "is not"
            return Piece(Spread((self.print_tested(e.left), f"{word} None")), COMPARE)
        if e.op in ("eq", "ne") and isinstance(e.right, n.SetNew) and not e.right.items:
            if e.op == "eq":
                return Piece(join("not ", self.doc(e.left, NOT)), NOT)
            return Piece(Spread((call("len", self.doc(e.left)), "> 0")), COMPARE)
        match e.op:
            case "and" | "or" | "implies":
                return self.connective(e)
            case op:
                return self.infix(e, INFIX[op])

    def infix(self, e: n.Binary, sign: InfixSign) -> Piece:
        """Both operands; different set operations are never mixed without parentheses."""
        same = isinstance(e.left, n.Binary) and e.left.op == e.op and sign.right == ATOM
        left = self.doc(e.left, sign.level if same else sign.left)
        right = self.doc(e.right, sign.right)
        if sign.takes_set and isinstance(e.right, n.SetNew) and e.right.items:
            right = Block("{", tuple(self.doc(i) for i in e.right.items), "}")
        return Piece(Spread((left, join(f"{sign.text} ", right))), sign.level)

    def connective(self, e: n.Binary) -> Piece:
        """`and`, `or`: a chain of the same operator is printed without parentheses; `a implies b`
        is `not a or b`."""
        holds, parts = e.op == "and", tuple(operands(e, e.op))
        if e.op == "implies":
            parts = (n.Unary("not", e.left, type=e.type), e.right)
        docs: list[Doc] = []
        with self.knowing():
            for i, part in enumerate(parts):
                self.name_found(part, parts[i + 1 :], holds=holds)
                doc = self.unsure(part, NOT) if i else self.doc(part, NOT)
                docs.append(join("and " if holds else "or ", doc) if i else doc)
                self.known = self.known.where(part, holds=holds)
        return Piece(Spread(tuple(docs)), AND if holds else OR)

    def print_tested(self, e: n.Expr) -> Doc:
        """The operand of a comparison with `None`; it is named by `:=` there if it is in
        `naming`."""
        name = self.naming.pop(e, None)
        if name is None:
            return self.doc(e, OR_SET)
        with self.knowing():
            self.known = Known()
            doc = self.doc(e)
        return Block("(", (join(f"{name} := ", doc),), ")", "")

    def choice(self, condition: n.Expr, then: n.Expr, otherwise: n.Expr) -> Piece:
        """`then if condition else otherwise`."""
        with self.knowing():
            self.name_found(condition, [then])
            self.name_found(condition, [otherwise], holds=False)
            test = self.doc(condition, OR)
            with self.knowing(condition):
                yes = self.unsure(then, OR)
            with self.knowing(condition, holds=False):
                no = self.unsure(otherwise)
        return Piece(Spread((yes, join("if ", test), join("else ", no))), CHOICE)

    def let(self, e: n.Let) -> Piece:
        """A let: an assignment before the statement if it is always evaluated, else a clause over
        one value."""
        if self.sure:
            self.needed.append(self.bind(e.name, e.value))
            return self.piece(e.body)
        clauses, body = self.inner_lets(e)
        return Piece(Block("next(", (self.unsure(body), *clauses), ")", ""))

    def match(self, e: n.Match) -> Piece:
        """A chain of tests on one subject. Where it cannot be named at its first mention, a
        comprehension over one value names it."""
        subject, value = self.subject(e)
        if value is None:
            return self.chain(e, subject, subject)
        if self.looped or len(e.cases) == 1:
            loop = join(f"for {subject} in [", value, "]")
            body = self.chain(e, subject, subject).doc
            return Piece(Block("next(", (body, loop), ")", ""))
        return self.chain(e, subject, Block("(", (join(f"{subject} := ", value),), ")", ""))

    def chain(self, e: n.Match, subject: str, first: Doc) -> Piece:
        """The tests in the order of the cases; `first` is the first mention of the subject."""
        cases, kind = list(e.cases), e.subject.type
        if isinstance(kind, t.Option):
            cases.sort(key=lambda case: case.tag != "none")
            return self.option(cases[0].body, cases[-1], first)
        doc = self.case(cases[-1], subject, kind)
        for case in reversed(cases[:-1]):
            mention = first if case is cases[0] else subject
            if isinstance(kind, t.Enum):
                test: Doc = Spread((mention, f"is {self.names.types[kind.name]}.{case.tag}"))
            else:
                test = call("isinstance", mention, self.names.cases[case.tag])
            yes = self.case(case, subject, kind)
            doc = Spread((yes, join("if ", test), join("else ", doc)))
        return Piece(doc, CHOICE)

    def subject(self, e: n.Match) -> tuple[str, Doc | None]:
        """The name of the matched value, and the value if the name is not assigned yet."""
        doc = self.doc(e.subject)
        present = next((c.names[0] for c in e.cases if c.tag == "present"), "")
        text = flat(doc)
        if is_path(text):
            if present:
                self.renamed[present] = text
            return text, None
        self.subjects += 1
        numbered = f"subject{self.subjects if self.subjects > 1 else ''}"
        name = self.bound(present) if present else numbered
        if not self.sure:
            return name, doc
        self.needed.append(Assignment(name, "", doc))
        return name, None

    def option(self, none: n.Expr, present: n.Case, subject: Doc) -> Piece:
        """`none if x is None else present`, simpler where one side is a truth value."""
        if none in (TRUE, FALSE):
            word, level = ("or", OR) if none == TRUE else ("and", AND)
            test = join(subject, " is None" if none == TRUE else " is not None")
            if present.body == none:
                return Piece(str(none == TRUE))
            if present.body in (TRUE, FALSE):
                return Piece(test, COMPARE)
            return Piece(Spread((test, join(f"{word} ", self.unsure(present.body, NOT)))), level)
        yes, no, test = none, present.body, join(subject, " is None")
        if isinstance(none, n.Literal) and none.value is None:
            yes, no, test = no, yes, join(subject, " is not None")
        docs = self.unsure(yes, OR), join("if ", test), join("else ", self.unsure(no))
        return Piece(Spread(docs), CHOICE)

    def case(self, case: n.Case, subject: str, kind: t.Type) -> Doc:
        """The value of one case of a union or an enum; parameters are read from the subject."""
        params = kind.params(case.tag) if isinstance(kind, t.Union) else ()
        for name, (param, _) in zip(case.names, params, strict=True):
            self.renamed[name] = f"{subject}.{self.names.attribute(param)}"
        return self.unsure(case.body, OR)

    # --- loops -----------------------------------------------------------------------------------

    def clause(self, name: str, domain: n.Expr) -> Doc:
        """`for name in domain`."""
        if isinstance(domain, n.Domain):
            over: Doc = self.types.loop(t.inner_of(domain.type), self.world)
        else:
            over = self.print_iterable(domain, OR)
        return join(f"for {self.bound(name)} in ", over)

    def inner_lets(self, e: n.Expr) -> tuple[list[Doc], n.Expr]:
        """Lets at the head of a loop's body as clauses of the loop."""
        clauses: list[Doc] = []
        with self.place(sure=False):
            while isinstance(e, n.Let):
                value = self.print_iterable(e.value)
                clauses.append(join(f"for {self.bound(e.name)} in [", value, "]"))
                e = e.body
        return clauses, e

    def print_quantifier(self, e: n.Quantified) -> Piece:
        """`all(... for ...)`, `any(...)`, `sum(...)`, `sum(...) == 1`, `only(...)`; a `forall`,
        `some` or `sum` in one of its kind shares its comprehension."""
        if found := member(e):
            return self.membership(*found)
        if e.kind == "the" and e.body == TRUE:
            return Piece(call("only", self.doc(e.domain)))
        if e.kind in ("exactly one", "the"):
            clause = self.clause(e.name, e.domain)
            test = join("if ", self.unsure(e.body, OR))
            if e.kind == "exactly one":
                return Piece(Spread((Block("sum(", ("1", clause, test), ")", ""), "== 1")), COMPARE)
            return Piece(Block("only(", (self.local(e.name), clause, test), ")", ""))
        clauses: list[Doc] = []
        body: n.Expr = e
        while isinstance(body, n.Quantified) and body.kind == e.kind:
            with self.place(sure=body is e):
                clauses.append(self.clause(body.name, body.domain))
            body = body.body
        lets, body = self.inner_lets(body)
        word = {"forall": "all", "some": "any"}.get(e.kind, e.kind)
        return Piece(Block(f"{word}(", (self.unsure(body), *clauses, *lets), ")", ""))

    def membership(self, e: n.Expr, sets: Sequence[n.Expr]) -> Piece:
        """`e in a & b`; of all values of a type, `e is not None`."""
        if not sets:
            return Piece(Spread((self.print_tested(e), "is not None")), COMPARE)
        groups = [self.doc(group, OR_SET if len(sets) == 1 else ATOM) for group in sets]
        joint: Doc = groups[0]
        for group in groups[1:]:
            joint = Spread((joint, join("& ", group)))
        return Piece(Spread((self.doc(e, OR_SET), join("in ", joint))), COMPARE)

    def comprehend(self, e: n.Comprehend) -> Doc:
        """`frozenset(body for ... if ...)`."""
        if (item := only_member(e, self.known)) is not None:
            return call("frozenset", Block("{", (self.doc(item),), "}"))
        clauses: list[Doc] = []
        inner: n.Expr = e
        while True:
            assert isinstance(inner, n.Comprehend)
            with self.place(sure=inner is e):
                clauses.append(self.clause(inner.name, inner.domain))
            if inner.condition != TRUE:
                self.name_found(inner.condition, [inner.body])
                clauses.append(join("if ", self.unsure(inner.condition, OR)))
                self.known = self.known.where(inner.condition, holds=True)
            if not inner.flatten:
                break
            if not isinstance(inner.body, n.Comprehend):
                with self.place(sure=False):
                    clauses.append(join("for member in ", self.print_iterable(inner.body, OR)))
                return Block("frozenset(", ("member", *clauses), ")", "")
            inner = inner.body
        lets, body = self.inner_lets(inner.body)
        if len(clauses) == 1 and body == n.Local(inner.name, type=body.type):
            return self.doc(inner.domain)
        return Block("frozenset(", (self.unsure(body), *clauses, *lets), ")", "")

    # --- built-ins -------------------------------------------------------------------------------

    def builtin(self, e: n.Builtin) -> Piece:
        """A built-in function. `value` and `default` of a value that is known to be present are
        omitted."""
        first = e.args[0] if e.args else None
        if e.name == "default" and isinstance(first, n.Local) and first.name in self.chosen:
            return self.piece(first)
        if e.name == "value" and first in self.known.present:
            found = self.piece(first)
            if is_path(flat(found.doc)):
                return found
        args = [self.doc(a) for a in e.args]
        if e.traits.grows and isinstance(e.type, t.Seq):
            args.append(self.types.limit(e.type.limit, self.world))
        return Piece(call(function_of(e), *args))
