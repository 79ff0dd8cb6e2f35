"""Prints the module of a machine: state, actions, properties, and the definitions for TLC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.transition import argument, is_of_transition, reads_arguments
from charter.core.walk import nodes as all_nodes
from charter.render.tla.action import ActionPrinter, argument_field, cite, definition, notes
from charter.render.tla.boxes import Around, Broken, Bullets, Doc, Filled, Listed, ListItem, Text
from charter.render.tla.counters import Counters, ModuleVariable, Orders
from charter.render.tla.expr import Printer, State
from charter.render.tla.names import TlaNames
from charter.render.tla.types import TlaTypePrinter, bare, list_declared

WRITTEN = "Written by `conform generate --backend tla`; do not edit."
END = "=" * 80


def header(name: str) -> str:
    """The first line of a module."""
    title = f" MODULE {name} "
    return f"{title:-^80}"


def comment(lines: Iterable[str]) -> list[str]:
    """The lines as TLA+ comments."""
    return [f"\\* {line.replace('(*', '( *')}".rstrip() for line in lines]


def section(title: str) -> list[str]:
    """A separator line with a title."""
    return ["", f"\\* --- {title} {'-' * max(0, 74 - len(title))}", ""]


def order_by_calls(functions: tuple[s.Function, ...]) -> list[s.Function]:
    """The functions, each after those that it calls, otherwise in their given order."""
    by_name = {f.name: f for f in functions}
    found: dict[str, s.Function] = {}

    def visit(function: s.Function) -> None:
        for e in all_nodes(function.body):
            if isinstance(e, n.Call) and e.function not in found:
                visit(by_name[e.function])
        found.setdefault(function.name, function)

    for function in functions:
        visit(function)
    return list(found.values())


@dataclass(slots=True)
class Rules:
    """The module that all machines of a protocol extend: sorts, constants, types, functions."""

    model: s.Model
    names: TlaNames = field(default_factory=TlaNames)
    types: TlaTypePrinter = field(init=False)

    def __post_init__(self) -> None:
        model = self.model
        self.types = TlaTypePrinter(self.names)
        self.names.add("module", [model.protocol])
        self.names.add("type", [s.name for s in model.sorts])
        self.names.add("type", [k.name for k in model.enums])
        self.names.add("type", [k.name for k in model.records])
        self.names.add("type", [k.name for k in model.unions])
        self.names.add("const", [name for name, _ in model.consts])
        self.names.add("function", [f.name for f in model.functions])

    @property
    def name(self) -> str:
        """The name of the module."""
        return self.names.of("module", self.model.protocol)

    def text(self) -> str:
        """The text of the module. To be called after the other modules are printed, because it
        defines the sets that they use."""
        model = self.model
        lines = [header(self.name)]
        docs = dict(model.docs)
        lines += comment([*notes(model.doc), *([""] if model.doc else []), *self._about()])
        lines += ["EXTENDS Charter", ""]
        constants = [self.names.of("type", s.name) for s in model.sorts]
        constants += [self.names.of("const", name) for name, _ in model.consts]
        if constants:
            lines += Listed("CONSTANTS ", tuple(Text(c) for c in constants), "").lines(100)
        body = [line for f in order_by_calls(model.functions) for line in self._function(f)]
        kinds = list_declared(model)
        printed = {kind: self.types.definition(kind) for kind in kinds}
        if kinds or self.types.rankings:
            lines += section("types")
        for kind in kinds:
            if isinstance(kind, t.Enum):
                lines += [*comment(notes(docs.get(kind.name, ""))), *printed[kind]]
        for inner, name in self.types.rankings.items():
            lines.append(f"{name} == Rankings({bare(self.types.set(inner))})")
        for kind in kinds:
            if not isinstance(kind, t.Enum):
                lines += [*comment(notes(docs.get(kind.name, ""))), *printed[kind]]
        if body:
            lines += [*section("rules")[:-1], *body]
        return "\n".join([*lines, END, ""])

    def _about(self) -> list[str]:
        """The comment at the top of the module."""
        model = self.model
        variant = f", variant {model.variant}" if model.variant else ""
        lines = [WRITTEN, f"From the charter of {model.protocol}{variant}."]
        lines += [f"{name}: {title}" for name, title in model.sources]
        return lines

    def _function(self, function: s.Function) -> list[str]:
        printer = Printer(self.names, self.types, State(self.names))
        params = [printer.local(p.name) for p in function.params]
        lines = definition(
            self.names.of("function", function.name), params, printer.doc(function.body)
        )
        return ["", *comment(notes(function.doc, function.citations)), *lines]


@dataclass(slots=True)
class Module:
    """The module of one machine."""

    rules: Rules
    machine: s.Component | s.System
    orders: Orders
    names: TlaNames = field(init=False)
    types: TlaTypePrinter = field(init=False)
    state: State = field(init=False)
    variables: tuple[ModuleVariable, ...] = ()
    initial: tuple[tuple[str, s.Expr], ...] = ()

    def __post_init__(self) -> None:
        self.names = self.rules.names.extend()
        self.types = TlaTypePrinter(self.names, self.rules.types.rankings)
        machine = self.machine
        parts = {p.name: p for p in machine.parts} if isinstance(machine, n.System) else {}
        self.state = State(self.names, "", parts)
        self.names.add("module", [machine.name])
        self.names.add("variable", parts)
        own = [v.name for v in machine.state if self.state.split(v.name) is None]
        self.names.add("variable", own)
        self.variables = tuple(self._merge(parts))
        self.names.add("operation", [o.name for o in self.operations])
        for part in parts.values():
            component = self.component(part)
            for operation in self.list_called(component):
                name = f"{component.name}.{operation}"
                if ("outcomes", name) not in self.names.kinds:
                    self.names.add("outcomes", [name])
        self.names.add("property", [p.name for p in self.properties])

    # --- what there is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the module."""
        return self.names.of("module", self.machine.name)

    @property
    def is_system(self) -> bool:
        """Whether the machine is a system."""
        return isinstance(self.machine, n.System)

    @property
    def operations(self) -> tuple[s.Operation, ...] | tuple[s.Step, ...]:
        """The operations of a component, or the steps of a system."""
        machine = self.machine
        return machine.steps if isinstance(machine, n.System) else machine.operations

    @property
    def properties(self) -> tuple[s.Property, ...]:
        """The properties and witnesses of the machine."""
        return tuple(p for p in self.rules.model.properties if p.machine == self.machine.name)

    @property
    def watched(self) -> bool:
        """Whether the module has a variable `event`: for replies, and for properties of
        transitions."""
        return not self.is_system or any(is_of_transition(p) for p in self.properties)

    @property
    def arguments(self) -> bool:
        """Whether `event` holds the arguments of the last step, because a property reads them."""
        return any(reads_arguments(p.body) for p in self.properties)

    def component(self, part: n.Part) -> s.Component:
        """The component that a part is made of."""
        return next(c for c in self.rules.model.components if c.name == part.component)

    def list_called(self, component: s.Component) -> list[str]:
        """The operations of a component that steps call, in declaration order."""
        assert isinstance(self.machine, n.System)
        parts = {p.name for p in self.machine.parts if p.component == component.name}
        wanted = {
            s.operation
            for step in self.machine.steps
            for s in step.body
            if isinstance(s, n.CallOperation) and s.part in parts
        }
        return [o.name for o in component.operations if o.name in wanted]

    def _merge(self, parts: dict[str, n.Part]) -> Iterable[ModuleVariable]:
        """The variables of the module; all variables of a part become one record."""
        for part in parts.values():
            component = self.component(part)
            record = t.Record("", tuple((v.name, v.type) for v in component.state))
            kind = record if part.index is None else t.Map(part.index, record)
            yield ModuleVariable(self.names.of("variable", part.name), kind, part.doc)
        for v in self.machine.state:
            if self.state.split(v.name) is None:
                yield ModuleVariable(self.names.of("variable", v.name), v.type, v.doc, v.kind)

    def printer(self) -> Printer:
        """A printer for one declaration."""
        return Printer(self.names, self.types, self.state)

    # --- the text --------------------------------------------------------------------------------

    def text(self) -> str:
        """The text of the module."""
        lines = [header(self.name), *comment([*notes(self.machine.doc), WRITTEN])]
        lines += [f"EXTENDS {self.rules.name}", *self._variables(), *self._initial()]
        if isinstance(self.machine, n.System):
            for part in {p.component: p for p in self.machine.parts}.values():
                lines += self._outcomes(self.component(part))
            lines += section("steps")[:-1]
        else:
            lines += section("operations")[:-1]
        opened = ""
        for operation in self.operations:
            if operation.section not in ("", opened):
                opened = operation.section
                lines += ["", *comment(notes(opened))]
            lines += self._action(operation)
        lines += self._properties()
        lines += self._looking()
        return "\n".join([*lines, END, ""])

    def _variables(self) -> list[str]:
        lines = ["", "VARIABLES"]
        rows: list[tuple[str, list[str]]] = []
        for v in self.variables:
            about = notes(v.doc)
            if v.kind != "durable":
                about.append(f"{v.kind}")
            rows.append((v.name, about))
        if self.watched:
            about = ["What was done last, for reading and for properties of transitions; not part"]
            about += ["of the protocol's state (see View). Its turn changes with every step."]
            rows.append(("event", about))
        for number, (name, about) in enumerate(rows):
            lines += shift_comment(about)
            lines.append(f"  {name}{',' if number < len(rows) - 1 else ''}")
        names = tuple(name for name, _ in rows)
        lines += ["", *Filled("vars == <<", names, ">>").lines(100)]
        lines += ["", *self._typing()]
        if not self.watched:
            return lines
        return [*lines, "", *self._define_tell()]

    def _define_tell(self) -> list[str]:
        """The definition of the operator by which actions set `event`."""
        said = ["branch", *(["args"] if self.arguments else [])]
        said += [] if self.is_system else ["reply"]
        names = {word: self.names.free(word) for word in said}
        if self.is_system:
            names["branch"] = self.names.free("step")
        record = ", ".join(f"{word} |-> {name}" for word, name in names.items())
        head = f"{'Takes' if self.is_system else 'Answers'}({', '.join(names.values())}) =="
        body = f"event' = [{record}, turn |-> 1 - event.turn]"
        return [f"{head} {body}"] if self.is_system else [head, f"  {body}"]

    def _typing(self) -> list[str]:
        items = [
            ListItem(Broken(f"{v.name} \\in {bare(self.types.type(v.type))}"), Text(v.name))
            for v in self.variables
        ]
        return ["TypeOK ==", *("  " + line for line in Bullets("/\\", tuple(items)).tall(98))]

    def start(self, replaced: dict[str, s.Expr], printer: Printer) -> Doc:
        """The initial state; `replaced` holds initial values that differ from the machine's, by
        variable."""
        values = {v.name: replaced.get(v.name, v.initial) for v in self.machine.state}
        items: list[ListItem] = []
        for part in self.state.parts.values():
            name = self.names.of("variable", part.name)
            doc: Doc = Around(f"{name} = ", self._start_of(part, values, printer))
            items.append(ListItem(doc, doc))
        for v in self.machine.state:
            if self.state.split(v.name) is None:
                doc = printer.equal(self.names.of("variable", v.name), values[v.name])
                items.append(ListItem(doc, doc))
        if self.watched:
            args = "args |-> <<>>, " if self.arguments else ""
            reply = "" if self.is_system else "reply |-> None, "
            doc = Text(f'event = [branch |-> "", {args}{reply}turn |-> 0]')
            items.append(ListItem(doc, doc))
        return Bullets("/\\", tuple(items))

    def _start_of(self, part: n.Part, values: dict[str, s.Expr], printer: Printer) -> Doc:
        rows: list[tuple[str, Doc]] = []
        key = self.names.free("k")
        for v in self.component(part).state:
            value = values[f"{part.name}.{v.name}"]
            if part.index is None:
                rows.append((v.name, printer.doc(value)))
            elif isinstance(value, n.MapNew):
                printer.renamed[value.name] = key
                rows.append((v.name, printer.doc(value.value)))
                del printer.renamed[value.name]
            else:
                rows.append((v.name, Around("", printer.doc(value, 5), f"[{key}]")))
        record = printer.record(rows)
        if part.index is None:
            return record
        return Around(f"[{key} \\in {bare(self.types.set(part.index))} |-> ", record, "]")

    def _initial(self) -> list[str]:
        return ["", *definition("Init", [], self.start({}, self.printer()))]

    def _action(self, operation: s.Operation | s.Step) -> list[str]:
        printer = self.printer()
        params = [printer.local(p.name) for p in operation.params]
        variables = tuple(v.name for v in self.variables)
        body = ActionPrinter(
            printer, variables, self.rules.model, self.watched, arguments=self.arguments
        )
        doc = (
            body.operation(operation)
            if isinstance(operation, n.Operation)
            else body.step(operation)
        )
        about = comment(notes(operation.doc, operation.citations))
        name = self.names.of("operation", operation.name)
        return ["", *about, *definition(name, params, doc)]

    def _outcomes(self, component: s.Component) -> list[str]:
        lines = section(f"what an operation of {component.name} allows: replies and states")[:-1]
        own = State(self.names, "self.", {})
        for operation in component.operations:
            name = f"{component.name}.{operation.name}"
            if ("outcomes", name) not in self.names.kinds:
                continue
            printer = Printer(self.names, self.types, own)
            params = ["self", *(printer.local(p.name) for p in operation.params)]
            doc = ActionPrinter(printer, (), self.rules.model).operation(operation, outcomes=True)
            lines += ["", *comment(notes(operation.doc, operation.citations))]
            lines += definition(self.names.of("outcomes", name), params, doc)
        return lines

    def _properties(self) -> list[str]:
        live = [p for p in self.rules.model.liveness if p.machine == self.machine.name]
        if not self.properties and not live:
            return []
        lines = section("what must hold, and what must be reachable")[:-1]
        for p in live:
            said = f"LEFT OUT: eventually {p.name}. TLC is not asked for it."
            lines += ["", *comment([*notes(p.doc, p.citations), said])]
        for prop in self.properties:
            kind = " ".join((prop.kind, cite(prop.citations))).strip()
            lines += ["", *comment([*notes(prop.doc), kind])]
            name = self.names.of("property", prop.name)
            printer = self.printer()
            printer.renamed |= self._last_arguments()
            lines += definition(name, [], printer.doc(prop.body))
        return lines

    def _last_arguments(self) -> dict[str, str]:
        """The text of each argument that properties of transitions read, in `event`, by local
        name."""
        return {
            argument(o.name, p.name): f"event'.args.{argument_field(p)}"
            for o in self.operations
            for p in o.params
        }

    # --- how TLC looks at it ---------------------------------------------------------------------

    @property
    def counters(self) -> Counters:
        """The printer for counters."""
        return Counters(self.types, self.variables, self.orders)

    @property
    def bounded(self) -> bool:
        """Whether a step can leave the ranges of the instance, so that the cfg needs a
        constraint."""
        return any(self.types.inside(v.type, v.name) for v in self.variables)

    def check_name(self, prop: s.Property) -> str:
        """The name by which a cfg refers to a property."""
        if prop.kind == "always" and not self.bounded:
            return self.names.of("property", prop.name)
        word = "Not" if prop.kind == "witness" else "Check"
        return self.names.free(f"{word}_{self.names.of('property', prop.name)}")

    @property
    def types_name(self) -> str:
        """The name by which a cfg refers to the types of the variables."""
        return self.names.free("Check_TypeOK") if self.bounded else "TypeOK"

    def _looking(self) -> list[str]:
        lines = section("for TLC")[:-1]
        if self.bounded:
            lines += ["", *comment(BOUNDS)]
            tests = [(v.name, self.types.inside(v.type, v.name)) for v in self.variables]
            items = tuple(ListItem(Broken(bare(test)), Text(name)) for name, test in tests if test)
            lines += ["Inside ==", *("  " + line for line in Bullets("/\\", items).tall(98))]
        checks = [f"{self.types_name} == Inside => TypeOK"] if self.bounded else []
        checks += [line for p in self.properties for line in self._check(p)]
        lines += ["", *checks] if checks else []
        if self.watched or self.counters.names():
            lines += self._view()
        return lines

    def _check(self, prop: s.Property) -> list[str]:
        name, check = self.names.of("property", prop.name), self.check_name(prop)
        if name == check:
            return []
        claim = f"~{name}" if prop.kind == "witness" else name
        if is_of_transition(prop):
            claim = f"Inside' => {claim}" if self.bounded else claim
            return [f"{check} == [][{claim}]_(event.turn)"]
        claim = f"Inside => {claim}" if self.bounded else claim
        return [f"{check} == {claim}"]

    def _view(self) -> list[str]:
        counters = self.counters
        lines: list[str] = []
        ranked = [c for c in counters.names() if c in self.orders.ranked]
        apart = [c for c in counters.names() if c in self.orders.apart]
        for counter in counters.names():
            lines += ["", *counters.define_issued(counter)]
        about = list(VIEW)
        if ranked:
            about += [f"{', '.join(ranked)}: by rank, because their order is looked at."]
        if apart:
            about += [f"{', '.join(apart)}: as they are; values below the greatest are bumped."]
        others = [c for c in counters.names() if c not in (*ranked, *apart)]
        if others:
            about += [f"{', '.join(others)}: by the places where the state holds them."]
        for counter in others:
            lines += ["", *counters.places(counter)]
        lines += ["", *comment(about if counters.names() else VIEW[:2])]
        rows = tuple(Broken(bare(counters.view(v.type, v.name))) for v in self.variables)
        return [*lines, "View ==", *("  " + line for line in Listed("<<", rows, ">>").tall(98))]


BOUNDS = (
    "A step to a state that is not Inside leaves the instance: TLC neither counts nor follows the",
    "state, and nothing is asked of it. Such a step is no deadlock.",
)
VIEW = (
    "VIEW of the cfg: TLC takes two states for one if their View is equal. What was done last is",
    "no part of it.",
    "States that differ only by the names of counter values behave alike, and are one state.",
)


def shift_comment(lines: list[str]) -> list[str]:
    """The lines as indented comments in the list of variables."""
    return [f"  \\* {line}".rstrip() for line in lines]
