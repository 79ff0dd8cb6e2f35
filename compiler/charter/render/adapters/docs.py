"""What the generated comments say about a type, apart from the charter's own comments."""

from __future__ import annotations

from typing import assert_never

from charter.core import types as t
from charter.render.adapters.interface import OBSERVED, Interface, Named


def about(named: Named, name: str) -> str:
    """One sentence about a type that is called `name` in another language."""
    match named:
        case t.Sort():
            return f"{name} is the name of an element of a sort, as the judge calls it."
        case t.Counter(opaque=False):
            return f"{name} is a counter."
        case t.Counter(ordered=True):
            return f"{name} is a number that the implementation allots: equality and order count."
        case t.Counter():
            return f"{name} is a text that the implementation allots: only equality counts."
        case t.Enum():
            return f"{name} is an enum of the charter."
        case t.Record(name=declared) if declared.startswith(OBSERVED):
            return f"{name} is what an observation shows of a record."
        case t.Record():
            return f"{name} is a record of the charter."
        case t.Union():
            return f"{name} is one of several cases."
        case _:
            assert_never(named)


def type_doc(seen: Interface, named: Named, name: str) -> str:
    """`about`, then the comment of the charter."""
    return joined(about(named, name), seen.docs.get(named.name, ""))


def joined(*parts: str) -> str:
    """Paragraphs, without the empty ones."""
    return "\n\n".join(part for part in parts if part)


ADAPTER = "Adapter is what you write: it drives one implementation of the component {}."
START = (
    "Start clears everything of earlier questions, and configures the implementation with the"
    " constants of this one. A given state is loaded if the adapter claims `load`."
)
OBSERVE = "Observe returns the state as it is."
OBSERVATION = "Observation is what the adapter shows of the state."
GIVEN = "Given is a durable state to start from."
CONSTS = "Consts are the values of the charter's constants."
SORTS = "Sorts maps the elements of each sort to their ids in the implementation."
QUESTION = "Question is what Start gets. Given is empty if the question starts from nothing."
