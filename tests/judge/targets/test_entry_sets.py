"""A step that no entry of an overlay explains alone has as its cause the smallest set of entries
that explains it; a step that no four explain is not fine."""

import json
from pathlib import Path

import pytest
from tests.support.caches import own_cache

CHARTER = """protocol toy.lamps
fun shade(x: int 0..3) -> int 0..3 = x
component lamps {
  state a: bool = false
  state b: bool = false
  state c: bool = false
  state d: bool = false
  state f: int 0..3 = 0
  state g: int 0..3 = 0
  operation light() -> bool {
    branch lit { a' = true b' = true c' = true d' = true f' = 1 reply true }
  }
  state e: bool = false
  operation wind() -> bool {
    branch wound { e' = true g' = shade(1) reply true }
  }
  operation ask() -> bool {
    branch answer reply e
  }
  observe all { a, b, c, d, e, f, g }
}
witness w of lamps: took ask/answer
scenario "lit" of lamps { do light() -> lit expect a }
scenario "dark" of lamps { do ask() -> answer expect not e }
scenario "wound" of lamps { do wind() -> wound do ask() -> answer expect e }
instance tiny of lamps { }
"""
ENTRY = """  entry {name}_stays known_defect because "It is broken." {{
    {edit}
  }}
"""
EDITS = {
    **{name: f"replace update {name} of lamps.light/lit with {name}" for name in "abcd"},
    "e": "replace update e of lamps.wind/wound with e",
    "f": "replace update f of lamps.light/lit with shade(2)",
    "g": "replace fun shade with 3",
}
TOML = """id = "some-lamps"
title = "Some lamps"
protocol = "toy.lamps"
component = "lamps"
overlay = "some_lamps"
start = ["{python}", "{adapter}/adapter.py"]

[not_compared]
"variable e" = "It is hidden."
"""
ADAPTER = """from conform import sdk

BROKEN = "BROKEN_LAMPS"


class Lamps(sdk.Adapter):
    about = sdk.About("lamps", "1", "lamps", ("light", "wind", "ask"), tuple("abcdfg"))

    def start(self, question):
        self.lit = self.wound = self.was_wound = False

    def perform(self, operation, args):
        if operation == "ask":
            return self.wound
        if operation == "wind":
            self.wound, self.was_wound = "e" not in BROKEN, True
        else:
            self.lit = True
        return True

    def observe(self):
        shade = 3 if "g" in BROKEN else 2
        seen = {name: self.lit and name not in BROKEN for name in "abcd"}
        seen["f"] = (shade if "f" in BROKEN else 1) if self.lit else 0
        seen["g"] = (3 if "g" in BROKEN else 1) if self.was_wound else 0
        return seen


sdk.serve(Lamps())
"""


@pytest.fixture
def broken(tmp_path, conform, monkeypatch):
    """Runs some lamps, of which these are broken: an entry of the overlay says so of each."""
    adapter = tmp_path / "adapters" / "some-lamps"
    for folder in (adapter, tmp_path / "spec"):
        folder.mkdir(parents=True)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "lamps.charter").write_text(CHARTER)
    (adapter / "adapter.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))

    def run(names, *options):
        entries = "".join(ENTRY.format(name=name, edit=EDITS[name]) for name in names)
        overlay = f"protocol toy.lamps\noverlay some_lamps of lamps {{\n{entries}}}\n"
        (adapter / "overlay.charter").write_text(overlay)
        assert conform("generate")[0] == 0
        (adapter / "adapter.py").write_text(ADAPTER.replace("BROKEN_LAMPS", names))
        code, out, _ = conform(
            "run", "--target", "some-lamps", "--engine", "inline", "--out", f"run_{names}", *options
        )
        summary = json.loads(Path(f"run_{names}/summary.json").read_text(encoding="utf-8"))
        return code, out, {name: count for name, count in summary["by_entry"].items() if count}

    return run


def test_the_smallest_set_is_named_everywhere(broken, conform):
    code, out, by_entry = broken("bc", "--junit", "junit.xml")
    assert code == 0 and by_entry == {"b_stays+c_stays": 1}
    assert "explained by b_stays + c_stays: 1 vector" in out
    assert "not met" not in out, "each explains something, if not alone"
    assert "known (b_stays + c_stays):" in Path("junit.xml").read_text(encoding="utf-8")
    conform("report", "run_bc", "--out", "site")
    (page,) = Path("site").glob("runs/*/findings/b_stays-c_stays.html")
    shown = page.read_text(encoding="utf-8")
    assert "b_stays + c_stays" in shown and "These do together" in shown
    assert "Explained by <code>b_stays + c_stays</code>" in shown
    (suite,) = Path("generated").glob("suites/**/manifest.json")
    again, out, _ = conform("rejudge", "run_bc", "--suite", str(suite.parent), "--out", "again")
    assert again == 0 and "explained by b_stays + c_stays: 1 vector" in out


def test_what_three_entries_explain_has_these_as_its_cause(broken):
    code, _, by_entry = broken("acd")
    assert code == 0 and by_entry == {"a_stays+c_stays+d_stays": 1}


def test_what_four_entries_explain_has_these_as_its_cause_and_no_other(broken):
    code, _, by_entry = broken("abcde")
    assert code == 0 and by_entry == {"a_stays+b_stays+c_stays+d_stays": 1, "e_stays": 1}


def test_what_no_four_entries_explain_is_not_fine(broken):
    code, out, by_entry = broken("abcdf")
    assert code == 1 and by_entry == {"several_entries": 1}
    assert "exit 1: 1 deviation is explained by the overlay as a whole, and by no 4" in out


def test_an_entry_that_changed_hidden_state_before_is_the_cause_of_a_later_step(broken):
    code, out, by_entry = broken("ae")
    assert "not shown: e" in out
    assert code == 0 and by_entry == {"a_stays": 1, "e_stays": 1}


def test_an_entry_that_reaches_an_operation_only_through_another_is_part_of_the_set(broken):
    code, _, by_entry = broken("fg")
    assert code == 0 and by_entry == {"f_stays+g_stays": 1, "g_stays": 1}
