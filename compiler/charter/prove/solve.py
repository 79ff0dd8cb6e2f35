"""Runs Z3: one incremental solver, goals as assumptions. The only module that talks to it.

Limits are resource limits, never time, so the same question has the same answer on every machine.
Every solver has a context of its own, so earlier questions do not influence its answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import z3

from charter.prove.program import NEXT
from charter.prove.terms import BOOL, INTEGER, Term, TermNode, Terms, TermSort, wrap

BOUNDED = "QF_FD"
"""The logic of truth values and words; for integers Z3 answers unknown at once."""
UNBOUNDED = "ALL"
RLIMIT = 50_000_000
"""The limit for one question in Z3's unit of work, so that answers do not depend on time."""


@dataclass(frozen=True, slots=True)
class Sat:
    """An assignment: the value of each variable that Z3 named, by its name and frame."""

    values: Mapping[tuple[str, int], int]

    def frame(self, number: int) -> dict[str, int]:
        """The variables of one frame; the state after is in the next frame."""
        found = {name: value for (name, at), value in self.values.items() if at == number}
        after = {
            f"{NEXT}{name}": value for (name, at), value in self.values.items() if at == number + 1
        }
        return found | after


@dataclass(frozen=True, slots=True)
class Unsat:
    """No assignment; `core` names assumptions that already contradict each other."""

    core: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Z3 gave up; `reason` is its own."""

    reason: str


Answer = Sat | Unsat | Unknown


class Solver:
    """A solver over the terms of one table, in frames: frame k holds step k, and the variables of
    the state after a step are those of the state before the next."""

    def __init__(self, terms: Terms, logic: str, rlimit: int) -> None:
        self._terms = terms
        self._context = z3.Context()
        self._solver = z3.SolverFor(logic, ctx=self._context)
        self._solver.set("rlimit", rlimit)
        self._solver.set("core.minimize", True)
        self._built: dict[int, dict[Term, z3.ExprRef]] = {}
        self._names: dict[tuple[str, int], z3.ExprRef] = {}
        self._sorts: dict[tuple[str, int], TermSort] = {}
        self._guards: dict[tuple[str, Term, int], z3.ExprRef] = {}

    def add(self, term: Term, frame: int = 0) -> None:
        """Assert a term in a frame."""
        self._solver.add(self._build(term, frame))

    def check(self, assumptions: Mapping[str, tuple[Term, int]]) -> Answer:
        """Whether all assumptions, each a term in a frame under a name, can hold together."""
        literals = [self._literal(n, term, at) for n, (term, at) in assumptions.items()]
        result = self._solver.check(*literals)
        if result == z3.sat:
            return Sat(self._values(self._solver.model()))
        if result == z3.unsat:
            core = {str(item) for item in self._solver.unsat_core()}
            names = zip(assumptions, literals, strict=True)
            return Unsat(tuple(name for name, literal in names if str(literal) in core))
        return Unknown(self._solver.reason_unknown())

    def possible(self, term: Term, frame: int = 0) -> bool | None:
        """Whether a term can hold; None if Z3 gave up. Cheaper than `check`: no values are read,
        and Z3 forgets the term, which it would decide again in each later question."""
        self._solver.push()
        self._solver.add(self._build(term, frame))
        result = self._solver.check()
        self._solver.pop()
        return None if result == z3.unknown else bool(result == z3.sat)

    def _literal(self, name: str, term: Term, frame: int) -> z3.ExprRef:
        key = (name, term, frame)
        known = self._guards.get(key)
        if known is None:
            known = z3.Bool(f"assume {len(self._guards)}", self._context)
            self._guards[key] = known
            self._solver.add(z3.Implies(known, self._build(term, frame)))
        return known

    def _values(self, model: z3.ModelRef) -> dict[tuple[str, int], int]:
        """The variables that the model gives a value; the others may have any."""
        context, found = self._context.ref(), {}
        for key, variable in self._names.items():
            declared = z3.Z3_get_app_decl(context, variable.as_ast())
            value = z3.Z3_model_get_const_interp(context, model.model, declared)
            if not value:
                continue
            if self._sorts[key] == BOOL:
                found[key] = int(z3.Z3_get_bool_value(context, value) == 1)
                continue
            if z3.Z3_is_numeral_ast(context, value):
                number = int(z3.Z3_get_numeral_string(context, value))
            else:  # Z3 evaluates a sum only on request
                number = model.eval(variable, model_completion=True).as_long()
            found[key] = wrap(number, self._sorts[key])
        return found

    # --- building --------------------------------------------------------------------------------

    def _build(self, root: Term, frame: int) -> z3.ExprRef:
        built = self._built.setdefault(frame, {})
        if root not in built:
            for term in self._missing(root, built):
                node = self._terms.nodes[term]
                built[term] = self._node(node, [built[a] for a in node.args], frame)
        return built[root]

    def _missing(self, root: Term, built: Mapping[Term, z3.ExprRef]) -> list[Term]:
        seen: set[Term] = set()
        stack = [root]
        while stack:
            term = stack.pop()
            if term not in seen and term not in built:
                seen.add(term)
                stack.extend(self._terms.nodes[term].args)
        return sorted(seen)

    def _node(self, node: TermNode, args: list[z3.ExprRef], frame: int) -> z3.ExprRef:
        match node.op:
            case "var":
                return self._variable(str(node.payload), node.sort, frame)
            case "const" if node.sort == BOOL:
                return z3.BoolVal(bool(node.payload), self._context)
            case "const" if node.sort == INTEGER:
                return z3.IntVal(node.payload, self._context)
            case "const":
                return z3.BitVecVal(node.payload, node.sort, self._context)
            case "not":
                return z3.BoolRef(
                    z3.Z3_mk_not(self._context.ref(), args[0].as_ast()), self._context
                )
            case "and" | "or":
                return self._junction(node.op, args)
            case "ite":
                handles = (a.as_ast() for a in args)
                made = z3.Z3_mk_ite(self._context.ref(), *handles)
                return _REFS[min(1, node.sort)](made, self._context)
            case "eq":
                made = z3.Z3_mk_eq(self._context.ref(), args[0].as_ast(), args[1].as_ast())
                return z3.BoolRef(made, self._context)
            case _:
                return _arithmetic(node, args)

    def _variable(self, name: str, sort: int, frame: int) -> z3.ExprRef:
        key = (name[len(NEXT) :], frame + 1) if name.startswith(NEXT) else (name, frame)
        known = self._names.get(key)
        if known is None:
            text = f"{key[0]}@{key[1]}"
            if sort == BOOL:
                known = z3.Bool(text, self._context)
            elif sort == INTEGER:
                known = z3.Int(text, self._context)
            else:
                known = z3.BitVec(text, sort, self._context)
            self._names[key] = known
            self._sorts[key] = sort
        return known

    def _junction(self, op: str, args: list[z3.ExprRef]) -> z3.ExprRef:
        make = z3.Z3_mk_and if op == "and" else z3.Z3_mk_or
        handles = (z3.Ast * len(args))(*(a.as_ast() for a in args))
        return z3.BoolRef(make(self._context.ref(), len(args), handles), self._context)


_REFS = {BOOL: z3.BoolRef, INTEGER: z3.ArithRef, 1: z3.BitVecRef}


def _arithmetic(node: TermNode, args: list[z3.ExprRef]) -> z3.ExprRef:
    match node.op:
        case "le":
            return args[0] <= args[1]
        case "add":
            return args[0] + args[1]
        case "mul":
            return args[0] * args[1]
        case "neg":
            return -args[0]
        case "extend":
            return z3.SignExt(node.sort - args[0].size(), args[0])
        case _:
            raise ValueError(node.op)
