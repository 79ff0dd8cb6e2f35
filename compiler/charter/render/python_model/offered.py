"""Prints what a judge may ask of a component: its parameters, their types, and its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from charter.core import nodes as n
from charter.core import types as t
from charter.formats.image import is_of_image
from charter.render.python_model.line_breaks import WIDTH, Block, Doc, Spread, join, lines
from charter.render.text import wrap
from charter.semantics.judged_types import define_inside, define_params

OFFERED_TABLES = ("INSTANCES", "PARAMS", "PARAM_TYPES", "PRELUDES", "PRELUDE_CALLS")
"""The names of the tables that a judge draws questions from."""


def print_offered(
    model: n.Model,
    component: n.Component,
    preludes: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """The tables: the parameters of each operation, the named types in them, and for each instance
    the elements of sorts, the values of constants and the operations that it offers ("": all);
    `preludes` are JSON texts of the operations that lead to the first states of instances. Each is
    printed once, and an instance has the numbers of its own."""
    operations = [o for o in component.operations if not is_of_image(o.name)]
    params: list[Doc] = [print_entry(o.name, _table(define_params(o))) for o in operations]
    named = _table(define_inside(operations))
    places = [i for i in model.instances if i.machine == component.name]
    kinds = dict(model.consts)
    found: list[Doc] = [print_entry(i.name, print_instance(i, kinds)) for i in places]
    calls = [*dict.fromkeys(call for one in preludes.values() for call in one)]
    led: list[Doc] = [
        print_entry(name, f'"{" ".join(str(calls.index(call)) for call in one)}"')
        for name, one in preludes.items()
    ]
    hint = "Mapping[str, tuple[Mapping[str, str], Mapping[str, int], str]]"
    return "\n".join(
        [
            *lines(Block("{", tuple(params), "}"), 0, "PARAMS: Mapping[str, Mapping[str, str]] = "),
            *lines(named, 0, "PARAM_TYPES: Mapping[str, str] = "),
            *lines(Block("{", tuple(found), "}"), 0, f"INSTANCES: {hint} = "),
            *lines(Block("{", tuple(led), "}"), 0, "PRELUDES: Mapping[str, str] = "),
            *_print_calls(calls),
        ]
    )


def print_instance(instance: n.Instance, kinds: dict[str, t.Type]) -> Doc:
    """An instance: elements by sort, constants, and the operations that it offers."""
    sorts = tuple(print_entry(name, f'"{" ".join(names)}"') for name, names in instance.sorts)
    consts = tuple(
        print_entry(name, str(bool(value) if isinstance(kinds[name], t.Bool) else value))
        for name, value in instance.consts
        if name in kinds
    )
    offered = _print_text(" ".join(instance.offers))
    return Block("(", (Block("{", sorts, "}"), Block("{", consts, "}"), offered), ")")


def _print_calls(texts: Sequence[str]) -> list[str]:
    """The JSON texts of calls by their numbers; a long one is of several parts."""
    cut = WIDTH - 10
    parts = [[repr(one[at : at + cut]) for at in range(0, len(one), cut)] for one in texts]
    rows: list[Doc] = [
        one[0] if len(one) == 1 else Block("(", (Spread(tuple(one)),), ")", "") for one in parts
    ]
    table = tuple(print_entry(str(number), row) for number, row in enumerate(rows))
    return lines(Block("{", table, "}"), 0, "PRELUDE_CALLS: Mapping[str, str] = ")


def _table(texts: Mapping[str, str]) -> Doc:
    """A table of texts."""
    rows = tuple(print_entry(name, _print_text(text)) for name, text in texts.items())
    return Block("{", rows, "}")


def _print_text(text: str) -> Doc:
    """A text; a long one is of several parts."""
    if not text:
        return '""'
    parts = [f'"{part} "' for part in wrap(text, WIDTH - 20)]
    parts[-1] = f'{parts[-1][:-2]}"'
    return parts[0] if len(parts) == 1 else Block("(", (Spread(tuple(parts)),), ")", "")


def print_entry(name: str, value: Doc) -> Doc:
    """An entry of a table."""
    return join(f'"{name}": ', value)
