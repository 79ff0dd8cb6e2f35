"""Fills the templates of adapters."""

from __future__ import annotations

from charter.render.adapters import docs
from charter.render.adapters.interface import Interface
from charter.render.text import environment


def fill(template: str, page: object, seen: Interface) -> str:
    """The text of a file; `page` has the parts in its language."""
    found = environment("charter.render.adapters").get_template(template)
    return found.render(page=page, seen=seen, docs=docs)
