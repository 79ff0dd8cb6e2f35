"""Reading charters, and what comes out when they cannot be read or are wrong."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from tests.support.charters import WORDS
from tests.support.comparing.sampled import few_or_all

from charter import api
from charter.api.generated import protocols
from charter.diagnostics import Refused, Source
from charter.formats.project import project_at
from charter.ide.workspace import Workspace
from charter.project.pipeline import check_texts

ROOT = Path(__file__).parents[3]
COMPONENT = """component c { state on: bool = true
  operation go() -> bool { branch ok { on' = false reply true } } }
witness w of c: on"""


def test_folder_is_one_protocol_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "2.charter").write_text(WORDS, encoding="utf-8")
    (tmp_path / "1.charter").write_text(f"protocol test.words\n{COMPONENT}", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not a charter", encoding="utf-8")
    assert [source.name[-9:] for source in api.read_sources(tmp_path)] == ["1.charter", "2.charter"]
    assert [component.name for component in api.load(tmp_path).components] == ["c"]


def write_rooms(tmp_path: Path) -> None:
    """A protocol in folders, next to classes of its states and to another protocol."""
    for name, text in {
        "1.charter": f"protocol test.words\n{COMPONENT}",
        "b/c/3.charter": "protocol test.words\n",
        "b/4.charter": "protocol test.words\nwitness other of c: on",
        "a/2.charter": WORDS,
        "a/other.charter": "protocol other\n",
        "c/other.charter": "protocol other\n",
        "c/a/5.charter": "protocol test.words\n",
        "coverage/6.charter": "protocol test.words\n",
        "1.coverage/7.charter": "protocol test.words\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")


def test_files_below_a_folder_are_of_its_protocol_in_the_order_of_names(tmp_path: Path) -> None:
    write_rooms(tmp_path)
    names = [Path(source.name).name for source in api.read_sources(tmp_path)]
    assert names == ["1.charter", "2.charter", "3.charter", "4.charter"]
    assert not api.check_charter(tmp_path).errors
    assert len(api.read_sources(tmp_path / "coverage")) == 1


def test_a_part_of_a_protocol_names_the_folder_of_the_whole(tmp_path: Path) -> None:
    write_rooms(tmp_path)
    with pytest.raises(api.Unreadable) as error:
        api.check_charter(tmp_path / "b" / "c")
    assert str(error.value).endswith(
        f"/b/c holds some of the files of test.words; give the folder: {tmp_path.as_posix()}"
    )
    with pytest.raises(api.Unreadable, match=f"give the folder: {tmp_path.as_posix()}$"):
        api.check_charter(tmp_path / "b" / "4.charter")


def test_a_protocol_in_folders_is_one_of_the_project(tmp_path: Path) -> None:
    write_rooms(tmp_path / "spec" / "words")
    (tmp_path / "charter.toml").write_text("", encoding="utf-8")
    found = [one for one in protocols(project_at(tmp_path)) if one.name != "other"]
    assert [one.place for one in found] == ["spec/words", "spec/words/c/a/5.charter"]
    assert [len(one.sources) for one in found] == [4, 1]


def test_an_editor_reads_a_protocol_in_folders(tmp_path: Path) -> None:
    write_rooms(tmp_path)
    for name in ("1.charter", "a/2.charter", "b/c/3.charter"):
        files = Workspace().protocol((tmp_path / name).as_posix())
        assert [file.name[-9:] for file in files] == [f"{at}.charter" for at in (1, 2, 3, 4)]


def test_files_of_two_protocols_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "1.charter").write_text(WORDS, encoding="utf-8")
    (tmp_path / "2.charter").write_text("protocol other\n", encoding="utf-8")
    assert [item.code for item in api.check_charter(tmp_path).errors] == ["protocol/mixed"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.charter", None, "missing.charter does not exist"),
        ("latin.charter", b"protocol a\n-- \xe9\n", "latin.charter is not UTF-8 text (byte 14)"),
        ("folder", "", "folder holds no file that ends in .charter"),
    ],
)
def test_unreadable_path_is_one_sentence(
    tmp_path: Path, name: str, content: bytes | str | None, sentence: str
) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "":
        path.mkdir()
    with pytest.raises(api.Unreadable) as error:
        api.load(path)
    assert str(error.value) == f"{tmp_path.as_posix()}/{sentence}"


def test_errors_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "1.charter").write_text("protocol p\nfun f( = true", encoding="utf-8")
    (tmp_path / "2.charter").write_text("protocol p\nfun g( = true", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        api.load(tmp_path)
    found = refused.value.diagnostics.errors
    assert [item.span.source.name[-9:] for item in found] == ["1.charter", "2.charter"]


@pytest.mark.xdist_group("kafka is checked")
def test_kafka_charter_is_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # by the name by which other tests check it, so that one of them does
    assert api.check_charter(Path("spec/kafka")).errors == ()


WORD = re.compile(r"\w+")


@few_or_all(5, 25)
def test_damaged_charters_are_refused_without_a_traceback(examples: int) -> None:
    """Words are exchanged, so that most texts still parse and the checker sees the damage."""
    text = (ROOT / "tests" / "golden" / "surface" / "everything.charter").read_text("utf-8")
    words = [match.span() for match in WORD.finditer(text)]
    random_words = random.Random(7)
    refused = 0
    for _ in range(examples):
        one, other = sorted(random_words.sample(words, 2))
        damaged = "".join(
            (text[: one[0]], text[other[0] : other[1]], text[one[1] : other[0]],
             text[one[0] : one[1]], text[other[1] :])
        )  # fmt: skip
        refused += bool(check_texts((Source("damaged", damaged),)).errors)
    assert 2 * refused > examples


def test_what_is_no_regular_file_is_refused_and_not_read(tmp_path: Path) -> None:
    """A FIFO would be waited for, and /dev/zero never ends."""
    os.mkfifo(tmp_path / "a.charter")
    for path in (tmp_path / "a.charter", tmp_path, Path("/dev/zero")):
        with pytest.raises(api.Unreadable, match="is not a regular file"):
            api.check_charter(path)


def test_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.charter").open("wb") as file:
        file.truncate(9 << 20)
    with pytest.raises(api.Unreadable, match="is larger than 8 MB"):
        api.check_charter(tmp_path / "a.charter")
