"""Where the files of a charter are, and TOML files that people and commands both edit."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from charter.formats.charter_files.claims import claims_file
from charter.formats.charter_files.survivors import survivors_file
from charter.formats.charter_files.verdicts import verdicts_file
from charter.formats.files import beside_charter, read_toml, toml_string, write_whole


def test_files_of_a_folder_are_in_it_and_those_of_a_file_beside_it(tmp_path: Path) -> None:
    assert beside_charter(tmp_path, "found") == tmp_path / "found"
    assert verdicts_file(tmp_path) == tmp_path / "verdicts" / "verdicts.json"
    one = tmp_path / "kip.966.charter"
    assert claims_file(one) == tmp_path / "kip.966.claims.toml"
    assert survivors_file(one) == tmp_path / "kip.966.survivors.toml"
    assert verdicts_file(one) == tmp_path / "kip.966.verdicts" / "verdicts.json"


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.mkdir()
    with pytest.raises(LookupError, match=r"list\.toml cannot be written: Is a directory"):
        write_whole(path, "a = 1\n", LookupError)
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path, text = tmp_path / "new" / "list.toml", 'says "no" \\ \x7f ü\n'
    write_whole(path, f"a = {toml_string(text)}\n", LookupError)
    assert read_toml(path, LookupError) == {"a": text}
    assert tomllib.loads(path.read_text(encoding="utf-8")) == {"a": text}


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read: No such"), ("a", "no TOML")])
def test_a_file_that_cannot_be_read_is_one_sentence(
    content: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "list.toml"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(LookupError, match=said):
        read_toml(path, LookupError)
