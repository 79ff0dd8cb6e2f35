"""Words that docs/STYLE.md advises against become fewer in each tree, as the ratchet counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from tests.tidy.house import RATCHET, File, Rule, breaches
from tests.tidy.rules_of_words import RULES_OF_WORDS, is_participle, no_verb_first
from tests.tidy.scan import scan

SLACK = 20
LISTED = 40


def tree(breach: str) -> str:
    """The tree of a breach, which begins with a path: its top-level folder, or "" for the root."""
    path = breach.split(":", maxsplit=1)[0]
    return path.split("/")[0] if "/" in path else "root"


def wrong(found: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """Trees with more breaches than the ratchet says, or with so few that it must be lowered."""
    more = [
        f"{tree}: {count}, the ratchet says {limits.get(tree, 0)}"
        for tree, count in found.items()
        if count > limits.get(tree, 0)
    ]
    fewer = [
        f"{tree}: {found.get(tree, 0)}, lower the ratchet from {limit}"
        for tree, limit in limits.items()
        if limit > found.get(tree, 0) + SLACK or not found.get(tree, 0)
    ]
    return more + fewer


@pytest.mark.xdist_group("rules")
@pytest.mark.parametrize("rule", RULES_OF_WORDS, ids=lambda rule: rule.name)
def test_words_become_fewer_when_all_files_are_read(rule: Rule) -> None:
    said = scan().breaches[rule.name]
    trees = wrong(Counter(map(tree, said)), RATCHET[rule.name])
    names = {one.split(":")[0] for one in trees}
    shown = [breach for breach in said if tree(breach) in names]
    assert not trees, "\n".join([*trees, *shown[:LISTED], f"... {len(shown)} in all"])


@pytest.mark.parametrize("rule", RULES_OF_WORDS, ids=lambda rule: rule.name)
def test_the_rule_speaks_when_a_file_breaks_it(rule: Rule) -> None:
    path, text = rule.bad
    assert rule.holds(path) and breaches([rule], [File(path, text)])[rule.name]


def test_the_ratchet_is_refused_when_it_is_too_low_or_too_high() -> None:
    limits = {"compiler": 100, "docs": 100, "spec": 100, "tests": 5}
    assert not wrong({"compiler": 100, "docs": 100 - SLACK, "spec": 99, "tests": 1}, limits)
    found = {"compiler": 101, "docs": 99 - SLACK, "spec": 100, "editors": 1}
    assert [one.split(":")[0] for one in wrong(found, limits)] == [
        "compiler", "editors", "docs", "tests",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["What a rule reads.", "The rules.", "Types of replies.", "Canaries: checks.", "Sets, maps."],
)
def test_a_first_sentence_is_found_when_it_has_no_verb(text: str) -> None:
    assert list(no_verb_first(File("a.py", f'"""{text}"""')))


@pytest.mark.parametrize(
    "text", ["Types operators.", "Emits, for each, a number.", "`conform fmt`."]
)
def test_a_first_sentence_is_fine_when_it_begins_with_a_verb(text: str) -> None:
    assert not list(no_verb_first(File("a.py", f'"""{text}"""')))


@pytest.mark.parametrize("name", ["_told", "judged", "taken_apart", "unread", "unmet", "parsed"])
def test_a_participle_is_found_when_a_name_begins_with_it(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["tell", "read", "need_all", "is_told", "seed", "red", "feed"])
def test_a_name_is_no_participle_when_it_is_a_verb_or_a_noun(name: str) -> None:
    assert not is_participle(name)
