"""`conform vectors`: where a suite goes, and what is told of one without vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from conform.cli.main import main

TEXT = """protocol NAME
component lamp {
  state lit: bool = false
  operation press() -> bool cites silent { branch on { lit' = true  reply lit } }
  observe all { lit }
}
witness shines of lamp: lit
instance tiny of lamp { }
"""


def test_suites_of_two_protocols_with_one_name_of_a_component_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []
    for name in ("one.lamp", "two.lamp", "one.lamp"):
        path = tmp_path / f"{name}.charter"
        path.write_text(TEXT.replace("NAME", name))
        made = api.make_suite(api.SuiteRequest(path), lambda *_: None)
        folders.append(made["folder"])
    usual = "build/suites/lamp-charter-smoke"
    assert folders == [usual, "build/suites/two.lamp-lamp-charter-smoke", usual]


def test_suite_without_vectors_says_how_to_get_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.charter").write_text(TEXT.replace("NAME", "lamp"))
    assert main(["vectors", "lamp.charter"]) == 0
    told = capsys.readouterr().err
    assert "the suite has no vectors; `conform vectors lamp.charter --search` searches" in told
    assert main(["vectors", "lamp.charter", "--search"]) == 0
    assert "no vectors" not in capsys.readouterr().err
