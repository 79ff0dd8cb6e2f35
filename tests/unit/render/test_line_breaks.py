"""The printer of long lines."""

from __future__ import annotations

import ast

import pytest

from charter.render.python_model.line_breaks import (
    WIDTH,
    Block,
    Spread,
    call,
    flat,
    from_text,
    lines,
)  # fmt: skip

NAME = "a_field_whose_name_was_never_shortened"
LONG = [
    f'frozenset(Broker(text_of(entry)) for entry in items_of(it["{NAME}_of_the_partition"]))',
    f"Map({{Broker(key): None if entry is None else Epoch({NAME}) for key, entry in {NAME}}})",
    f"{{key: None if entry is None else _json(entry) for key, entry in state.{NAME}.items()}}",
    f'None if it["leader"] is None else Broker(text_of(it["{NAME}"]), it["{NAME}"])',
    f"sorted(entry.name for entry in it.{NAME}.{NAME})",
]


@pytest.mark.parametrize("text", LONG)
def test_lines_mean_the_same_when_text_is_broken(text: str) -> None:
    doc = from_text(text)
    assert flat(doc) == text
    broken = lines(doc, 1, "x = ")
    assert len(broken) > 1
    whole = "if True:\n" + "\n".join(broken)
    assert ast.dump(ast.parse(whole)) == ast.dump(ast.parse(f"if True:\n    x = {text}"))
    assert max(map(len, broken)) <= WIDTH + 25


def test_lines_stay_one_when_they_fit() -> None:
    assert lines(call("f", "a", "b"), 2, "return ") == ["        return f(a, b)"]


def test_items_without_names_stand_in_one_line_when_they_fit_there() -> None:
    a, b, c = "a" * 30, "b" * 30, "c" * 30
    for opening in ("x = f(", "x = g(f("):
        inner = call("f", a, b, c)
        doc = inner if opening == "x = f(" else call("g", inner)
        closing = ")" * opening.count("(")
        assert lines(doc, 0, "x = ") == [opening, f"    {a}, {b}, {c}", closing]
    named = call("f", a, f"named={b}", c)
    assert lines(named, 0, "x = ") == ["x = f(", f"    {a},", f"    named={b},", f"    {c},", ")"]
    wide = call("f", a, b, c, "d")
    assert len(lines(wide, 0, "x = ")) == 6


def test_operators_get_parentheses_when_they_are_broken() -> None:
    doc = Spread(("a" * 60, "and " + "b" * 60))
    assert lines(doc, 0, "x = ") == ["x = (", f"    {'a' * 60}", f"    and {'b' * 60}", ")"]


def test_brackets_are_hugged_when_one_holds_the_other() -> None:
    doc = call("Map", Block("{", ("k" * 60, "for " + "v" * 60), "}", ""))
    assert lines(doc, 0)[0] == "Map({"
    assert lines(doc, 0)[-1] == "})"
