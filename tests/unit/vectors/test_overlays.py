"""Overlays beside adapters: how they are read, and which groups of releases they have."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.api import generated as generate
from charter.core import nodes as n
from charter.core.releases import groups
from charter.diagnostics import BUILTIN, Span
from charter.formats.project import BadProject, Project, project_at
from charter.formats.target import read_target
from charter.suites import siblings
from charter.suites.adapters import list_judged
from charter.suites.subject import overlays_in, subject

LAMP = """protocol lamp

component lamp {
  state lit: bool = false
  operation press() -> bool cites silent {
    branch on when dark: not lit { lit' = true reply true }
    branch off { lit' = false reply false }
  }
  observe all { lit }
}

always any of lamp cites silent: true
witness shines of lamp: lit
instance tiny of lamp { }
"""
OVERLAY = """protocol lamp

overlay bulbs of lamp {
  entry stuck suspected_defect for "2.0".."2.1" cites silent because "It stays lit."
  { replace in lamp.press branch off cites silent { lit' = lit reply false } }
}
"""
ADAPTER = """id = "bulb"
title = "Bulb"
start = ["bulb"]
protocol = "lamp"
releases = ["1.0.0", "2.0.0", "2.0.1", "2.1.5", "2.2.0"]
[variants]
"1" = "old"
"1.0.7" = ""
"""


def entry(name: str, first: str, last: str) -> n.OverlayEntry:
    span = Span(BUILTIN, 0, 0)
    return n.OverlayEntry(name, "known_defect", first, last, "seen", (), (), span=span)


def project(root: Path, overlay: str, adapter: str = ADAPTER) -> Project:
    """A project with one protocol, one adapter and its overlay."""
    folder = root / "adapters" / "bulb"
    folder.mkdir(parents=True)
    (root / "spec" / "lamp").mkdir(parents=True)
    (root / "spec" / "lamp" / "lamp.charter").write_text(LAMP)
    (folder / "overlay.charter").write_text(overlay)
    (folder / "adapter.toml").write_text(adapter)
    return project_at(root)


def models(of: Project, package: str = "bulb") -> dict[str, str]:
    """The sibling models of an overlay of the project, by name."""
    (protocol,) = generate.protocols(of)
    files = generate.overlay_models(generate.open_protocol(protocol), overlays_in(of, "lamp"))
    places = ((Path(path), text) for path, text in files.items())
    return {p.stem: text for p, text in places if p.parent.name == package and p.stem != "__init__"}


def test_a_group_is_named_after_the_first_release_that_is_in_it() -> None:
    entries = (entry("a", "4.0.0", "4.0.2"), entry("b", "4.1.0", ""), entry("c", "", "4.2.1"))
    releases = ["4.0.1", "4.0.2", "4.1.0", "4.2.1", "4.10.0", "4.3.0"]
    assert groups(entries, releases) == {
        "4.0.1": ("a", "c"), "4.1.0": ("b", "c"), "4.3.0": ("b",),
    }  # fmt: skip


def test_groups_begin_wherever_entries_do_when_a_target_lists_no_releases() -> None:
    entries = (entry("a", "4.0.0", "4.0.2"), entry("b", "4.1.0", ""))
    assert groups(entries, ()) == {"0": (), "4.0.0": ("a",), "4.0.3": (), "4.1.0": ("b",)}


def test_releases_of_a_variant_are_in_no_group_of_the_plain_protocol(tmp_path: Path) -> None:
    lamp = project(tmp_path, OVERLAY)
    (overlay,) = overlays_in(lamp, "lamp")
    assert (overlay.name, overlay.component, overlay.target) == ("bulbs", "lamp", "bulb")
    assert overlay.releases == ("2.0.0", "2.0.1", "2.1.5", "2.2.0")
    assert overlay.groups() == {"2.0.0": ("stuck",), "2.2.0": ()}
    assert list_judged(lamp, "lamp") == (("", ""), ("", "old"))


def test_entry_of_older_releases_has_a_model_in_their_variant(tmp_path: Path) -> None:
    lamp = project(tmp_path, OVERLAY.replace('"2.0"', '"1.0"'))
    path = lamp.charters / "lamp" / "lamp.charter"
    path.write_text(
        f"{LAMP}variant old {{ replace in lamp.press branch on cites silent"
        " when dark: not lit { lit' = true reply false } }\n"
    )
    _, old = overlays_in(lamp, "lamp")
    assert (old.variant, old.releases, old.package) == ("old", ("1.0.0",), "bulb_old")
    made = models(lamp, "bulb_old")
    assert set(made) == {"stuck", "from_1_0_0"}
    assert "of the overlay bulbs in the variant old" in made["stuck"]
    assert "What differs from the variant old." in made["stuck"]
    assert "lamp_variants.old.lamp" in made["stuck"], "the variant's rule is there"
    assert "press/off" in made["stuck"], "and the entry's"


def test_entry_in_a_variant_begins_with_itself_when_the_variant_changes_less(
    tmp_path: Path,
) -> None:
    lamp = project(tmp_path, OVERLAY.replace('"2.0"', '"1.0"'))
    path = lamp.charters / "lamp" / "lamp.charter"
    dim = "operation dim() -> bool cites silent { branch it { reply lit } }"
    path.write_text(
        LAMP.replace("observe", f"{dim}\n  observe")
        + f"variant old {{ replace in lamp {dim.replace('reply lit', 'reply true')} }}\n"
    )
    assert "What differs from stuck outside of the variant." in models(lamp, "bulb_old")["stuck"]


def test_first_release_begins_with_the_entry_that_changes_most(tmp_path: Path) -> None:
    more = 'entry warm harmless for "2.0".."" cites silent because "Seen."'
    edits = """{ replace in lamp.press branch on cites silent when dark: not lit {
      pick still in {true, false}
      lit' = not still
      reply still
    } }"""
    made = models(project(tmp_path, OVERLAY.replace("  entry", f"  {more} {edits}\n  entry")))
    assert "What differs from warm." in made["from_2_0_0"]
    assert "CHANGES" in made["warm"] and "CHANGES" not in made["from_2_0_0"]


OTHER = """id = "candle"
title = "Candle"
start = ["candle"]
protocol = "lamp"
overlay = "wicks"
releases = ["1.0.0", "1.1.0"]
[taken."../bulb"]
stuck = "1.1.0.."
"""
WICKS = """protocol lamp

overlay wicks of lamp {
  entry burns harmless cites silent because "It is warm." {
    replace in lamp.press branch on when replaced { lit' = replaced reply true }
  }
}
"""


def with_other(root: Path, toml: str = OTHER) -> Project:
    """The project, with a second target that takes an entry of the first one's overlay."""
    lamp = project(root, OVERLAY)
    folder = root / "adapters" / "candle"
    folder.mkdir()
    (folder / "overlay.charter").write_text(WICKS)
    (folder / "adapter.toml").write_text(toml)
    return lamp


def test_an_entry_that_is_taken_has_releases_of_its_own_and_one_model(tmp_path: Path) -> None:
    lamp = with_other(tmp_path)
    bulbs, wicks = overlays_in(lamp, "lamp")
    assert wicks.groups() == {"1.0.0": ("burns",), "1.1.0": ("stuck", "burns")}
    assert bulbs.groups() == {"2.0.0": ("stuck",), "2.2.0": ()}
    (protocol,) = generate.protocols(lamp)
    assert set(models(lamp, "candle")) == {"burns", "from_1_0_0", "from_1_1_0"}
    about = replace(subject(protocol.sources, "", "lamp"), overlays=(bulbs, wicks))
    named = about.models().overlays["wicks"]
    assert named["stuck"] == "charter_models.lamp_overlays.bulb.stuck"
    assert named["burns"] == "charter_models.lamp_overlays.candle.burns"
    assert named["@1.1.0"] == "charter_models.lamp_overlays.candle.from_1_1_0"


def test_models_with_taken_entries_begin_with_those_of_the_other_overlay(tmp_path: Path) -> None:
    lamp = with_other(tmp_path)
    made = models(lamp, "candle")
    assert "What differs from from_2_0_0." in made["from_1_0_0"]
    assert "lamp_overlays.bulb.from_2_0_0" in made["from_1_0_0"]
    assert "What differs from the plain model." in made["burns"]


def test_an_entry_that_the_other_overlay_does_not_have_is_refused(tmp_path: Path) -> None:
    lamp = with_other(tmp_path, OTHER.replace("stuck", "stcuk"))
    with pytest.raises(BadProject, match=r"in ../bulb has no entry 'stcuk'; did you mean stuck"):
        overlays_in(lamp, "lamp")


def test_models_of_an_overlay_say_what_they_are(tmp_path: Path) -> None:
    made = models(project(tmp_path, OVERLAY))
    assert set(made) == {"stuck", "from_2_0_0", "from_2_2_0"}
    assert "\nsuspected_defect, releases 2.0 to 2.1 (silent).\n" in made["stuck"]
    assert "that apply from release 2.0.0 on" in made["from_2_0_0"]
    assert "Applied:\n\n    stuck\n" in made["from_2_0_0"]
    assert "those from 2.0.0 on,\n\nbut no longer\n\n    stuck\n" in made["from_2_2_0"]


def test_a_model_of_all_entries_lists_only_those_that_the_one_before_lacks(tmp_path: Path) -> None:
    _, wicks = overlays_in(with_other(tmp_path), "lamp")
    text = siblings.of_group(wicks, "1.1.0", wicks.groups())
    assert text.endswith("Applied: those from 1.0.0 on, and\n\n    stuck")


@pytest.mark.parametrize(
    ("overlay", "code"),
    [
        (OVERLAY.replace("overlay bulbs", "overlay"), "syntax/unexpected"),
        ("protocol lamp\n", "variant/unknown"),
        (
            OVERLAY + OVERLAY.replace("protocol lamp", "").replace("bulbs", "more"),
            "variant/unknown",
        ),
        (OVERLAY.replace("of lamp", "of candle"), "name/unknown"),
    ],
    ids=["not a charter", "no overlay", "two overlays", "no such component"],
)
def test_an_overlay_is_refused_when_it_cannot_be_read(
    overlay: str, code: str, tmp_path: Path
) -> None:
    lamp = project(tmp_path, overlay)
    with pytest.raises(api.Refused) as refused:
        models(lamp)
    assert [item.code for item in refused.value.diagnostics] == [code]


def test_an_overlay_of_another_protocol_is_left_alone(tmp_path: Path) -> None:
    lamp = project(tmp_path, OVERLAY.replace("protocol lamp", "protocol candle"))
    assert overlays_in(lamp, "lamp") == ()
    shutil.rmtree(lamp.adapters)
    assert overlays_in(lamp, "lamp") == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('variants = ["old"]', "'variants' is not a table"),
        ('protocol = ["lease"]', "'protocol' is missing, or not a text"),
        ("releases = 1", "'releases' is no list; write each part as a text"),
    ],
)
def test_an_adapter_is_refused_when_a_field_is_of_another_type(tmp_path, line, told):
    path = tmp_path / "adapter.toml"
    path.write_text(f'id = "x"\ntitle = "X"\nstart = ["x"]\n{line}\n')
    with pytest.raises(BadProject, match=told):
        read_target(path)
