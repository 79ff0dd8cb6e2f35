"""A run searches after few vectors that change hidden state in the same way."""

from __future__ import annotations

import orjson

from conform.judging.verdict import VectorItem
from conform.runs.followed.find_effects import QUESTIONS_OF_CHANGE_MAX, choose_new_changes


def choose(*changes):
    """The positions of the questions that are chosen, by the change that each of them makes."""
    items = {
        str(number): VectorItem(str(number), orjson.dumps({"change": change}), b"", b"{}", "")
        for number, change in enumerate(changes)
    }

    def list_changes(question):
        return [("renew/kept", "holders", question["change"])]

    return [int(name) for name, _ in choose_new_changes(items, list_changes)]


def test_few_questions_are_chosen_when_changes_are_equal_up_to_names_and_numbers():
    same = [[[], [f"c{number}", f"@{number}"]] for number in range(QUESTIONS_OF_CHANGE_MAX + 3)]
    assert choose(*same) == [*range(QUESTIONS_OF_CHANGE_MAX)]


def test_another_change_is_chosen_when_earlier_ones_are_enough():
    one, other = [["c1"], ["c1", "c2"]], [["c1"], ["c2"]]
    assert choose(*[one] * 9, other, None)[QUESTIONS_OF_CHANGE_MAX:] == [9, 10]
