"""Makes an operation of an edit that says what an image shows of a variable.

The judge alone asks for it: its arguments are those of the operation after which the image is
computed and two values of the variable, its reply is a third one. So it is checked, and printed in
models, as any other operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from charter.check.edits.edit_targets import OtherT
from charter.check.edits.rewrite import fill
from charter.formats.image import LAST_IMAGE, NEXT_IMAGE, image_operation
from charter.syntax import nodes as sx


def with_image(
    members: Sequence[OtherT], edit: sx.ReplacePart, variable: sx.StateDecl, of: sx.Operation
) -> tuple[OtherT | sx.Operation, ...]:
    """The members of a component with the operation that replies what an image shows of `variable`
    after `of`. If an edit before has made it, `replaced` is what that one says."""
    name = image_operation(of.name.text, variable.name.text)
    for position, member in enumerate(members):
        match member:
            case sx.Operation(body=(sx.Branch(body=(sx.Reply(value=old),)),)) if (
                member.name.text == name
            ):
                again = _made(edit, member, old)
                return (*members[:position], again, *members[position + 1 :])
            case _:
                pass
    made = replace(
        of,
        name=replace(of.name, text=name),
        params=(*of.params, *(_param(text, variable, edit) for text in (LAST_IMAGE, NEXT_IMAGE))),
        result=variable.type,
        citations=(),
        alias="",
        comments=(),
    )
    return (*members, _made(edit, made, sx.Ident(NEXT_IMAGE, span=edit.span)))


def _param(text: str, variable: sx.StateDecl, edit: sx.ReplacePart) -> sx.Param:
    return sx.Param(sx.Name(text, span=edit.name.span), variable.type, span=edit.name.span)


def _made(edit: sx.ReplacePart, operation: sx.Operation, old: sx.Expr) -> sx.Operation:
    """The operation, whose reply is the new text of the edit, with `old` for `replaced`."""
    reply = sx.Reply(fill(edit.value, old), span=edit.value.span)
    branch = sx.Branch(replace(edit.name, text="shown"), (), (), (reply,), span=edit.span)
    return replace(operation, body=(branch,), span=edit.span)
