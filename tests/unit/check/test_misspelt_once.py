"""One misspelt name is one error: what follows from it is not told, and neither is each use."""

import re
from importlib import resources

import pytest

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

TEMPLATES = resources.files("conform").joinpath("templates", "charters")
WORD = re.compile(r"\w+")
USES = [
    ("lease", "option Lease =", "option Leese ="),
    ("lease", "map Lock -> option Lease", "map Lok -> option Lease"),
    ("lease", "holder: client, token", "holdr: client, token"),
    ("lease", "l.left <= 1", "l.lefft <= 1"),
    ("lease", "    none -> none", "    nome -> none"),
    ("lease", "  Lock = {l}\n", "  Lok = {l}\n"),
    ("queue", "map Worker -> option", "map Wokrer -> option"),
    ("queue", "max room", "max rooom"),
    ("queue", "max room", "max xyzzy"),
    ("queue", "  room = ", "  roon = "),
    ("queue", "always one_place of broker", "always one_place of brokr"),
    ("queue", "of broker:", "of brokr:"),
    ("queue", "instance tiny of broker", "instance tiny of brokr"),
]


def errors(text):
    return [item.message for item in check_texts((Source("x.charter", text),)).errors]


@pytest.mark.parametrize(("template", "right", "wrong"), USES)
def test_misspelt_use_of_a_name_is_one_error(template, right, wrong):
    text = TEMPLATES.joinpath(f"{template}.charter").read_text()
    assert errors(text) == [] and right in text
    (told,) = errors(text.replace(right, wrong, 1))
    (misspelt,) = {*WORD.findall(wrong)} - {*WORD.findall(right)}
    assert f"`{misspelt}`" in told


@pytest.mark.parametrize(
    ("declared", "most"),
    [("state waiting", 2), ("operation take", 2), ("  branch taken", 2), ("component broker", 2)],
)
def test_misspelt_declaration_is_told_once_for_each_kind_of_use(declared, most):
    text = TEMPLATES.joinpath("queue.charter").read_text()
    assert declared in text
    told = errors(text.replace(declared, f"{declared}x", 1))
    assert 0 < len(told) == len(set(told)) <= most


def test_a_range_up_to_a_constant_that_does_not_exist_is_one_error():
    text = """protocol x
type Small = int 0..xyzzy
type Next = int xyzzy + 1..9
component c {
  state a: Small = 3
  state b: map Small -> Next = [s in Small: 4]
  operation f(s: Small) -> Small { branch g { a' = s  b[s]' = 12  reply 7 } }
}
witness w of c: a == 5
instance tiny of c {}
"""
    assert errors(text) == ["`xyzzy` is not a constant of the protocol"] * 2
