"""Finds the parser's position when it fails, and the frequent mistake that matches it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LETTERS: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Stuck:
    """The position where the parser failed: the token there ("" at the end of the file), up to
    eight tokens before it, the rest of its line, and the tokens that were acceptable (as the
    grammar writes them: `if`, `NAME`)."""

    text: str
    before: tuple[str, ...]
    behind: str
    accepted: frozenset[str]

    @property
    def last(self) -> str:
        """The token before; "" at the beginning."""
        return self.before[-1] if self.before else ""

    @property
    def second_last(self) -> str:
        """The token before that one; "" if there is none."""
        return self.before[-2] if len(self.before) > 1 else ""

    @property
    def word(self) -> str:
        """The letters right behind the token."""
        found = LETTERS.match(self.behind)
        return found.group() if found else ""

    def expects(self, *tokens: str) -> bool:
        """Whether one of `tokens` was acceptable here."""
        return any(token in self.accepted for token in tokens)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A frequent mistake: its message and hint, `examples` that contain it (text behind a
    `protocol` line, or `whole` files), and a test whether it was `made`. It is shown at the token
    where the parser failed, or `back` tokens before it."""

    message: str
    hint: str
    examples: tuple[str, ...]
    made: Callable[[Stuck], bool]
    whole: bool = False
    back: int = 0
