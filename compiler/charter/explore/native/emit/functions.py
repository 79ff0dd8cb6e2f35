"""Lists the functions of a compiled program, with the types of their parameters and results, for
those who print and who call them; and names of parameters that several of them have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from charter.explore.native.emit.code import (
    I1,
    I32,
    I64,
    OWN,
    PTR,
    READ,
    Callee,
    Number,
    Operand,
    Pointer,
    Ref,
    Truth,
    operand,
)

CTX, OUT, COUNT = Pointer("%ctx"), Pointer("%out"), Ref("%count")
STATE, AFTER = Pointer("%s"), Pointer("%z")
"""The context; where the result goes; how many; a state, and one after it."""

# Failures: set ERROR or FATAL in the context.
FAIL = Callee("fail", (PTR, I64, I64), None)

# States: slots to packed words and back, canonical forms, limits of the instance.
PACK = Callee("pack", (READ, OWN), None, exported=True)
UNPACK = Callee("unpack", (READ, OWN), None, exported=True)
SAME = Callee("same", (PTR, PTR, I64), I1)
OUTSIDE = Callee("outside", (READ,), I1)
KEY = Callee("key", (READ, OWN), None, exported=True)
LEAST = Callee("least", (READ, OWN), None, "nounwind noinline")
PERMUTED = Callee("permuted", (READ, OWN, I64), None)
NAMED = Callee("named", (OWN,), None)
IN_ORDER = Callee("in_order", (READ,), I1)
ANCHOR = Callee("anchor", (READ,), None, exported=True)
ANCHORED = Callee("anchored", (READ,), I1)

# The environment: counters in the state, and values to offer.
ISSUED = Callee("issued", (PTR,), None)
POOL = Callee("pool", (PTR, I64, I64, PTR), I64)
# The search: outcomes of one state, properties, notes.
OUTCOMES = Callee("outcomes", (PTR,), None, exported=True)
OUTCOMES_OF = Callee("outcomes_of", (PTR, I64), I64, exported=True)
NOTED = Callee("noted", (PTR, I64, I64), I64, exported=True)
STATES = Callee("states", (PTR,), None)
DELIVER = Callee("deliver", (PTR, I64, I64, I64), None)
ONCE = Callee("once", (PTR, I64, I64), I64)
EMIT = Callee("emit", (PTR, I64, READ), None)
CUT = Callee("cut", (PTR,), I64, "nounwind noinline")
NOTE = Callee("note", (PTR, I64, I64), None, "nounwind noinline")
EXPAND = Callee("expand", (PTR, PTR, I64), I64, exported=True)
CHECK = Callee("check", (PTR, PTR, I64), I64, exported=True)
RECALL = Callee("recall", (PTR, PTR, I64), I64, exported=True)

# The visited set.
INSERT = Callee("insert", (PTR, I64, PTR, I64, OWN, PTR), I64, exported=True)
GROW = Callee("grow", (PTR, I64, PTR, I64), None, exported=True)
MERGE = Callee("merge", (PTR, PTR, I64), None, exported=True)

# The transition graph: edges, and values of predicates.
FIND = Callee("find", (PTR, I64, PTR, PTR, I64), I64)
LINK = Callee("link", (PTR, READ), None)
RESOLVE = Callee("resolve", (PTR,), None)
TRUTHS = Callee("truths", (PTR, PTR), None)
FOLLOW = Callee("follow", (PTR, PTR, I64), I64, exported=True)

# Fair strongly connected components of the graph.
REACH = Callee("reach", (PTR,), I64, exported=True)
COMPONENTS = Callee("components", (PTR,), I64, exported=True)
MARK_UNFAIR = Callee("mark_unfair", (PTR,), None, exported=True)
FIRST = Callee("first", (PTR, I64), I64, exported=True)

# Of the machine itself.
GREATER = Callee("llvm.smax.i64", (I64, I64), I64)
LESSER = Callee("llvm.smin.i64", (I64, I64), I64)
PREFETCH = Callee("llvm.prefetch.p0", (PTR, I32, I32, I32), None)

Declared = Callee[Operand | None, *tuple[Operand, ...]]
Pool = Callee[Number, Pointer, Number, Number, Pointer]
Outcomes = Callee[Number, Pointer, Pointer, Pointer, Pointer, Number]
"""An operation or step: given the context, the variables before, the arguments, memory for outcomes
and its capacity. Returns the number of outcomes."""


def declare(name: str, params: Iterable[str], result: str) -> Declared:
    """A function of the charter. Scalars are passed as they are, others by their places; a result
    that is no scalar is written to a place, which is passed last."""
    types = [READ if ty == "ptr" else operand(ty, ty) for ty in params]
    if result == "ptr":
        return Callee(f"fn_{name}", (PTR, *types, OWN), None)
    return Callee(f"fn_{name}", (PTR, *types), operand(result, result))


def operation(component: str, name: str) -> Outcomes:
    """An operation."""
    return Callee(f"op_{component}_{name}", (PTR, READ, READ, OWN, I64), I64)


def step(name: str) -> Outcomes:
    """A step of a system."""
    return Callee(f"step_{name}", (PTR, READ, READ, OWN, I64), I64)


def pool_of(counter: str) -> Pool:
    """As POOL, for a counter that rules compare with numbers of the text."""
    return replace(POOL, name=f"pool_{counter}")


def offer(number: int) -> Callee[None, Pointer]:
    """An operation with every list of arguments."""
    return Callee(f"offer_{number}", (PTR,), None)


def prop(number: int) -> Callee[Truth, Pointer, Pointer, Pointer, Number]:
    """Whether a property is violated (a witness: found): the context, the states before and after,
    the branch that was taken."""
    return Callee(f"prop_{number}", (PTR, READ, READ, I64), I1)


def rank(counters: int) -> Callee[None, Pointer, *tuple[Number, ...]]:
    """Replaces each counter of a state by its rank in the mask of its type."""
    return Callee("ranked", (OWN, *[I64] * counters), None)
