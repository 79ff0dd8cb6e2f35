"""Says how an instance was searched, beside a table of what was found."""

from __future__ import annotations

from conform.console.terminal import number, say


def say_how(instance: str, states: int, complete: bool, why_slow: str) -> None:
    """Says of an instance that the definition searched it, and why, and that there are more
    states."""
    if why_slow:
        say(f"{instance} was searched by the slow engine: {why_slow}")
    if not complete:
        say(f"{instance} has more than {number(states)} states; --most searches more")
