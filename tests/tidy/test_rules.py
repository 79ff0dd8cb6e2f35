"""Every file keeps every rule of the house, and every rule can be broken."""

from __future__ import annotations

from functools import cache

import pytest
from tests.tidy.house import RATCHET, ROOT, File, Rule, breaches, texts
from tests.tidy.rules_of_code import FILE_LINES, FUNCTION_LINES, RULES_OF_CODE
from tests.tidy.rules_of_text import RULES_OF_TEXT

SLACK = 20
RULES = (*RULES_OF_CODE, *RULES_OF_TEXT)


@cache
def in_every_file() -> dict[str, list[str]]:
    """The breaches of all rules: every file is read and parsed once."""
    return breaches(RULES, texts())


@pytest.mark.xdist_group("rules")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_files_keep_the_rule_when_all_are_read(rule: Rule) -> None:
    assert any(rule.holds(file.path) for file in texts()), "the rule meets no file"
    found = in_every_file()[rule.name]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_the_rule_speaks_when_a_file_breaks_it(rule: Rule) -> None:
    path, text = rule.bad
    assert breaches([rule], [File(path, text)])[rule.name]


def test_the_ratchet_holds_only_what_is_still_too_long_when_a_file_shrinks() -> None:
    for path, limit in RATCHET["file_lines"].items():
        length = len((ROOT / path).read_text(encoding="utf-8").splitlines())
        assert length > FILE_LINES, f"{path} is short enough now, take it off the ratchet"
        assert limit < length + SLACK, f"{path} has {length} lines now, lower the ratchet"
    for limit in RATCHET["function_lines"].values():
        assert limit > FUNCTION_LINES
