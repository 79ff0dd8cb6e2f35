"""The parser from kept tables is the parser of the grammar."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.cache.files import from_cache
from charter.syntax.parse import GRAMMAR, PairLets
from charter.syntax.parser_tables import parser_of

SPEC = Path(__file__).parents[3] / "spec"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path))


@pytest.mark.parametrize("folder", ["examples", pytest.param("kafka", marks=pytest.mark.slow)])
def test_kept_tables_parse_every_charter_as_the_grammar_does(folder: str, tmp_path: Path) -> None:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    made = parser_of(grammar, PairLets())
    assert len(list((tmp_path / "grammar").iterdir())) == 1
    loaded = parser_of(grammar, PairLets())
    assert loaded.source_path == "<deserialized>"
    files = sorted((SPEC / folder).rglob("*.charter"))
    assert len(files) >= 5
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert loaded.parse(text) == made.parse(text)
    assert {each.name: each.pattern.to_regexp() for each in loaded.terminals} == {
        each.name: each.pattern.to_regexp() for each in made.terminals
    }


def test_another_grammar_has_other_tables(tmp_path: Path) -> None:
    parser_of('start: "a"', PairLets())
    assert parser_of('start: "b"', PairLets()).parse("b").data == "start"


def test_damaged_tables_are_made_again(tmp_path: Path) -> None:
    parser_of('start: "a"', PairLets())
    (kept,) = (tmp_path / "grammar").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert parser_of('start: "a"', PairLets()).parse("a").data == "start"
    assert from_cache(kept) is not None
