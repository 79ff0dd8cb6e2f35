"""The cache of core: it returns what was compiled, and compiles again when anything changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from charter import api
from charter.cache.files import MOST, cache_folder, from_cache, to_cache
from charter.core.encoding import decode, encode
from charter.core.nodes import Model
from charter.project import core_cache

ROOT = Path(__file__).resolve().parents[3]
EVERYTHING = ROOT / "tests" / "golden" / "surface" / "everything.charter"
CHARTERS = [
    pytest.param(ROOT / "spec" / "kafka", marks=pytest.mark.slow),
    EVERYTHING,
    *sorted((ROOT / "spec" / "examples").glob("*.charter")),
]
TEXT = """\
protocol lamp
variant broken { replace update on of lamp.press/turns with on }
component lamp {
  state on: bool = false
  operation press() -> bool {
    branch turns {
      on' = not on
      reply on
    }
  }
}
witness lit of lamp: on
"""

TWO = TEXT.replace("state on: bool = false", "state on: bool = false\n  state held: bool = false")


@pytest.mark.parametrize("path", CHARTERS, ids=lambda path: path.stem)
def test_core_comes_back_with_its_spans_and_comments(path: Path) -> None:
    (model, data) = (made := api.Charter(api.read_sources(path)).model(), encode(made))
    assert decode(data) == model
    assert encode(decode(data)) == data


def test_equal_types_are_one_object_when_core_comes_back() -> None:
    first, second = decode(encode(api.load_text(TWO))).components[0].state
    assert first.type is second.type


class Maker:
    """Makes core, and counts how often."""

    def __init__(self, selection: api.Selection) -> None:
        self.times = 0
        self.selection = selection

    def __call__(self, source: api.Source) -> Model:
        def make() -> Model:
            self.times += 1
            return api.load_text(source.text, self.selection, source.name)

        return core_cache.load_or_compile((source,), self.selection, make)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return cache_folder("core")


def test_core_is_made_once_for_the_same_texts(cache: Path) -> None:
    make = Maker(api.PLAIN)
    assert make(api.Source("a", TEXT)) == make(api.Source("a", TEXT)) == api.load_text(TEXT)
    assert make.times == len(list(cache.iterdir())) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda: Maker(api.PLAIN)(api.Source("b", TEXT)),
        lambda: Maker(api.PLAIN)(api.Source("a", TEXT.replace("= false", "= true"))),
        lambda: Maker(api.Selection("broken"))(api.Source("a", TEXT)),
    ],
    ids=["name", "text", "variant"],
)
def test_core_is_made_anew_when_something_changed(cache: Path, other: Callable[[], Model]) -> None:
    Maker(api.PLAIN)(api.Source("a", TEXT))
    other()
    assert len(list(cache.iterdir())) == 2


def test_core_is_made_anew_when_the_compiler_changed(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Maker(api.PLAIN)
    make(api.Source("a", TEXT))
    monkeypatch.setattr(core_cache, "compiler", lambda: "another")
    make(api.Source("a", TEXT))
    assert make.times == 2


def test_core_is_compiled_once_in_a_process_also_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "file"))
    source = api.Source("once", TEXT)
    assert core_cache.core_of((source,), api.PLAIN) is core_cache.core_of((source,), api.PLAIN)


def test_core_is_made_anew_when_the_overlay_changed(cache: Path) -> None:
    times = 0
    for text in ("protocol lamp\n", "protocol lamp\n\n", "protocol lamp\n"):
        make = Maker(api.Selection(overlay=(api.Source("o", text),)))
        make(api.Source("a", TEXT))
        times += make.times
    assert times == 2


def test_what_is_derived_from_core_is_made_once_for_the_same_texts_and_question(
    cache: Path,
) -> None:
    made: list[str] = []

    def compile_asked(text: str, variant: str, what: str) -> bytes:
        def make() -> bytes:
            made.append(what)
            return f"{text} {variant} {what}".encode()

        source = api.Source("a", text)
        return core_cache.derive((source,), api.Selection(variant), what, make)

    asks = [(TEXT, "", "size"), (TEXT, "", "depth"), (TEXT, "broken", "size"), (TWO, "", "size")]
    for ask in (*asks, *asks):
        assert compile_asked(*ask) == " ".join(ask).encode()
    assert made == [what for _, _, what in asks]


def test_core_is_made_anew_when_its_file_is_damaged(cache: Path) -> None:
    make = Maker(api.PLAIN)
    model = make(api.Source("a", TEXT))
    (file,) = cache.iterdir()
    sound = file.read_bytes()
    for times, damaged in enumerate((sound[:-1], sound[:40] + b"x" + sound[41:], b""), start=2):
        file.write_bytes(damaged)
        assert make(api.Source("a", TEXT)) == model
        assert (make.times, file.read_bytes()) == (times, sound)


def test_a_charter_with_errors_is_refused_each_time(cache: Path) -> None:
    for _ in range(2):
        with pytest.raises(api.Refused):
            Maker(api.PLAIN)(api.Source("a", TEXT.replace("false", "3")))
    assert not cache.exists()


def test_the_parser_is_not_needed_when_core_is_kept(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "a.charter").write_text(TEXT)
    api.load(tmp_path / "a.charter")
    code = (
        "import sys; from pathlib import Path; from charter import api;"
        f"api.load(Path({str(tmp_path / 'a.charter')!r}));"
        "sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_that_were_not_used_for_longest_are_forgotten(tmp_path: Path) -> None:
    for number in range(MOST):
        to_cache(tmp_path / str(number), b"x")
        os.utime(tmp_path / str(number), (number, number))
    assert from_cache(tmp_path / "0") == b"x"
    to_cache(tmp_path / "more", b"x")
    left = {file.name for file in tmp_path.iterdir()}
    assert len(left) == MOST and {"0", "more"} <= left and "1" not in left


def test_a_large_full_cache_is_not_sorted_after_each_write(tmp_path: Path) -> None:
    for number in range(1_000):
        (tmp_path / str(number)).touch()
        os.utime(tmp_path / str(number), (number, number))
    to_cache(tmp_path / "more", b"x", 1_000)
    left = {file.name for file in tmp_path.iterdir()}
    assert len(left) == 998 and "more" in left and not {"0", "1", "2"} & left


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "file"))
    make = Maker(api.PLAIN)
    assert make(api.Source("a", TEXT)) == make(api.Source("a", TEXT))
    assert make.times == 2


def test_a_cache_that_can_only_be_read_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise OSError(30, "Read-only file system")

    to_cache(tmp_path / "a", b"x")
    monkeypatch.setattr(os, "utime", refuse)
    assert from_cache(tmp_path / "a") == b"x"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    to_cache(tmp_path / "a", b"x")
    assert not list(tmp_path.iterdir())


def test_a_user_without_a_home_has_no_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("os.path.expanduser", str)  # as Python does where no home is known
    for name in ("CHARTER_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    to_cache(cache_folder("core") / "a", b"x")
    assert from_cache(cache_folder("core") / "a") is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("core") == tmp_path / "charter" / "core"
