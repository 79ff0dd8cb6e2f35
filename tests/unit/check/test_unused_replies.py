"""`check` warns of a reply that no branch gives, and of no other."""

import pytest

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

LOCK = """protocol lock
sort Owner
union Answer { granted(owner: Owner), busy, never }
component lock {
  state holder: option Owner = none
  operation ask(owner: Owner) -> Answer {
    branch busy when held: holder != none reply busy
    branch granted { holder' = present(owner) reply granted(owner) }
  }
}
witness w of lock: holder != none
"""


def list_codes(text):
    return [(item.code, item.severity, item.message) for item in check_texts((Source("x", text),))]


def test_reply_that_no_branch_gives_is_a_warning():
    told = "no branch replies `never`: no rule makes this case of `Answer`"
    assert list_codes(LOCK) == [("type/unused-case", "warning", told)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("reply busy\n", "reply if owner in {} then never else busy\n"),
        ("witness", "fun refused() -> Answer = never\nwitness"),
        ("witness", "variant v { replace in lock.ask"
         " branch busy when held: holder != none reply never }\nwitness"),
        ("(owner: Owner) -> Answer {", "(owner: Owner, as: Answer) -> Answer {"),
        ("-> Answer {", "-> bool {"),
    ],
)  # fmt: skip
def test_nothing_is_said_where_the_case_may_come_from_elsewhere(old, new):
    text = LOCK.replace(old, new)
    assert text != LOCK
    if new == "-> bool {":
        text = text.replace("reply busy", "reply true").replace(
            "reply granted(owner)", "reply true"
        )
    assert list_codes(text) == []
