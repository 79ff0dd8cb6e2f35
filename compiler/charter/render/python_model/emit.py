"""Prints a component as two Python modules: the model, and its JSON form for the judge.

Templates hold the text; this module fills them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from charter.core import nodes as n
from charter.core import types as t
from charter.core.affected import Declared
from charter.core.reach import list_modelled, select_printed
from charter.core.walk import children
from charter.render.python_model.assumed import print_breaks
from charter.render.python_model.expr import ExprPrinter
from charter.render.python_model.faults import has_faults, print_fails
from charter.render.python_model.imports import methods_in, names_defined, with_imports
from charter.render.python_model.line_breaks import Block, Doc, Spread, call, join, lines
from charter.render.python_model.names import PRELUDE, Names, camel
from charter.render.python_model.offered import print_offered
from charter.render.python_model.operations import OperationPrinter, place
from charter.render.python_model.present_values import bound
from charter.render.python_model.printed_rules import PrintedRules
from charter.render.python_model.types import TypePrinter
from charter.render.python_model.wire import WirePrinter
from charter.render.text import Emitter, cite, environment

PACKAGE = "charter.render.python_model"
FoundT = TypeVar("FoundT", n.Function, n.Operation)


@dataclass(frozen=True, slots=True)
class Page:
    """Which model to print: `source` is the charter's path, `digest` identifies its text and the
    edits applied, `module` is the model's own name; `prelude` and `sibling` are the modules to
    import from. `changes`: of an overlay entry, the operations that differ from the charter's.
    `preludes`: of instances, the operations that lead to their first states, as JSON."""

    source: str
    digest: str
    module: str
    prelude: str = "charter_models.prelude"
    sibling: str = "charter_models.sibling"
    changes: frozenset[str] | None = None
    preludes: Mapping[str, Sequence[str]] = field(default_factory=dict)


def prelude_text() -> str:
    """The module that all models share."""
    return environment(PACKAGE).get_template("prelude.py.j2").render()


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a model's two modules, without their imports in `bodies`. `outlines` are the
    same without the bodies of `functions` and of the methods of `operations`, whose texts are
    beside them: to parse all of a page takes long. `printed` is what another page can share."""

    page: Page
    bodies: tuple[str, str]
    outlines: tuple[str, str]
    functions: Mapping[str, str]
    operations: tuple[str, ...]
    printed: PrintedRules = field(compare=False, repr=False)

    @property
    def model(self) -> str:
        """The model itself, which does not use JSON."""
        return with_imports(self.bodies[0], {self.page.prelude: PRELUDE})

    @property
    def wire(self) -> str:
        """The module `wire_module`: its functions for the judge."""
        outline, wire = self.outlines
        modules = {self.page.prelude: PRELUDE, self.page.module: names_defined(outline)}
        return with_imports(wire, modules)


def wire_module(module: str) -> str:
    """The name of the module with the JSON form of the model `module`."""
    return f"{module}_wire"


def texts(
    model: n.Model, component: n.Component, page: Page, like: PrintedRules | None = None
) -> Texts:
    """The modules of one component. What they have in common with the page `like` of the same
    component in an edited charter is not printed again."""
    return ComponentPrinter(model, component, page, like).texts()


@dataclass(slots=True)
class ComponentPrinter:
    """Prints the parts of one page."""

    model: n.Model
    component: n.Component
    page: Page
    like: PrintedRules | None = None
    names: Names = field(init=False)
    types: TypePrinter = field(init=False)
    reach: n.Model = field(init=False)
    with_world: frozenset[str] = field(init=False)
    state: tuple[n.StateVar, ...] = field(init=False)
    printed: dict[Declared, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reach = select_printed(self.model, self.component)
        self.names = Names.of(self.reach, self.component)
        self.types = TypePrinter(self.names)
        self.state = list_modelled(self.component)
        found, before = frozenset[str](), None
        while found != before:
            before = found
            found = frozenset(f.name for f in self.model.functions if uses_world(f.body, before))
        self.with_world = found
        if self.like is not None:
            self.printed = self.like.find_shared(self.model, self.component, self.names)

    def printer(self, world: str) -> ExprPrinter:
        """A printer for one function or method."""
        functions = {function.name: function for function in self.model.functions}
        return ExprPrinter(self.names, self.types, functions, self.with_world, world)

    # --- the page --------------------------------------------------------------------------------

    def texts(self) -> Texts:
        """Both modules."""
        body, outline = self.bodies()
        wire = self.wire_body()
        names = self.names.functions
        return Texts(
            self.page,
            (body, wire),
            (outline, wire),
            {names[f.name]: self.share_function(f) for f in self.reach.functions},
            tuple(self.share_operation(o) for o in self.component.operations),
            PrintedRules(self.model, self.component, self.names, self.printed),
        )

    def wire_body(self) -> str:
        """The JSON form without its imports."""
        return (
            environment(PACKAGE)
            .get_template("wire.py.j2")
            .render(
                page=self.page,
                wire=WirePrinter(self.component, self.state, self.names, self.types, self.reach),
                klass=camel(self.component.name),
                offered=print_offered(self.model, self.component, self.page.preludes),
            )
        )

    def bodies(self) -> tuple[str, str]:
        """The model without its imports, and its outline."""
        template = environment(PACKAGE).get_template("component.py.j2")
        operations = self.component.operations
        both = {
            "model": self.model,
            "component": self.component,
            "page": self.page,
            "title": self.title(),
            "newtypes": list(self.newtypes()),
            "enums": [self.enum(e) for e in self.reach.enums],
            "records": [self.record(r) for r in self.reach.records],
            "unions": [self.union(u) for u in self.reach.unions],
            "world": self.world_fields(),
            "klass": camel(self.component.name),
            "fields": self.fields(),
            "faults": [self.fails(o) for o in operations if has_faults(o)],
            "initial": self.initial(),
        }
        body = template.render(
            both,
            functions=self.in_sections(self.reach.functions, self.share_function, 0),
            operations=self.in_sections(operations, self.share_operation, 1),
        )
        methods = (name for o in operations for name in methods_in(self.share_operation(o)))
        outline = template.render(
            both,
            functions=[f"def {self.names.functions[f.name]}(): ..." for f in self.reach.functions],
            operations=[f"    def {name}(self): ..." for name in methods],
        )
        return body, outline

    def in_sections(
        self, found: Iterable[FoundT], text: Callable[[FoundT], str], depth: int
    ) -> list[str]:
        """The texts of functions or operations, with a comment at the beginning of each section."""
        texts: list[str] = []
        section = ""
        for each in found:
            if each.section and each.section != section:
                section = each.section
                emitter = Emitter(depth)
                OperationPrinter(self.component, self.printer("world"), emitter).comment(section)
                texts.append("\n".join(emitter.lines))
            texts.append(text(each))
        return texts

    def title(self) -> str:
        """The docstring of the module."""
        variant = f", variant {self.model.variant}" if self.model.variant else ""
        emitter = Emitter()
        printer = OperationPrinter(self.component, self.printer("self.world"), emitter)
        doc = self.component.doc or f"The component {self.component.name}."
        sources = [(name, title) for name, title in self.model.sources if name in self.list_cited()]
        listed = "".join(f"\n    {name:6} {title}" for name, title in sources)
        silent = "\n\nWhere a rule cites nothing the texts are silent."
        cites = f"\n\nCited:\n{listed}{silent}" if listed else ""
        printer.docstring(f"{doc}\n\nProtocol {self.model.protocol}{variant}.{cites}")
        return emitter.text().rstrip()

    def list_cited(self) -> set[str]:
        """The sources that the page cites."""
        found = {c.source for f in self.reach.functions for c in f.citations}
        for operation in self.component.operations:
            found |= {c.source for c in operation.citations}
            found |= {c.source for b in operation.branches for c in b.citations}
            found |= {c.source for one in operation.assumes for c in one.citations}
        return found

    # --- types -----------------------------------------------------------------------------------

    def doc(self, name: str) -> str:
        """The comment on a declared name."""
        return dict(self.model.docs).get(name, "")

    def newtypes(self) -> Iterator[str]:
        """Sorts and counters."""
        for sort in self.reach.sorts:
            yield from self._newtype(sort.name, "str")
        for counter in self.reach.counters:
            plain = counter.ordered
            yield from self._newtype(counter.name, "int" if plain else "str")

    def _newtype(self, name: str, base: str) -> Iterator[str]:
        python = self.names.types[name]
        yield f'{python} = NewType("{python}", {base})'
        if self.doc(name):
            yield from self._docstring(self.doc(name), 0)

    def _docstring(self, text: str, depth: int) -> list[str]:
        emitter = Emitter(depth)
        OperationPrinter(self.component, self.printer("self.world"), emitter).docstring(text)
        return emitter.lines

    def enum(self, enum: t.Enum) -> str:
        """An Enum class."""
        doc = [*self._docstring(self.doc(enum.name), 1), ""] if self.doc(enum.name) else []
        rows = [f'    {member} = "{member}"' for member in enum.members]
        return "\n".join([f"class {self.names.types[enum.name]}(Enum):", *doc, *rows])

    def _dataclass(
        self, name: str, doc: str, fields: tuple[tuple[str, t.Type], ...], owner: str
    ) -> str:
        rows = ["@dataclass(frozen=True, slots=True)", f"class {name}:"]
        rows += self._docstring(doc, 1) if doc else []
        if fields and doc:
            rows.append("")
        for field_name, kind in fields:
            hint = self.types.annotation(kind)
            rows.append(f"    {self.names.attribute(field_name)}: {hint}")
            if self.doc(f"{owner}.{field_name}"):
                rows += self._docstring(self.doc(f"{owner}.{field_name}"), 1)
        return "\n".join(rows)

    def record(self, record: t.Record) -> str:
        """A frozen dataclass."""
        return self._dataclass(
            self.names.types[record.name], self.doc(record.name), record.fields, record.name
        )

    def union(self, union: t.Union) -> str:
        """A frozen dataclass for each case, and the union of them."""
        parts = []
        for tag, params in union.cases:
            doc = self.doc(f"{union.name}.{tag}") or f"The case `{tag}` of {union.name}."
            parts.append(self._dataclass(self.names.cases[tag], doc, params, f"{union.name}.{tag}"))
        cases = [self.names.cases[tag] for tag, _ in union.cases]
        either: Doc = Spread(tuple(join("| " if i else "", c) for i, c in enumerate(cases)))
        alias = lines(either, 0, f"{self.names.types[union.name]} = ")
        comment = self._docstring(self.doc(union.name), 0) if self.doc(union.name) else []
        return "\n\n\n".join([*parts, "\n".join([*alias, *comment])])

    def world_fields(self) -> list[str]:
        """The fields of `World`."""
        sorts = [
            f"{self.names.sorts[s.name]}: frozenset[{self.names.types[s.name]}]"
            for s in self.reach.sorts
        ]
        return [*sorts, *(f"{self.names.consts[name]}: int" for name, _ in self.reach.consts)]

    # --- rules -----------------------------------------------------------------------------------

    def share_function(self, function: n.Function) -> str:
        """A function, printed if no page that is alike has it."""
        key = ("", function.name)
        if key not in self.printed:
            self.printed[key] = self.function(function)
        return self.printed[key]

    def function(self, function: n.Function) -> str:
        """A pure function."""
        emitter = Emitter()
        printer = self.printer("world")
        methods = OperationPrinter(self.component, printer, emitter)
        printer.take(bound([function.body]) | {p.name for p in function.params})
        params = [
            f"{printer.local(p.name)}: {self.types.annotation(p.type)}" for p in function.params
        ]
        if function.name in self.with_world:
            params.insert(0, "world: World")
        result = f" -> {self.types.annotation(function.result)}:"
        name = self.names.functions[function.name]
        emitter.lines += lines(Block("(", tuple(params), ")"), 0, f"def {name}", result)
        with emitter.indent():
            where = "  ".join(p for p in (place(function.span), cite(function.citations)) if p)
            methods.docstring(f"{function.doc}\n\n{where}".strip())
            self.tail(methods, function.body)
        return emitter.text().rstrip()

    def tail(self, methods: OperationPrinter, e: n.Expr) -> None:
        """`return e`, with lets as assignments and choices as `if` and `match` statements."""
        with methods.printer.knowing():
            self.print_return(methods, e)

    def print_return(self, methods: OperationPrinter, e: n.Expr) -> None:
        """The same; what is learned about values that may be missing is forgotten afterwards."""
        printer, out = methods.printer, methods.out
        match e:
            case n.Let(name=name):
                methods.assign(printer.bind(name, e.value))
                self.tail(methods, e.body)
            case n.If() if not _short(e, printer):
                printer.name_found(e.condition, [e.then])
                printer.name_found(e.condition, [e.otherwise], holds=False)
                methods.put(printer.doc(e.condition), "if ", ":")
                with out.indent(), printer.knowing(e.condition):
                    self.tail(methods, e.then)
                with printer.knowing(e.condition, holds=False):
                    self.tail(methods, e.otherwise)
            case n.Match() if isinstance(e.subject.type, t.Option) and not _short(e, printer):
                none = next(c for c in e.cases if c.tag == "none")
                present = next(c for c in e.cases if c.tag == "present")
                subject, _ = printer.subject(e)
                methods.put(f"if {subject} is None:")
                with out.indent():
                    self.tail(methods, none.body)
                self.tail(methods, present.body)
            case n.Match() if not isinstance(e.subject.type, t.Option):
                self.cases(methods, e)
            case _:
                methods.put(printer.doc(e), "return ")

    def cases(self, methods: OperationPrinter, e: n.Match) -> None:
        """A `match` statement over a union or an enum."""
        printer, out = methods.printer, methods.out
        methods.put(printer.doc(e.subject), "match ", ":")
        with out.indent():
            for case in e.cases:
                if isinstance(e.subject.type, t.Union):
                    fields = zip(e.subject.type.params(case.tag), case.names, strict=True)
                    inside = ", ".join(
                        f"{self.names.attribute(name)}={printer.bound(local)}"
                        for (name, _), local in fields
                        if not local.startswith("_")
                    )
                    out.line(f"case {self.names.cases[case.tag]}({inside}):")
                else:
                    assert isinstance(e.subject.type, t.Enum)
                    out.line(f"case {self.names.types[e.subject.type.name]}.{case.tag}:")
                with out.indent():
                    self.tail(methods, case.body)

    # --- the component ---------------------------------------------------------------------------

    def fields(self) -> str:
        """The state of the component."""
        rows: list[str] = []
        for variable in self.state:
            hint = self.types.annotation(variable.type)
            rows.append(f"    {self.names.attribute(variable.name)}: {hint}")
            volatile = "Volatile: a failover loses it." if variable.kind == "volatile" else ""
            doc = "\n".join(part for part in (variable.doc, volatile) if part)
            if doc:
                rows += self._docstring(doc, 1)
        return "\n".join(rows)

    def share_operation(self, operation: n.Operation) -> str:
        """The methods of an operation, printed if no page that is alike has them."""
        key = (self.component.name, operation.name)
        if key not in self.printed:
            self.printed[key] = self.operation(operation)
        return self.printed[key]

    def operation(self, operation: n.Operation) -> str:
        """The methods of one operation."""
        emitter = Emitter(1)
        if operation.assumes:
            world = self.printer("self.world")
            print_breaks(OperationPrinter(self.component, world, emitter), operation)
            emitter.line()
        OperationPrinter(self.component, self.printer("self.world"), emitter).operation(operation)
        return "\n".join(emitter.lines)

    def fails(self, operation: n.Operation) -> str:
        """The method with the faults of one operation."""
        emitter = Emitter(1)
        printer = OperationPrinter(self.component, self.printer("self.world"), emitter)
        print_fails(printer, operation)
        return "\n".join(emitter.lines)

    def initial(self) -> str:
        """The body of `initial`: the component with its initial values."""
        emitter = Emitter(2)
        printer = self.printer("world")
        methods = OperationPrinter(self.component, printer, emitter)
        args: list[Doc] = ["world=world"]
        args += [printer.keyword(v.name, v.initial) for v in self.state]
        methods.put(call("cls", *args), "return ")
        return emitter.text().rstrip()


def _short(e: n.Expr, printer: ExprPrinter) -> bool:
    """Whether an expression fits in one line without lines before it."""
    held, printer.needed = printer.needed, []
    renamed, taken = dict(printer.renamed), dict(printer.taken)
    text = "".join(lines(printer.doc(e), 0))
    short = len(text) <= 80 and not printer.needed and "\n" not in text and ":=" not in text
    printer.needed, printer.renamed, printer.taken = held, renamed, taken
    return short


def uses_world(e: n.Expr, functions: frozenset[str]) -> bool:
    """Whether an expression reads the sizes of the world."""
    match e:
        case n.Domain(type=t.Set(inner)) if isinstance(inner, t.Enum | t.Bool):
            return False
        case n.Domain() | n.ConstRef() | n.MapNew() | n.Literal(type=t.Sort()):
            return True
        case n.Builtin(type=t.Seq(limit=t.Limit(const=const))) if const and e.traits.grows:
            return True
        case n.Call(function=name) if name in functions:
            return True
        case _:
            return any(uses_world(child, functions) for child in children(e))
