"""Constants that have one value only in all questions of a suite are told."""

from pathlib import Path

from charter import api
from charter.formats.suite import read_manifest
from conform.cli.commands.constants import one_value_only, sentence

TIMER = """protocol timer
const most: int 1..9
const loud: bool
const one: int 1..1

component timer {
  state left: int 0..9 = 0
  operation wind() -> bool {
    branch full when left >= most or (loud and one > left + 1) reply false
    branch wound { left' = left + 1 reply true }
  }
  observe all { left }
}

witness winds of timer: left > 0

instance tiny of timer { most = 2 loud = false one = 1 }
scenario "once" of timer { most = 2 loud = false one = 1 do wind() -> wound }
"""
MORE = "instance tiny_long of timer { most = 3 loud = true one = 1 }\n"
SCENARIO = 'scenario "long" of timer { most = 3 loud = true one = 1 do wind() -> wound }\n'


def told(text: str, folder: Path) -> str:
    """What is told of the small suite of a charter; "" if nothing is."""
    charter = folder / "timer.charter"
    charter.write_text(text)
    api.make_suite(api.SuiteRequest(charter, out=folder / "suite"), lambda *_: None)
    manifest = read_manifest(folder / "suite")
    fixed = one_value_only(folder / "suite", manifest)
    return sentence(fixed, manifest, api.load(charter)) if fixed else ""


def test_a_value_that_all_questions_share_is_told_with_the_remedy(tmp_path: Path) -> None:
    assert told(TIMER, tmp_path) == (
        "all questions have loud = false (of bool), most = 2 (of int 1..9); an instance with"
        " another value of loud, most, whose name begins with `tiny`, gets questions of its own"
    )


def test_an_instance_with_other_values_is_named(tmp_path: Path) -> None:
    assert told(TIMER + MORE, tmp_path).endswith("; the full suite has those of tiny_long, too")


def test_constants_with_several_values_are_not_told(tmp_path: Path) -> None:
    assert told(TIMER + SCENARIO, tmp_path) == ""
