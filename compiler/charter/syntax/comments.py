"""Which declaration or statement each comment belongs to. None is lost.

A comment on a line of its own goes to the next item inside the item that surrounds it; the last
ones before a closing brace, or before the end of the file, are `closing`. A comment at the end of a
line goes to the item that ends there or opens its brace there. All others, those inside an
expression above all, go above the item that they stand in.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remarks:
    """The comments of one item; see `charter.syntax.nodes.Item`."""

    comments: tuple[str, ...] = ()
    trailing: str = ""
    closing: tuple[str, ...] = ()
