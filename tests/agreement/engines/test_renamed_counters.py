"""Renaming counters changes no verdict: small charters over two counters, searched with and without
it. Both engines are held against a search that takes every number as it is."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.comparing.sampled import few_or_all
from tests.support.counted import never_met

from charter import api
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as reference

CHANGES = (
    "x' = bump(x)", "y' = bump(y)", "x' = bump(y)", "y' = bump(x)", "y' = x", "x' = y",
    "x' = max(x, y)", "x' = bump(max(x, y))", "x' = bump(max(x, y))  y' = x",
    "each[s]' = bump(each[s])", "each[s]' = each[o]", "x' = max(x, each[s])", "each[s]' = x",
    "x' = if e == each[s] then bump(x) else x",
    "each[s]' = if e == each[s] then bump(each[s]) else each[s]",
    "x' = bump(x)  y' = bump(x)", "let next = bump(y)  x' = next",
    "x' = if x < y then bump(x) else x",
    "x' = if e == y then bump(x) else x  y' = if e == y then bump(x) else y",
    "x' = if e == y then bump(x) else x  y' = if e != y then bump(x) else y",
    "x' = if s == o then bump(x) else x  each[s]' = if s == o then bump(x) else each[s]",
    "x' = if s == o then bump(x) else y  y' = if s == o then bump(x) else y",
    "let next = if e == y then bump(x) else x  x' = next  each[s]' = next",
    "let next = if e == y then bump(x) else x  x' = max(x, next)  y' = bump(next)",
    "x' = match last { none -> bump(x)  present(_) -> x }"
    "  last' = if last == none then present(bump(x)) else none",
    "x' = match last { none -> x  present(l) -> bump(l) }  last' = present(x)",
)  # fmt: skip
CONDITIONS = (
    "x == y", "bump(x) == y", "bump(bump(x)) == y", "bump(y) == x", "x < y", "bump(x) < y",
    "bump(y) < x", "bump(bump(y)) < x", "some s in Server: bump(each[s]) < x",
    "some s in Server, o in Server: bump(each[s]) < each[o]",
    "some s in Server, o in Server: bump(each[s]) == each[o]",
    "some s in Server: each[s] > x", "some s in Server, o in Server: each[s] != each[o]",
)  # fmt: skip


def _lines(change: str) -> str:
    """A change with each assignment on a line of its own."""
    return re.sub(r"  (?=(x|y|each\[s\]|last)' =)", "\n", change)


def charter(changes: tuple[str, ...], conditions: tuple[str, ...]) -> str:
    operations = "\n".join(
        f"operation go{i}(s: Server, o: Server, e: Term) -> bool cites silent {{\n"
        "  branch over when steps == 4 reply false\n"
        f"  branch done {{ {_lines(change)}\n"
        "    steps' = if steps < 4 then steps + 1 else steps\n    reply true }\n}"
        for i, change in enumerate(changes)
    )
    witnesses = "\n".join(
        f"witness w{i} of c: steps > 0 and {condition}" for i, condition in enumerate(conditions)
    )
    return (
        "protocol test.renamed\nsort Server\ncounter Term\n"
        "component c {\nstate x: Term = 0\nstate y: Term = 0\n"
        "state last: option Term = none\n"
        "state each: map Server -> Term = [s in Server: 0]\n"
        "state steps: int 0..4 = 0\n"
        f"{operations}\n}}\n{witnesses}\ninstance tiny of c {{ Server = 2 }}\n"
    )


DRAWN = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@few_or_all(6, 25)
def test_verdicts_are_those_of_a_search_without_renaming(examples: int) -> None:
    @settings(DRAWN, max_examples=examples)
    @given(
        st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3, unique=True).map(tuple),
        st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3, unique=True).map(tuple),
    )
    def same(changes: tuple[str, ...], conditions: tuple[str, ...]) -> None:
        compare(charter(changes, conditions))

    same()


def compare(text: str) -> None:
    """What is never met, with both engines and with counters as they are."""
    model = api.load_text(text)
    exact = reference(model, model.instances[0], ReferenceOptions(renaming=False))
    for engine in ("reference", "native"):
        options = api.ExploreOptions(engine=engine)
        found = api.explore(model, "tiny", options, lambda *_: None)
        assert never_met(found) == never_met(exact), engine
