"""Registers the state, operations, parts and channels of components and systems by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from charter.check.declarations.functions import with_reads
from charter.check.declarations.lossy_channels import lose_signature
from charter.check.names.declared import (
    NO_LIMIT,
    Namespace,
    TypeResolver,
    ambiguous_cases,
    cases_of,
    collect_functions,
    collect_types,
    declarations,
    members_of,
)
from charter.check.names.scopes import (
    Channel,
    Globals,
    MachineScope,
    PartOf,
    Shared,
    Signature,
    StateVariable,
    defaults_of,
    free_name,
    suggest,
)
from charter.check.names.types import BOOL, UNKNOWN, is_finite, is_unknown
from charter.core import types as ty
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

FIFO_LIMIT = ty.Limit("", 4)
"""Messages that fit into a `fifo` channel that names no limit."""


def collect(files: sx.Protocol, diagnostics: Diagnostics) -> tuple[Globals, TypeResolver]:
    """Every name of the protocol, and the table of types."""
    for file in files[1:]:
        if file.protocol.text != files[0].protocol.text:
            message = f"this file is of `{file.protocol.text}`, not of `{files[0].protocol.text}`"
            notes = (("the first file of the folder", files[0].protocol.span),)
            diagnostics.error("protocol/mixed", message, file.protocol.span, notes=notes)
    types = collect_types(files, diagnostics)
    functions = collect_functions(files, types, diagnostics)
    machines: dict[str, MachineScope] = {}
    names, source_names = Namespace(diagnostics), Namespace(diagnostics)
    sources: dict[str, str] = {}
    for node in declarations(files):
        if isinstance(node, sx.ComponentDecl) and names.add(node.name.text, node.name.span):
            machines[node.name.text] = component(node, types, diagnostics)
        elif isinstance(node, sx.SourceDecl) and source_names.add(node.name.text, node.name.span):
            sources[node.name.text] = node.title
    table = Globals(
        types.resolved, members_of(types), cases_of(types), types.consts, functions, machines,
        sources, ambiguous=ambiguous_cases(types),
    )  # fmt: skip
    for node in declarations(files):
        if isinstance(node, sx.SystemDecl) and names.add(node.name.text, node.name.span):
            machines[node.name.text] = _System(types, diagnostics, table).collect(node)
    _check_repeats(files, diagnostics)
    setups, fragments = _collect_shared(files, types)
    table = replace(table, functions=with_reads(files, functions, machines))
    missing = frozenset(types.missing)
    return replace(table, missing=missing, setups=setups, fragments=fragments), types


def _collect_shared(
    files: sx.Protocol, types: TypeResolver
) -> tuple[dict[str, Shared], dict[str, Shared]]:
    """Set-ups (with instances) and fragments by name: what instances and scenarios can include."""
    setups: dict[str, Shared] = {}
    fragments: dict[str, Shared] = {}
    for node in declarations(files):
        match node:
            case sx.SetupDecl():
                setups.setdefault(node.name.text, Shared(node, types.params(node.params)))
            case sx.InstanceDecl():
                setups.setdefault(node.name.text, Shared(node))
            case sx.FragmentDecl():
                fragments.setdefault(node.name.text, Shared(node, types.params(node.params)))
            case _:
                pass
    return setups, fragments


def _check_repeats(files: sx.Protocol, diagnostics: Diagnostics) -> None:
    """Report repeated names of declarations that the first pass does not collect."""
    properties, instances, fragments, scenarios = (Namespace(diagnostics) for _ in range(4))
    variants, mutants, overlays = (Namespace(diagnostics) for _ in range(3))
    for node in declarations(files):
        match node:
            case sx.PropertyDecl() | sx.EventuallyDecl():
                properties.add(node.name.text, node.name.span)
            case sx.FragmentDecl():
                fragments.add(node.name.text, node.name.span)
            case sx.InstanceDecl() | sx.SetupDecl():
                instances.add(node.name.text, node.name.span)
            case sx.ScenarioDecl():
                scenarios.add(node.title, node.span)
            case sx.VariantDecl():
                variants.add(node.name.text, node.name.span)
            case sx.MutantDecl():
                mutants.add(node.name.text, node.name.span)
            case sx.OverlayDecl():
                overlays.add(node.name.text, node.name.span)
            case _:
                pass


def branches_of(node: sx.Operation) -> list[sx.Branch]:
    """The branches of an operation in order, those of groups too."""
    found: list[sx.Branch] = []
    for line in node.body:
        if isinstance(line, sx.Branch):
            found.append(line)
        elif isinstance(line, sx.AnyOrder):
            found.extend(line.branches)
    return found


def component(
    node: sx.ComponentDecl, types: TypeResolver, diagnostics: Diagnostics
) -> MachineScope:
    """The interface of a component."""
    state_names, operation_names = Namespace(diagnostics), Namespace(diagnostics)
    state: dict[str, StateVariable] = {}
    operations: dict[str, Signature] = {}
    for member in node.members:
        if isinstance(member, sx.StateDecl):
            if state_names.add(member.name.text, member.name.span):
                kind = types.type(member.type)
                state[member.name.text] = state_variable(member, kind)
        elif isinstance(member, sx.Operation) and operation_names.add(
            member.name.text, member.name.span
        ):
            operations[member.name.text] = _operation(member, types, diagnostics)
    return MachineScope(
        node.name.text, False, state, operations, histories=histories_of(node.members),
        storage=storage_of(node.members),
    )  # fmt: skip


def state_variable(node: sx.StateDecl, kind: ty.Type) -> StateVariable:
    """A variable; what is cached is durable unless the machine crashes."""
    core = "durable" if node.kind == "cached" else node.kind
    return StateVariable(node.name.text, kind, core)


def storage_of(members: Iterable[sx.Item]) -> dict[str, sx.StateDecl]:
    """The volatile and the cached state of a component by name, in the order of the text."""
    states = (member for member in members if isinstance(member, sx.StateDecl))
    return {node.name.text: node for node in states if node.kind in ("volatile", "cached")}


def histories_of(members: Iterable[sx.Item]) -> dict[str, sx.StateDecl]:
    """The histories of a machine by name, in the order of the text."""
    states = (member for member in members if isinstance(member, sx.StateDecl))
    return {node.name.text: node for node in states if node.becomes is not None}


def _operation(node: sx.Operation, types: TypeResolver, diagnostics: Diagnostics) -> Signature:
    names = Namespace(diagnostics)
    branches = tuple(
        branch.name.text
        for branch in branches_of(node)
        if names.add(branch.name.text, branch.name.span)
    )
    params, result = types.params(node.params), types.type(node.result)
    given = defaults_of(node.params)
    return Signature(node.name.text, params, result, branches, node.name.span, given)


class _System:
    def __init__(self, types: TypeResolver, diagnostics: Diagnostics, table: Globals) -> None:
        self.types = types
        self.diagnostics = diagnostics
        self.globals = table
        self.machines = table.machines
        self.names = Namespace(diagnostics)
        self.state: dict[str, StateVariable] = {}
        self.steps: dict[str, Signature] = {}
        self.parts: dict[str, PartOf] = {}
        self.channels: dict[str, Channel] = {}

    def collect(self, node: sx.SystemDecl) -> MachineScope:
        step_names = Namespace(self.diagnostics)
        for member in node.members:
            if isinstance(member, sx.StepDecl):
                if step_names.add(member.name.text, member.name.span):
                    params = self.types.params(member.params)
                    signature = Signature(
                        member.name.text, params, BOOL, (), member.name.span,
                        defaults_of(member.params),
                    )  # fmt: skip
                    self.steps[member.name.text] = signature
            elif self.names.add(member.name.text, member.name.span):
                self._declare(member)
        for name, channel in self.channels.items():
            keys = tuple(free_name(key, self._meaning) for key in channel.keys)
            self.channels[name] = replace(channel, keys=keys)
        for channel in self.channels.values():
            if channel.lossy:
                lose = lose_signature(channel)
                self.steps[lose.name] = lose
        return MachineScope(
            node.name.text, True, self.state, self.steps, self.parts, self.channels,
            histories_of(node.members),
        )  # fmt: skip

    def _meaning(self, name: str) -> str:
        of_system = "a name of this system" if name in {*self.state, *self.parts} else ""
        return of_system or self.globals.meaning(name)

    def _declare(self, member: sx.PartDecl | sx.ChannelDecl | sx.StateDecl) -> None:
        name = member.name.text
        match member:
            case sx.StateDecl():
                self.state[name] = state_variable(member, self.types.type(member.type))
            case sx.PartDecl():
                self._part(name, member)
            case sx.ChannelDecl():
                channel = self._channel(name, member)
                self.channels[name] = channel
                self.state[name] = StateVariable(name, channel_type(channel), "durable")

    def _part(self, name: str, member: sx.PartDecl) -> None:
        target = member.component
        known = self.machines.get(target.text)
        if known is None or known.is_system:
            hint = suggest(target.text, self.machines)
            message = f"there is no component `{target.text}`"
            self.diagnostics.error("name/unknown", message, target.span, hint=hint)
        index = None if member.index is None else self._key(member.index)
        self.parts[name] = PartOf(index, target.text)

    def _key(self, node: sx.Type) -> ty.Type:
        kind = self.types.type(node)
        if not is_unknown(kind) and not is_finite(kind):
            message = "this needs a finite type"
            self.diagnostics.error("type/not-finite", message, node.span)
            return UNKNOWN
        return kind

    def _channel(self, name: str, member: sx.ChannelDecl) -> Channel:
        ends = tuple(self._key(end) for end in member.ends)
        message = self.types.type(member.message)
        if member.discipline == "slot" and isinstance(message, ty.Option):
            text = "a slot is empty or holds a message, so the message cannot be an option"
            self.diagnostics.error("type/nested-option", text, member.message.span)
            message = UNKNOWN
        keys = ("sender", "receiver")[-len(ends) :]
        return Channel(
            name, ends, keys, message, member.discipline, member.lossy, member.duplicating,
            member.span, None if member.limit is None else self.types.limit(member.limit),
        )  # fmt: skip


def content_type(channel: Channel) -> ty.Type:
    """The type of what a channel holds between one pair of ends."""
    if is_unknown(channel.message) or channel.limit == NO_LIMIT:
        return UNKNOWN
    match channel.discipline:
        case "slot":
            return ty.Option(channel.message)
        case "set":
            return ty.Set(channel.message)
        case "fifo":
            return ty.Seq(channel.message, channel.limit or FIFO_LIMIT)


def channel_type(channel: Channel) -> ty.Type:
    """The type of a channel's state variable: nested maps over its ends."""
    kind = content_type(channel)
    for end in reversed(channel.ends):
        kind = UNKNOWN if is_unknown(end) or is_unknown(kind) else ty.Map(end, kind)
    return kind
