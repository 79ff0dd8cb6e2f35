"""Limits of a target, as an adapter.toml declares them."""

import pytest

from charter.formats.limits import TargetLimit, is_within, read_limits

RELEASES = ("3.7.0", "3.7.1", "4.0.0")


def test_limit_says_what_it_touches_and_which_releases_have_it():
    held = {"says": "ELR is off", "variables": ["partition.elr"], "releases": ["3.7"]}
    (limit,) = read_limits([held], RELEASES)
    assert limit == TargetLimit("ELR is off", ("partition.elr",), (), ("3.7",))
    assert [limit.applies(release) for release in RELEASES] == [True, True, False]
    assert not limit.touches_all and TargetLimit("all of it").touches_all
    assert limit.json() == {"says": "ELR is off", "variables": ["partition.elr"], "operations": []}


def test_first_part_of_a_release_ends_at_a_dot():
    assert is_within("3.7.1", "3.7") and is_within("3.7", "3.7")
    assert not is_within("3.71", "3.7")


@pytest.mark.parametrize(("held", "told"), [
    ({"says": "x"}, r"begin each of them with \[\[limits\]\]"),
    (["x"], r"begin each of them with \[\[limits\]\]"),
    ([{"variables": ["x"]}], "lacks the sentence 'says'"),
    ([{"says": " "}], "lacks the sentence 'says'"),
    ([{"says": "x", "variable": ["y"]}], "unknown key 'variable'; did you mean variables"),
    ([{"says": "x", "operations": "go"}], "'operations' of a limit is no list of texts"),
    ([{"says": "x", "releases": ["5"]}], "names the release 5, which 'releases' lacks"),
])  # fmt: skip
def test_limit_that_cannot_be_read_is_told(held, told):
    with pytest.raises(ValueError, match=told):
        read_limits(held, RELEASES)
