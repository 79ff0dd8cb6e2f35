"""Claims of the texts of a protocol, held against what searches found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support.links import dead_links
from tests.unit.api.test_verdicts import LIGHT

from charter.api.handbook import handbook
from conform.cli.main import main

CLAIMS = """
[[section]]
title = "Lights"

[[section.claim]]
id = "A"
says = "Odd numbers are on, `even` ones off."
cites = ["BOOK §1"]
verdict = "confirmed"
by = ["even"]

[[section.claim]]
id = "B"
says = "The same where it never goes off."
verdict = "refuted"
variant = "soft"
by = ["even"]

[[section.claim]]
id = "C"
says = "Two books differ."
verdict = "contradictory"
why = "One says so, the other not."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = LIGHT.replace("component", 'source BOOK "A book"\n\ncomponent', 1)
    (tmp_path / "light.charter").write_text(text, encoding="utf-8")
    (tmp_path / "light.claims.toml").write_text(CLAIMS, encoding="utf-8")
    assert main(["verdicts", "light.charter", "--variant", "*", "--write", "light.verdicts"]) == 0
    return tmp_path


def check_claims(folder: Path, old: str = "", new: str = "") -> int:
    text = CLAIMS.replace(old, new) if old else CLAIMS
    assert not old or text != CLAIMS
    (folder / "light.claims.toml").write_text(text, encoding="utf-8")
    return main(["claims", "light.charter"])


def test_claims_that_are_so_and_what_shows_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_claims(folder) == 0
    capsys.readouterr()
    assert main(["claims", "light.charter", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["claims"]
    assert [one["evidence"] for one in shown] == [
        ["`even` holds in 1 instance of up to 4 states"],
        ["`even` fails in `tiny` after 2 steps"],
        [],
    ]


def test_the_page_counts_the_verdicts_of_each_text(folder: Path) -> None:
    assert main(["claims", "light.charter", "--write", "claims.md"]) == 0
    page = (folder / "claims.md").read_text("utf-8")
    assert "| text | confirmed | refuted | contradictory |\n" in page
    assert re.findall(r"^\| BOOK .*$", page, re.MULTILINE) == ["| BOOK | 1 |  |  |"]
    assert check_claims(folder, 'cites = ["BOOK §1"]\n', "") == 0
    assert main(["claims", "light.charter", "--write", "claims.md"]) == 0
    assert "## By text" not in (folder / "claims.md").read_text("utf-8")


LINKED = """
[[section.claim]]
id = "D"
says = "It goes on, and off again."
verdict = "confirmed"
scenarios = ["on and off"]

[[section.claim]]
id = "E"
says = "It stays on."
verdict = "confirmed"
variant = "soft"
scenarios = ["it stays on"]

[[section.claim]]
id = "F"
says = "It is always lit."
verdict = "refuted"
by = ["lit", "seldom"]

[[section.claim]]
id = "G"
says = "A mistake is seen."
verdict = "confirmed"
by = ["dark"]

[[section.claim]]
id = "H"
says = "Nobody presses three times, where it never goes off."
verdict = "refuted"
variant = "soft"
by = ["seldom"]
"""
SCENARIOS = """
always lit of light: on
instance larger of light { misses far, five fails seldom, lit }

scenario "on and off" of light cites silent { do press() do press() expect not on }
"""
OF_VARIANT = """
  add scenario "it stays on" of light cites silent { do press() do press() expect on }
"""


def test_a_claim_leads_to_its_scenarios_and_to_how_it_is_refuted(folder: Path) -> None:
    path = folder / "light.charter"
    text = path.read_text(encoding="utf-8") + SCENARIOS
    text = text.replace(
        "misses far, five fails seldom }", "misses far, five fails seldom, lit }", 1
    )
    text = text.replace("  drop witness five\n", f"  drop witness five\n{OF_VARIANT}")
    path.write_text(text, encoding="utf-8")
    (folder / "light.claims.toml").write_text(CLAIMS + LINKED, encoding="utf-8")
    searches = ["--variant", "*", "--mutant", "*", "--write", "light.verdicts"]
    assert main(["verdicts", "light.charter", *searches]) == 0
    assert main(["claims", "light.charter"]) == 0
    site = handbook(path, "html")
    page = site["claims.html"]
    for link in (
        'scenario <a href="light.html#on-and-off">“on and off”</a>',
        'scenario <a href="light.html#it-stays-on">“it stays on”</a>',
        '<a href="pictures/fails--tiny-lit.svg">in the first state</a>',
        '<a href="pictures/fails--larger-lit.svg">in the first state</a>',
        '<a href="pictures/fails--tiny-seldom.svg">after 3 steps</a>',
        '<a href="pictures/fails-soft-tiny-even.svg">after 2 steps</a>',
        '<a href="light.html#dark"><code>dark</code></a>',
        '<a href="pictures/fails-soft-tiny-seldom.svg">after 3 steps</a>',
        '<img src="pictures/fails-soft-tiny-seldom.svg"',  # no other page has it
    ):
        assert link in page, link
    assert page.count("<code>seldom</code>") == 2  # one sentence tells all instances
    assert page.count("<img ") == 1
    assert "seldom fails in tiny, in the variant soft" in page
    assert not dead_links(site)
    words = re.sub("<[^>]+>", "", page)
    assert "even holds in 2 instances of up to 4 states" in words
    assert "seldom fails in tiny after 3 steps, in larger after 3 steps" in words


WRONG = {
    "unexercised": ('confirmed"\nby = ["even"]', 'confirmed"\nby = ["far"]', "meets far"),
    "holds": ('variant = "soft"\n', "", "even fails in no instance"),
    "unsaid": ('why = "One says so, the other not."\n', "", "contradictory says why"),
    "no evidence": ('confirmed"\nby = ["even"]', 'confirmed"', "names properties"),
    "property": ('confirmed"\nby = ["even"]', 'confirmed"\nby = ["evn"]', "no property"),
    "scenario": ('by = ["even"]', 'scenarios = ["S"]', "no scenario 'S'"),
    "variant": ('"soft"', '"sofd"', "no variant sofd"),
    "source": ("BOOK §1", "BOK §1", "'BOK §1' does not begin with a source"),
}


@pytest.mark.parametrize("old, new, said", WRONG.values(), ids=WRONG)
def test_a_claim_that_is_not_so_is_told(
    folder: Path, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_claims(folder, old, new) == 4
    assert said in capsys.readouterr().out


def test_what_fails_unexpectedly_confirms_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_claims(folder, 'variant = "soft"\nby = ["even"]', 'by = ["seldom"]') == 0
    charter = folder / "light.charter"
    charter.write_text(charter.read_text("utf-8").replace(" fails seldom", ""), encoding="utf-8")
    main(["verdicts", "light.charter", "--variant", "*", "--write", "light.verdicts"])
    assert check_claims(folder, 'confirmed"\nby = ["even"]', 'confirmed"\nby = ["seldom"]') == 4
    assert "seldom fails where no instance lists it" in capsys.readouterr().out


def test_a_confirmed_claim_says_why_it_fails_where_it_may(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An instance that lists a property under `fails` would else be an exception that nobody
    explains."""
    charter = folder / "light.charter"
    once = "\ninstance once of light { only press if pressed == 0 }\n"
    charter.write_text(charter.read_text("utf-8") + once, encoding="utf-8")
    main(["verdicts", "light.charter", "--variant", "*", "--write", "light.verdicts"])
    asked = 'confirmed"\nby = ["even"]', 'confirmed"\nby = ["seldom"]'
    assert check_claims(folder, *asked) == 4
    told = "A is not confirmed: `why` does not say why seldom fails in tiny"
    assert told in capsys.readouterr().out
    assert (
        check_claims(folder, asked[0], asked[1] + '\nwhy = "A third press is the exception."') == 0
    )
    assert "A  confirmed, with exceptions  " in capsys.readouterr().out


def test_a_scenario_that_fails_confirms_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter = folder / "light.charter"
    text = charter.read_text("utf-8")
    scenario = '\nscenario "once" of light { do press() -> pressed_now  expect on }\n'
    charter.write_text(text + scenario, encoding="utf-8")
    asked = 'confirmed"\nby = ["even"]', 'confirmed"\nscenarios = ["once"]'
    assert check_claims(folder, *asked) == 0
    charter.write_text(text + scenario.replace("expect on", "expect not on"), encoding="utf-8")
    assert check_claims(folder, *asked) == 4
    shown = capsys.readouterr().out
    assert 'A is not confirmed: scenario "once": expected `not on`, but' in shown
    assert "1 of 3 claims is not as the file says" in shown


def test_a_mutant_confirms_only_what_a_search_has_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 'confirmed"\nby = ["even"]', 'confirmed"\nby = ["even", "dark"]'
    assert check_claims(folder, *asked) == 4
    assert "no search shows that the mutant dark breaks third" in capsys.readouterr().out
    main(["verdicts", "light.charter", "--mutant", "*", "--write", "light.verdicts"])
    assert check_claims(folder, *asked) == 0


def test_a_claim_says_that_its_searches_are_out_of_date(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is neither confirmed nor wrong; what has nothing to do with them is as before."""
    charter = folder / "light.charter"
    charter.write_text(charter.read_text("utf-8").replace("pressed >= 3", "pressed >= 4"), "utf-8")
    assert check_claims(folder) == 3
    shown = capsys.readouterr()
    assert "is not" not in shown.out
    assert "2 claims rest on searches that are out of date" in shown.err
    assert check_claims(folder, 'by = ["even"]\n\n[[section.claim]]\nid = "B"', 'by = ["far"]\n'
                   '\n[[section.claim]]\nid = "B"') == 3  # fmt: skip
    assert check_claims(folder, 'why = "One says so, the other not."\n', "") == 4
    assert main(["claims", "light.charter", "--write", "claims.md"]) == 4
    assert (folder / "claims.md").read_text("utf-8").count("the searches are out of date") == 2


def test_a_current_search_refutes_a_claim_where_others_are_out_of_date(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter = folder / "light.charter"
    text = charter.read_text("utf-8").replace(" fails seldom", "")
    more = "\ninstance more of light { misses far, five }\n"
    charter.write_text(text + more, encoding="utf-8")
    search = ["verdicts", "light.charter", "--write", "light.verdicts", "--instance"]
    assert main([*search, "tiny"]) == main([*search, "more"]) == 1
    charter.write_text(text + more.replace("{ ", "{ only press if pressed < 4 "), encoding="utf-8")
    assert main([*search, "tiny"]) == 1
    assert check_claims(folder, 'confirmed"\nby = ["even"]', 'confirmed"\nby = ["seldom"]') == 4
    assert "seldom fails where no instance lists it" in capsys.readouterr().out


def test_nothing_was_searched_yet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "light.verdicts" / "verdicts.json").unlink()
    assert check_claims(folder) == 4
    shown = capsys.readouterr()
    assert "A is not confirmed: no instance that was searched meets even" in shown.out
    assert "nothing was searched yet: conform verdicts light.charter --write" in shown.err


def test_the_handbook_has_the_claims_and_links_their_sources(folder: Path) -> None:
    page = handbook(folder / "light.charter", "html")["claims.html"]
    assert "3 claims: 1 confirmed, 1 refuted, 1 contradictory." in page
    assert 'table-of-sources.html#book">BOOK §1</a>' in page
    assert main(["claims", "light.charter", "--write", "claims.md"]) == 0
    assert "| B | The same where it never goes off. | refuted (variant `soft`) |" in (
        folder / "claims.md"
    ).read_text("utf-8")


DAMAGED = {
    "toml": ("[[section]]", "[[section]"),
    "section": ('title = "Lights"', "heading = 1"),
    "key": ("by = ", "bye = "),
    "verdict": ('"refuted"', '"wrong"'),
    "list": ('by = ["even"]', 'by = "even"'),
    "twice": ('id = "B"', 'id = "A"'),
    "no id": ('id = "B"\n', ""),
    "text": ('says = "Two books differ."', "says = 2"),
}


@pytest.mark.parametrize("old, new", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_one_sentence(
    folder: Path, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert check_claims(folder, old, new) == 2
    said = capsys.readouterr().err.strip()
    assert "light.claims.toml" in said and "\n" not in said
    assert main(["generate", "--backend", "handbook", "light.charter", "--out", "book"]) == 2


def test_no_file_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "light.claims.toml").unlink()
    assert main(["claims", "light.charter"]) == 2
    assert "light.claims.toml does not exist" in capsys.readouterr().err
