"""`conform help` shows the pages of the manual."""

import shlex
import sys

import pytest

from conform.adapters.projects import docs
from conform.cli.main import main


def test_every_page_of_the_language_is_a_topic(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    listed = capsys.readouterr().out.partition("topics:\n")[2].split()
    pages = {path.stem for path in (docs() / "language").glob("*.md")} - {"README"}
    assert pages and pages <= {*listed}


def test_a_topic_is_shown_as_it_is_when_it_goes_to_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["help", "properties"]) == 0
    page = docs() / "language" / "properties.md"
    assert capsys.readouterr().out == page.read_text(encoding="utf-8")


def test_a_topic_is_laid_out_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["help", "counts"]) == 0
    shown = capsys.readouterr().out
    assert "What is counted" in shown and "## " not in shown


@pytest.mark.parametrize("word", ["type/mismatch", "inconclusive", "not loadable"])
def test_help_about_a_code_or_a_count_names_the_command(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", word]) == 2
    told = f"there is no page {word!r}; `conform explain {shlex.quote(word)}` explains it\n"
    assert capsys.readouterr().err.endswith(told)


def test_an_unknown_topic_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "proprties"]) == 2
    assert "did you mean properties?" in capsys.readouterr().err
