"""What a person has written about a finding, and what an adapter.toml says of reproductions."""

from __future__ import annotations

import pytest

from charter.formats.findings.reproductions import Reproduction, read_reproductions
from charter.formats.findings.reviewed import BadFinding, read_all_reviewed, read_reviewed
from charter.formats.project import project_at

WHOLE = """
target = "keeper"
title = "a"
cost = "wrong_answer"
often = "b"
says = "c"
path = "d"
fix = "e"
causes = [3, 1]
searched = { words = "f", date = "2026-11-29" }
[[where]]
class = "g"
method = "h"
note = "i"
[[texts]]
source = "j"
section = "k"
quote = "l"
"""


def test_file_is_read_by_target_and_name(tmp_path):
    place = tmp_path / "docs" / "findings"
    place.mkdir(parents=True)
    (place / "one.toml").write_text(WHOLE)
    found = read_all_reviewed(project_at(tmp_path))["keeper"]["one"]
    assert (found.name, found.causes, found.gravity) == ("one", (1, 3), 4)
    assert found.costs == "gives a wrong answer" and found.threads == () and found.log == ""
    assert read_all_reviewed(None) == {}


def test_releases_of_a_file_go_before_those_of_its_entry(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(WHOLE)
    assert read_reviewed(path).bound_releases("4.0", "4.1") == ("4.0", "4.1")
    path.write_text(WHOLE.replace("causes", "releases = ['4.1', '']\ncauses", 1))
    assert read_reviewed(path).bound_releases("4.0", "4.1") == ("4.1", "")


@pytest.mark.parametrize(("old", "new", "words"), [
    ("title", "titel", "the key 'titel' is not known; did you mean title"),
    ('title = "a"', "", "'title' is missing, or no text"),
    ("wrong_answer", "dear", "'cost' is 'dear', and not one of loses_records"),
    ("[3, 1]", "[0]", "'causes' is no list of numbers of operations"),
    ("[3, 1]", "[true]", "'causes' is no list of numbers of operations"),
    ("causes", "differs = [1]\ncauses", "'differs' is no list of places"),
    ("causes", "releases = ['', '']\ncauses", "'releases' is no pair of a first and a last"),
    ("causes", "releases = ['4.0', 4]\ncauses", "'releases' is no pair of a first and a last"),
    ("causes", "releases = '4.0'\ncauses", "'releases' is no pair of a first and a last"),
    ("2026-11-29", "today", "the date of 'searched' is 'today'"),
    ("2026-11-29", "2020-13-45", "the date of 'searched' is '2020-13-45'"),
    (', date = "2026-11-29"', "", "'searched' lacks the words or the date"),
    ("[[texts]]", "[[text]]", "the key 'text' is not known"),
    ('method = "h"', "", "'method' is missing, or no text"),
    ("note =", "remark =", r"a \[\[where\]\] has the unknown key 'remark'"),
    ("[[where]]", "[where]", "'where' is no list of tables"),
    ("[[where]]", "[[threads]]", "a \\[\\[threads\\]\\] has the unknown key 'class'"),
    ("=", "", "is no TOML"),
])  # fmt: skip
def test_file_that_cannot_be_read_is_refused(tmp_path, old, new, words):
    path = tmp_path / "one.toml"
    path.write_text(WHOLE.replace(old, new, 1))
    with pytest.raises(BadFinding, match=words):
        read_reviewed(path)


KIND = {"help": "a test", "template": "t.j2", "file": "{class}.java", "releases": ["4.3"]}


def test_reproduction_says_where_it_can_be_built():
    (kind,) = read_reproductions({"junit": KIND})
    assert kind == Reproduction("junit", "a test", "t.j2", "{class}.java", ("4.3",), ())
    assert kind.works_on("4.3.1") and not kind.works_on("4.4.0")
    assert Reproduction("plain", "", "", "").works_on("3.3.0")


@pytest.mark.parametrize(("held", "words"), [
    (["junit"], r"begin each of them with \[reproductions.NAME\]"),
    ({"J U": KIND}, "no name of small letters"),
    ({"junit": "x"}, r"is no table; write \[reproductions.junit\]"),
    ({"junit": {**KIND, "realeses": []}}, "unknown key 'realeses'; did you mean releases"),
    ({"junit": {**KIND, "file": " "}}, "lacks the text 'file'"),
    ({"junit": {**KIND, "file": "{clas}.java"}},
     "the file of the reproduction 'junit' has the unknown placeholder {clas}; did you mean class"),
    ({"junit": {**KIND, "check": "x"}}, "'check' of the reproduction 'junit' is no list"),
])  # fmt: skip
def test_reproduction_that_cannot_be_read_is_refused(held, words):
    with pytest.raises(ValueError, match=words):
        read_reproductions(held)
