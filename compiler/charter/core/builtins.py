"""Lists the built-in functions and their primitives with their traits. Other modules read traits
and list no names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from typing import Literal as OneOf

BuiltinName = OneOf[
    "size",  # of a set, sequence or ranking: int
    "value",  # of an option; fails on none
    "default",  # default(option, otherwise)
    "bump",  # the next value of a counter
    "set",  # the members of a sequence or ranking
    "first", "last",  # of a sequence or ranking: option
    "append",  # append(sequence or ranking, item); fails past the limit; a ranking keeps one copy
    "remove",  # remove(ranking, item), without it
    "concat",  # of sequences, fails past the limit; of rankings: the second's new items come behind
    "keep",  # keep(sequence or ranking, set): the items that are in the set, in their order
    "take", "drop",  # take(sequence, n): the first n; drop: all but those; n may exceed the size
    "at",  # at(sequence or ranking, position): option
    "item",  # sequence[position]; fails outside
    "starts_with",  # starts_with(sequence, other): whether its first items are those of the other
    "min", "max",  # of a set of ints or counters, fails on empty; or of two ints or counters
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Traits:
    """What other modules read about a built-in function.

    `arity`: how many arguments it takes. `takes`: of which types, as a message says it. `order`: it
    reads its first argument by position, or makes a list in an order of its own. `built_of`: for a
    function that makes a list longer, whether each argument gives its items or is one itself.
    `picks`: it compares its arguments, or the members of the only one, and gives one of them.
    `is_comparison`: it says whether items of its arguments are equal. `is_update`: it changes its
    first argument, and a mistake is to leave that out. `opposite`: a mistake is to call this one.
    """

    arity: tuple[int, ...]
    takes: str
    order: OneOf["", "read", "made"] = ""
    built_of: tuple[OneOf["items", "item"], ...] = ()
    picks: OneOf["", "least", "greatest"] = ""
    is_comparison: bool = False
    is_update: bool = False
    opposite: BuiltinName | None = None

    @property
    def grows(self) -> bool:
        """Whether it makes a list longer; with a sequence it fails past the limit."""
        return bool(self.built_of)


LIST: Final = "a sequence or a ranking"

BUILTINS: Final[Mapping[BuiltinName, Traits]] = {
    "size": Traits((1,), "a set, a sequence or a ranking"),
    "value": Traits((1,), "an option"),
    "default": Traits((2,), "an option"),
    "bump": Traits((1,), "a counter", is_update=True),
    "set": Traits((1,), LIST),
    "first": Traits((1,), LIST, order="read", opposite="last"),
    "last": Traits((1,), LIST, order="read", opposite="first"),
    "append": Traits((2,), LIST, order="made", built_of=("items", "item"), is_update=True),
    "remove": Traits((2,), "a ranking", is_update=True),
    "concat": Traits(
        (2,), "two sequences or two rankings", order="made", built_of=("items", "items")
    ),
    "keep": Traits((2,), "a sequence or a ranking, and a set", order="made", is_update=True),
    "take": Traits((2,), "a sequence", order="read"),
    "drop": Traits((2,), "a sequence", order="read"),
    "at": Traits((2,), LIST, order="read"),
    "item": Traits((2,), LIST, order="read"),
    "starts_with": Traits((2,), "two sequences", order="read", is_comparison=True),
    "min": Traits((1, 2), "numbers, or a set of them", picks="least", opposite="max"),
    "max": Traits((1, 2), "numbers, or a set of them", picks="greatest", opposite="min"),
}

PrimitiveName = OneOf[
    "size",  # of a set, sequence or ranking
    "least", "greatest",  # member of a set that is not empty, in the order of its type
    "set",  # the members of a sequence or ranking
    "nth",  # nth(sequence or ranking, position), which is inside
    "join",  # of sequences, fails past the limit; of rankings with no common item
    "keep",  # keep(sequence or ranking, set): the items that are in the set, in their order
    "take", "drop",  # take(sequence, n): the first n; drop: all but those; n may exceed the size
]  # fmt: skip

FAIL_PAST_LIMIT: Final[frozenset[PrimitiveName]] = frozenset({"join"})
"""The primitives that have no value where a sequence grows too long. The others always have one."""
