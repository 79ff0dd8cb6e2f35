"""Writes short texts of values, for pictures."""

from __future__ import annotations

from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe


def speak(name: str, value: str) -> str:
    """A named value as text; for a truth value, its name or `not` with its name."""
    return {"true": name, "false": f"not {name}"}.get(value, value)


def in_words(kind: t.Type, message: Value, universe: Universe) -> str:
    """A message as text, without the name of its record: the channel tells its purpose."""
    shown = show_value(kind, message, universe)
    if isinstance(kind, t.Record) and kind.fields:
        shown = shown.removeprefix(f"{kind.name} {{ ").removesuffix(" }")
    return shown


def in_values(kind: t.Type, value: Value, universe: Universe) -> str:
    """A value as text without names of fields: the values in order, those of inner records in
    parentheses."""
    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            return in_values(inner, value, universe)
        case t.Record(fields=fields), tuple():
            parts = []
            for (name, inner), part in zip(fields, value, strict=True):
                bare = speak(name, in_values(inner, part, universe))
                known = inner.inner if isinstance(inner, t.Option) else inner
                nested = part is not None and isinstance(known, t.Record) and len(known.fields) > 1
                parts.append(f"({bare})" if nested else bare)
            return " ".join(parts)
        case t.Union() as union, (str() as tag, *rest):
            named = zip(union.params(tag), rest, strict=True)
            args = ", ".join(in_values(part, v, universe) for (_, part), v in named)
            return f"{tag}({args})" if args else tag
        case _:
            return show_value(kind, value, universe)
