"""Writes a trace in ITF, the trace format of other model checkers (Apalache, ADR 15), and reads its
values."""

from __future__ import annotations

from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.canonical import Json, text
from charter.render.story.tell import Story
from charter.semantics.builtins import order
from charter.semantics.values import Universe

_LARGEST = 2**53


def itf(story: Story) -> dict[str, Json]:
    """The trace with all variables in every state; `loop` is the state that a lasso returns to."""
    machine, loop = story.machine, story.found.loop
    states = list(story.states)
    if loop is not None and loop < len(states) - 1:
        states.pop()
    shown: list[Json] = []
    for number, state in enumerate(states):
        meta: dict[str, Json] = {"index": number}
        if number:
            step = story.steps[number - 1]
            meta |= {"step": step.operation, "args": dict(step.args), "rules": list(step.rules)}
        row: dict[str, Json] = {"#meta": meta}
        for variable in machine.variables:
            row[variable.name] = encode(variable.type, state[variable.name], machine.universe)
        shown.append(row)
    about: dict[str, Json] = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "description": story.title,
    }
    trace: dict[str, Json] = {
        "#meta": about,
        "vars": [variable.name for variable in machine.variables],
        "states": shown,
    }
    return trace if loop is None else {**trace, "loop": loop}


def encode(kind: t.Type, value: Value, universe: Universe) -> Json:
    """A value of ITF: sort elements and enum members as strings, options and unions as variants."""
    match kind, value:
        case t.Sort(name=name), int():
            return universe.sorts[name][value]
        case t.Option(inner=inner), _:
            if value is None:
                return {"tag": "None", "value": {"#tup": []}}
            return {"tag": "Some", "value": encode(inner, value, universe)}
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return {name: encode(part, v, universe) for (name, part), v in pairs}
        case t.Union() as union, (str() as tag, *rest):
            named = zip(union.params(tag), rest, strict=True)
            return {"tag": tag, "value": {n: encode(part, v, universe) for (n, part), v in named}}
        case t.Set(inner=inner), frozenset():
            return {"#set": [encode(inner, member, universe) for member in order(value, inner)]}
        case t.Map(key=key, value=inner), tuple():
            entries = zip(universe.domain(key), value, strict=True)
            return {
                "#map": [[encode(key, k, universe), encode(inner, v, universe)] for k, v in entries]
            }
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return [encode(listed.inner, item, universe) for item in value]
        case _, int() if not isinstance(value, bool) and abs(value) >= _LARGEST:
            return {"#bigint": str(value)}
        case _, bool() | int() | str():
            return value
        case _:
            raise TypeError(f"{value!r} is not a value of {kind}")


def decode(kind: t.Type, data: Json, universe: Universe) -> Value:
    """The inverse of `encode`. Raises ValueError with what was expected."""
    try:
        return _decode(kind, data, universe)
    except (KeyError, TypeError, IndexError, ValueError) as problem:
        raise ValueError(f"{text(data)} is not a value of {kind}") from problem


def _decode(kind: t.Type, data: Json, universe: Universe) -> Value:
    match kind, data:
        case ((t.Int() | t.Counter()), {"#bigint": str(digits)}):
            return int(digits)
        case ((t.Int() | t.Counter()), int()) if not isinstance(data, bool):
            return data
        case t.Bool(), bool():
            return data
        case t.Enum(members=members), str() if data in members:
            return data
        case t.Sort(name=name), str():
            return universe.sorts[name].index(data)
        case t.Option(), {"tag": "None"}:
            return None
        case t.Option(inner=inner), {"tag": "Some", "value": content}:
            return _decode(inner, content, universe)
        case t.Record(fields=fields), dict() if set(data) == {name for name, _ in fields}:
            return tuple(_decode(part, data[name], universe) for name, part in fields)
        case t.Union() as union, {"tag": str(tag), "value": dict(content)}:
            params = union.params(tag)
            return (tag, *(_decode(part, content[name], universe) for name, part in params))
        case t.Set(inner=inner), {"#set": list(members)}:
            return frozenset(_decode(inner, item, universe) for item in members)
        case t.Map(key=key, value=inner), {"#map": list(entries)}:
            found: dict[Value, Value] = {}
            for entry in entries:
                if not isinstance(entry, list):
                    raise TypeError(kind)
                found[_decode(key, entry[0], universe)] = _decode(inner, entry[1], universe)
            return tuple(found[k] for k in universe.domain(key))
        case (t.Seq() | t.Ranking()) as listed, list():
            return tuple(_decode(listed.inner, item, universe) for item in data)
        case _:
            raise TypeError(kind)
