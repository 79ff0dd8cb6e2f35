"""Translates surface trees to core. No other module does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from charter.check.declarations import instances, liveness, lossy_channels, machines, steps
from charter.check.declarations.check_context import CheckContext, Elaborated
from charter.check.declarations.functions import function, with_params
from charter.check.declarations.histories import update_histories
from charter.check.declarations.observables import observables
from charter.check.declarations.storage import check_declared, settle
from charter.check.names.declared import TypeResolver, declarations
from charter.check.names.docs import doc_of, type_docs
from charter.check.names.edit_names import address_text
from charter.check.names.scopes import MachineScope, Signature, TypeScope, suggest
from charter.check.names.types import BOOL, is_unknown
from charter.check.names.unchanged import Unchanged
from charter.check.typing.patterns import holding
from charter.check.typing.statements import Body, assumption, branch_body, drop_lets
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Diagnostics
from charter.formats.links import is_url
from charter.syntax import nodes as sx


def elaborate(
    files: sx.Protocol, variant: str, diagnostics: Diagnostics, earlier: Elaborated | None = None
) -> ir.Model:
    """The core of a protocol whose edits have been applied (`variant` is only its name).

    If there are errors in `diagnostics`, the result is incomplete and must not be used. What means
    the same in the `earlier` elaboration of another version is not elaborated again.
    """
    return _elaborate(files, variant, diagnostics, earlier, is_bent=False)


def elaborate_edited(
    files: sx.Protocol, variant: str, diagnostics: Diagnostics, earlier: Elaborated
) -> ir.Model:
    """The same for a protocol that a mutant or an overlay has edited: properties and scenarios that
    no longer have a meaning are left out."""
    return _elaborate(files, variant, diagnostics, earlier, is_bent=True)


def _elaborate(
    files: sx.Protocol,
    variant: str,
    diagnostics: Diagnostics,
    earlier: Elaborated | None,
    *,
    is_bent: bool,
) -> ir.Model:
    table, types = machines.collect(files, diagnostics)
    kept = None if earlier is None else earlier.among(table)
    context = CheckContext(table, types, diagnostics, is_bent=is_bent, earlier=kept)
    return model_of(files, variant, context)


def elaborate_declarations(files: sx.Protocol, variant: str = "") -> Elaborated:
    """The core of the declarations of a protocol, to which the variant was applied, by their nodes;
    of none if there are errors."""
    diagnostics = Diagnostics()
    table, types = machines.collect(files, diagnostics)
    kept = Elaborated(Unchanged(files, table))
    model_of(files, variant, CheckContext(table, types, diagnostics, kept=kept))
    return replace(kept, core={}) if diagnostics.errors else kept


def model_of(files: sx.Protocol, variant: str, context: CheckContext) -> ir.Model:
    """All declarations of a protocol, elaborated in `context`, without those that are done."""
    table, types = context.globals, context.types
    found = firsts(node for node in declarations(files) if not context.is_done(node))
    first = files[0]
    components = tuple(component(context, n) for n in found if isinstance(n, sx.ComponentDecl))
    systems = tuple(system(context, n, components) for n in found if isinstance(n, sx.SystemDecl))
    functions = tuple(
        context.core(n, partial(function_of, context, n))
        for n in found  # a function with the name of a built-in was reported, and has no signature
        if isinstance(n, sx.FunDecl) and n.name.text in table.functions
    )
    properties: list[ir.Property] = []
    scenarios: list[ir.Scenario] = []
    live: list[ir.Eventually] = []
    for node in found:
        if isinstance(node, sx.PropertyDecl):
            properties += drop_wrong(context, node, property_of)
        elif isinstance(node, sx.EventuallyDecl):
            live += drop_wrong(context, node, eventually_of)
        elif isinstance(node, sx.ScenarioDecl):
            scenarios += drop_wrong(context, node, scenario_of)
    return ir.Model(
        protocol=first.protocol.text,
        variant=variant,
        sorts=_of_kind(types, ty.Sort),
        counters=_of_kind(types, ty.Counter),
        enums=_of_kind(types, ty.Enum),
        records=tuple(r for r in _of_kind(types, ty.Record) if not is_unknown(r)),
        unions=_of_kind(types, ty.Union),
        consts=tuple(table.consts.items()),
        functions=functions,
        components=components,
        systems=systems,
        properties=tuple(properties),
        instances=tuple(
            core
            for n in found
            if isinstance(n, sx.InstanceDecl)
            for core in context.core(n, partial(instance_of, context, variant, n, found))
        ),
        scenarios=tuple(scenarios),
        mutants=tuple(mutant(n) for n in found if isinstance(n, sx.MutantDecl)),
        variants=tuple(n.name.text for n in found if isinstance(n, sx.VariantDecl)),
        sources=tuple(table.sources.items()),
        docs=tuple(type_docs(found)),
        liveness=tuple(live),
        links=links(context, found),
        span=first.span,
        doc=doc_of(first),
    )  # fmt: skip


_T = TypeVar("_T")
_K = TypeVar("_K", ty.Sort, ty.Counter, ty.Enum, ty.Record, ty.Union)


def firsts(nodes: Iterable[_T]) -> list[_T]:
    """The first declaration of each name; that of another one was reported."""
    seen: set[tuple[str, str]] = set()
    kept: list[_T] = []
    for node in nodes:
        match node:
            case sx.ComponentDecl() | sx.SystemDecl():
                key = ("machine", node.name.text)
            case sx.StateDecl() | sx.PartDecl() | sx.ChannelDecl():
                key = ("state", node.name.text)
            case sx.FunDecl() | sx.Operation() | sx.StepDecl():
                key = ("function", node.name.text)
            case _:
                key = ("", "")
        if key not in seen or key == ("", ""):
            kept.append(node)
        seen.add(key)
    return kept


def _of_kind(types: TypeResolver, kind: type[_K]) -> tuple[_K, ...]:
    found = ((name, types.resolved[name]) for name in types.declared)
    return tuple(each for name, each in found if isinstance(each, kind) and each.name == name)


def citations(context: CheckContext, nodes: Iterable[sx.Citation]) -> tuple[ir.Citation, ...]:
    """Citations, each of a declared source or `silent`."""
    cited = tuple(nodes)
    check_citations(cited, context.globals.sources, context.diagnostics)
    return tuple(ir.Citation(node.source, node.section) for node in cited)


def links(context: CheckContext, found: Iterable[sx.Node]) -> tuple[tuple[str, str, str], ...]:
    """The addresses of sources and of their sections."""
    kept: list[tuple[str, str, str]] = []
    for node in found:
        if not isinstance(node, sx.SourceDecl) or not node.url:
            continue
        anchors = [(s, a if is_url(a) else f"{node.url}#{a}") for s, a in node.anchors]
        places = [("", node.url), *anchors]
        if not all(is_url(url) for _, url in places):
            message = f"`{node.name.text}` has no address that a report can link to"
            hint = "begin with https:// or http://; no blanks, quotation marks or angle brackets"
            context.diagnostics.error("cite/bad-url", message, node.span, hint=hint)
        kept += [(node.name.text, section, url) for section, url in places]
    return tuple(kept)


def check_citations(
    nodes: Iterable[sx.Citation], sources: Iterable[str], diagnostics: Diagnostics
) -> None:
    """Report citations of sources that are not declared."""
    known = {*sources, "silent"}
    for node in nodes:
        if node.source not in known:
            hint = suggest(node.source, known)
            message = f"there is no source `{node.source}`"
            hint = hint or f'declare it: source {node.source} "title"'
            diagnostics.error_once("cite/unknown-source", message, node.span, hint=hint)


def state_variable(scope: TypeScope, node: sx.StateDecl, kind: ty.Type) -> ir.StateVar:
    """A state variable with its initial value, which must not read state."""
    initial = scope.check(node.initial, kind)
    core = machines.state_variable(node, kind).kind
    return ir.StateVar(
        node.name.text, kind, initial, core, is_history=node.becomes is not None,
        span=node.span, doc=doc_of(node),
    )  # fmt: skip


def component(context: CheckContext, node: sx.ComponentDecl) -> ir.Component:
    """A component."""
    machine = context.globals.machines[node.name.text]
    outside = context.scope()
    state: list[ir.StateVar] = []
    operations: list[ir.Operation] = []
    observed: list[ir.Observable] = []
    for member in firsts(node.members):
        if context.is_done(member):
            continue
        match member:
            case sx.StateDecl():
                kind = machine.state[member.name.text].type
                check_declared(context.scope(machine), member)
                state.append(state_variable(outside, member, kind))
            case sx.Operation():
                make = partial(operation, context, machine, member)
                operations.append(context.core(member, make))
            case sx.ObserveDecl():
                observed += observables(outside, machine, member)
    return ir.Component(
        node.name.text, tuple(state), tuple(operations), tuple(observed),
        span=node.span, doc=doc_of(node),
    )  # fmt: skip


def operation(context: CheckContext, machine: MachineScope, node: sx.Operation) -> ir.Operation:
    """An operation; its lets become lets of the branches that follow them, and of the expressions
    of the assumptions that read them."""
    signature = machine.operations[node.name.text]
    scope = with_params(context.scope(machine), signature.params, node.params)
    lets: tuple[ir.Bind, ...] = ()
    branches: list[ir.Branch] = []
    assumes: list[ir.Assumption] = []
    group = 0
    for line in node.body:
        match line:
            case sx.Assume():
                assumed, cited = assumption(scope, line, lets, (assumes, branches)), line.citations
                assumes.append(replace(assumed, citations=citations(context, cited)))
                scope = holding(scope, line.condition)
            case sx.Let():
                value = scope.infer(line.value)
                scope, name = scope.bind(line.name, value.type)
                lets = (*lets, ir.Bind(name, value, span=line.span, doc=doc_of(line)))
            case sx.Branch():
                core = branch(context, scope, line, signature)
                branches.append(replace(core, lets=lets))
            case sx.AnyOrder():
                group += 1
                for inner in line.branches:
                    core = branch(context, scope, inner, signature)
                    branches.append(replace(core, lets=lets, group=group))
    return ir.Operation(
        signature.name, signature.params, signature.result, drop_lets(branches, assumes),
        citations(context, node.citations), tuple(assumes), span=node.span, doc=doc_of(node),
        section=node.section,
    )  # fmt: skip


def branch(context: CheckContext, scope: TypeScope, node: sx.Branch, of: Signature) -> ir.Branch:
    """A branch, without the lets of its operation."""
    assert scope.machine is not None
    guard: list[ir.Conjunct] = []
    labels: set[str] = set()
    inside = scope
    for position, part in enumerate(node.guard, start=1):
        label = str(position) if part.label is None else part.label.text
        if label in labels:
            scope.error("name/duplicate", f"two conjuncts are called `{label}`", part.span)
        labels.add(label)
        condition = inside.check(part.condition, BOOL)
        inside = holding(inside, part.condition)
        guard.append(ir.Conjunct(label, condition, span=part.span, doc=doc_of(part)))
    body = Body(inside, scope.machine)
    reply = branch_body(body, node, of.result)
    settle(body)
    update_histories(body, f"{of.name}/{node.name.text}")
    changes = tuple(line for line in body.lines if isinstance(line, ir.Bind | ir.Pick | ir.Assign))
    return ir.Branch(
        node.name.text, 0, (), tuple(guard), changes, reply, citations(context, node.citations),
        tuple(fault(scope, item) for item in node.faults), span=node.span, doc=doc_of(node),
    )  # fmt: skip


def fault(scope: TypeScope, node: sx.FaultRule) -> ir.FaultRule:
    """A fault of a branch. It sees the names that the guard sees, not those that the branch
    binds."""
    condition: ir.Expr = ir.Literal(True, type=BOOL, span=node.span)
    if node.condition is not None:
        condition = scope.check(node.condition, BOOL)
    return ir.FaultRule(node.exception, node.saying, condition, span=node.span)


def system(
    context: CheckContext, node: sx.SystemDecl, components: tuple[ir.Component, ...]
) -> ir.System:
    """A system: parts, channels and budgets become state."""
    machine = context.globals.machines[node.name.text]
    builder = _SystemBuilder(context, machine, components, [], [], [])
    for member in firsts(node.members):
        if not (isinstance(member, sx.StepDecl) and context.is_done(member)):
            builder.add(member)
    for channel in machine.channels.values():
        if channel.lossy:
            signature = machine.operations[lossy_channels.lose_signature(channel).name]
            scope = context.scope(machine)
            builder.steps.append(lossy_channels.lose(scope, machine, channel, signature))
    return ir.System(
        node.name.text, tuple(builder.parts), tuple(builder.state), tuple(builder.steps),
        tuple(machine.channels), span=node.span, doc=doc_of(node),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _SystemBuilder:
    context: CheckContext
    machine: MachineScope
    components: tuple[ir.Component, ...]
    parts: list[ir.Part]
    state: list[ir.StateVar]
    steps: list[ir.Step]

    def add(self, member: sx.PartDecl | sx.ChannelDecl | sx.StateDecl | sx.StepDecl) -> None:
        scope = self.context.scope()
        name = member.name.text
        match member:
            case sx.StateDecl():
                kind = self.machine.state[name].type
                check_declared(self.context.scope(self.machine), member)
                self.state.append(state_variable(scope, member, kind))
            case sx.PartDecl():
                part = self.machine.parts[name]
                self.parts.append(
                    ir.Part(name, part.index, part.component, span=member.span, doc=doc_of(member))
                )
                self.state.extend(part_state(self.parts[-1], self.components))
            case sx.ChannelDecl():
                channel = self.machine.channels[name]
                if not is_unknown(machines.channel_type(channel)):
                    initial = steps.initial_content(channel, member.span)
                    self.state.append(
                        ir.StateVar(name, initial.type, initial, "durable", span=member.span,
                                    doc=doc_of(member))
                    )  # fmt: skip
            case sx.StepDecl():
                is_limited = member.budget is not None and self.budget(member.budget)
                make = partial(self.step, member, is_limited)
                self.steps.append(self.context.core(member, make))

    def step(self, node: sx.StepDecl, is_limited: bool) -> ir.Step:
        signature = self.machine.operations[node.name.text]
        inside = replace(self.context.scope(self.machine), part_primes=True)
        scope = with_params(inside, signature.params, node.params)
        body = Body(scope, self.machine)
        if is_limited and node.budget is not None:
            steps.budget(body, node.budget)
        steps.step_body(body, node.body)
        update_histories(body, node.name.text)
        return ir.Step(
            signature.name, signature.params, tuple(body.lines),
            citations(self.context, node.citations), span=node.span, doc=doc_of(node),
            section=node.section,
        )  # fmt: skip

    def budget(self, name: sx.Name) -> bool:
        """Declare how often the step may still happen; False, and an error, if there is no such
        constant."""
        kind = self.context.globals.consts.get(name.text)
        if not isinstance(kind, ty.Int):
            message = f"a budget is a constant of the protocol, `{name.text}` is none"
            hint = suggest(name.text, self.context.globals.consts)
            self.context.diagnostics.error("name/unknown", message, name.span, hint=hint)
            return False
        variable = steps.budget_variable(name.text)
        if all(known.name != variable for known in self.state):
            limit = ir.ConstRef(name.text, type=kind, span=name.span)
            left = ty.Int(ty.Limit("", 0), ty.Limit(name.text, 0))
            counter = ir.StateVar(variable, left, limit, "durable", is_budget=True, span=name.span)
            self.state.append(counter)
        return True


def function_of(context: CheckContext, node: sx.FunDecl) -> ir.Function:
    """A function."""
    return function(context.scope(), node, citations(context, node.citations))


def instance_of(
    context: CheckContext, variant: str, node: sx.InstanceDecl, found: Iterable[sx.Node]
) -> tuple[ir.Instance, ...]:
    """An instance; empty if its machine does not exist."""
    return instances.instance(context.scope(), node, list_stated(context, variant, node, found))


def list_stated(
    context: CheckContext, variant: str, node: sx.InstanceDecl, found: Iterable[sx.Node]
) -> frozenset[str] | None:
    """The names of the properties and witnesses of an instance's machine; None if edits were
    applied, since they may have dropped some that the instance names."""
    if context.is_bent or variant:
        return None
    return frozenset(
        other.name.text
        for other in found
        if isinstance(other, sx.PropertyDecl | sx.EventuallyDecl)
        and other.machine.text == node.machine.text
    )


def part_state(part: ir.Part, components: Iterable[ir.Component]) -> list[ir.StateVar]:
    """The state of a part as state of its system: maps if the part is indexed."""
    state: list[ir.StateVar] = []
    for variable in (v for c in components if c.name == part.component for v in c.state):
        kind, initial = variable.type, variable.initial
        if part.index is not None:
            kind = ty.Map(part.index, kind)
            initial = ir.MapNew(f"{part.name}_index", initial, type=kind, span=variable.span)
        name = f"{part.name}.{variable.name}"
        state.append(replace(variable, name=name, type=kind, initial=initial))
    return state


Read = TypeVar("Read", ir.Property, ir.Eventually, ir.Scenario)
Node = TypeVar("Node", bound=sx.Node)


def drop_wrong(
    context: CheckContext, node: Node, read: Callable[[CheckContext, Node], tuple[Read, ...]]
) -> tuple[Read, ...]:
    """The items without errors. In a protocol that a mutant or overlay edited, items with errors
    are dropped without a report."""

    def trial() -> tuple[Read, ...]:
        alone = replace(context, diagnostics=Diagnostics(), is_bent=False)
        found = read(alone, node)
        return () if alone.diagnostics.errors else found

    return context.core(node, trial if context.is_bent else partial(read, context, node))


def machine_of(context: CheckContext, name: sx.Name) -> MachineScope | None:
    """The component or system of a name; None, and an error, if there is none."""
    machine = context.globals.machines.get(name.text)
    if machine is None:
        instances.no_machine(context.scope(), name)
    return machine


def property_of(context: CheckContext, node: sx.PropertyDecl) -> tuple[ir.Property, ...]:
    """A property; empty if its machine does not exist."""
    machine = machine_of(context, node.machine)
    if machine is None:
        return ()
    scope = context.scope(machine, primes=node.kind != "always")
    body = scope.check(node.body, BOOL)
    cited = citations(context, node.citations)
    core = ir.Property(
        node.kind, node.name.text, machine.name, body, cited, span=node.span, doc=doc_of(node)
    )
    return (core,)


def eventually_of(context: CheckContext, node: sx.EventuallyDecl) -> tuple[ir.Eventually, ...]:
    """An `eventually` property; empty if its machine does not exist."""
    machine = machine_of(context, node.machine)
    if machine is None:
        return ()
    params, trigger, goal, fair = liveness.read(context.scope(machine), machine, node)
    cited = citations(context, node.citations)
    core: ir.Eventually = ir.Eventually(
        node.name.text, machine.name, params, trigger, goal, fair, cited,
        span=node.span, doc=doc_of(node),
    )  # fmt: skip
    return (core,)


def scenario_of(context: CheckContext, node: sx.ScenarioDecl) -> tuple[ir.Scenario, ...]:
    """A scenario; empty if its machine does not exist."""
    cited = citations(context, node.citations)
    return instances.scenario(context.scope(), node, cited)


def mutant(node: sx.MutantDecl) -> ir.Mutant:
    """The title of a mutant; its model is made by applying its edits."""
    addresses = tuple(address_text(edit) for edit in node.edits)
    return ir.Mutant(
        node.name.text, node.instance.text, node.caught_by.text, addresses,
        span=node.span, doc=doc_of(node),
    )  # fmt: skip


def overlay_entry(node: sx.OverlayEntry) -> ir.OverlayEntry:
    """What an overlay entry says about itself."""
    cited = tuple(ir.Citation(item.source, item.section) for item in node.citations)
    return ir.OverlayEntry(
        node.name.text, node.verdict, node.first_release, node.last_release, node.evidence,
        tuple(address_text(edit) for edit in node.edits), cited, span=node.span, doc=doc_of(node),
    )  # fmt: skip
