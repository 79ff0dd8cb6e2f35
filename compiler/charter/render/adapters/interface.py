"""Collects what an adapter sees of a component: operations, replies, observations, and their
types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.core.reach import read_consts
from charter.render.text import cite

Paths = frozenset[tuple[str, ...]]
Named = t.Sort | t.Counter | t.Enum | t.Record | t.Union
Fields = Sequence[tuple[str, t.Type]]

OBSERVATION = "Observation"
OBSERVED = "Observed"
GIVEN = "Given"
CONSTS = "Consts"


@dataclass(frozen=True, slots=True)
class SeenOperation:
    """An operation: its arguments as a record, and the type of its reply."""

    name: str
    doc: str
    args: t.Record
    reply: t.Type


@dataclass(frozen=True, slots=True)
class Interface:
    """The part of a component that an adapter sees. `types` are those that are mentioned, in the
    order of the charter, apart from `observation`, `given` (a durable state), `consts`, and the
    arguments of operations. `docs` are the charter's comments: `Partition`, `Partition.isr`."""

    protocol: str
    component: str
    doc: str
    types: tuple[Named, ...]
    consts: t.Record
    operations: tuple[SeenOperation, ...]
    observation: t.Record
    given: t.Record
    docs: Mapping[str, str]

    @property
    def sorts(self) -> tuple[t.Sort, ...]:
        """The sorts whose elements are arguments, or are shown."""
        return tuple(kind for kind in self.types if isinstance(kind, t.Sort))

    @property
    def sort_ids(self) -> tuple[tuple[str, t.Type], ...]:
        """The fields of `Sorts`: for each sort the ids of its elements."""
        return tuple((sort.name, t.Map(sort, t.Int())) for sort in self.sorts)

    def lists(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """All lists of fields that are printed, by their owner."""
        records = [kind for kind in self.types if isinstance(kind, t.Record)]
        unions = [kind for kind in self.types if isinstance(kind, t.Union)]
        for record in (*records, self.observation, self.given, self.consts):
            yield record.name, tuple(name for name, _ in record.fields)
        for operation in self.operations:
            yield operation.name, tuple(name for name, _ in operation.args.fields)
        for union in unions:
            for tag, fields in union.cases:
                yield f"{union.name}.{tag}", tuple(name for name, _ in fields)
        yield "the list of sorts", tuple(sort.name for sort in self.sorts)

    def doc_of(self, owner: str, member: str) -> str:
        """The charter's comment on a field or a case; "" if there is none."""
        return self.docs.get(f"{owner}.{member}", "")


def interface(model: n.Model, component: n.Component) -> Interface:
    """What an adapter of `component` sees."""
    operations = tuple(_operation(operation) for operation in component.operations)
    shown = _observation(component)
    durable = tuple((v.name, v.type) for v in component.state if v.kind == "durable")
    given = t.Record(GIVEN, durable)
    kinds = [shown, given, *(o.args for o in operations), *(o.reply for o in operations)]
    return Interface(
        protocol=model.protocol,
        component=component.name,
        doc=component.doc,
        types=tuple(_list_mentioned(model, kinds)),
        consts=t.Record(CONSTS, read_consts(model, component)),
        operations=operations,
        observation=shown,
        given=given,
        docs=dict(model.docs),
    )


def _operation(operation: n.Operation) -> SeenOperation:
    fields = tuple((param.name, param.type) for param in operation.params)
    assumed = "; ".join(" ".join(one.span.quote().split()) for one in operation.assumes)
    told = f"What is true at each call: {assumed}." if assumed else ""
    doc = "\n\n".join(part for part in (operation.doc, cite(operation.citations), told) if part)
    return SeenOperation(
        operation.name, doc, t.Record(f"{operation.name}_args", fields), operation.result
    )


def _list_mentioned(model: n.Model, kinds: Iterable[t.Type]) -> Iterable[Named]:
    """The named types inside `kinds`: sorts, counters and enums in the order of the charter, then
    records and unions, each after those that it contains. `kinds` themselves are not among them
    if they are records of no charter."""
    found = {part for kind in kinds for part in t.inside(kind)}
    simple: tuple[Named, ...] = (*model.sorts, *model.counters, *model.enums)
    yield from (kind for kind in simple if kind in found)
    own = {record.name for record in model.records}
    shown = [
        part for part in found
        if isinstance(part, t.Record) and part.name.startswith(OBSERVED) and part.name not in own
    ]  # fmt: skip
    shown.sort(key=lambda record: record.name)
    compound: dict[t.Record | t.Union, None] = {}
    for kind in (*model.records, *model.unions, *shown):
        if kind in found:
            inner = [part for part in t.inside(kind) if isinstance(part, t.Record | t.Union)]
            compound |= dict.fromkeys(reversed(inner))
    yield from compound


def _observation(component: n.Component) -> t.Record:
    """What the widest level shows, as a record of variables."""
    shown = [o.path for o in component.observables if o.mode != "ignored"]
    made: dict[str, t.Record] = {}
    fields: list[tuple[str, t.Type]] = []
    for variable in component.state:
        paths = frozenset(path[1:] for path in shown if path[0] == variable.name)
        if paths:
            fields.append((variable.name, _narrow_type(variable.type, paths, made)))
    return t.Record(OBSERVATION, tuple(fields))


def _narrow_type(kind: t.Type, paths: Paths, made: dict[str, t.Record]) -> t.Type:
    """The type of what `paths` show of a value; an empty path shows everything."""
    if () in paths:
        return kind
    match kind:
        case t.Option(inner):
            return t.Option(_narrow_type(inner, paths, made))
        case t.Map(key, value):
            return t.Map(key, _narrow_type(value, paths, made))
        case t.Record(name, fields):
            kept: list[tuple[str, t.Type]] = []
            for field, part in fields:
                inside = frozenset(path[1:] for path in paths if path[:1] == (field,))
                if inside:
                    kept.append((field, _narrow_type(part, inside, made)))
            return kind if tuple(kept) == fields else _make_record(name, tuple(kept), made)
        case t.Bool() | t.Int() | t.Sort() | t.Counter() | t.Enum() | t.Union():
            return kind
        case t.Set() | t.Seq() | t.Ranking():
            return kind
        case _:
            assert_never(kind)


def _make_record(
    name: str, fields: tuple[tuple[str, t.Type], ...], made: dict[str, t.Record]
) -> t.Record:
    """A record with the observed fields; equal ones share a name."""
    number, chosen = 1, f"{OBSERVED}{name}"
    while made.setdefault(chosen, t.Record(chosen, fields)).fields != fields:
        number += 1
        chosen = f"{OBSERVED}{name}{number}"
    return made[chosen]
