"""Decodes an assignment of the solver to core values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.core import types as t
from charter.core.nodes import Value
from charter.prove.terms import Term
from charter.prove.terms_of_types import TermsOfTypes
from charter.prove.values import Bag, Fields, Line, Mask, Maybe, Number, ScalarTerm, Sym, Tagged


@dataclass(slots=True)
class Decoder:
    """Evaluates symbolic values under one assignment; variables that Z3 left open are 0."""

    types: TermsOfTypes
    values: Mapping[str, int]
    _known: dict[Term, int] = field(default_factory=dict)

    def term(self, term: Term) -> int:
        """The value of a term."""
        if term not in self._known:
            self._known |= self.types.terms.evaluate([term], self.values)
        return self._known[term]

    def value(self, kind: t.Type, sym: Sym) -> Value:
        """The core value of `sym`, which is of type `kind`."""
        match kind, sym:
            case t.Bool(), ScalarTerm(term=term):
                return bool(self.term(term))
            case t.Enum(members=members), ScalarTerm(term=term):
                return members[self._position(term)]
            case t.Sort(), ScalarTerm(term=term):
                return self._position(term)
            case _, Number(term=term):
                return self.term(term)
            case t.Option(inner=inner), Maybe(present=present, inner=inside):
                if not self.term(present) or inside is None:
                    return None
                return self.value(inner, inside)
            case t.Record(fields=fields), Fields(items=items):
                pairs = zip(fields, items, strict=True)
                return tuple(self.value(part, item) for (_, part), item in pairs)
            case t.Map(value=inner), Fields(items=items):
                return tuple(self.value(inner, item) for item in items)
            case t.Union(cases=cases), Tagged(tag=tag, cases=found):
                name, params = cases[self._position(tag)]
                parts = found[self._position(tag)] or ()
                pairs_of = zip(params, parts, strict=True)
                return (name, *(self.value(part, item) for (_, part), item in pairs_of))
            case t.Set(inner=inner), (Mask() | Bag()):
                each = self.types.members(sym)
                return frozenset(self.value(inner, x) for there, x in each if self.term(there))
            case ((t.Seq() | t.Ranking()), Line(length=length, slots=slots)):
                held = slots[: self.term(length.term)]
                return tuple(self.value(kind.inner, s) for s in held if s is not None)
            case _:
                raise TypeError(f"{sym} is not a value of {kind}")

    def _position(self, term: Term) -> int:
        return self.term(term) % (1 << self.types.terms.sort(term))
