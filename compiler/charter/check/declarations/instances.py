"""Instances and scenarios: sizes, element names, starts, and named traces."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from charter.check.declarations.scenarios import ScenarioReader
from charter.check.declarations.setups import Origin, Stated, include_lines, inside
from charter.check.names.declared import no_type
from charter.check.names.docs import doc_of
from charter.check.names.scopes import MachineScope, TypeScope, suggest
from charter.check.names.types import BOOL, is_unknown, show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import substitute
from charter.diagnostics import Span
from charter.formats.spelling import nearest
from charter.syntax import nodes as sx


def no_machine(scope: TypeScope, name: sx.Name) -> None:
    """Report a component or system that does not exist."""
    hint = suggest(name.text, scope.globals.machines)
    message = f"there is no component or system `{name.text}`"
    scope.missing(message, name.span, hint=hint)


@dataclass(slots=True)
class Bounds:
    """The bounds of an instance or a scenario: sizes and element names of sorts, constants,
    starts."""

    scope: TypeScope
    machine: MachineScope
    given: frozenset[str] = frozenset()
    sizes: dict[str, int] = field(default_factory=dict)
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    consts: dict[str, int] = field(default_factory=dict)
    starts: dict[str, ir.Expr] = field(default_factory=dict)
    within: dict[int, tuple[Origin | None, TypeScope, dict[str, ir.Expr]]] = field(
        default_factory=dict
    )
    """By the identity of an origin: the origin itself, the scope of its lines, the values of its
    parameters."""

    @staticmethod
    def of(scope: TypeScope, machine: MachineScope, lines: Iterable[Stated]) -> Bounds:
        """The bounds of lines: sorts first, since constants and starts may be given by arguments of
        a set-up, which may name elements."""
        lines = tuple(lines)
        given = {each.line.name.text for each in lines if isinstance(each.line, sx.Bound)}
        bounds = Bounds(scope, machine, frozenset(given))
        sizes: list[Stated] = []
        others: list[Stated] = []
        for each in lines:
            if isinstance(each.line, sx.Bound | sx.Start):
                a_sort = each.line.name.text not in scope.globals.consts
                (sizes if isinstance(each.line, sx.Bound) and a_sort else others).append(each)
        for each in (*sizes, *others):
            if isinstance(each.line, sx.Bound):
                bounds._bound(each.line, each.origin)
            elif isinstance(each.line, sx.Start):
                bounds._start(each.line, each.origin)
        return bounds

    def _bound(self, node: sx.Bound, origin: Origin | None) -> None:
        """`Broker = 3`, `Broker = {b1, b2}`, `max_log = 2`."""
        name = node.name.text
        if name in self.sizes or name in self.named or name in self.consts:
            self.scope.error("name/duplicate", f"`{name}` has a bound already", node.name.span)
        kind = self.scope.globals.types.get(name)
        if isinstance(kind, ty.Sort):
            self._sort(name, node.value)
        elif name in self.scope.globals.consts:
            self._const(name, node.value, origin)
        elif name in self.scope.globals.missing:
            no_type(name, self.scope.globals.types, node.name.span, self.scope.diagnostics)
        else:
            known = [n for n, t in self.scope.globals.types.items() if isinstance(t, ty.Sort)]
            hint = suggest(name, (*known, *self.scope.globals.consts))
            message = f"`{name}` is neither a sort nor a constant"
            self.scope.missing(message, node.name.span, hint=hint)
            self._as_meant(node, nearest(name, (*known, *self.scope.globals.consts)), origin)

    def _as_meant(self, node: sx.Bound, meant: str, origin: Origin | None) -> None:
        """Take the value of a misspelt name for the sort or constant that is meant, so that nothing
        else is reported because of it."""
        if meant in self.given or not meant:
            return
        if meant in self.scope.globals.consts:
            self._const(meant, node.value, origin)
        else:
            self._sort(meant, node.value)

    def _sort(self, name: str, value: sx.Expr) -> None:
        match value:
            case sx.IntLit() if value.value > 0:
                self._refuse_many(name, value.value, value.span)
                self.sizes[name] = min(value.value, ty.MOST_ELEMENTS)
            case sx.SetLit(items=items) if items and all(isinstance(i, sx.Ident) for i in items):
                self._refuse_many(name, len(items), value.span)
                self._elements(name, [item for item in items if isinstance(item, sx.Ident)])
            case _:
                message = "a sort has a number of elements, or their names in braces"
                self.scope.error("type/mismatch", message, value.span)
                self.sizes[name] = 1

    def _refuse_many(self, name: str, size: int, span: Span) -> None:
        if size > ty.MOST_ELEMENTS:
            message = f"`{name}` can have 1 to {ty.MOST_ELEMENTS} elements, not {size:,}"
            hint = "choose a smaller size: what a few elements do not show, hundreds seldom do"
            self.scope.error("instance/too-large", message, span, hint=hint)

    def _elements(self, name: str, items: list[sx.Ident]) -> None:
        seen: list[str] = []
        for item in items:
            elsewhere = any(item.name in names for names in self.named.values())
            meaning = replace(self.scope, machine=self.machine).meaning(item.name)
            if item.name in seen or elsewhere:
                message = f"`{item.name}` is named twice"
                self.scope.error("name/duplicate", message, item.span)
            elif meaning:
                message = f"`{item.name}` is {meaning} already"
                self.scope.error("name/shadows", message, item.span, hint="choose another name")
            else:
                seen.append(item.name)
        self.named[name] = tuple(seen)

    def _const(self, name: str, value: sx.Expr, origin: Origin | None) -> None:
        kind = self.scope.globals.consts[name]
        if is_unknown(kind):
            self.consts[name] = 0
            return  # the error is that of the declaration
        scope, values = self._within(origin)
        core = substitute(scope.check(value, kind), values)
        span = value.span if origin is None else origin.like.name.span
        if isinstance(core, ir.Literal) and isinstance(core.value, int):
            self.consts[name] = core.value
            if isinstance(kind, ty.Int) and not _inside(core.value, kind):
                limits = show_type(kind).removeprefix("int ")
                message = f"{core.value} is outside the range of `{name}`, {limits}"
                self.scope.error("int/out-of-range", message, span)
            return
        self.consts[name] = 0
        if is_unknown(core.type):
            return  # an error was reported
        self.scope.error("type/mismatch", "a constant is given as a literal", span)

    def _start(self, node: sx.Start, origin: Origin | None) -> None:
        """`start x = e`, in a system also `start part.x = e`, for all indices of a part."""
        known = {name: variable.type for name, variable in self.machine.state.items()}
        known |= _state_of_parts(self.scope, self.machine)
        kind = known.get(node.name.text)
        if kind is None:
            message = f"{self.machine.name} has no state variable `{node.name.text}`"
            hint = suggest(node.name.text, known)
            self.scope.error("name/unknown", message, node.name.span, hint=hint)
            return
        scope, values = self._within(origin)
        self.starts[node.name.text] = substitute(scope.check(node.value, kind), values)

    def _within(self, origin: Origin | None) -> tuple[TypeScope, dict[str, ir.Expr]]:
        """The scope of lines from `origin`, made once: the elements of all sorts are known when the
        first is read, and a set-up has many lines."""
        if id(origin) not in self.within:
            self.within[id(origin)] = (origin, *inside(self.with_elements(), origin))
        return self.within[id(origin)][1:]

    def sorts(self) -> dict[str, tuple[str, ...]]:
        """The element names of every sort that has a bound."""
        return dict(self.named) | default_names(self.sizes, self.named.values())

    def with_elements(self) -> TypeScope:
        """The scope in which element names are visible, without state."""
        elements: dict[str, ir.Literal] = {}
        for name, members in self.sorts().items():
            kind = self.scope.globals.types[name]
            for number, member in enumerate(members):
                elements[member] = ir.Literal(number, type=kind)
        return replace(self.scope, elements=elements)


def _state_of_parts(scope: TypeScope, machine: MachineScope) -> dict[str, ty.Type]:
    """The variables of a system's parts by their names in the system: maps if the part is
    indexed."""
    found: dict[str, ty.Type] = {}
    for name, part in machine.parts.items():
        component = scope.globals.machines.get(part.component)
        for variable in () if component is None else component.state.values():
            kind = variable.type
            found[f"{name}.{variable.name}"] = (
                kind if part.index is None else ty.Map(part.index, kind)
            )
    return found


def _inside(value: int, kind: ty.Int) -> bool:
    low, high = kind.low, kind.high
    above = low is None or bool(low.const) or low.plus <= value
    return above and (high is None or bool(high.const) or value <= high.plus)


def default_names(
    sizes: dict[str, int], taken: Iterable[tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """`b1`, `b2`, ... from the first letter of the sort, or from its whole name where two sorts
    would clash."""
    used = {name for names in taken for name in names}
    letters = [sort[0].lower() for sort in sizes]
    result: dict[str, tuple[str, ...]] = {}
    for sort, size in sizes.items():
        stem = sort[0].lower()
        short = tuple(f"{stem}{number}" for number in range(1, size + 1))
        if letters.count(stem) > 1 or used.intersection(short):
            short = tuple(f"{sort.lower()}{number}" for number in range(1, size + 1))
        result[sort] = short
    return result


def instance(
    scope: TypeScope, node: sx.InstanceDecl, properties: Collection[str] | None
) -> tuple[ir.Instance, ...]:
    """An instance; empty if its machine does not exist. Each name in `misses` must be a branch or
    one of the `properties` of its machine, each in `fails` one of these (None: is not checked,
    since edits may have dropped it)."""
    machine = scope.globals.machines.get(node.machine.text)
    if machine is None:
        no_machine(scope, node.machine)
        return ()
    lines = include_lines(scope, node)
    bounds = Bounds.of(scope, machine, lines)
    offers: list[str] = []
    only: list[tuple[str, ir.Expr]] = []
    misses: dict[str, None] = {}
    fails: dict[str, None] = {}
    for each in lines:
        match each.line:
            case sx.Offers():
                offers += _offers(scope, machine, each.line)
            case sx.Only():
                within, values = inside(bounds.with_elements(), each.origin)
                found = _only(replace(within, machine=machine), machine, each.line)
                only += [(name, substitute(kept, values)) for name, kept in found]
            case sx.Misses():
                misses |= {name.text: None for name in each.line.names}
                if properties is not None:
                    _check_missed(scope, machine, each.line, properties)
            case sx.Fails():
                fails |= {name.text: None for name in each.line.names}
                if properties is not None:
                    _failing(scope, machine, each.line, properties)
            case _:
                pass
    core = _instance(bounds, node.name.text, tuple(offers), node)
    prelude = _prelude(bounds, machine, lines)
    made = replace(core, only=tuple(only), misses=tuple(misses), fails=tuple(fails))
    return (replace(made, prelude=prelude),)


def _prelude(bounds: Bounds, machine: MachineScope, lines: Iterable[Stated]) -> ir.Prelude | None:
    """The lines of all preludes, one after another. Its place is that of the last one, or where the
    declaration includes that one."""
    steps: list[ir.Line] = []
    last: Span | None = None
    for each in lines:
        if isinstance(each.line, sx.Prelude):
            scope, values = inside(bounds.with_elements(), each.origin)
            scope = replace(scope, machine=machine)
            reader = ScenarioReader(scope, machine, steps, values)
            for line in each.line.body:
                reader.add(line)
            last = each.line.span if each.origin is None else each.origin.first.like.name.span
    return None if last is None else ir.Prelude(tuple(steps), span=last)


def _only(scope: TypeScope, machine: MachineScope, node: sx.Only) -> list[tuple[str, ir.Expr]]:
    signature = machine.operations.get(node.operation.text)
    if signature is None:
        hint = suggest(node.operation.text, machine.operations)
        message = f"{machine.name} offers no `{node.operation.text}`"
        scope.error("name/unknown", message, node.operation.span, hint=hint)
        return []
    for param in signature.params:
        scope, _ = scope.bind(sx.Name(param.name, span=node.operation.span), param.type)
    return [(node.operation.text, scope.check(node.condition, BOOL))]


def _check_missed(
    scope: TypeScope, machine: MachineScope, node: sx.Misses, properties: Collection[str]
) -> None:
    """Report names that are neither branch (step, for a system) nor property of the machine."""
    known = {*properties}
    for name, signature in machine.operations.items():
        known |= {name} if machine.is_system else {f"{name}/{b}" for b in signature.branches}
    for missed in node.names:
        if missed.text not in known:
            what = "step" if machine.is_system else "branch"
            message = f"{machine.name} has no {what}, property or witness `{missed.text}`"
            hint = suggest(missed.text, sorted(known))
            scope.error("name/unknown", message, missed.span, hint=hint)


def _failing(
    scope: TypeScope, machine: MachineScope, node: sx.Fails, properties: Collection[str]
) -> None:
    """Report names that are no property of the machine. A system can also have a deadlock."""
    known = {*properties, "deadlock"} if machine.is_system else {*properties}
    for name in node.names:
        if name.text not in known:
            message = f"{machine.name} has no property `{name.text}`"
            hint = suggest(name.text, sorted(known))
            scope.error("name/unknown", message, name.span, hint=hint)


def _instance(
    bounds: Bounds, name: str, offers: tuple[str, ...], item: sx.InstanceDecl | sx.ScenarioDecl
) -> ir.Instance:
    order = list(bounds.scope.globals.types)
    sorts = sorted(bounds.sorts().items(), key=lambda pair: order.index(pair[0]))
    return ir.Instance(
        name, bounds.machine.name, tuple(sorts), tuple(bounds.consts.items()),
        tuple(bounds.starts.items()), offers, span=item.span, doc=doc_of(item),
    )  # fmt: skip


def _offers(scope: TypeScope, machine: MachineScope, node: sx.Offers) -> list[str]:
    for name in node.operations:
        if name.text not in machine.operations:
            hint = suggest(name.text, machine.operations)
            message = f"{machine.name} offers no `{name.text}`"
            scope.error("name/unknown", message, name.span, hint=hint)
    return [name.text for name in node.operations]


def scenario(
    scope: TypeScope, node: sx.ScenarioDecl, cited: tuple[ir.Citation, ...]
) -> tuple[ir.Scenario, ...]:
    """A scenario; empty if its machine does not exist."""
    machine = scope.globals.machines.get(node.machine.text)
    if machine is None:
        no_machine(scope, node.machine)
        return ()
    lines = include_lines(scope, node)
    bounds = Bounds.of(scope, machine, lines)
    story = ScenarioReader(replace(bounds.with_elements(), machine=machine), machine)
    before = len(scope.diagnostics.items)
    for line in node.body:
        if isinstance(line, sx.Line):
            story.add(line)
    if len(scope.diagnostics.items) == before:  # else a line with an error may say something
        _refuse_idle(scope, node, story)
    if not node.title.strip():
        hint = f'write what it shows: scenario "the first of several" of {machine.name} {{ ... }}'
        scope.error("scenario/empty", "a scenario has a title", _head(node), hint=hint)
    place = replace(
        _instance(bounds, node.title, (), node), prelude=_prelude(bounds, machine, lines)
    )
    return (
        ir.Scenario(node.title, place, tuple(story.steps), cited, span=node.span, doc=doc_of(node)),
    )


def _refuse_idle(scope: TypeScope, node: sx.ScenarioDecl, read: ScenarioReader) -> None:
    """Report a scenario that neither does nor expects anything: nothing could make it fail."""
    if not any(isinstance(step, ir.Do | ir.Expect) for step in read.steps):
        message = f'the scenario "{node.title}" neither does nor expects anything'
        hint = "add a `do` or an `expect`, or remove the scenario"
        scope.error("scenario/empty", message, _head(node), hint=hint)


def _head(node: sx.ScenarioDecl) -> Span:
    """The title and the machine."""
    return Span(node.span.source, node.span.start, node.machine.span.end)
