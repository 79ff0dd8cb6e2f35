"""Names edits in messages."""

from __future__ import annotations

from typing import assert_never

from charter.syntax import nodes as sx


def place_text(at: sx.Address) -> str:
    """`controller.alter_partition/committed`."""
    text = at.head.text
    if at.operation is not None:
        text += f".{at.operation.text}"
    if at.branch is not None:
        text += f"/{at.branch.text}"
    return text


def address_text(edit: sx.Edit) -> str:
    """The rule that an edit changes: a name, or a place with `:label` for a conjunct, `:x'` for
    an update, `:let x`, `:pick x`, `:Class` for a fault, `/branch` for a branch."""
    match edit:
        case sx.Replace():
            return edit.declaration.name.text
        case sx.ReplaceBranch():
            return f"{place_text(edit.at)}/{edit.branch.name.text}"
        case sx.ReplaceOperation():
            return f"{place_text(edit.at)}.{edit.operation.name.text}"
        case sx.ReplaceFun():
            return edit.name.text
        case sx.ReplacePart():
            return f"{place_text(edit.at)}:{_part(edit.what, edit.name.text)}"
        case sx.AddFault():
            return f"{place_text(edit.at)}:{edit.fault.exception}"
        case sx.Drop():
            return _name_dropped(edit)
        case sx.Add():
            name = edit.declaration
            label = name.title if isinstance(name, sx.ScenarioDecl) else name.name.text
            if edit.at is None:
                return label
            return f"{place_text(edit.at)}{'/' if isinstance(name, sx.Branch) else '.'}{label}"
        case _:
            assert_never(edit)


def _name_dropped(edit: sx.Drop) -> str:
    if edit.at is None:
        return edit.name.text
    match edit.what:
        case "conjunct" | "update":
            return f"{place_text(edit.at)}:{_part(edit.what, edit.name.text)}"
        case _:
            return place_text(edit.at)


def _part(what: str, name: str) -> str:
    """The text behind the colon for a part of a rule."""
    match what:
        case "conjunct":
            return name
        case "update":
            return f"{name}'"
        case _:
            return f"{what} {name}"


def overlap(left: str, right: str) -> bool:
    """Whether one address is equal to the other or inside it (a conjunct is inside its branch)."""
    short, long = sorted((left, right), key=len)
    return long.startswith(short) and (len(long) == len(short) or long[len(short)] in "./:")
