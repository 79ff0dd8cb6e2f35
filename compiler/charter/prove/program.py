"""Encodes a component in an instance as one transition relation: variables before and after,
arguments, and a selector for the branch taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from charter.analysis.known_faults import refuse_faults
from charter.core import nodes as n
from charter.core import small as s
from charter.core.transition import argument
from charter.diagnostics import Span
from charter.passes import lower_expr, lower_instance
from charter.prove.encode import Encoder, View
from charter.prove.terms import Term, Terms
from charter.prove.terms_of_types import TermsOfTypes, word_width
from charter.prove.transition import BranchCode, OperationCode, encode_operation
from charter.prove.values import CannotEncode, Sym
from charter.semantics.machine import Machine

NEXT = "'"
"""The prefix of the names of variables of the state after."""


@dataclass(frozen=True, slots=True)
class EncodingOptions:
    """`integers`: counters without an upper end (induction), else words of `counter_bits`."""

    integers: bool = False
    counter_bits: int = 3


@dataclass(frozen=True, slots=True)
class SymbolicProgram:
    """The encoding. `step` is true exactly for the transitions that the instance offers, that stay
    inside it, and whose evaluation is defined."""

    machine: Machine
    component: s.Component
    encoder: Encoder
    before: Mapping[str, Sym]
    after: Mapping[str, Sym]
    operations: tuple[OperationCode, ...]
    selector: Term
    took: Mapping[str, Term]
    before_inside: Term
    step: Term

    @property
    def types(self) -> TermsOfTypes:
        """The representation of its types."""
        return self.encoder.types

    @property
    def terms(self) -> Terms:
        """The table of its terms."""
        return self.encoder.terms

    def branches(self) -> tuple[tuple[OperationCode, BranchCode], ...]:
        """All branches, in the order of the selector."""
        return tuple((o, b) for o in self.operations for b in o.branches)

    def takes(self, branch: str) -> Term:
        """The condition that the step takes the branch `operation/branch`. Raises KeyError."""
        return self.took[branch]

    def calls(self, operation: OperationCode) -> Term:
        """That the step is a call of `operation`."""
        return self.terms.or_(*(self.took[b.name] for b in operation.branches))

    def branch(self, name: str) -> tuple[OperationCode, BranchCode]:
        """An operation and its branch by the name `operation/branch`. Raises KeyError."""
        for operation, branch in self.branches():
            if branch.name == name:
                return operation, branch
        raise KeyError(name)

    def view(self, *, after: bool = False) -> View:
        """The state before alone; with `after` also the state after and the branch taken."""
        if not after:
            return View(self.before)
        arguments = {
            argument(code.name, param.name): value
            for code in self.operations
            for param, value in zip(
                self.machine.operations[code.name].params, code.params, strict=True
            )
        }
        return View(self.before, self.after, self.took, arguments)

    def view_after(self) -> View:
        """The state after as `before`, for properties of one state."""
        return View(self.after)

    def holds(self, body: n.Expr, view: View) -> Term:
        """That a boolean expression is defined and true."""
        value, defined = self.encoder.condition(lower_expr(body), view, dict(view.arguments))
        return self.terms.and_(value, defined)

    def fails(self, body: n.Expr, view: View) -> Term:
        """That a boolean expression is defined and false."""
        value, defined = self.encoder.condition(lower_expr(body), view, dict(view.arguments))
        return self.terms.and_(self.terms.not_(value), defined)

    def is_state(self, state: Mapping[str, n.Value]) -> Term:
        """That the state before is this one."""
        return self.terms.and_(
            *(
                self.types.equal(self.before[v.name], self.types.constant(v.type, state[v.name]))
                for v in self.component.state
            )
        )


def encode_component(
    machine: Machine, options: EncodingOptions, watched: Mapping[Span, int] | None = None
) -> SymbolicProgram:
    """The transition relation of the component `machine`; `watched` maps spans of comparisons to
    numbers. Raises CannotEncode for systems and for types that cannot be represented."""
    types = TermsOfTypes.of(
        machine.universe, integers=options.integers, counter_bits=options.counter_bits
    )
    return build(machine, types, watched=watched)


def build(
    machine: Machine,
    types: TermsOfTypes,
    *,
    tag: str = "",
    watched: Mapping[Span, int] | None = None,
) -> SymbolicProgram:
    """The same with an existing representation of types. Programs that share it share the state
    before and the arguments; `tag` distinguishes their other variables. Raises CannotEncode, and
    ValueError for a model with faults."""
    refuse_faults(machine.model)
    own = Machine.of(*lower_instance(machine.model, machine.instance))
    component = own.component
    if component is None:
        raise CannotEncode(f"{machine.instance.machine} is a system; only components are encoded")
    encoder = replace(Encoder.of(own.model, types), watched=watched or {}, tag=tag)
    terms = encoder.terms
    state = component.state
    before = {v.name: types.variable(v.type, v.name) for v in state}
    after = {v.name: types.variable(v.type, f"{NEXT}{encoder.tag}{v.name}") for v in state}
    offered = [o for o in component.operations if o.name in machine.operations]
    names = [f"{o.name}/{b.name}" for o in offered for b in o.branches]
    width = word_width(len(names))
    selector = terms.var(f"{encoder.tag}branch", width)
    took = {name: terms.eq(selector, terms.const(i, width)) for i, name in enumerate(names)}
    view = View(before, None, took)
    operations = tuple(encode_operation(encoder, component, o, view) for o in offered)
    parts: list[Term] = []
    chain: dict[str, Sym] = {}
    for operation in operations:
        for branch in operation.branches:
            here = took[branch.name]
            parts.append(terms.implies(here, possible(terms, operation, branch)))
            for name, value in branch.after.items():
                chain[name] = types.choose(here, value, chain.get(name, value))
    parts.append(terms.or_(*took.values()))
    parts += _encode_offers(own, encoder, operations, view)
    for variable in state:
        name = variable.name
        parts.append(types.inside(variable.type, after[name]))
        parts.append(types.equal(after[name], chain.get(name, before[name])))
    inside = terms.and_(*(types.inside(v.type, before[v.name]) for v in state))
    step = terms.and_(*parts)
    return SymbolicProgram(
        machine, component, encoder, before, after, operations, selector, took, inside, step
    )


def _encode_offers(
    machine: Machine[s.Expr, s.Statement],
    encoder: Encoder,
    operations: tuple[OperationCode, ...],
    view: View,
) -> list[Term]:
    """The conditions of calls, by the instance and by assumptions; a call for which one has no
    value is not offered."""
    terms, parts = encoder.terms, []
    for code in operations:
        for condition in machine.conditions(code.name):
            declared = machine.operations[code.name].params
            names = {p.name: sym for p, sym in zip(declared, code.params, strict=True)}
            value, defined = encoder.condition(condition, view, names)
            called = terms.or_(*(view.took[b.name] for b in code.branches))
            parts.append(terms.implies(called, terms.and_(value, defined)))
    return parts


def possible(terms: Terms, operation: OperationCode, branch: BranchCode) -> Term:
    """That an operation may take a branch with the choices made."""
    return terms.and_(operation.valid, branch.enabled, branch.allowed, branch.defined)
