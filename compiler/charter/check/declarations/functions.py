"""Elaborates functions. Functions of a machine may read its state; in core each variable they read
is a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from charter.check.declarations.instances import no_machine
from charter.check.names.declared import declarations
from charter.check.names.docs import doc_of
from charter.check.names.scopes import MachineScope, Signature, TypeScope, defaults_of, unknown
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.by_identity import ByIdentity
from charter.syntax import nodes as sx
from charter.syntax.mapped import rewrite_expr


@dataclass(slots=True)
class _Uses:
    """The state that a function reads itself, and its calls, each with the names of named
    arguments."""

    machine: str
    reads: set[str]
    calls: list[tuple[str, frozenset[str]]]

    def note(self, part: sx.Expr) -> None:
        """Record one expression. A local hides the state variable of the same name."""
        match part:
            case sx.Ident(name=name):
                self.reads.add(name)
            case sx.FieldOf(
                target=sx.Ident(name=name) | sx.Index(target=sx.Ident(name=name)), field=field
            ):
                self.reads.add(f"{name}.{field.text}")
            case sx.Apply(name=name, args=args):
                given = (arg.name.text for arg in args if isinstance(arg, sx.NamedArg))
                self.calls.append((name.text, frozenset(given)))
            case _:
                pass


def with_reads(
    files: sx.Protocol, functions: Mapping[str, Signature], machines: Mapping[str, MachineScope]
) -> dict[str, Signature]:
    """The signatures of all functions. Functions of a machine get the state that they read,
    directly or through functions that they call."""
    uses: dict[str, _Uses] = {}
    for node in declarations(files):
        if isinstance(node, sx.FunDecl) and node.machine and node.machine.text in machines:
            found = uses.setdefault(node.name.text, _Uses(node.machine.text, set(), []))
            reads, calls = _own_uses(ByIdentity(node))
            found.reads |= reads
            found.calls += calls
    is_open = True
    while is_open:
        is_open = any(_close_over(each, uses) for each in uses.values())
    return {
        name: _with_state(signature, uses[name], machines) if name in uses else signature
        for name, signature in functions.items()
    }


@lru_cache(maxsize=2_048)
def _own_uses(
    of: ByIdentity[sx.FunDecl],
) -> tuple[frozenset[str], tuple[tuple[str, frozenset[str]], ...]]:
    """The names that the text of a function reads, and its calls. Kept, since most functions are
    the same in the next version of a protocol."""
    found = _Uses("", set(), [])
    for body in (of.held.body, *of.held.former):
        rewrite_expr(body, found.note)
    return frozenset(found.reads), tuple(found.calls)


def _close_over(function: _Uses, uses: Mapping[str, _Uses]) -> bool:
    """Add what the called functions read; returns whether that was new."""
    before = len(function.reads)
    for name, given in function.calls:
        called = uses.get(name)
        if called is not None and called.machine == function.machine:
            function.reads |= called.reads - given
    return len(function.reads) > before


def _with_state(
    signature: Signature, uses: _Uses, machines: Mapping[str, MachineScope]
) -> Signature:
    state = _state(machines[uses.machine], machines)
    reads = tuple(ir.Param(name, kind) for name, kind in state.items() if name in uses.reads)
    return replace(signature, machine=uses.machine, reads=reads)


def _state(machine: MachineScope, machines: Mapping[str, MachineScope]) -> dict[str, ty.Type]:
    """The state of a machine with types; state of the parts of a system is called
    `part.variable`."""
    found = {name: variable.type for name, variable in machine.state.items()}
    for name, part in machine.parts.items():
        component = machines.get(part.component)
        for variable in () if component is None else component.state.values():
            kind = variable.type
            whole = kind if part.index is None else ty.Map(part.index, kind)
            found[f"{name}.{variable.name}"] = whole
    return found


def with_params(
    scope: TypeScope, params: Iterable[ir.Param], nodes: Sequence[sx.Param]
) -> TypeScope:
    """The scope in which the parameters are visible. Their default values read no state."""
    names = {node.name.text: node.name for node in nodes}
    defaults, outside = defaults_of(nodes), replace(scope, machine=None)
    for param in params:
        if param.name in defaults:
            outside.check(defaults[param.name], param.type)
        scope, _ = scope.bind(names[param.name], param.type)
    return scope


def function(
    outside: TypeScope, node: sx.FunDecl, citations: tuple[ir.Citation, ...]
) -> ir.Function:
    """A function; in the scope `outside` only declarations are visible."""
    signature = outside.globals.functions[node.name.text]
    no_such = node.machine is not None and node.machine.text not in outside.globals.machines
    if node.machine is not None and no_such:
        no_machine(outside, node.machine)
    inside = replace(outside, machine=outside.globals.machines.get(signature.machine))
    inside = with_params(inside, signature.params, node.params)
    inside, state = inside.with_state(signature.reads)
    body = unknown(node.span) if no_such else inside.check(node.body, signature.result)
    return ir.Function(
        signature.name, (*signature.params, *state), signature.result, body, citations,
        span=node.span, doc=doc_of(node), section=node.section,
    )  # fmt: skip
