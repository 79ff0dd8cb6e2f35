"""Prints the module and the cfg of an instance: its sorts, first state and environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from charter.analysis.compared_numbers import NumbersCompared
from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.transition import is_of_transition
from charter.render.tla.action import ActionPrinter, definition, notes, open_item
from charter.render.tla.boxes import (
    Around,
    Binding,
    Broken,
    Bullets,
    Doc,
    Listed,
    ListItem,
    Text,
    call,
)
from charter.render.tla.expr import Printer
from charter.render.tla.machine import END, WRITTEN, Module, comment, header
from charter.render.tla.names import TlaNames
from charter.render.tla.types import TlaTypePrinter, bare

DEADLOCK = ("Run TLC with -deadlock: an environment that offers nothing more is no failure.",)


class NotOffered(Exception):
    """TLA+ cannot express the values that the environment offers for a parameter."""


@dataclass(slots=True)
class InstanceModule:
    """Prints one instance of a machine as a module that extends the machine's."""

    module: Module
    instance: s.Instance
    compared: Mapping[str, NumbersCompared] = field(default_factory=dict)
    names: TlaNames = field(init=False)
    types: TlaTypePrinter = field(init=False)
    elements: dict[str, tuple[str, ...]] = field(init=False)
    at_keys: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = self.module.names.extend()
        self.types = TlaTypePrinter(self.names, self.module.rules.types.rankings)
        self.names.add("module", [f"{self.module.name}_{self.instance.name}"])
        self.elements = {}
        for sort, members in self.instance.sorts:
            self.names.add(f"element of {sort}", members)
            kind = f"element of {sort}"
            self.elements[sort] = tuple(self.names.of(kind, member) for member in members)

    @property
    def name(self) -> str:
        """The name of the module."""
        return self.names.of("module", f"{self.module.name}_{self.instance.name}")

    @property
    def offered(self) -> tuple[s.Operation | s.Step, ...]:
        """The operations or steps that the environment offers; all if the instance lists none."""
        offers = self.instance.offers
        return tuple(o for o in self.module.operations if not offers or o.name in offers)

    def printer(self) -> Printer:
        """A printer for one declaration."""
        return Printer(self.names, self.types, self.module.state, {}, self.elements)

    def text(self) -> str:
        """The text of the module. Raises NotOffered."""
        lines = [header(self.name), *comment([*notes(self.instance.doc), WRITTEN])]
        lines += [f"EXTENDS {self.module.name}"]
        members = tuple(Text(e) for names in self.elements.values() for e in names)
        if members:
            lines += ["", *Listed("CONSTANTS ", members, "").lines(100)]
        starts = dict(self.instance.starts)
        first = self.module.start(starts, self.printer()) if starts else Text("Init")
        lines += ["", *definition("InstanceInit", [], first)]
        items = [open_item(self.offer(operation)) for operation in self.offered]
        doc = Bullets("\\/", tuple(items))
        steps = ["InstanceNext ==", *("  " + line for line in doc.tall(98))]
        for rows in self.at_keys.values():
            lines += ["", *rows] if rows else []
        return "\n".join([*lines, "", *steps, END, ""])

    # --- the environment -------------------------------------------------------------------------

    def offer(self, operation: s.Operation | s.Step) -> Doc:
        """Prints an action, quantified over all of its arguments. Counters come last: the values
        offered for them depend on the sort elements among the other arguments."""
        printer = self.printer()
        params = operation.params
        closed = [p for p in params if not t.holds(p.type, t.Counter)]
        open_ = [p for p in params if p not in closed]
        here = [(p.type, printer.local(p.name)) for p in closed]
        budget: list[str] = []
        binders: list[Doc] = []
        for param in open_:
            local = printer.local(param.name)
            binders.append(Around(f"\\E {local} \\in ", Broken(self.within(param, here, budget))))
            budget.append(f"{local}.foreign")
            printer.renamed[param.name] = f"{local}.value"
        args = [Text(printer.local(p.name)) for p in params]
        act = call(self.names.of("operation", operation.name), *args)
        body = ActionPrinter(printer, (), self.module.rules.model)
        conditions = [c for name, c in self.instance.only if name == operation.name]
        items = [item for c in conditions for item in body.condition(c)]
        doc: Doc = Bullets("/\\", (*items, ListItem(act, act))) if items else act
        for binder in reversed(binders):
            doc = Binding(binder, doc)
        if not closed:
            return doc
        rows = [Text(f"{x} \\in {bare(self.types.set(kind))}") for kind, x in here]
        return Binding(Listed("\\E ", tuple(rows), ""), doc)

    def within(self, param: n.Param, here: Sequence[tuple[t.Type, str]], budget: list[str]) -> str:
        """The set of offers for a parameter. All arguments together may hold one foreign value;
        `budget` lists the terms that count those of the parameters before this one."""
        offers = self.offers(param.type, here)
        if not budget:
            return offers
        return f"AtMost({offers}, 1 - {' - '.join(budget)})"

    def offers(self, kind: t.Type, here: Sequence[tuple[t.Type, str]]) -> str:
        """The set of offers for a type, `here` being the arguments bound so far. Raises
        NotOffered."""
        match kind:
            case t.Counter(name=name):
                all_, places = f"Issued_{name}", self.places(name, here)
                if name not in self.module.counters.names():
                    all_ = "{}"
                return self.offers_of(name, all_, places)
            case t.Option(inner=t.Counter() as inner):
                return f"OrOfferNone({self.offers(inner, here)})"
            case t.Map(key=key, value=t.Option(inner=t.Counter() as inner)):
                name = self.names.free("k")
                each = self.offers(inner, (*here, (key, name)))
                return f"OffersOfMap([{name} \\in {bare(self.types.set(key))} |-> {each}])"
            case _:
                raise NotOffered(f"a parameter of the type {bare(self.types.set(kind))}")

    def offers_of(self, counter: str, all_: str, places: str) -> str:
        """The set of offers for a counter."""
        more = self.compared.get(counter)
        if more is None:
            return f"Offers({all_}, {places})"
        numbers = ", ".join(map(str, sorted(more.numbers)))
        return f"OffersAlso({all_}, {places}, {{{numbers}}}, {more.ahead})"

    def places(self, counter: str, here: Sequence[tuple[t.Type, str]]) -> str:
        """The set of a counter's values that the state stores under the sort elements in `here`."""
        sets: list[str] = []
        for kind, x in here:
            match kind:
                case t.Sort(name=sort) if self.at_key(counter, sort):
                    sets.append(f"{self.at_key(counter, sort)}({x})")
                case t.Option(inner=t.Sort(name=sort)) if self.at_key(counter, sort):
                    at = self.at_key(counter, sort)
                    sets.append(f"(IF {x} = None THEN {{}} ELSE {at}({x}))")
                case _:
                    pass
        return bare(" \\cup ".join(sets)) if sets else "{}"

    def at_key(self, counter: str, sort: str) -> str:
        """The name of the definition `Issued_C_at_S`, which is printed on first use; "" if the
        state has no such place."""
        if (counter, sort) not in self.at_keys:
            self.at_keys[counter, sort] = self.module.counters.under(counter, sort)
        return f"Issued_{counter}_at_{sort}" if self.at_keys[counter, sort] else ""

    # --- cfg -------------------------------------------------------------------------------------

    def constants(self) -> list[str]:
        """The lines of a cfg that assign the constants."""
        lines = ["CONSTANTS", "  None = None"]
        for sort, members in self.elements.items():
            lines += [f"  {member} = {member}" for member in members]
            lines.append(f"  {self.names.of('type', sort)} = {{{', '.join(members)}}}")
        values = dict(self.instance.consts)
        for name, kind in self.module.rules.model.consts:
            value: int | str = values.get(name, 0)
            if isinstance(kind, t.Sort):
                value = self.elements[kind.name][values[name]]
            if isinstance(value, bool):
                value = str(value).upper()
            lines.append(f"  {self.names.of('const', name)} = {value}")
        missing = [s.name for s in self.module.rules.model.sorts if s.name not in self.elements]
        lines += [f"  {self.names.of('type', sort)} = {{}}" for sort in missing]
        return lines

    def cfg(self, properties: Sequence[s.Property], about: Sequence[str] = ()) -> str:
        """The text of a cfg that checks some properties or witnesses; `about` are comment lines."""
        module = self.module
        lines = [*comment([*about, *(() if module.is_system else DEADLOCK)])]
        lines += [*self.constants(), "INIT InstanceInit", "NEXT InstanceNext"]
        if module.watched or module.counters.names():
            lines.append("VIEW View")
        if module.bounded:
            lines.append("CONSTRAINT Inside")
        states = [p for p in properties if not is_of_transition(p)]
        steps = [p for p in properties if is_of_transition(p)]
        lines += ["INVARIANTS", f"  {module.types_name}"]
        lines += [f"  {module.check_name(p)}" for p in states]
        if steps:
            lines += ["PROPERTIES", *(f"  {module.check_name(p)}" for p in steps)]
        return "\n".join([*lines, ""])
