"""Knows which conditions of a step can be tested before all of its arguments are chosen.

A `require` that reads no argument, or only the first ones, is false for all lists of arguments that
begin alike. The step tests it again, so an early test may only leave out lists where nothing would
happen and nothing be undefined: one behind a condition that may be undefined is not tested before
that, and nothing is left out behind one that is undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import small as s
from charter.core.walk import locals_of, nodes
from charter.passes.unused import adds_no_condition

WORTH = 16
"""The least number of argument lists that one early test may leave out."""


@dataclass(frozen=True, slots=True)
class EarlyTest:
    """A condition, the `let`s that it reads, the parameters that both read, and whether it has a
    value in each state, as far as its text shows."""

    condition: s.Expr
    lets: tuple[n.Bind[s.Expr], ...]
    params: frozenset[str]
    sure: bool


def early_tests_of(
    operation: s.Operation | s.Step, only: Iterable[s.Expr], declared: Mapping[str, s.Function]
) -> list[EarlyTest]:
    """The conditions of the instance (`only`), then those with which a step begins."""
    params = frozenset(param.name for param in operation.params)
    lets: dict[str, n.Bind[s.Expr]] = {}
    found: list[EarlyTest] = []

    def add(condition: s.Expr) -> None:
        if isinstance(condition, n.Binary) and condition.op == "and":
            add(condition.left)
            add(condition.right)
            return
        read, used = {*locals_of(condition)}, list[n.Bind[s.Expr]]()
        for name in reversed(lets):
            if name in read:
                used.insert(0, lets[name])
                read |= {*locals_of(lets[name].value)}
        found.append(
            EarlyTest(condition, tuple(used), params & read, _is_sure(condition, declared))
        )

    for condition in only:
        add(condition)
    for statement in operation.body if isinstance(operation, n.Step) else ():
        match statement:
            case n.Require():
                add(statement.condition)
            case n.Bind() if _is_sure(statement.value, declared):
                lets[statement.name] = statement
            case n.Bind() | n.Assign() | n.Pick() | n.CallOperation():
                break
    return found


def _is_sure(e: s.Expr, declared: Mapping[str, s.Function]) -> bool:
    """Whether an expression has a value in each state."""
    return all(
        _is_sure(declared[node.function].body, declared)
        if isinstance(node, n.Call)
        else adds_no_condition(node)
        for node in nodes(e)
    )


def levels(
    tests: Sequence[EarlyTest], loops: Sequence[tuple[str, int]]
) -> dict[int, list[EarlyTest]]:
    """The tests by the number of loops that are open where they are printed; `loops` has for each
    its parameter and how many values that has. What is left out there is what the inner loops try.
    """
    found: dict[int, list[EarlyTest]] = {}
    first = 0
    names = [name for name, _ in loops]
    for test in tests:
        known = [*names, *(test.params - {*names})]
        level = max([known.index(name) + 1 for name in test.params], default=0)
        level = max(level, first)
        if level > len(loops):
            if test.sure:
                continue
            break
        if not test.sure:
            first = level
        inner = 1
        for _, size in loops[level:]:
            inner *= size
        if inner >= WORTH:
            found.setdefault(level, []).append(test)
        elif not test.sure:
            break
    return found
