"""Encodes obligations as terms over one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.amounts import REPLY
from charter.core.obligations import SEEN, Obligation
from charter.diagnostics import Span
from charter.prove.collections import distinct
from charter.prove.program import SymbolicProgram
from charter.prove.terms import FALSE, Term
from charter.prove.transition import BranchCode
from charter.prove.values import Bag, Fields, Mask, Maybe, Number, ScalarTerm, Sym, Tagged


def find_watched_sites(wanted: Iterable[Obligation]) -> dict[Span, int]:
    """The comparisons and sequences that an encoder has to watch for these obligations, numbered.
    They are identified by their spans, which the passes keep."""
    watched = (o.expr for o in wanted if o.kind in SEEN and o.expr is not None)
    return {span: i for i, span in enumerate(dict.fromkeys(e.span for e in watched))}


@dataclass(frozen=True, slots=True)
class Goals:
    """Obligations as terms over one step."""

    program: SymbolicProgram
    sites: Mapping[Span, int]

    def term(self, obligation: Obligation) -> Term:
        """That the step meets the obligation; false if its operation is not offered."""
        if obligation.kind in SEEN:
            return self._encode_seen(obligation)
        try:
            operation, branch = self.program.branch(obligation.branch)
        except KeyError:
            return FALSE
        match obligation.kind:
            case "branch":
                return self.program.takes(branch.name)
            case "reply":
                return self._reply(branch, obligation.member)
            case "amount":
                return self._amount(branch, obligation)
            case _:
                atom = branch.guard.conjuncts[obligation.conjunct][obligation.atom]
                terms = self.program.terms
                truth = atom.value if obligation.want == "true" else terms.not_(atom.value)
                called = self.program.calls(operation)
                decides = terms.and_(called, branch.reached, atom.defined, atom.decides, truth)
                if obligation.apart is None:
                    return decides
                assert atom.options is not None
                return terms.and_(decides, self._side(obligation.apart, *atom.options))

    def _reply(self, branch: BranchCode, member: str) -> Term:
        terms = self.program.terms
        kind = next(
            o.result
            for o in self.program.component.operations
            if o.name == branch.name.partition("/")[0]
        )
        return terms.and_(self.program.takes(branch.name), self._holds(kind, branch.reply, member))

    def _holds(self, kind: t.Type, reply: Sym, member: str) -> Term:
        """That a reply is an enum member, or a case of a union that has it as a parameter."""
        terms, types = self.program.terms, self.program.types
        match kind, reply:
            case t.Enum(members=members), ScalarTerm(term=term) if member in members:
                return terms.eq(term, types.word(members.index(member), len(members)))
            case t.Union(cases=cases), Tagged(tag=tag, cases=found):
                ways: list[Term] = []
                for i, ((_, params), parts) in enumerate(zip(cases, found, strict=True)):
                    here = terms.eq(tag, types.word(i, len(cases)))
                    for (_, part), value in zip(params, parts or (), strict=bool(parts)):
                        if isinstance(part, t.Enum):
                            ways.append(terms.and_(here, self._holds(part, value, member)))
                return terms.or_(*ways)
            case _:
                return FALSE

    def _amount(self, branch: BranchCode, obligation: Obligation) -> Term:
        """That the branch changes so many members of a variable, or replies with so many."""
        terms = self.program.terms
        if obligation.member == REPLY:
            apart = [there for there, _ in self._only_in(branch.reply, None)]
        else:
            before, after = (
                state[obligation.member] for state in (self.program.before, self.program.after)
            )
            apart = self._changes(before, after)
        some = terms.or_(*apart)
        several = terms.or_(*(terms.and_(a, b) for a, b in combinations(apart, 2)))
        so_many = {
            "none": terms.not_(some),
            "one": terms.and_(some, terms.not_(several)),
            "several": several,
        }
        return terms.and_(self.program.takes(branch.name), so_many[obligation.want])

    def _changes(self, before: Sym, after: Sym) -> list[Term]:
        """For each member of a map or set the condition that it is changed, won or lost."""
        terms, types = self.program.terms, self.program.types
        if isinstance(before, Fields):
            pairs = zip(before.items, cast(Fields, after).items, strict=True)
            return [terms.not_(types.equal(a, b)) for a, b in pairs]
        lost, won = self._only_in(before, after), self._only_in(after, before)
        return [there for there, _ in (*lost, *won)]

    def _only_in(self, value: Sym, other: Sym | None) -> tuple[tuple[Term, Sym], ...]:
        """Each member of a set once, where it is not in the other one, if there is one."""
        terms, types = self.program.terms, self.program.types
        found = distinct(types, types.members(cast(Mask | Bag, value)))
        if other is None:
            return found
        known = cast(Mask | Bag, other)
        return tuple(
            (terms.and_(there, terms.not_(types.contains(known, item))), item)
            for there, item in found
        )

    def _encode_seen(self, obligation: Obligation) -> Term:
        terms = self.program.terms
        assert obligation.expr is not None
        site = self.sites[obligation.expr.span]
        # The pass `builtins` makes `second < first` of the least of two.
        picks = isinstance(obligation.expr, n.Builtin) and obligation.expr.traits.picks
        swapped = picks == "least"
        ways: list[Term] = []
        for operation in self.program.operations:
            if operation.name != obligation.operation:
                continue
            called = self.program.calls(operation)
            for event in operation.events:
                if event.site == site:
                    sides = (event.left, event.right)
                    side = self._side(obligation.want, *(sides[::-1] if swapped else sides))
                    ways.append(terms.and_(called, event.condition, side))
        return terms.or_(*ways)

    def _side(self, want: str, left: Sym, right: Sym) -> Term:
        types, numbers, terms = self.program.types, self.program.types.numbers, self.program.terms
        match want:
            case "equal":
                return types.equal(left, right)
            case "unequal":
                return terms.not_(types.equal(left, right))
            case "none" | "another":
                both = terms.and_(cast(Maybe, left).present, cast(Maybe, right).present)
                differ = terms.not_(types.equal(left, right))
                return terms.and_(differ, both if want == "another" else terms.not_(both))
            case "less":
                return numbers.less(cast(Number, left), cast(Number, right))
            case "greater":
                return numbers.less(cast(Number, right), cast(Number, left))
            case _:
                step = numbers.constant(-1 if want == "below" else 1)
                beside = numbers.add(cast(Number, right), step)
                return numbers.equal(cast(Number, left), beside)
