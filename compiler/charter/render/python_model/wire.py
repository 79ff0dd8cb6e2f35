"""Prints the judge's interface of a model: JSON in and out, and the table of operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.formats.image import is_of_image
from charter.render.python_model.faults import fails_name, has_faults
from charter.render.python_model.line_breaks import Block, Doc, call, from_text, join, lines
from charter.render.python_model.names import Names, camel
from charter.render.python_model.observe import project
from charter.render.python_model.offered import OFFERED_TABLES
from charter.render.python_model.operations import breaks_name, doc_lines
from charter.render.python_model.types import TypePrinter
from charter.render.text import wrap

_EXPORTS = (
    *OFFERED_TABLES,
    *("COMPONENT", "NEVER_ISSUED", "OBSERVES", "OPERATIONS", "PROTOCOL", "SPEC_DIGEST", "VARIANT"),
    *("decode", "encode", "given", "initial", "never_issued", "observe", "outcomes"),
)


@dataclass(frozen=True, slots=True)
class WirePrinter:
    """Prints the functions with which the judge asks a model; `state` is that of the model."""

    component: n.Component
    state: tuple[n.StateVar, ...]
    names: Names
    types: TypePrinter
    reach: n.Model

    @property
    def failover(self) -> bool:
        """Whether the component says what a failover does."""
        return any(o.name == "failover" for o in self.component.operations)

    def sorts(self) -> list[tuple[str, str, str]]:
        """For each sort: the field of `World`, the type, the name in the charter."""
        names = self.names
        return [(names.sorts[s.name], names.types[s.name], s.name) for s in self.reach.sorts]

    def consts(self) -> list[tuple[str, str]]:
        """For each constant: the field of `World`, the name in the charter."""
        return [(self.names.consts[name], name) for name, _ in self.reach.consts]

    def performs(self) -> list[str]:
        """The cases of `outcomes`."""
        return [self.perform(o) for o in self.component.operations if not is_of_image(o.name)]

    def images(self) -> list[str]:
        """The cases of `images`; none if images show what is observed."""
        return [self.perform(o) for o in self.component.operations if is_of_image(o.name)]

    def failures(self) -> list[str]:
        """The cases of `fails`; none if no operation is known to fail."""
        return [
            self.fail(operation) for operation in self.component.operations if has_faults(operation)
        ]

    def fail(self, operation: n.Operation) -> str:
        """One case of `fails`."""
        method = f"state.{fails_name(self.names, operation)}"
        made = lines(call(method, *self.arguments(operation)), 3, "return ")
        return "\n".join([f'        case "{operation.name}":', *made])

    def assumptions(self) -> list[str]:
        """The cases of `assumed`; none if no operation assumes anything."""
        return [self.assume(o) for o in self.component.operations if o.assumes]

    def assume(self, operation: n.Operation) -> str:
        """One case of `assumed`."""
        method = f"state.{breaks_name(self.names, operation)}"
        made = lines(call(method, *self.arguments(operation)), 3, "return not ")
        return "\n".join([f'        case "{operation.name}":', *made])

    def arguments(self, operation: n.Operation) -> tuple[Doc, ...]:
        """The arguments of an operation, read from `args`."""
        return tuple(
            from_text(self.types.read(p.type, f'args["{p.name}"]')) for p in operation.params
        )

    def perform(self, operation: n.Operation) -> str:
        """One case of `outcomes`."""
        asked = call(f"state.{self.names.attribute(operation.name)}", *self.arguments(operation))
        text = self.types.write(operation.result, "reply")
        whole = re.fullmatch(r"(\w+)\(reply\)", text)
        write = whole[1] if whole else join("lambda reply: ", from_text(text))
        made = lines(call("in_json", asked, write), 3, "return ")
        return "\n".join([f'        case "{operation.name}":', *made])

    def _function(self, name: str, param: str, result: str, body: list[str]) -> str:
        return "\n".join([f"def {name}({param}) -> {result}:", *body])

    def converters(self) -> list[str]:
        """The functions that write and read records and unions."""
        return [*self.writers(), *self.readers()]

    def writers(self) -> Iterator[str]:
        """The functions that write the records and unions in states and replies."""
        kinds = [v.type for v in self.state] + [o.result for o in self.component.operations]
        for kind in self._compound(kinds):
            yield self.write_record(kind) if isinstance(kind, t.Record) else self.write_union(kind)

    def readers(self) -> Iterator[str]:
        """The functions that read the records and unions in states and arguments."""
        kinds = [v.type for v in self.state]
        kinds += [p.type for o in self.component.operations for p in o.params]
        for kind in self._compound(kinds):
            yield self.read_record(kind) if isinstance(kind, t.Record) else self.read_union(kind)

    def _compound(self, kinds: list[t.Type]) -> Iterator[t.Record | t.Union]:
        found = {part for kind in kinds for part in t.inside(kind)}
        yield from (r for r in self.reach.records if r in found)
        yield from (u for u in self.reach.unions if u in found)

    def write_record(self, record: t.Record) -> str:
        """A record as JSON."""
        items = tuple(
            print_keyed(f'"{name}": ', self.types.write(kind, f"it.{self.names.attribute(name)}"))
            for name, kind in record.fields
        )
        body = lines(Block("{", items, "}"), 1, "return ")
        return self._function(
            self.types.writer(record.name), f"it: {self.names.types[record.name]}", "Json", body
        )

    def write_union(self, union: t.Union) -> str:
        """A union as JSON."""
        body = ["    match it:"]
        for tag, params in union.cases:
            items: list[Doc] = [f'"case": "{tag}"']
            items += [
                print_keyed(
                    f'"{name}": ', self.types.write(kind, f"it.{self.names.attribute(name)}")
                )
                for name, kind in params
            ]
            body += [f"        case {self.names.cases[tag]}():"]
            body += lines(Block("{", tuple(items), "}"), 3, "return ")
        return self._function(
            self.types.writer(union.name), f"it: {self.names.types[union.name]}", "Json", body
        )

    def read_record(self, record: t.Record) -> str:
        """A record from JSON."""
        name = self.names.types[record.name]
        args = tuple(
            print_keyed(f"{self.names.attribute(part)}=", self.types.read(kind, f'it["{part}"]'))
            for part, kind in record.fields
        )
        body = ["    it = fields_of(data)", *lines(call(name, *args), 1, "return ")]
        return self._function(self.types.reader(record.name), "data: Json", name, body)

    def read_union(self, union: t.Union) -> str:
        """A union from JSON."""
        name = self.names.types[union.name]
        body = ["    it = fields_of(data)", '    match it["case"]:']
        for tag, params in union.cases:
            args = tuple(from_text(self.types.read(kind, f'it["{part}"]')) for part, kind in params)
            body.append(f'        case "{tag}":')
            body += lines(call(self.names.cases[tag], *args), 3, "return ")
        failure = f'raise ValueError(f"{{other!r}} is no case of {union.name}")'
        body += ["        case other:", f"            {failure}"]
        return self._function(self.types.reader(union.name), "data: Json", name, body)

    def encode(self) -> str:
        """All state as JSON."""
        items = tuple(
            print_keyed(
                f'"{v.name}": ', self.types.write(v.type, f"state.{self.names.attribute(v.name)}")
            )
            for v in self.state
        )
        return "\n".join(lines(Block("{", items, "}"), 1, "return "))

    def decode(self) -> str:
        """All state from JSON."""
        args: list[Doc] = ["world=_world(sorts, consts)"]
        for v in self.state:
            read = self.types.read(v.type, f'it["{v.name}"]')
            args.append(print_keyed(f"{self.names.attribute(v.name)}=", read))
        return "\n".join(lines(call(camel(self.component.name), *args), 1, "return "))

    def title(self, module: str) -> str:
        """The docstring; `module` is the model."""
        about = f"The judge's interface of {module}: arguments, replies and states as JSON."
        return "\n".join(doc_lines(about))

    def exports(self) -> str:
        """`__all__`: what the judge reads."""
        names = [*_EXPORTS, *(["fails"] if self.failures() else [])]
        names += ["images"] if self.images() else []
        names += ["assumed"] if self.assumptions() else []
        names += ["GHOSTS"] if self.ghosts else []
        ordered = " ".join(f'"{name}",' for name in sorted(names, key=lambda n: (n.islower(), n)))
        return "\n".join(["__all__ = [", *(f"    {row}" for row in wrap(ordered, 92)), "]"])

    def print_given(self) -> str:
        """Durable state from JSON, over the initial state."""
        args: list[Doc] = ["initial(sorts, consts)"]
        for v in self.state:
            if v.kind == "durable":
                read = self.types.read(v.type, f'it["{v.name}"]')
                args.append(print_keyed(f"{self.names.attribute(v.name)}=", read))
        return "\n".join(lines(call("replace", *args), 1, "loaded = "))

    def observe(self) -> str:
        """The observable part of the state as JSON."""
        shown = [o.path for o in self.component.observables if o.mode != "ignored"]
        items: list[Doc] = []
        for v in self.state:
            paths = frozenset(path[1:] for path in shown if path[0] == v.name)
            if paths:
                text = project(self.types, v.type, f"state.{self.names.attribute(v.name)}", paths)
                items.append(print_keyed(f'"{v.name}": ', text))
        return "\n".join(lines(Block("{", tuple(items), "}"), 1, "return "))

    @property
    def ghosts(self) -> list[str]:
        """The ghost state of the model, which assumptions read."""
        return [v.name for v in self.state if v.kind == "ghost"]

    def tables(self) -> str:
        """Tables: operations, observables, ghost state, and a value that was never issued for each
        counter in the arguments of an operation."""
        operations = [o.name for o in self.component.operations]
        shown = list(dict.fromkeys(o.path[0] for o in self.component.observables))
        ghosts = self.ghosts
        rows: list[Doc] = []
        for operation in self.component.operations:
            for param in () if is_of_image(operation.name) else operation.params:
                for path, counter in counter_paths(param.type, (param.name,)):
                    key = ", ".join(f'"{part}"' for part in path) + ("," if len(path) == 1 else "")
                    rows.append(f'("{operation.name}", ({key})): {never(counter)}')
        hint = "NEVER_ISSUED: Mapping[tuple[str, Path], Json] = "
        return "\n".join(
            [
                *lines(names_tuple(operations), 0, "OPERATIONS: tuple[str, ...] = "),
                *lines(names_tuple(shown), 0, "OBSERVES: tuple[str, ...] = "),
                *(lines(names_tuple(ghosts), 0, "GHOSTS: tuple[str, ...] = ") if ghosts else ()),
                *lines(Block("{", tuple(rows), "}"), 0, hint),
            ]
        )


def print_keyed(prefix: str, text: str) -> Doc:
    """`prefix text`, with possible line breaks in `text`."""
    return join(prefix, from_text(text))


def names_tuple(names: list[str]) -> Doc:
    """A tuple of strings."""
    return Block("(", tuple(f'"{name}"' for name in names), ",)" if len(names) == 1 else ")")


def counter_paths(
    kind: t.Type, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], t.Counter]]:
    """The paths of counters inside a type; keys and positions are `*`."""
    match kind:
        case t.Counter():
            yield path, kind
        case t.Option(inner):
            yield from counter_paths(inner, path)
        case t.Record(fields=fields):
            for name, part in fields:
                yield from counter_paths(part, (*path, name))
        case t.Union(cases=cases):
            for _, params in cases:
                for name, part in params:
                    yield from counter_paths(part, (*path, name))
        case t.Set(inner) | t.Seq(inner) | t.Ranking(inner) | t.Map(value=inner):
            yield from counter_paths(inner, (*path, "*"))
        case _:
            return


def never(counter: t.Counter) -> str:
    """A value that no implementation issues, as JSON in Python."""
    if not counter.opaque:
        return "999_999_999"
    return '"@999999999999"' if counter.ordered else '"~never issued"'
