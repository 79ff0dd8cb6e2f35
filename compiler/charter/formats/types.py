"""Parses types of replies and observations as a suite's manifest has them, and finds values that
are not of their type (docs/formats/vector.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.reading import BadVector
from charter.formats.resolve import Path
from charter.formats.spelling import suggest

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*|->|\.\.|[+-]?[0-9]+|[{}:,])")
_OPAQUE = re.compile(r"@-?[0-9]+")
_PRIMITIVES = frozenset({"bool", "int", "sort", "ordered", "opaque"})
_NUMBERS = frozenset({"int", "ordered", "opaque"})
_ONE_INSIDE = frozenset({"option", "set"})
_MOST = 8

Sorts = Mapping[str, Mapping[str, int]]
"""The elements of each sort with their concrete ids, as in a question."""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A type. `kind`: a primitive, `enum`, `option`, `set`, `list`, `map`, `record`, `union` or
    `name`. `parts` are the types inside: of a record by field, of a map key and value; `cases` are
    the records of a union's cases; `names` are the members of an enum, or the name that is meant
    (for a sort its own). In the types of parameters they are also the two limits of an `int`, and
    of a list its limit, or `distinct` if it has no value twice."""

    kind: str
    names: tuple[str, ...] = ()
    parts: tuple[tuple[str, DeclaredType], ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedTypes:
    """The types of a component's replies, by operation, and of its variables that observations
    show. `named` are the types that others mention by name. `state` are the types of all variables,
    whole, if labels depend on where a value is (docs/formats/vector.md)."""

    replies: Mapping[str, DeclaredType]
    observes: Mapping[str, DeclaredType]
    named: Mapping[str, DeclaredType]
    state: Mapping[str, DeclaredType] = field(default_factory=dict)

    def wrong_reply(self, operation: str, reply: Json, sorts: Sorts) -> str:
        """Why a reply is not of its type, with the path; "" if it is."""
        if operation not in self.replies:
            return ""
        return next(self._wrong(self.replies[operation], reply, ("reply",), sorts), "")

    def wrong_observation(self, observation: Json, sorts: Sorts) -> str:
        """Why an observation is not of its type, with the path; "" if it is. It may leave out
        variables."""
        if not isinstance(observation, dict):
            return f"the observation is {_text(observation)}, not an object"
        for name, value in observation.items():
            if name not in self.observes:
                return (
                    f"{name} is not a variable that observations show{_like(name, self.observes)}"
                )
            for wrong in self._wrong(self.observes[name], value, (name,), sorts):
                return wrong
        return ""

    def numbers(
        self, shape: DeclaredType, value: Json, path: Path = ()
    ) -> Iterator[tuple[Path, str, Json]]:
        """The integers, counters and opaque values in a value of a type that a path can name
        (members of sets cannot): path, name of the type, value."""
        match shape.kind:
            case "name":
                (name,) = shape.names
                inner = self.named[name]
                if inner.kind in _NUMBERS:
                    yield path, name, value
                else:
                    yield from self.numbers(inner, value, path)
            case "int":
                yield path, "int", value
            case "option" if value is not None:
                yield from self.numbers(shape.parts[0][1], value, path)
            case "list" if isinstance(value, list):
                for number, item in enumerate(value):
                    yield from self.numbers(shape.parts[0][1], item, (*path, number))
            case "map" if isinstance(value, dict):
                for key, item in value.items():
                    yield from self.numbers(shape.parts[1][1], item, (*path, key))
            case "record" if isinstance(value, dict):
                for field, part in shape.parts:
                    yield from self.numbers(part, value[field], (*path, field))
            case "union" if isinstance(value, dict):
                case = dict(shape.parts)[str(value["case"])]
                yield from self.numbers(case, value, path)
            case _:
                pass

    def fields(self, path: str, *, keyless: bool = False) -> tuple[str, ...]:
        """The variable and the fields on a path into an observation, without keys of maps: of
        `partition.t1.elr` they are `partition` and `elr`. It ends where the types know no more.
        `keyless`: the path has no keys, as `partition.elr`."""
        found: list[str] = []
        shape = DeclaredType("record", (), tuple(self.observes.items()))
        for part in path.split("."):
            shape = self._strip(shape)
            while shape.kind == "map" and keyless:
                shape = self._strip(shape.parts[1][1])
            if shape.kind == "map":
                shape = shape.parts[1][1]
                continue
            cases = shape.parts if shape.kind == "union" else (("", shape),)
            inner = [kind for _, case in cases for name, kind in case.parts if name == part]
            if not inner:
                break
            found.append(part)
            shape = inner[0]
        return tuple(found)

    def _strip(self, shape: DeclaredType) -> DeclaredType:
        """A type without its name and without `option`."""
        while shape.kind in ("option", "name"):
            shape = self.named[shape.names[0]] if shape.kind == "name" else shape.parts[0][1]
        return shape

    def _wrong(
        self, shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
    ) -> Iterator[str]:
        match shape.kind:
            case "name":
                yield from self._wrong(self.named[shape.names[0]], value, path, sorts)
            case "option":
                if value is not None:
                    yield from self._wrong(shape.parts[0][1], value, path, sorts)
            case "set" | "list":
                yield from self._wrong_items(shape, value, path, sorts)
            case "map":
                yield from self._wrong_entries(shape, value, path, sorts)
            case "record":
                yield from self._wrong_fields(shape, value, path, sorts)
            case "union":
                yield from self._wrong_case(shape, value, path, sorts)
            case _:
                yield from _wrong_primitive(shape, value, path, sorts)

    def _wrong_items(
        self, shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
    ) -> Iterator[str]:
        if not isinstance(value, list):
            yield _explain(path, value, "an array")
            return
        if shape.kind == "set" and (repeated := _twice(value)):
            yield _explain(path, value, f"a set: it has {repeated} twice")
        for number, item in enumerate(value):
            yield from self._wrong(shape.parts[0][1], item, (*path, str(number)), sorts)

    def _wrong_entries(
        self, shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
    ) -> Iterator[str]:
        (_, key), (_, inner) = shape.parts
        keys = self._keys(key, sorts)
        if keys is None:
            pair = DeclaredType("record", (), (("0", key), ("1", inner)))
            for number, item in enumerate(value if isinstance(value, list) else ()):
                parts = dict(enumerate(item)) if isinstance(item, list) else {}
                named = {str(place): part for place, part in parts.items()}
                yield from self._wrong_fields(pair, named, (*path, str(number)), sorts)
            if not isinstance(value, list):
                yield _explain(path, value, "an array of pairs")
            elif repeated := _twice([item[0] for item in value if isinstance(item, list) and item]):
                yield _explain(path, value, f"a map: it has the key {repeated} twice")
            return
        fields = DeclaredType("record", (), tuple((name, inner) for name in keys))
        yield from self._wrong_fields(fields, value, path, sorts)

    def _keys(self, key: DeclaredType, sorts: Sorts) -> tuple[str, ...] | None:
        """All keys of a map that is written as an object; None for one that is an array."""
        shape = self.named[key.names[0]] if key.kind == "name" else key
        match shape.kind:
            case "sort":
                return tuple(sorts.get(shape.names[0], ()))
            case "enum":
                return shape.names
            case "bool":
                return ("true", "false")
            case _:
                return None

    def _wrong_fields(
        self, shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
    ) -> Iterator[str]:
        if not isinstance(value, dict):
            yield _explain(path, value, "an object")
            return
        fields = dict(shape.parts)
        for name in value:
            if name not in fields:
                yield f"{'.'.join((*path, name))} is not known to the charter{_like(name, fields)}"
        for name, inner in fields.items():
            if name not in value:
                yield f"{'.'.join((*path, name))} is missing"
            else:
                yield from self._wrong(inner, value[name], (*path, name), sorts)

    def _wrong_case(
        self, shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
    ) -> Iterator[str]:
        cases = dict(shape.parts)
        case = value.get("case") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(case, str):
            yield _explain(path, value, f'an object with a "case" ({_some(cases)})')
        elif case not in cases:
            yield _explain((*path, "case"), case, f"one of {_some(cases)}", _like(case, cases))
        else:
            rest = {name: item for name, item in value.items() if name != "case"}
            yield from self._wrong_fields(cases[case], rest, path, sorts)


def _wrong_primitive(
    shape: DeclaredType, value: Json, path: tuple[str, ...], sorts: Sorts
) -> Iterator[str]:
    names: tuple[str, ...] = ()
    match shape.kind:
        case "bool":
            fine, wanted = isinstance(value, bool), "true or false"
        case "int":
            fine, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
        case "ordered":
            fine = isinstance(value, str) and _OPAQUE.fullmatch(value) is not None
            wanted = 'an opaque counter such as "@17"'
        case "opaque":
            fine, wanted = (
                isinstance(value, str) and value[:1] == "~",
                'an opaque text such as "~a"',
            )
        case _:
            names = tuple(sorts.get(shape.names[0], ())) if shape.kind == "sort" else shape.names
            sort = f"an element of {shape.names[0]}: " if shape.kind == "sort" else "one of "
            fine, wanted = isinstance(value, str) and value in names, sort + _some(names)
    if not fine:
        like = suggest(value, names) if shape.kind == "enum" and isinstance(value, str) else ""
        yield _explain(path, value, wanted, like and f"; {like}")


def _twice(items: Sequence[Json]) -> str:
    """The first of some values that was there before; "" if there is none."""
    seen: set[str] = set()
    for item in items:
        text = canonical.text(item)
        if text in seen:
            return _text(item)
        seen.add(text)
    return ""


def _explain(path: tuple[str, ...], value: Json, wanted: str, like: str = "") -> str:
    return f"{'.'.join(path)} is {_text(value)}, not {wanted}{like}"


def _text(value: Json) -> str:
    text = canonical.text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _some(names: Mapping[str, DeclaredType] | tuple[str, ...]) -> str:
    shown = [*names][:_MOST]
    return ", ".join(shown) + (", …" if len(names) > _MOST else "")


def _like(name: str, known: Mapping[str, DeclaredType]) -> str:
    like = suggest(name, known)
    return like and f"; {like}"


# --- the text of a type ---------------------------------------------------------------------------


def read_types(value: Json, where: str) -> JudgedTypes:
    """The `types` of a manifest. Raises `BadVector`."""
    if not isinstance(value, dict) or value.keys() - {"state"} != {"replies", "observes", "names"}:
        raise BadVector(f"{where}: not an object with replies, observes and names")
    named = _read(value["names"], f"{where}.names")
    named = {
        name: DeclaredType("sort", (name,)) if shape.kind == "sort" else shape
        for name, shape in named.items()
    }
    replies = _read(value["replies"], f"{where}.replies")
    observes = _read(value["observes"], f"{where}.observes")
    state = _read(value["state"], f"{where}.state") if "state" in value else {}
    for shape in (*named.values(), *replies.values(), *observes.values(), *state.values()):
        _check_names(shape, named, where)
    _check_finite(named, where)
    types = JudgedTypes(replies, observes, named, state)
    if "state" not in value:
        _check_labels(types, where)
    return types


def _check_finite(named: Mapping[str, DeclaredType], where: str) -> None:
    """Raises `BadVector` for a type that contains itself."""
    inside = {name: set(_list_mentioned(shape)) for name, shape in named.items()}
    while inside:
        ended = {name for name, rest in inside.items() if not rest}
        if not ended:
            raise BadVector(f"{where}: the type {min(inside)} contains itself")
        inside = {name: rest - ended for name, rest in inside.items() if name not in ended}


def _list_mentioned(shape: DeclaredType) -> Iterator[str]:
    if shape.kind == "name":
        yield shape.names[0]
    for _, part in shape.parts:
        yield from _list_mentioned(part)


def _check_labels(types: JudgedTypes, where: str) -> None:
    """Raises `BadVector` for a suite of an earlier version whose labels count over several types,
    which compares values that have nothing to do with each other, or depend on the order of texts
    that an implementation chooses."""
    named = types.named
    for kind in ("ordered", "opaque"):
        alike = [name for name, shape in named.items() if shape.kind == kind]
        if len(alike) > 1:
            raise BadVector(
                f"{where}: an earlier version made this suite; its answers compare values of"
                f" {', '.join(alike[:-1])} with values of {alike[-1]}, which is wrong"
            )
    for shape in (*named.values(), *types.replies.values(), *types.observes.values()):
        if _has_unsorted(shape, named):
            raise BadVector(
                f"{where}: an earlier version made this suite; its answers compare the order of"
                " opaque values in a set, which have none"
            )


def _has_unsorted(shape: DeclaredType, named: Mapping[str, DeclaredType]) -> bool:
    """Whether a set, or the keys of a map, hold opaque values without order. Types that are
    mentioned by name are not entered here."""
    keys = {"set": shape.parts, "map": shape.parts[:1]}.get(shape.kind, ())
    return any(_has_opaque(key, named) for _, key in keys) or any(
        _has_unsorted(part, named) for _, part in shape.parts
    )


def _has_opaque(shape: DeclaredType, named: Mapping[str, DeclaredType]) -> bool:
    if shape.kind == "name":
        return _has_opaque(named[shape.names[0]], named)
    return shape.kind == "opaque" or any(_has_opaque(part, named) for _, part in shape.parts)


def _read(value: Json, where: str) -> dict[str, DeclaredType]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise BadVector(f"{where}: not an object of texts")
    return {name: _parse(str(text), f"{where}.{name}") for name, text in value.items()}


def _check_names(shape: DeclaredType, named: Mapping[str, DeclaredType], where: str) -> None:
    if shape.kind == "name" and shape.names[0] not in named:
        raise BadVector(f"{where}: there is no type {shape.names[0]}")
    for _, part in shape.parts:
        _check_names(part, named, where)


def parse_type(text: str, where: str) -> DeclaredType:
    """A type from its text. Raises `BadVector`."""
    return _parse(text, where)


def _parse(text: str, where: str) -> DeclaredType:
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise BadVector(f"{where}: {text!r} is not a type")
    tokens.reverse()
    try:
        shape = _type(tokens)
    except (IndexError, ValueError):
        raise BadVector(f"{where}: {text!r} is not a type") from None
    if tokens:
        raise BadVector(f"{where}: {text!r} is not a type")
    return shape


def _type(tokens: list[str]) -> DeclaredType:
    """The type that begins at the end of the reversed tokens, which it takes away."""
    word = tokens.pop()
    if word == "int" and tokens and tokens[-1] != "->" and tokens[-1] not in "},":
        low = _limit(tokens)
        _expect(tokens, "..")
        return DeclaredType("int", (low, _limit(tokens)))
    if word in _PRIMITIVES:
        return DeclaredType(word)
    if word == "list":
        names = tuple(_list_limits(tokens))
        return DeclaredType("list", names, (("", _type(tokens)),))
    if word in _ONE_INSIDE:
        return DeclaredType(word, (), (("", _type(tokens)),))
    match word:
        case "map":
            key = _type(tokens)
            _expect(tokens, "->")
            return DeclaredType("map", (), (("key", key), ("value", _type(tokens))))
        case "{":
            return DeclaredType("record", (), tuple(_fields(tokens)))
        case "enum":
            return DeclaredType("enum", tuple(_list_tokens(tokens)))
        case "union":
            return DeclaredType("union", (), tuple(_cases(tokens)))
        case _ if word.isidentifier():
            return DeclaredType("name", (word,))
        case _:
            raise ValueError(word)


def _limit(tokens: list[str]) -> str:
    """A number, a constant, or a constant and a number."""
    first = tokens.pop()
    if first[0] in "+-" or first.isdigit() or not tokens or tokens[-1][0] not in "+-":
        return first
    return first if tokens[-1] == "->" else first + tokens.pop()


def _list_limits(tokens: list[str]) -> Iterator[str]:
    if tokens[-1] == "..":
        tokens.pop()
        yield _limit(tokens)
    elif tokens[-1] == "distinct" and len(tokens) > 1 and tokens[-2] not in "},":
        yield tokens.pop()


def _expect(tokens: list[str], wanted: str) -> None:
    if tokens.pop() != wanted:
        raise ValueError(wanted)


def _fields(tokens: list[str]) -> Iterator[tuple[str, DeclaredType]]:
    while tokens[-1] != "}":
        name = tokens.pop()
        _expect(tokens, ":")
        yield name, _type(tokens)
        if tokens[-1] == ",":
            tokens.pop()
    tokens.pop()


def _list_tokens(tokens: list[str]) -> Iterator[str]:
    yield tokens.pop()
    while tokens and tokens[-1] == ",":
        tokens.pop()
        yield tokens.pop()


def _cases(tokens: list[str]) -> Iterator[tuple[str, DeclaredType]]:
    for name in _list_tokens(tokens):  # it goes on behind each case
        _expect(tokens, "{")
        yield name, DeclaredType("record", (), tuple(_fields(tokens)))
