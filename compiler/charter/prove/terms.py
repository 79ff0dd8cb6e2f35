"""Builds terms: a table of shared nodes over truth values, words and integers, folded as they are
built.

A term is the number of its node. Equal nodes have equal numbers, and a node's number is greater
than those of its arguments, so going through a set of terms in ascending order meets arguments
first. Building here and not in Z3 keeps encoding cheap and lets tests evaluate an encoding without
a solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Term = int
TermSort = int
"""0: truth value; n > 0: word of n bits (two's complement); -1: integer."""

BOOL: TermSort = 0
INTEGER: TermSort = -1
FALSE: Term = 0
TRUE: Term = 1


@dataclass(frozen=True, slots=True)
class TermNode:
    """`op` of `args`; `payload` is the value of a constant or the name of a variable."""

    op: str
    args: tuple[Term, ...]
    payload: int | str
    sort: TermSort


def wrap(value: int, sort: TermSort) -> int:
    """`value` wrapped to a word of `sort` (two's complement); integers are unchanged."""
    if sort == INTEGER:
        return value
    low = value & ((1 << sort) - 1)
    return low - (1 << sort) if low >> (sort - 1) else low


@dataclass(slots=True)
class Terms:
    """The table. Words that are not numbers (sort elements, enum members, tags) use only `eq`."""

    nodes: list[TermNode] = field(default_factory=list)
    _index: dict[TermNode, Term] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self._node("const", (), 0, BOOL) == FALSE
        assert self._node("const", (), 1, BOOL) == TRUE

    def _node(self, op: str, args: tuple[Term, ...], payload: int | str, sort: TermSort) -> Term:
        node = TermNode(op, args, payload, sort)
        known = self._index.get(node)
        if known is None:
            known = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return known

    def sort(self, term: Term) -> TermSort:
        """The sort of a term."""
        return self.nodes[term].sort

    def constant(self, term: Term) -> int | None:
        """The value of a constant (truth values: 0, 1), None for anything else."""
        node = self.nodes[term]
        return node.payload if node.op == "const" and isinstance(node.payload, int) else None

    # --- leaves ----------------------------------------------------------------------------------

    def const(self, value: int, sort: TermSort) -> Term:
        """A constant word or integer."""
        return self._node("const", (), wrap(value, sort), sort)

    def literal(self, value: int, sort: TermSort) -> Term:
        """A constant of any sort."""
        if sort == BOOL:
            return TRUE if value else FALSE
        return self.const(value, sort)

    def var(self, name: str, sort: TermSort) -> Term:
        """A variable. All variables of one name have one sort."""
        return self._node("var", (), name, sort)

    # --- truth values ----------------------------------------------------------------------------

    def not_(self, term: Term) -> Term:
        """Negation."""
        if term <= TRUE:
            return TRUE - term
        node = self.nodes[term]
        return node.args[0] if node.op == "not" else self._node("not", (term,), 0, BOOL)

    def and_(self, *terms: Term) -> Term:
        """Conjunction of any number of terms."""
        return self._junction("and", terms, FALSE)

    def or_(self, *terms: Term) -> Term:
        """Disjunction of any number of terms."""
        return self._junction("or", terms, TRUE)

    def _junction(self, op: str, terms: Iterable[Term], absorbing: Term) -> Term:
        kept = set(terms)
        if absorbing in kept:
            return absorbing
        kept.discard(TRUE - absorbing)
        if not kept:
            return TRUE - absorbing
        if len(kept) == 1:
            return kept.pop()
        for term in kept:
            node = self.nodes[term]
            if node.op == "not" and node.args[0] in kept:
                return absorbing
        return self._node(op, tuple(sorted(kept)), 0, BOOL)

    def implies(self, left: Term, right: Term) -> Term:
        """Implication."""
        return self.or_(self.not_(left), right)

    def ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """`then` or `otherwise`, which have one sort."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        sort = self.sort(then)
        if sort == BOOL:
            simple = self._bool_ite(condition, then, otherwise)
            if simple is not None:
                return simple
        node = self.nodes[condition]
        if node.op == "not":
            return self.ite(node.args[0], otherwise, then)
        return self._node("ite", (condition, then, otherwise), 0, sort)

    def _bool_ite(self, condition: Term, then: Term, otherwise: Term) -> Term | None:
        if then in (TRUE, condition):
            return self.or_(condition, otherwise)
        if then == FALSE:
            return self.and_(self.not_(condition), otherwise)
        if otherwise in (FALSE, condition):
            return self.and_(condition, then)
        if otherwise == TRUE:
            return self.implies(condition, then)
        return None

    def eq(self, left: Term, right: Term) -> Term:
        """Equality of two terms of one sort."""
        if left == right:
            return TRUE
        left, right = min(left, right), max(left, right)
        a, b = self.nodes[left], self.nodes[right]
        if a.op == "const" and b.op == "const":
            return FALSE
        if a.sort == BOOL:
            if left <= TRUE:
                return right if left == TRUE else self.not_(right)
            if (a.op == "not" and a.args[0] == right) or (b.op == "not" and b.args[0] == left):
                return FALSE
            return self._node("eq", (left, right), 0, BOOL)
        fixed, other = (left, right) if a.op == "const" else (right, left)
        choice = self.nodes[other]
        if self.nodes[fixed].op == "const" and choice.op == "ite":
            condition, then, otherwise = choice.args
            if self.nodes[then].op == "const" or self.nodes[otherwise].op == "const":
                return self.ite(condition, self.eq(then, fixed), self.eq(otherwise, fixed))
        return self._node("eq", (left, right), 0, BOOL)

    # --- numbers ---------------------------------------------------------------------------------

    def add(self, left: Term, right: Term) -> Term:
        """Sum, in the sort of both."""
        a, b = self.constant(left), self.constant(right)
        if a is not None and b is not None:
            return self.const(a + b, self.sort(left))
        if a == 0:
            return right
        if b == 0:
            return left
        return self._node("add", (min(left, right), max(left, right)), 0, self.sort(left))

    def multiply(self, left: Term, right: Term) -> Term:
        """Product, in the sort of both."""
        a, b = self.constant(left), self.constant(right)
        if a is not None and b is not None:
            return self.const(a * b, self.sort(left))
        return self._node("mul", (min(left, right), max(left, right)), 0, self.sort(left))

    def negate(self, term: Term) -> Term:
        """The number with its sign changed."""
        value = self.constant(term)
        if value is not None:
            return self.const(-value, self.sort(term))
        return self._node("neg", (term,), 0, self.sort(term))

    def less_equal(self, left: Term, right: Term) -> Term:
        """`left <= right` as signed numbers."""
        a, b = self.constant(left), self.constant(right)
        if left == right:
            return TRUE
        if a is not None and b is not None:
            return TRUE if a <= b else FALSE
        return self._node("le", (left, right), 0, BOOL)

    def extend(self, term: Term, sort: TermSort) -> Term:
        """A word as a wider one with the same value."""
        if self.sort(term) == sort:
            return term
        value = self.constant(term)
        if value is not None:
            return self.const(value, sort)
        node = self.nodes[term]
        if node.op == "ite" and "const" in (self.nodes[a].op for a in node.args[1:]):
            condition, then, otherwise = node.args
            return self.ite(condition, self.extend(then, sort), self.extend(otherwise, sort))
        return self._node("extend", (term,), 0, sort)

    # --- rebuilding ------------------------------------------------------------------------------

    def substitute(self, root: Term, values: Mapping[Term, Term]) -> Term:
        """`root` with variables replaced by terms of their sorts, folded anew."""
        new: dict[Term, Term] = {}
        for term in self.below([root]):
            node = self.nodes[term]
            args = [new[a] for a in node.args]
            if term in values:
                new[term] = values[term]
            elif tuple(args) == node.args:
                new[term] = term
            else:
                new[term] = self._again(node, args)
        return new[root]

    def _again(self, node: TermNode, args: list[Term]) -> Term:
        match node.op:
            case "not":
                return self.not_(args[0])
            case "and":
                return self.and_(*args)
            case "or":
                return self.or_(*args)
            case "ite":
                return self.ite(*args)
            case "eq":
                return self.eq(*args)
            case "le":
                return self.less_equal(*args)
            case "add":
                return self.add(*args)
            case "mul":
                return self.multiply(*args)
            case "neg":
                return self.negate(args[0])
            case _:
                return self.extend(args[0], node.sort)

    # --- reading ---------------------------------------------------------------------------------

    def below(self, roots: Iterable[Term]) -> list[Term]:
        """The roots and everything they are built of, arguments first."""
        seen: set[Term] = set()
        stack = list(roots)
        while stack:
            term = stack.pop()
            if term not in seen:
                seen.add(term)
                stack.extend(self.nodes[term].args)
        return sorted(seen)

    def evaluate(self, roots: Sequence[Term], values: Mapping[str, int]) -> dict[Term, int]:
        """The values of the roots and of all their subterms; variables without a value are 0."""
        found: dict[Term, int] = {}
        for term in self.below(roots):
            node = self.nodes[term]
            if node.op == "var":
                found[term] = values.get(str(node.payload), 0)
            elif node.op == "const":
                found[term] = int(node.payload)
            else:
                found[term] = _apply(node, [found[a] for a in node.args])
        return found


def _apply(node: TermNode, args: list[int]) -> int:
    match node.op:
        case "not":
            return 1 - args[0]
        case "and":
            return int(all(args))
        case "or":
            return int(any(args))
        case "ite":
            return args[1] if args[0] else args[2]
        case "eq":
            return int(args[0] == args[1])
        case "le":
            return int(args[0] <= args[1])
        case "add":
            return wrap(args[0] + args[1], node.sort)
        case "mul":
            return wrap(args[0] * args[1], node.sort)
        case "neg":
            return wrap(-args[0], node.sort)
        case "extend":
            return args[0]
        case _:
            raise ValueError(node.op)
