"""Renaming counters changes no verdict: small charters over two counters, searched with and without
it. Both engines are held against a search that takes every number as it is."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.counted import never_met

from charter import api
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as reference

CHANGES = (
    "x' = bump(x)", "y' = bump(y)", "x' = bump(y)", "y' = bump(x)", "y' = x", "x' = y",
    "x' = max(x, y)", "x' = bump(max(x, y))", "x' = bump(max(x, y))  y' = x",
    "x' = bump(x)  y' = bump(x)", "let e = bump(y)  x' = e", "x' = if x < y then bump(x) else x",
)  # fmt: skip
CONDITIONS = (
    "x == y", "bump(x) == y", "bump(bump(x)) == y", "bump(y) == x", "x < y", "bump(x) < y",
    "bump(y) < x", "bump(bump(y)) < x",
)  # fmt: skip


def charter(changes: tuple[str, ...], conditions: tuple[str, ...]) -> str:
    operations = "\n".join(
        f"operation go{i}() -> bool cites silent {{\n"
        "  branch over when steps == 5 reply false\n"
        f"  branch done {{ {change.replace('  y', chr(10) + 'y').replace('  x', chr(10) + 'x')}\n"
        "    steps' = if steps < 5 then steps + 1 else steps\n    reply true }\n}"
        for i, change in enumerate(changes)
    )
    witnesses = "\n".join(
        f"witness w{i} of c: steps > 0 and {condition}" for i, condition in enumerate(conditions)
    )
    return (
        "protocol test.renamed\ncounter Term\n"
        "component c {\nstate x: Term = 0\nstate y: Term = 0\nstate steps: int 0..5 = 0\n"
        f"{operations}\n}}\n{witnesses}\ninstance tiny of c {{ }}\n"
    )


@settings(
    max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3, unique=True).map(tuple),
    st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3, unique=True).map(tuple),
)
def test_verdicts_are_those_of_a_search_without_renaming(
    changes: tuple[str, ...], conditions: tuple[str, ...]
) -> None:
    model = api.load_text(charter(changes, conditions))
    exact = reference(model, model.instances[0], ReferenceOptions(renaming=False))
    for engine in ("reference", "native"):
        options = api.ExploreOptions(engine=engine)
        found = api.explore(model, "tiny", options, lambda *_: None)
        assert never_met(found) == never_met(exact), engine
