"""Suggests the known name that a wrong one probably means."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], least: float = 0.6) -> str:
    """The most similar known name, or "" if none is similar; `least` is how much, at most 1.
    Capitals count, unless nothing is similar with them."""
    from difflib import get_close_matches  # adapters start often, and few misspell

    names = [*known]
    like = get_close_matches(word, names, 1, least)
    if not like:
        lower = {name.lower(): name for name in reversed(names)}
        like = [lower[found] for found in get_close_matches(word.lower(), [*lower], 1, least)]
    return next(iter(like), "")


def suggest(word: str, known: Iterable[str]) -> str:
    """`did you mean X?` with the most similar known name, or ""."""
    like = nearest(word, known)
    return f"did you mean {like}?" if like else ""
