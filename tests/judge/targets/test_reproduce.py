"""`conform reproduce` writes a test of a finding, which fails with it and passes without its
cause."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.vector import Why

REGISTER, ELECT = ("register", {"node": "n1"}), ("elect", {})
EXPIRE = ("expire", {"node": "n1"})
SAYS = "The leader stays when its lease is over."
FILE = f"""
target = "fake-keeps_leader"
title = "A leader stays"
cost = "no_leader"
often = "each time that `expire` comes."
says = "{SAYS}"
path = "stays"
fix = "let it go"
causes = [2]
cluster = "three nodes do"
searched = {{ words = "leader stays", date = "2026-11-29" }}
[[where]]
class = "Keeper"
method = "expire"
note = "it forgets the leader"
[[texts]]
source = "the text"
section = "1"
quote = "nobody leads"
"""
KIND = """
[reproductions.script]
help = "a script"
template = "reproduce.j2"
file = "{class}.txt"
check = ["{python}", "{adapter}/check.py", "{file}"]
"""
TEMPLATE = """{{ finding.class_name }}: {{ reviewed.title if reviewed else "no title" }}
{% for case in cases %}
{% set names = case.steps | map(attribute="operation") %}
{{ case.name }}: {{ names | join(" ") }}; {{ case.gone | join(" ") }}
{% for check in case.checks %}
{{ check.path | join(".") }} {{ check.expected | tojson }} {{ check.observed | tojson }}
{% endfor %}
{% endfor %}
"""
CHECK = """
import json, sys
print(json.dumps({"shows": SHOWS, "left_out": LEFT_OUT}))
"""


@pytest.fixture
def leaving(targets_folder, tmp_path):
    """A target whose leader stays, with a path, a file and a kind of reproduction; the options that
    name its suite."""
    folder = Path("adapters") / targets_folder("keeps_leader")
    toml = folder / "adapter.toml"
    toml.write_text(toml.read_text().replace("[deadlines]", f"{KIND}\n[deadlines]"))
    (folder / "reproduce.j2").write_text(TEMPLATE)
    write_check(folder, f"assert: {SAYS}", "")
    suite = tmp_path / "suite"
    vectors = [
        vector(REGISTER, ELECT, EXPIRE, why=Why(title="stays")),
        vector(REGISTER, ELECT, why=Why(title="conforms")),
    ]
    write_toy_vectors(suite, vectors)
    written = Path("docs/findings/leader_stays.toml")
    written.parent.mkdir(parents=True)
    written.write_text(FILE)
    return folder, ("--suite", suite, "--out", tmp_path / "out")


def write_check(folder, shows, left_out):
    held = CHECK.replace("SHOWS", json.dumps(shows)).replace("LEFT_OUT", json.dumps(left_out))
    (folder / "check.py").write_text(held)


def test_test_has_the_path_and_what_differs_and_is_checked(conform, leaving, tmp_path):
    code, said, _ = conform("reproduce", "leader_stays", *leaving[1], "--check")
    assert code == 0, said
    assert (tmp_path / "out" / "LeaderStays.txt").read_text() == (
        "LeaderStays: A leader stays\n"
        "shows: register elect expire; \n"
        'leader null "n1"\n'
        "left_out: register expire; elect()\n"
        "leader null null\n"
    )
    assert f"built and run: fails with {SAYS!r}, and passes without its cause" in said
    code, said, _ = conform("reproduce", "leader_stays", *leaving[1], "--json")
    assert json.loads(said)["differs"] == [{"path": "leader", "expected": None, "observed": "n1"}]


@pytest.mark.parametrize(("shows", "left_out", "words"), [
    ("", "", "shows: it passes, and should fail"),
    ("something else", "", "shows: it fails without the sentence of the finding"),
    (SAYS, "it failed", "left_out: it fails, and should pass"),
])  # fmt: skip
def test_case_that_is_not_as_it_should_be_is_said(conform, leaving, shows, left_out, words):
    write_check(leaving[0], shows, left_out)
    code, said, _ = conform("reproduce", "leader_stays", *leaving[1], "--check")
    assert code == 1 and words in said


def change(path, *changes):
    """Replace parts of a file, each of which it has."""
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_release_that_mended_a_finding_passes_both_cases(conform, leaving, tmp_path):
    folder = leaving[0]
    change(
        folder / "adapter.toml",
        ("sources = []", 'sources = []\nreleases = ["1.0", "2.0"]\ndefault_release = "2.0"'),
        ("fakes.fake', 'keeps_leader']", "fakes.mended', '{release}']"),
    )  # fmt: skip
    entry = 'entry leader_stays known_defect for "".."1.0" cites silent because "it" { }'
    change(folder / "overlay.charter", ("{ }", f"{{ {entry} }}"))
    code, said, error = conform("reproduce", "leader_stays", *leaving[1], "--check")
    assert code == 0, error
    assert said.startswith("leader_stays shows on fake-keeps_leader 1.0 after 3 operations")
    given = (*leaving[1], "--release", "2.0", "--check")
    code, said, error = conform("reproduce", "leader_stays", *given)
    assert code == 1, error
    assert "shows: it fails, and should pass on 2.0" in said
    write_check(folder, "", "")
    code, said, _ = conform("reproduce", "leader_stays", *given)
    assert code == 0 and "does not show, as on 1.0, on fake-keeps_leader 2.0" in said
    assert "built and run: passes, and passes without its cause" in said
    assert "leader null null" in (tmp_path / "out" / "LeaderStays.txt").read_text()


def test_release_before_a_finding_is_compared_with_the_default_one(conform, leaving):
    folder = leaving[0]
    change(
        folder / "adapter.toml",
        ("sources = []", 'sources = []\nreleases = ["0.8", "0.9", "1.0"]\ndefault_release = "1.0"'),
        ("fakes.fake', 'keeps_leader']", "fakes.mended', '{release}']"),
    )  # fmt: skip
    entry = 'entry leader_stays known_defect for "0.9".."" cites silent because "it" { }'
    change(folder / "overlay.charter", ("{ }", f"{{ {entry} }}"))
    code, said, error = conform("reproduce", "leader_stays", *leaving[1], "--release", "0.8")
    assert code == 0 and "does not show, as on 1.0, on fake-keeps_leader 0.8" in said, error


def test_release_that_a_file_leaves_out_passes_though_its_entry_has_it(conform, leaving):
    folder = leaving[0]
    change(
        folder / "adapter.toml",
        ("sources = []", 'sources = []\nreleases = ["0.8", "0.9", "1.0"]\ndefault_release = "1.0"'),
        ("fakes.fake', 'keeps_leader']", "fakes.mended', '{release}']"),
    )  # fmt: skip
    entry = 'entry leader_stays known_defect for "0.8".."" cites silent because "it" { }'
    change(folder / "overlay.charter", ("{ }", f"{{ {entry} }}"))
    given = ("reproduce", "leader_stays", *leaving[1], "--release", "0.8")
    code, _, said = conform(*given)
    assert code == 1 and "leader_stays does not show on 0.8 after the 3 operations" in said
    file = Path("docs/findings/leader_stays.toml")
    change(file, ("causes", 'releases = ["0.9", ""]\ncauses'))
    code, said, error = conform(*given)
    assert code == 0 and "does not show, as on 1.0, on fake-keeps_leader 0.8" in said, error


@pytest.mark.parametrize(("range_of", "words"), [
    ("['0.9', '1.O']", "'releases' has '1.O', which is no release of fake-keeps_leader"),
    ("['1.0', '0.9']", "no release that its entry is about is in its 'releases'"),
    ("['0.8', '0.8']", "no release that its entry is about is in its 'releases'"),
])  # fmt: skip
def test_file_with_releases_that_do_not_fit_is_stale(conform, leaving, range_of, words):
    folder = leaving[0]
    releases = 'releases = ["0.8", "0.9", "1.0"]\ndefault_release = "1.0"'
    change(folder / "adapter.toml", ("sources = []", f"sources = []\n{releases}"))
    entry = 'entry leader_stays known_defect for "0.9".."" cites silent because "it" { }'
    change(folder / "overlay.charter", ("{ }", f"{{ {entry} }}"))
    change(Path("docs/findings/leader_stays.toml"), ("causes", f"releases = {range_of}\ncauses"))
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert (code, f"the file of leader_stays is stale: {words}" in said) == (2, True), said


def test_finding_of_a_run_needs_no_file(conform, leaving, tmp_path):
    overlay = leaving[0] / "adapter.toml"
    overlay.write_text(overlay.read_text().replace('overlay = "known"\n', ""))
    run = tmp_path / "run"
    given = ("--target", leaving[0], "--suite", leaving[1][1], "--engine", "inline", "--out", run)
    conform("run", *given)
    name = json.loads((run / "summary.json").read_text())["findings"][0]["id"]
    code, said, _ = conform("reproduce", name, "--run", run, *leaving[1])
    assert code == 0, said
    (written,) = (tmp_path / "out").iterdir()
    assert written.name == f"F{name.removeprefix('f-')}.txt"
    assert "left_out: register expire; elect()" in written.read_text()
    code, _, said = conform("reproduce", "f-0000000000", "--run", run)
    assert code == 1 and "has no finding f-0000000000" in said


PATH = 'path = "stays"'


@pytest.mark.parametrize(("change", "code", "words"), [
    ((PATH, 'path = "goes"'), 1, "no vector of the suite of fake-keeps_leader has the title"),
    ((PATH, 'path = "conforms"'), 1, "leader_stays does not show on the target after"),
    (("causes", 'differs = ["version"]\ncauses'), 1, "leader_stays does not show on the target"),
    (("[2]", "[3]"), 1, "is no operation before the last, which is number 3"),
    (("[2]", "[]"), 2, "'causes' is no list of numbers of operations"),
    (("no_leader", "dear"), 2, "'cost' is 'dear', and not one of loses_records"),
])  # fmt: skip
def test_what_cannot_be_reproduced_is_said(conform, leaving, change, code, words):
    path = Path("docs/findings/leader_stays.toml")
    path.write_text(path.read_text().replace(*change))
    found, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert found == code and words in said
    assert not leaving[1][3].exists()


def test_template_without_a_statement_is_said(conform, leaving):
    (leaving[0] / "reproduce.j2").write_text("{{ cannot('no statement for ' ~ finding.name) }}")
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert code == 2 and "cannot reproduce leader_stays: no statement for leader_stays" in said
    (leaving[0] / "reproduce.j2").write_text("{{ absent('nobody can leave') }}")
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert code == 2 and "leader_stays cannot happen on " in said
    assert ": nobody can leave; choose another release" in said
    (leaving[0] / "reproduce.j2").write_text("{{ finding.nothing }}")
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert code == 2 and "mend the template" in said
    (leaving[0] / "reproduce.j2").write_text("{% include 'head.j2' %}")
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert code == 2 and "/head.j2 does not exist, and " in said and "'head.j2'" not in said
    (leaving[0] / "reproduce.j2").unlink()
    code, _, said = conform("reproduce", "leader_stays", *leaving[1])
    assert code == 2 and said.endswith("/reproduce.j2 does not exist; write it\n")


def test_kind_and_finding_that_are_not_there_are_refused(conform, leaving):
    code, _, said = conform("reproduce", "leader_stays", "--as", "scrip", *leaving[1])
    assert code == 2 and "it has script; did you mean script?" in said
    code, _, said = conform("reproduce", "other", *leaving[1])
    assert code == 2 and "there is no docs/findings/other.toml" in said


def test_report_begins_with_what_is_written(conform, leaving, tmp_path):
    run, out = tmp_path / "run", tmp_path / "report"
    given = ("--target", leaving[0], "--suite", leaving[1][1], "--engine", "inline", "--out", run)
    conform("run", *given)
    code, _, _ = conform("report", run, "--out", out)
    assert code == 0
    first = (out / "index.html").read_text()
    assert (
        "A leader stays" in first and "It leaves a partition without a leader: each time" in first
    )
    (page,) = out.glob("runs/*/findings/leader_stays.html")
    text = page.read_text()
    title, path, judged = (
        text.index(part) for part in ("<h1>A leader stays", 'id="path"', 'id="judged"')
    )
    assert "each time that <code>expire</code> comes.</p>" in text
    assert title < path < judged and text.index("Keeper.expire") < judged
    assert text.index("should be") < judged and "nobody leads" in text


EPOCH = {"ref": [1, "registration", "n1", "epoch"]}
WRITE = ("write", {"node": "n1", "epoch": EPOCH, "version": {"ref": [2, "version"]}})
LAST = "After the last step: reply should be rejected(NOT_LEADER) , and is written(2)"


def test_page_of_a_finding_says_what_differs_after_the_last_step(conform, leaving, tmp_path):
    suite, run = tmp_path / "longer", tmp_path / "run"
    write_toy_vectors(suite, [vector(REGISTER, ELECT, EXPIRE, WRITE, why=Why(title="stays"))])
    given = ("--target", leaving[0], "--suite", suite, "--engine", "inline", "--out", run)
    conform("run", *given)
    conform("report", run, "--out", tmp_path / "site")
    (page,) = (tmp_path / "site").glob("runs/*/findings/leader_stays.html")
    text = " ".join(re.sub("<[^>]*>", " ", page.read_text()).split())
    assert "Without step 2 it does not happen" in text
    assert "Does a whole cluster get there? three nodes do." in text
    assert LAST in text and "leader should be" not in text
    first = text[: text.index("How to get there")]
    assert "Fake" in first and "fake-keeps_leader" not in first and "charter" not in first.lower()
