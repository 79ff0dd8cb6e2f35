"""Writes the generated comments, apart from the charter's own comments."""

from __future__ import annotations

from typing import assert_never

from charter.core import types as t
from charter.render.adapters.interface import OBSERVED, Interface, Named


def _about(named: Named) -> str:
    match named:
        case t.Sort():
            return "the name of an element of a sort, as the judge calls it."
        case t.Counter(opaque=False):
            return "a counter."
        case t.Counter(ordered=True):
            return "a number that the implementation allots: equality and order count."
        case t.Counter():
            return "a text that the implementation allots: only equality counts."
        case t.Enum():
            return "an enum of the charter."
        case t.Record(name=name) if name.startswith(OBSERVED):
            return "what an observation shows of a record."
        case t.Record():
            return "a record of the charter."
        case t.Union(cases=cases):
            return f"one of {', '.join(f'`{tag}`' for tag, _ in cases)}."
        case _:
            assert_never(named)


def type_doc(seen: Interface, named: Named, subject: str = "") -> str:
    """The comment of the charter on a type, and what kind of type it is; that of a record or an
    enum is seen from its declaration. `subject` is the name, where comments begin with it."""
    own = seen.docs.get(named.name, "")
    if own and isinstance(named, t.Record | t.Enum):
        return own
    return join(sentence(_about(named), f"{subject} is" if subject else ""), own)


def sentence(text: str, subject: str = "") -> str:
    """A text as a sentence: after its subject, or with a capital."""
    return f"{subject} {text}" if subject else text[:1].upper() + text[1:]


def join(*parts: str) -> str:
    """Paragraphs, without the empty ones."""
    return "\n\n".join(part for part in parts if part)


ADAPTER = "what you write: it drives one implementation of the component {}."
START = (
    "clears everything of earlier questions, and configures the implementation with the constants"
    " of this one. A given state is loaded if the adapter claims `load`."
)
OBSERVE = "returns the state as it is."
IMAGE = "lets a second reader of the same history catch up, and returns its state (`image`)."
HELLO = "is called once, before all else, with what the judge says of the release."
ABOUT = "what hello says of an adapter that performs all operations and shows all variables."
OBSERVATION = "what the adapter shows of the state."
GIVEN = "a durable state to start from."
CONSTS = "the values of the charter's constants."
SORTS = "the ids in the implementation of the elements of each sort."
QUESTION = "what a question starts with. Without a given state it starts from nothing."
