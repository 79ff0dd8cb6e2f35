"""Every file keeps every rule of the house, and every rule can be broken."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.tidy.house import RATCHET, ROOT, File, Rule, breaches, texts
from tests.tidy.rules_of_builtins import (
    COMPILER,
    OF_BUILTINS,
    OF_OTHER_THINGS,
    OF_PRIMITIVES,
    lists,
)
from tests.tidy.rules_of_code import FILE_LINES, FUNCTION_LINES
from tests.tidy.rules_of_text import CHARTER_LINES
from tests.tidy.scan import RULES, scan

SLACK = 20


@pytest.mark.xdist_group("rules")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_files_keep_the_rule_when_all_are_read(rule: Rule) -> None:
    assert any(rule.holds(file.path) for file in texts()), "the rule meets no file"
    found = scan().breaches[rule.name]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_the_rule_speaks_when_a_file_breaks_it(rule: Rule) -> None:
    path, text = rule.bad
    assert breaches([rule], [File(path, text)])[rule.name]


def loose(limits: Mapping[str, int], lengths: Mapping[str, int]) -> list[str]:
    """The files of a ratchet that are short enough without it, or well below their limit."""
    return [
        path
        for path, limit in limits.items()
        if lengths[path] <= FILE_LINES or limit >= lengths[path] + SLACK
    ]


def test_the_ratchet_holds_only_what_is_still_too_long_when_a_file_shrinks() -> None:
    limits = RATCHET["file_lines"]
    lengths = {path: len((ROOT / path).read_text("utf-8").splitlines()) for path in limits}
    assert not loose(limits, lengths), "take it off the ratchet, or lower its number"
    for limit in RATCHET["function_lines"].values():
        assert limit > FUNCTION_LINES
    for path in RATCHET["long_charters"]["one_block"]:
        assert len((ROOT / path).read_text("utf-8").splitlines()) > CHARTER_LINES, path


def test_the_ratchet_is_refused_when_a_file_is_short_enough_or_has_shrunk() -> None:
    length = FILE_LINES + 100
    limits = {"short.py": length, "shrunk.py": length + SLACK, "long.py": length}
    lengths = {"short.py": FILE_LINES, "shrunk.py": length, "long.py": length}
    assert loose(limits, lengths) == ["short.py", "shrunk.py"]


def lists_in(path: str) -> set[str]:
    """The functions of a compiler's file that list built-in functions."""
    file = File(path, (ROOT / COMPILER / path).read_text("utf-8"))
    return {function for _, function in lists(file)}


def test_files_that_may_list_built_in_functions_do_so_when_they_are_read() -> None:
    assert len(OF_BUILTINS) == len(OF_PRIMITIVES) == 5
    assert all(lists_in(path) for path in (*OF_BUILTINS, *OF_PRIMITIVES))
    for path, functions in OF_OTHER_THINGS.items():
        assert lists_in(path) == set(functions), path


@pytest.mark.parametrize(
    "text",
    [
        "NAMES = frozenset({'append', 'concat'})",
        "OTHERS = {'min': 'max', 'max': 'min'}",
        "LENGTHS = {1: 'take', 2: 'drop'}",
        "match e:\n    case Builtin(name='at'):\n        a = 1\n    case Builtin(name='item'): ...",
        "match e:\n    case Builtin(name='append' | 'concat'): ...",
        "found = e.name == 'first' or e.name == 'last'",
    ],
)
def test_a_list_of_built_in_functions_is_found_when_it_is_written_so(text: str) -> None:
    assert list(lists(File("a.py", text)))


def test_a_built_in_function_may_be_named_when_it_is_alone() -> None:
    assert not list(lists(File("a.py", "one = Builtin('size', ()) if e.name == 'bump' else e")))
