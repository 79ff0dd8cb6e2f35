"""Names and types of the functions of a compiled program, for their callers."""

from __future__ import annotations

from charter.explore.native.code import Callee

# Failures: set ERROR or FATAL in the context.
FAIL = Callee("fail", ("ptr", "i64", "i64"))

# States: slots to packed words and back, canonical forms, limits of the instance.
PACK = Callee("pack", ("ptr", "ptr"))
UNPACK = Callee("unpack", ("ptr", "ptr"))
SAME = Callee("same", ("ptr", "ptr", "i64"), "i1")
OUTSIDE = Callee("outside", ("ptr",), "i1")
KEY = Callee("key", ("ptr", "ptr"))
LEAST = Callee("least", ("ptr", "ptr"))
PERMUTED = Callee("permuted", ("ptr", "ptr", "i64"))
NAMED = Callee("named", ("ptr",))
IN_ORDER = Callee("in_order", ("ptr",), "i1")
ANCHORED = Callee("anchored", ("ptr",), "i1")

# The environment: counters in the state, and values to offer.
ISSUED = Callee("issued", ("ptr",))
POOL = Callee("pool", ("ptr", "i64", "i64", "ptr"), "i64")

# The search: outcomes of one state, properties, notes.
OUTCOMES = Callee("outcomes", ("ptr",))
STATES = Callee("states", ("ptr",))
DELIVER = Callee("deliver", ("ptr", "i64", "i64", "i64"))
ONCE = Callee("once", ("ptr", "i64", "i64"), "i64")
EMIT = Callee("emit", ("ptr", "i64", "ptr"))
NOTE = Callee("note", ("ptr", "i64", "i64"))

# The transition graph: edges, and values of predicates.
FIND = Callee("find", ("ptr", "i64", "ptr", "ptr", "i64"), "i64")
LINK = Callee("link", ("ptr", "ptr"))
RESOLVE = Callee("resolve", ("ptr",))
TRUTHS = Callee("truths", ("ptr", "ptr"))

# Of the machine itself.
GREATER = Callee("llvm.smax.i64", ("i64", "i64"), "i64")
LESSER = Callee("llvm.smin.i64", ("i64", "i64"), "i64")
PREFETCH = Callee("llvm.prefetch.p0", ("ptr", "i32", "i32", "i32"))


def operation(component: str, name: str) -> Callee:
    """An operation, given context, variables before, arguments, memory for outcomes and its
    capacity. Returns the number of outcomes."""
    return Callee(f"op_{component}_{name}", ("ptr", "ptr", "ptr", "ptr", "i64"), "i64")


def step(name: str) -> Callee:
    """A step of a system; the same signature."""
    return Callee(f"step_{name}", ("ptr", "ptr", "ptr", "ptr", "i64"), "i64")


def offer(number: int) -> Callee:
    """An operation with every list of arguments."""
    return Callee(f"offer_{number}", ("ptr",))


def prop(number: int) -> Callee:
    """Whether a property is violated (a witness: found): the context, the states before and after,
    the branch that was taken."""
    return Callee(f"prop_{number}", ("ptr", "ptr", "ptr", "i64"), "i1")


def ranked(counters: int) -> Callee:
    """Replaces each counter of a state by its rank in the mask of its type."""
    return Callee("ranked", ("ptr", *["i64"] * counters))
