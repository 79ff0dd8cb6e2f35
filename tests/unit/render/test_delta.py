"""Sibling models that are written as their difference, and what keeps them from being mixed up."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from charter import api
from charter.render.python_model.delta import Delta, Plain, delta, sibling_text
from charter.render.python_model.emit import Page, Texts, prelude_text, texts

ROOT = Path(__file__).resolve().parents[3]
PLAIN, BENT = "5" * 20, "6" * 20
CHARTER = """
protocol test.lamp

record Lamp { lit: bool, warm: int 0..3 }

-- One step warmer.
fun warmer(lamp: Lamp) -> int 0..3 = min(3, lamp.warm + 1)

component house {
  state lamp: Lamp = Lamp { lit: false, warm: 0 }
  -- Somebody presses the switch.
  operation press() -> int 0..3 cites silent {
    branch on when dark: not lamp.lit {
      lamp' = lamp with { lit: true, warm: warmer(lamp) }
      reply warmer(lamp)
    }
    branch off { lamp' = lamp with { lit: false } reply lamp.warm }
  }
  observe seen { lamp }
}

always fine of house cites silent: lamp.warm <= 3
witness shines of house: lamp.lit
instance tiny of house { }

mutant hotter in tiny {
  replace fun warmer(lamp: Lamp) -> int 0..3 cites silent = 3
} caught by fine
mutant stuck in tiny {
  replace in house.press branch off cites silent { lamp' = lamp reply 0 }
} caught by fine
mutant warmest in tiny {
  replace fun warmer(lamp: Lamp) -> int 0..3 cites silent = min(3, replaced + 1)
} caught by fine
variant two_lamps cites silent { add in house state other: bool = false }
"""
RUN = """
import {0} as m
if not hasattr(m, "outcomes"):
    import {0}_wire as m
(one,) = m.outcomes(m.initial({{}}), "press", {{}})
(two,) = m.outcomes(one.state, "press", {{}})
print(one.reply, two.reply, two.branch, m.encode(two.state))
"""
SAME = "import hotter, house; print(house.warmer is hotter.warmer, house.__doc__ == hotter.__doc__)"


def whole(selection: api.Selection, digest: str) -> Texts:
    model = api.load_text(CHARTER, selection, name="spec/lamp.charter")
    page = Page("spec/lamp.charter", digest, "house", "prelude", "sibling")
    return texts(model, model.components[0], page)


def bend(selection: api.Selection, module: str = "bent") -> Delta | None:
    plain = Plain("house", whole(api.Selection(), PLAIN), "House")
    page = Page("spec/lamp.charter", BENT, module, "prelude", "sibling")
    return delta(plain, whole(selection, BENT), page, "A sibling.\n\nBent.")


def text_of(mutant: str) -> str | None:
    found = bend(api.Selection(mutant=mutant))
    return found and found.text


def after(earlier: Plain, mutant: str, digest: str) -> Delta:
    """The sibling of a sibling."""
    page = Page("spec/lamp.charter", digest, mutant, "prelude", "sibling")
    found = delta(earlier, whole(api.Selection(mutant=mutant), digest), page, "Another.")
    assert found is not None
    return found


def modules_of_siblings() -> dict[str, str]:
    """The modules of a plain model and of two siblings."""
    siblings = {name: text_of(name) for name in ("hotter", "stuck")}
    return {
        "prelude": prelude_text(),
        "sibling": sibling_text(),
        "house": whole(api.Selection(), PLAIN).model,
        "house_wire": whole(api.Selection(), PLAIN).wire,
        **{name: text for name, text in siblings.items() if text is not None},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The modules, as files."""
    for name, text in modules_of_siblings().items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def python(path: Path, code: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys\nsys.path.insert(0, {str(path)!r})\n{code}"
    # Without -B a file that is replaced within a second by one of the same size is not read again.
    command = [sys.executable, "-B", "-S", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_delta_holds_what_differs_and_nothing_else() -> None:
    bent_rule, bent_branch = (text_of(m) for m in ("hotter", "stuck"))
    assert bent_rule is not None and bent_branch is not None
    assert '"""A sibling.\n\nBent.\n"""' in bent_rule
    assert "def warmer(lamp: Lamp) -> int:" in bent_rule and "class" not in bent_rule
    assert "class Changed(House):" in bent_branch and "def press(self)" in bent_branch
    assert "def warmer" not in bent_branch and "initial" not in bent_branch


def test_a_delta_leaves_out_docstrings_that_the_plain_model_has() -> None:
    bent_rule, bent_branch = (text_of(m) for m in ("warmest", "stuck"))
    assert bent_rule is not None and bent_branch is not None
    assert "def replaced_warmer(lamp: Lamp) -> int:\n    return min" in bent_rule
    assert "One step" not in bent_rule
    assert "def press(self) -> list[Outcome[House, int]]:\n        # press/on" in bent_branch
    assert "presses the switch" not in bent_branch


def test_rules_of_the_plain_page_see_the_replaced_ones_when_a_delta_is_imported(
    folder: Path,
) -> None:
    said = [python(folder, RUN.format(name)) for name in ("house", "hotter", "stuck")]
    assert [run.stdout.split("{")[0] for run in said] == [
        "1 1 press/off ", "3 3 press/off ", "1 0 press/off ",
    ]  # fmt: skip
    assert "'lit': True" in said[2].stdout
    both = python(folder, SAME)
    assert both.stdout == "False False\n"


def test_a_delta_is_imported_when_it_lies_in_an_archive(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        for path in sorted(folder.glob("*.py")):
            archive.write(path, path.name)
    said = python(tmp_path / "models.zip", RUN.format("hotter"))
    assert said.stdout.startswith("3 3 press/off"), said.stderr


def test_states_of_a_delta_are_pickled_as_its_own(folder: Path) -> None:
    code = "import pickle, stuck; s = stuck.initial({}); print(pickle.loads(pickle.dumps(s)) == s)"
    assert python(folder, code).stdout == "True\n"


def test_a_delta_is_refused_when_another_plain_model_stands_there(folder: Path) -> None:
    (folder / "house.py").write_text(whole(api.Selection(), "7" * 20).model)
    said = python(folder, "import stuck")
    assert "ImportError: stuck was made for another house than stands there" in said.stderr
    (folder / "house.py").unlink()
    assert (
        "there is no module house; run `conform generate`" in python(folder, "import stuck").stderr
    )


def test_there_is_no_delta_when_the_state_is_another() -> None:
    assert bend(api.Selection(variant="two_lamps")) is None


def test_a_sibling_of_a_sibling_holds_what_differs_from_that_and_runs_it_first(
    folder: Path,
) -> None:
    """`stuck` bends the operation, `hotter` a rule: one after the other, and back."""
    stuck = bend(api.Selection(mutant="stuck"), "stuck")
    assert stuck is not None
    hotter = after(stuck.model, "hotter", "7" * 20)
    again = after(hotter.model, "stuck", "8" * 20)
    assert "class Changed2(Changed):" in hotter.text and "def warmer" in hotter.text
    assert 'go_on(__name__, "stuck", "6' in hotter.text
    assert "class Changed3(Changed2):" in again.text
    for name, found in (("second", hotter), ("third", again)):
        (folder / f"{name}.py").write_text(found.text)
    (folder / "hotter.py").write_text(hotter.text)
    said = [python(folder, RUN.format(name)) for name in ("stuck", "second", "third")]
    assert [run.stdout.split("{")[0] for run in said] == [
        "1 0 press/off ", "3 3 press/off ", "1 0 press/off ",
    ]  # fmt: skip
    (folder / "stuck.py").write_text(stuck.text.replace(BENT, "9" * 20))
    assert "was made for another stuck than stands there" in python(folder, "import second").stderr


ASSUMING = """
import {0} as m
if not hasattr(m, "assumed"):
    import {0}_wire as m
first = m.initial({{}})
(one,) = m.outcomes(first, "press", {{}})
print(m.assumed(first, "press", {{}}), m.assumed(one.state, "press", {{}}), one.reply)
try:
    m.outcomes(one.state, "press", {{}})
except m.Undefined if hasattr(m, "Undefined") else Exception as error:
    print(error)
"""


def test_a_sibling_has_the_assumptions_of_the_plain_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "operation press() -> int 0..3 cites silent {"
    dark = "    -- It is dark.\n    assume night cites silent: not lamp.lit"
    monkeypatch.setattr(sys.modules[__name__], "CHARTER", CHARTER.replace(head, f"{head}\n{dark}"))
    for name, text in modules_of_siblings().items():
        (tmp_path / f"{name}.py").write_text(text)
    assert "press_breaks" not in (tmp_path / "hotter.py").read_text()
    for name, reply in (("house", 1), ("hotter", 3)):
        done = python(tmp_path, ASSUMING.format(name))
        assert done.stdout.splitlines() == [
            f"True False {reply}",
            "press happens where its assumption is false:"
            " `assume night cites silent: not lamp.lit`",
        ], done.stderr
