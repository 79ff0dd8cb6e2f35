"""The cache of trees: what is read is what was parsed, and a broken text is never kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import spec

from charter.cache.files import cache_folder
from charter.diagnostics import Diagnostics, Source
from charter.project import tree_cache
from charter.project.sources import read_sources
from charter.syntax.parse import parse

LONG = "protocol lamp\n" + "-- A comment.\n" * 200 + "sort Lamp\n"
CHARTERS = [*read_sources(spec.SPEC / "kafka"), Source("long", LONG)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return cache_folder("trees")


def test_a_tree_that_is_read_is_the_one_that_was_parsed(cache: Path) -> None:
    for source in CHARTERS[::6]:
        parsed = parse(source, Diagnostics())
        assert parsed is not None
        first, second = tree_cache.parse_file(source), tree_cache.parse_file(source)
        assert first == second == (parsed, ())
        read = second[0]
        assert read is not None
        # Spans and sections count for the rows, and not for `==`.
        assert tree_cache._ROWS.encode(read) == tree_cache._ROWS.encode(parsed)
    assert any(cache.iterdir())


def test_a_kept_tree_needs_no_parser(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tree_cache.parse_file(CHARTERS[-1])
    monkeypatch.setattr("charter.syntax.parse.parse", None)
    assert tree_cache.parse_file(CHARTERS[-1]) == kept


def test_another_text_name_or_compiler_is_parsed_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree_cache.parse_file(Source("long", LONG))
    tree_cache.parse_file(Source("other", LONG))
    tree_cache.parse_file(Source("long", LONG + "\n"))
    monkeypatch.setattr(tree_cache, "compiler", lambda: "another")
    tree_cache.parse_file(Source("long", LONG))
    assert len(list(cache.iterdir())) == 4


def test_neither_short_nor_broken_texts_are_kept(cache: Path) -> None:
    tree, errors = tree_cache.parse_file(Source("broken", LONG + "sort"))
    assert tree is not None and [span.start for span in tree.broken] == [len(LONG)]
    assert [error.code for error in errors] == ["syntax/unexpected"]
    assert tree_cache.parse_file(Source("short", "protocol lamp\n"))[0] is not None
    assert not cache.exists()


def test_a_damaged_file_of_the_cache_is_parsed_again(cache: Path) -> None:
    source = Source("long", LONG)
    kept = tree_cache.parse_file(source)
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:-7])
    assert tree_cache.parse_file(source) == kept
