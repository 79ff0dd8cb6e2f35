"""Findings by releases: the table of `conform compare`, the heat map of the report, and the
differences between releases that follow each other, with what people wrote about them."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from charter.formats.findings.steps import ReviewedStep
from conform.reports.release_steps import ReleaseStep, explain

NOTES = """
[[step]]
from = "{before}"
to = "{after}"
finding = "{finding}"
direction = "{direction}"
cause = "the lease was rewritten"
key = "SHOP-7"
"""


@pytest.fixture
def judged(judge):
    """The folder of all releases: 1.1 keeps a leader, and 2.1 could not be prepared."""
    judge("1.0..")
    return "all"


@pytest.fixture
def found(judged, conform):
    """What `conform compare` prints about it."""
    code, out, _ = conform("compare", judged, "--json")
    assert code == 1
    return json.loads(out)


@pytest.fixture
def note(tmp_path):
    """Writes about a step between two releases."""

    def write(finding, direction, before="1.0", after="1.1"):
        folder = tmp_path / "findings" / "steps"
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "charter.toml").write_text('findings = "findings"\n', encoding="utf-8")
        text = NOTES.format(**locals())
        (folder / "shop.toml").write_text(text, encoding="utf-8")

    return write


def test_a_finding_breaks_and_is_mended_when_one_release_shows_it(found):
    kinds = [cell["is"] for cell in found["findings"][0]["cells"]]
    assert kinds == ["absent", "present", "absent"]
    steps = [(one["from"], one["to"], one["direction"], one["cause"]) for one in found["steps"]]
    assert ("1.0", "1.1", "broken", "not known") in steps
    assert ("1.1", "2.0", "mended", "not known") in steps
    assert "The jars of 2.1 do not fit" in found["lost"]["2.1"]


def test_an_absent_cell_names_the_vector_that_conforms_when_releases_are_compared(found, conform):
    absent, present, _ = found["findings"][0]["cells"]
    assert conform("replay", present["vector"], "--run", "all/1.1")[0] == 1
    assert conform("replay", absent["vector"], "--run", "all/1.0")[0] == 0


def test_releases_are_columns_and_the_gravest_is_in_words_when_they_are_compared(judged, conform):
    _, out, _ = conform("compare", judged)
    head, first = out.splitlines()[:2]
    assert head.split() == ["finding", "1.0", "1.1", "2.0", "2.1"]
    assert first.split()[1:] == ["○", "●", "○", "×"]
    assert "the gravest: " in out
    assert "present in 1.1" in out
    assert "1.0 to 1.1:\n  broken" in out


def test_a_difference_has_the_cause_that_a_person_wrote(found, note, conform, judged):
    name = found["findings"][0]["id"]
    note(name, "broken")
    again = json.loads(conform("compare", judged, "--json")[1])
    (step,) = [one for one in again["steps"] if one["to"] == "1.1" and one["finding"] == name]
    assert (step["cause"], step["key"]) == ("the lease was rewritten", "SHOP-7")
    assert again["stale_steps"] == []


CAUSES_BY_STEP = {
    ("broken", "1.0.1", "1.0.2"): "in 1.0.2 the lease was rewritten",
    ("broken", "1.0", "1.0.2"): "in 1.0.2 the lease was rewritten",
    ("mended", "1.0.1", "1.0.2"): "not known",
    ("broken", "1.1", "2.0"): "not known",
    ("broken", "0.9", "1.1"): "not known",
}
"""The causes of a finding that breaks from 1.0 to 1.1, by what is known of a step."""


def test_a_difference_has_the_causes_in_between_when_releases_are_skipped(found, note, conform):
    name = found["findings"][0]["id"]
    for known, cause in CAUSES_BY_STEP.items():
        note(name, *known)
        again = json.loads(conform("compare", "all", "--json")[1])
        (step,) = [one for one in again["steps"] if one["to"] == "1.1" and one["finding"] == name]
        assert step["cause"] == cause, known


def test_a_set_of_entries_has_the_cause_of_a_member_when_it_comes_with_it():
    runs = [SimpleNamespace(about=SimpleNamespace(release=one)) for one in ("1.0", "1.1")]
    notes = [ReviewedStep("1.0", "1.1", "b", "broken", "b came"),
             ReviewedStep("1.0", "1.1", "a", "mended", "a went")]  # fmt: skip
    causes = {
        (name, direction): explain(
            ReleaseStep(*runs, name, "", direction, "", runs[1]), notes
        ).cause
        for name in ("a+b", "a+c")
        for direction in ("broken", "mended")
    }
    assert causes == {
        ("a+b", "broken"): "b came", ("a+b", "mended"): "a went",
        ("a+c", "broken"): "not known", ("a+c", "mended"): "a went",
    }  # fmt: skip


def test_a_note_is_stale_when_the_releases_do_not_differ_so(found, note, conform, judged):
    note(found["findings"][0]["id"], "mended")
    (stale,) = json.loads(conform("compare", judged, "--json")[1])["stale_steps"]
    assert stale["direction"] == "mended"
    assert "stale: 1.0 to 1.1 does not show" in conform("compare", judged)[1]


@pytest.mark.parametrize(
    ("direction", "says"),
    [("worse", "'direction' is 'worse', and not one of"), ("", "'direction' of a [[step]] is")],
)
def test_a_note_is_refused_when_it_is_wrong(direction, says, note, conform, judged):
    note("x", direction)
    code, _, err = conform("compare", judged)
    assert code == 2
    assert says in err


def test_the_heat_map_is_a_table_with_words_in_each_cell_and_links_that_lead_somewhere(
    judged, conform, tmp_path
):
    assert conform("report", judged, "--out", "report")[0] == 0
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    table = re.search(r'<table class="heatmap">.*?</table>', page, re.DOTALL)[0]
    assert re.findall(r'<th scope="col" class="release">(?:<a [^>]*>)?([0-9.]+)', table) == [
        "1.0", "1.1", "2.0", "2.1",
    ]  # fmt: skip
    cells = re.findall(r'<td class="heat (\S+)">(.*?)</td>', table, re.DOTALL)
    words = [re.sub(r"<[^>]*>", "", text) for _, text in cells[:4]]
    assert words == ["○absent in 1.0", "●present in 1.1", "○absent in 2.0", "×2.1 was not judged"]
    links = re.findall(r'href="([^"#]+)', table)
    assert len(links) >= 4
    for link in links:
        assert (tmp_path / "report" / link).is_file(), link
    text = (tmp_path / "report" / "releases.md").read_text(encoding="utf-8")
    assert "| finding | 1.0 | 1.1 | 2.0 | 2.1 |" in text


REVIEWED = """
target = "shop"
title = "A leader stays"
cost = "no_leader"
often = "often"
says = "It stays."
path = "stays"
fix = "let it go"
causes = [2]
releases = ["1.1", "1.1"]
searched = { words = "leader", date = "2026-11-29" }
[[where]]
class = "Keeper"
method = "expire"
note = "it forgets"
[[texts]]
source = "the text"
section = "1"
quote = "nobody leads"
"""


def test_the_matrix_says_on_which_releases_an_operator_meets_a_finding(
    found, judged, conform, tmp_path
):
    (tmp_path / "charter.toml").write_text('findings = "findings"\n', encoding="utf-8")
    (tmp_path / "findings").mkdir()
    name = found["findings"][0]["id"]
    (tmp_path / "findings" / f"{name}.toml").write_text(REVIEWED, encoding="utf-8")
    assert conform("report", judged, "--out", "report")[0] == 0
    for page in ("index.html", "releases.md"):
        text = (tmp_path / "report" / page).read_text(encoding="utf-8")
        words = " ".join(text.split())
        assert "By its path an operator meets it on releases 1.1." in words, page


def test_a_run_that_did_not_end_costs_its_own_column_when_releases_are_compared(judged, conform):
    Path(judged, "2.0", "summary.json").unlink()
    code, out, _ = conform("compare", judged)
    assert code == 1
    assert "2.0 was not judged: its run has not come to its end" in out


def test_a_lost_release_is_said_everywhere_when_one_other_was_judged(judge, conform, tmp_path):
    judge("2.0..")
    says = "2.1 was not judged: shop could not be prepared: The jars of 2.1 do not fit"
    code, out, _ = conform("report", "all", "--out", "report")
    assert code == 0
    assert says in out
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "The jars of 2.1 do not fit" in page
    code, _, err = conform("compare", "all")
    assert code == 2
    assert says in err


def test_releases_that_are_not_listed_are_found_when_a_target_says_where(shop, conform):
    code, out, _ = conform("targets", "--newer")
    assert code == 1
    assert "does not list: 1.2, 2.2" in out


def test_one_sentence_says_it_when_the_registry_cannot_be_reached(shop, conform):
    said = 'import json, sys; print(json.dumps({"error": "The registry cannot be reached."}))'
    (shop / "list.py").write_text(f"{said}; sys.exit(2)", encoding="utf-8")
    code, _, err = conform("targets", "--newer")
    assert code == 2
    assert err == (
        "conform: the releases of shop could not be listed: The registry cannot be reached.\n"
    )
