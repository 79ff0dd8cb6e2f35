"""Completion: names in scope, fields behind a dot, branches behind a slash, keywords."""

from __future__ import annotations

import pytest
from tests.support.edited_texts import FILE, LEASE, open_text

from charter.ide.complete import complete


def propose(old: str, new: str) -> dict[str, str]:
    """What is proposed where `|` stands in `new`, which replaces `old`; with its detail."""
    assert LEASE.count(old) == 1
    text = LEASE.replace(old, new)
    workspace, _ = open_text()
    workspace.open(FILE, text.replace("|", ""))
    found = complete(workspace.snapshot(FILE), FILE, text.index("|"))
    return {each.text: each.detail or each.kind for each in found}


FREE = "    branch free {\n"


def test_fields_are_proposed_when_a_dot_was_typed() -> None:
    found = propose("let next = bump(lock.token)", "let next = bump(lock.|)")
    assert found == {"owner": "option Client", "token": "Token", "uses": "int 0..most"}
    assert propose("lock.owner is present(other)", "lock.ow| is present(other)") == found


def test_names_in_scope_are_proposed_when_an_expression_is_typed() -> None:
    found = propose("lock.owner' = present(client)", "let mine = | lock.owner' = present(client)")
    assert found["next"] == "next: Token"
    assert found["client"] == "client: Client"
    assert found["lock"] == "state lock: Lock"
    assert found["taken"].startswith("fun taken(")
    assert found["FREE"] == "FREE: Status"
    assert found["size"] == "built-in function"
    assert found["if"] == "keyword"
    assert "other" not in found and "branch" not in found


def test_a_name_bound_by_a_pattern_is_proposed_when_it_is_known_to_match() -> None:
    found = propose("and other != by", "and other != by and |")
    assert found["other"] and found["by"] == "by: Client"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("took acquire/free", "took acquire/|"),
        ("took acquire/free", "took acquire/fr|"),
        ("do acquire(ann) -> free", "do acquire(ann) -> |"),
        ("drop branch lease.acquire/busy", "drop branch lease.acquire/|"),
    ],
)
def test_branches_are_proposed_when_an_operation_was_named(old: str, new: str) -> None:
    assert set(propose(old, new)) == {"busy", "free"}


def test_keywords_are_proposed_when_a_declaration_begins() -> None:
    found = propose("sort Client\n", "sort Client\n|\n")
    assert {"component", "sort", "always", "fun"} <= set(found)
    assert "reply" not in found and "taken" not in found


def test_statements_are_proposed_when_a_body_is_typed() -> None:
    found = propose(FREE, FREE + "      |\n")
    assert {"let", "pick", "reply", "lock"} <= set(found)
    assert "component" not in found


def test_names_in_scope_are_proposed_when_the_place_is_in_an_edit() -> None:
    found = propose("some_client: taken(lock, client)", "some_client: taken(|, client)")
    assert found["client"] == "client: Client" and found["lock"]


def test_parameters_are_proposed_when_the_place_is_in_a_set_up() -> None:
    found = propose("owner: present(size)", "owner: present(|)")
    assert found["size"] == "size: Client"


def test_nothing_is_proposed_when_a_comment_or_a_string_is_typed() -> None:
    assert propose("-- Takes the lock.", "-- Takes |") == {}
    assert propose('"The manual"', '"The |"') == {}
