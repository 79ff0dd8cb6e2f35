"""Values as text, and the differences between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.formats import canonical
from charter.formats.canonical import Json

ABSENT = "—"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a displayed value. `differs`: the other side does not have it."""

    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of a step. `kind` is `differs` (observed is not the expected value), `changed`
    (both changed to the same value) or `same`."""

    path: str
    before: tuple[Token, ...]
    expected: tuple[Token, ...]
    observed: tuple[Token, ...]
    kind: str


def shown(value: Json, ordered: bool = False) -> str:
    """A value on one line, as the charter writes it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inner = ", ".join(shown(item) for item in value)
        return f"⟨{inner}⟩" if ordered else "{" + inner + "}"
    if isinstance(value, dict):
        return _object(value)
    return str(value)


def _object(value: Mapping[str, Json]) -> str:
    if "ref" in value and isinstance(value["ref"], list):
        return _reference(value["ref"], value.get("plus"), "in" in value)
    if value == {"never_issued": True}:
        return "never issued"
    fields = ", ".join(f"{name}: {shown(item)}" for name, item in value.items() if name != "case")
    if "case" in value:
        return f"{shown(value['case'])}({fields})" if fields else shown(value["case"])
    return "{" + fields + "}"


def _reference(path: Sequence[Json], plus: Json, in_reply: bool) -> str:
    step, *rest = path
    where = ".".join(str(part) for part in rest)
    added = f" {'+' if plus > 0 else '−'} {abs(plus)}" if isinstance(plus, int) and plus else ""
    if in_reply:
        return f"{where} of the reply to step {step}{added}"
    return f"{where} after step {step}{added}" if step else f"{where} at the start{added}"


def call_text(
    operation: str, args: Mapping[str, Json], ordered: frozenset[str] = frozenset()
) -> str:
    """An operation with its arguments; those in `ordered` are rankings."""
    parts = [f"{name}: {shown(arg, name in ordered)}" for name, arg in args.items()]
    return f"{operation}({', '.join(parts)})"


def flat(value: Json, at: str = "") -> dict[str, Json]:
    """The fields of a value, by path. Arrays, references and scalars are not split further."""
    if isinstance(value, dict) and value:
        found: dict[str, Json] = {}
        for name, item in value.items():
            found.update(flat(item, f"{at}.{name}" if at else name))
        return found
    return {at: value}


def rows(
    before: Json, expected: Json | None, observed: Json | None, ordered: frozenset[str]
) -> tuple[FieldRow, ...]:
    """All fields of `{"reply", "observation", ...}` values of one step, those that differ first.

    `before` is the previous observation; `expected` is None if nothing is expected or known.
    """
    old = {f"observation.{path}": item for path, item in flat(before).items() if path}
    wanted = None if expected is None else flat(expected)
    got = flat(observed)
    names = dict.fromkeys([*got, *(wanted or {}), *old])
    return tuple(_row(name, (old, wanted, got), ordered) for name in sorted(names, key=_reply_last))


def _reply_last(path: str) -> tuple[bool, str]:
    return not path.startswith("reply"), path


Sides = tuple[Mapping[str, Json], Mapping[str, Json] | None, Mapping[str, Json]]


def _row(path: str, sides: Sides, ordered: frozenset[str]) -> FieldRow:
    old, wanted, got = sides
    sequence = path.rpartition(".")[2] in ordered
    differs = wanted is not None and _text(wanted, path) != _text(got, path)
    changed = not path.startswith("reply") and _text(old, path) != _text(got, path)
    left = tokens(wanted, path, got, sequence) if wanted is not None else ()
    return FieldRow(
        path=path.removeprefix("observation."),
        before=tokens(old, path, old, sequence) if not path.startswith("reply") else (),
        expected=left,
        observed=tokens(got, path, wanted if wanted is not None else got, sequence),
        kind="differs" if differs else "changed" if changed else "same",
    )


def _text(values: Mapping[str, Json], path: str) -> str | None:
    return canonical.text(values[path]) if path in values else None


def tokens(
    values: Mapping[str, Json], path: str, other: Mapping[str, Json], ordered: bool
) -> tuple[Token, ...]:
    """One side of a field as pieces; those that the other side does not have are marked."""
    if path not in values:
        return (Token(ABSENT, path in other),)
    value, against = values[path], other.get(path)
    whole = _text(values, path) != _text(other, path)
    if not isinstance(value, list) or not isinstance(against, list) or ordered or not value:
        return (Token(shown(value, ordered), whole),)
    return tuple(_items(value, against))


def _items(value: Sequence[Json], against: Sequence[Json]) -> Iterator[Token]:
    held = {canonical.text(item) for item in against}
    yield Token("{")
    for position, item in enumerate(value):
        if position:
            yield Token(", ")
        yield Token(shown(item), canonical.text(item) not in held)
    yield Token("}")
