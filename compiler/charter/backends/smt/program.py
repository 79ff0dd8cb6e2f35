"""A component in an instance as one transition relation: variables before and after, arguments,
and a selector that names the branch taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from charter.backends.smt.encode import Encoder, View
from charter.backends.smt.layout import Layout, word_width
from charter.backends.smt.terms import TRUE, Term, Terms
from charter.backends.smt.transition import BranchCode, OperationCode, encode_operation
from charter.backends.smt.values import Sym, Unsupported
from charter.ir import nodes as n
from charter.semantics.machine import Machine

NEXT = "'"
"""What the names of the variables of the state after begin with."""


@dataclass(frozen=True, slots=True)
class Options:
    """`integers`: counters without an upper end (induction), else words of `counter_bits`."""

    integers: bool = False
    counter_bits: int = 3


@dataclass(frozen=True, slots=True)
class Program:
    """The encoding. `step` holds of exactly the transitions that stay inside the instance and on
    which everything evaluated is defined."""

    machine: Machine
    component: n.Component
    encoder: Encoder
    before: Mapping[str, Sym]
    after: Mapping[str, Sym]
    operations: tuple[OperationCode, ...]
    selector: Term
    before_inside: Term
    step: Term

    @property
    def layout(self) -> Layout:
        """The layout of its types."""
        return self.encoder.layout

    @property
    def terms(self) -> Terms:
        """The table of its terms."""
        return self.encoder.terms

    def branches(self) -> tuple[tuple[OperationCode, BranchCode], ...]:
        """All branches, in the order of the selector."""
        return tuple((o, b) for o in self.operations for b in o.branches)

    def takes(self, branch: str) -> Term:
        """That the step takes the branch named `operation/branch`. Raises KeyError."""
        for position, (_, code) in enumerate(self.branches()):
            if code.name == branch:
                return self._selected(position)
        raise KeyError(branch)

    def calls(self, operation: str) -> Term:
        """That the step is a call of `operation`."""
        chosen = [
            self._selected(i) for i, (o, _) in enumerate(self.branches()) if o.name == operation
        ]
        return self.terms.or_(*chosen)

    def _selected(self, position: int) -> Term:
        width = word_width(len(self.branches()))
        return self.terms.eq(self.selector, self.terms.const(position, width))

    def view(self, *, after: bool = False) -> View:
        """The state before alone; with `after` also the state after and the branch taken."""
        if not after:
            return View(self.before)
        took = {code.name: self._selected(i) for i, (_, code) in enumerate(self.branches())}
        return View(self.before, self.after, took)

    def view_after(self) -> View:
        """The state after, as if it were the state before: for properties of one state."""
        return View(self.after)

    def holds(self, body: n.Expr, view: View) -> Term:
        """That a boolean expression is defined and true."""
        value, defined = self.encoder.truth(body, view, {})
        return self.terms.and_(value, defined)

    def fails(self, body: n.Expr, view: View) -> Term:
        """That a boolean expression is defined and false."""
        value, defined = self.encoder.truth(body, view, {})
        return self.terms.and_(self.terms.not_(value), defined)

    def is_state(self, state: Mapping[str, n.Value]) -> Term:
        """That the state before is this one."""
        return self.terms.and_(
            *(
                self.layout.equal(self.before[v.name], self.layout.constant(v.type, state[v.name]))
                for v in self.component.state
            )
        )


def encode_component(
    machine: Machine, options: Options, watched: Mapping[int, int] | None = None
) -> Program:
    """The transition relation of the component that `machine` is. Raises Unsupported for systems
    and for types that have no layout."""
    component = machine.component
    if component is None:
        raise Unsupported(f"{machine.instance.machine} is a system; only components are encoded")
    layout = Layout.of(
        machine.universe, integers=options.integers, counter_bits=options.counter_bits
    )
    encoder = replace(Encoder.of(machine.model, layout), watched=watched or {})
    return build(machine, component, encoder)


def build(machine: Machine, component: n.Component, encoder: Encoder, tag: str = "") -> Program:
    """The same within an encoder that exists; `tag` keeps the names of two programs apart. The
    states before and after have the same names in all programs of one encoder."""
    layout, terms = encoder.layout, encoder.terms
    before = {v.name: layout.variable(v.type, v.name) for v in component.state}
    after = {v.name: layout.variable(v.type, f"{NEXT}{tag}{v.name}") for v in component.state}
    view = View(before)
    offered = [o for o in component.operations if o.name in machine.operations]
    operations = tuple(encode_operation(encoder, component, o, view) for o in offered)
    pairs = [(o, b) for o in operations for b in o.branches]
    width = word_width(len(pairs))
    selector = terms.var(f"{tag}branch", width)
    parts: list[Term] = []
    chain: dict[str, Sym] = {}
    for position, (operation, branch) in enumerate(pairs):
        here = terms.eq(selector, terms.const(position, width))
        possible = terms.and_(operation.valid, branch.enabled, branch.allowed, branch.defined)
        parts.append(terms.implies(here, possible))
        for name, value in branch.after.items():
            old = chain.get(name, value)
            chain[name] = layout.choose(here, value, old)
    beyond = (terms.const(i, width) for i in range(len(pairs), 1 << width))
    parts.append(terms.not_(terms.or_(*(terms.eq(selector, b) for b in beyond))))
    for variable in component.state:
        name = variable.name
        parts.append(layout.inside(variable.type, after[name]))
        parts.append(layout.equal(after[name], chain.get(name, before[name])))
    inside = terms.and_(*(layout.inside(v.type, before[v.name]) for v in component.state))
    step = terms.and_(*parts) if pairs else TRUE
    return Program(machine, component, encoder, before, after, operations, selector, inside, step)
