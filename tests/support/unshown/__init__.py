"""Holds a charter of a server that hides state, and mistakes in it that no reply shows at once."""

from __future__ import annotations

from pathlib import Path

SERVER = Path(__file__).parent / "server.charter"
MISTAKES = {
    "answers_what_does_not_match": (
        "pending' = pending | {refused(size(log))}\n      reply false\n    }\n    branch full",
        "pending' = pending | {if before <= size(log) then stored(before) else refused(size(log))}"
        "\n      reply false\n    }\n    branch full",
    ),
    "counts_old_votes": (
        "late when past: of != term or role == follower",
        "late when past: role == follower",
    ),
    "counts_old_acknowledgements": (
        "late when past: of != term or role != leader",
        "late when past: role != leader",
    ),
}
"""What a rule says, and what it says in the mistake."""


def with_mistake(name: str) -> str:
    """The text of the charter with one of the mistakes."""
    text, (rule, instead) = SERVER.read_text(encoding="utf-8"), MISTAKES[name]
    assert text.count(rule) == 1
    return text.replace(rule, instead)
