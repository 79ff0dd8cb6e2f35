"""The parts of a full suite in the cache: what did not change is not made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.vectors.test_suite import LAMP, quiet, subject

from charter.formats.suite import Manifest
from charter.project import compiler_digest
from charter.suites import build, make, parts

SHORT = """
instance tiny_short of lamp { }
"""


class Making:
    """Makes full suites in this process, and notes which parts are made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.made: list[str] = []
        self.place = folder / "lamp.charter"
        monkeypatch.setattr(parts, "cache_folder", lambda kind: folder / "cache" / kind)
        monkeypatch.setattr(parts, "WALKS", 5)
        monkeypatch.setattr(build, "_make_parts", lambda todo: map(self._make, todo))

    def _make(self, task: parts.Task) -> tuple[parts.Task, parts.InstanceVectors]:
        self.made.append(f"{task.kind} {task.instance}")
        return task, parts.make_part(task)

    def suite(self, text: str) -> Manifest:
        """The manifest of the full suite of a text; `made` are then its new parts."""
        self.made = []
        self.place.write_text(text)
        return make.make(subject(self.place), "full", self.folder / "out", quiet).manifest


@pytest.fixture
def making(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    return Making(tmp_path, monkeypatch)


def test_a_comment_or_a_scenario_makes_no_part_again(making: Making) -> None:
    first = making.suite(LAMP)
    assert making.made == ["explored tiny_lamp", "walks tiny_lamp"]
    assert making.suite(f"-- A comment.\n\n{LAMP}") == first
    assert not making.made
    assert making.suite(LAMP.replace("  do press(2) -> off\n", "")).digest != first.digest
    assert not making.made


def test_a_changed_rule_makes_all_parts_again(making: Making) -> None:
    making.suite(LAMP)
    making.suite(LAMP.replace("> 9", "> 8"))
    assert making.made == ["explored tiny_lamp", "walks tiny_lamp"]


def test_another_instance_makes_its_own_parts_only(making: Making) -> None:
    making.suite(LAMP)
    making.suite(LAMP + SHORT)
    assert making.made == ["explored tiny_short", "walks tiny_short"]


def test_another_compiler_makes_all_parts_again(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = making.suite(LAMP)
    monkeypatch.setattr(parts, "compiler", lambda: f"not {compiler_digest.compiler()}")
    assert making.suite(LAMP) == first
    assert len(making.made) == 2


def _cut(data: bytes) -> bytes:
    return data[:-1]


def _change(data: bytes) -> bytes:
    return data[:60] + bytes([data[60] ^ 1]) + data[61:]


@pytest.mark.parametrize("damage", [_cut, _change])
def test_a_damaged_part_is_made_again(making: Making, damage: Callable[[bytes], bytes]) -> None:
    first = making.suite(LAMP)
    for file in (making.folder / "cache" / "vectors").iterdir():
        file.write_bytes(damage(file.read_bytes()))
    assert making.suite(LAMP) == first
    assert len(making.made) == 2


def test_what_was_finished_before_an_end_is_not_made_again(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(name: str, _done: int, _total: int) -> None:
        if name.startswith("walks"):
            raise KeyboardInterrupt

    making.place.write_text(LAMP + SHORT)
    with pytest.raises(KeyboardInterrupt):
        make.make(subject(making.place), "full", making.folder / "out", end)
    assert len(making.made) == 3
    making.suite(LAMP + SHORT)
    assert making.made == ["walks tiny_short"]


BOX = """protocol box
component box {
  state inside: option int 0..3 = none
  operation shake(full: bool) -> bool cites silent {
    branch shaken {
      pick chosen in {full, true} or none
      inside' = if chosen == present(true) then present(1) else none
      reply true
    }
  }
  operation look() -> bool cites silent { branch looked { reply value(inside) > 0 } }
  observe all { inside }
}
witness full of box: inside != none
instance tiny of box { }
"""


def test_a_part_that_names_a_place_is_not_kept(making: Making) -> None:
    making.place.write_text(BOX)
    made = make.make(subject(making.place), "full", making.folder / "out", quiet)
    assert any("lamp.charter:" in reason for reason in made.refused)
    assert making.made and not (making.folder / "cache").exists()
