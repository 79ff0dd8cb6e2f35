"""Writes values and calls in the notation of charters."""

from __future__ import annotations

from collections.abc import Iterable

from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.values import Universe


def show_value(kind: t.Type, value: Value, universe: Universe) -> str:
    """A value in charter notation; a present option is shown as its content."""
    match kind, value:
        case t.Bool(), bool():
            return "true" if value else "false"
        case t.Sort(name=name), int():
            return universe.sorts[name][value]
        case t.Option(inner=inner), _:
            return "none" if value is None else show_value(inner, value, universe)
        case t.Record(name=name, fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            inside = [f"{f}: {show_value(part, v, universe)}" for (f, part), v in pairs]
            return f"{name} {{ {', '.join(inside)} }}"
        case t.Union() as union, (str() as tag, *rest):
            named = zip(union.params(tag), rest, strict=True)
            args = ", ".join(show_value(part, v, universe) for (_, part), v in named)
            return f"{tag}({args})" if args else tag
        case t.Set(inner=inner), frozenset():
            return "{" + ", ".join(sorted(show_value(inner, v, universe) for v in value)) + "}"
        case t.Map(key=key, value=inner), tuple():
            pairs_of = zip(universe.domain(key), value, strict=True)
            each = [
                f"{show_value(key, k, universe)}: {show_value(inner, v, universe)}"
                for k, v in pairs_of
            ]
            return f"[{', '.join(each)}]"
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return f"<{', '.join(show_value(listed.inner, v, universe) for v in value)}>"
        case _:
            return str(value)


def show_call(operation: str, args: Iterable[tuple[str, str]]) -> str:
    """A call as text, such as `lose_power(b: b1)`, of arguments that are given as text by name."""
    return f"{operation}({', '.join(f'{name}: {value}' for name, value in args)})"
