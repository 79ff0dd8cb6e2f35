"""Rows of the table of verdicts that are out of date are marked, and stay until they are searched
again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.api.test_verdicts import LIGHT, search

from charter.api import verdicts
from charter.api.handbook import handbook
from conform.cli.main import main


@pytest.fixture
def charter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "light.charter"
    path.write_text(LIGHT, encoding="utf-8")
    return path


SHORTER = LIGHT.replace("pressed >= 3", "pressed >= 2")


def stale(charter: Path) -> list[tuple[str, str]]:
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    return [(row.variant, row.mutant) for row in rows if row.out_of_date]


def test_rows_of_an_earlier_text_stay_and_are_marked_until_they_are_searched_again(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    search("--mutant", "*")
    assert stale(charter) == []
    charter.write_text(SHORTER, encoding="utf-8")
    assert main(["verdicts", "light.charter", "--write", "light.verdicts"]) == 0
    assert stale(charter) == [("soft", ""), ("", "dark")]
    assert "2 of 3 rows of light.verdicts are out of date" in capsys.readouterr().err
    page = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8")
    assert "2 of 3 rows are out of date" in page and "| `tiny` (out of date) | 4 " in page
    charter.write_text(LIGHT, encoding="utf-8")
    search("--mutant", "*")
    assert stale(charter) == []


def test_an_interrupted_renewal_keeps_what_it_searched_and_marks_the_rest(
    charter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search("--mutant", "*")
    charter.write_text(SHORTER, encoding="utf-8")
    searched, asked = verdicts.search_instance, list[str]()

    def interrupt(model, place, *more):  # type: ignore[no-untyped-def]
        asked.append(place.mutant or place.variant)
        if place.mutant and asked.count(place.mutant) == 1:
            raise KeyboardInterrupt
        return searched(model, place, *more)

    monkeypatch.setattr(verdicts, "search_instance", interrupt)
    assert search("--mutant", "*") == 130
    assert stale(charter) == [("", "dark")]
    page = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8")
    assert "1 of 3 rows are out of date" in page
    assert search("--mutant", "*") == 0 and asked == ["", "soft", "dark", "dark"]
    assert stale(charter) == []


def test_rows_of_what_the_charter_has_no_more_are_dropped(charter: Path) -> None:
    search("--mutant", "*")
    without, _, _ = LIGHT.partition("mutant dark")
    charter.write_text(without, encoding="utf-8")
    main(["verdicts", "light.charter", "--write", "light.verdicts"])
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert [(row.variant, row.mutant) for row in rows] == [("", "")]


def test_the_handbook_says_which_rows_are_out_of_date_and_draws_none_of_them(
    charter: Path,
) -> None:
    assert "table-of-verdicts.html" not in handbook(charter, "html")
    search("--mutant", "*")
    pages = handbook(charter, "html")
    assert "✗ 2" in pages["table-of-verdicts.html"] and "table-of-verdicts" in pages["index.html"]
    assert "out of date:" not in pages["table-of-verdicts.html"]
    assert "pictures/fails--tiny-seldom.svg" in pages and "pictures/mutant.dark.svg" in pages
    charter.write_text(LIGHT.replace("pressed < 3", "pressed < 4"), encoding="utf-8")
    pages = handbook(charter, "html")
    assert "3 of 3 rows are out of date:" in pages["table-of-verdicts.html"]
    assert not [name for name in pages if "fails-" in name or "mutant" in name]
    assert "by these steps" not in pages["light.html"]
