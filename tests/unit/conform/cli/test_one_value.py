"""Constants that have one value only in all questions of a suite are told."""

from pathlib import Path

from charter import api
from charter.formats.suite import read_manifest
from conform.cli.output.constants import one_value_only, sentence

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


def tell(text: str, folder: Path) -> str:
    """What is told of the small suite of a charter; "" if nothing is."""
    charter = folder / "timer.charter"
    charter.write_text(text)
    api.make_suite(api.SuiteRequest(charter, out=folder / "suite"), lambda *_: None)
    manifest = read_manifest(folder / "suite")
    model = api.load(charter)
    bounding = api.bounding_constants(charter, model, manifest.component)
    fixed = one_value_only(folder / "suite", manifest, bounding)
    return sentence(fixed, manifest, model) if fixed else ""


def test_a_value_that_all_questions_share_is_told_with_the_remedy(tmp_path: Path) -> None:
    assert tell(TIMER, tmp_path) == (
        "all questions have loud = false (of bool), most = 2 (of int 1..9); an instance with"
        " another value of loud, most, whose name begins with `tiny`, gets questions of its own"
    )


def test_an_instance_with_other_values_is_named(tmp_path: Path) -> None:
    assert tell(TIMER + MORE, tmp_path).endswith("; the full suite has those of tiny_long, too")


def test_constants_with_several_values_are_not_told(tmp_path: Path) -> None:
    assert tell(TIMER + SCENARIO, tmp_path) == ""


BOUNDED = """protocol queue
const most: int 0..9
const length: int 1..9
const unused: int 0..9
type Priority = int 0..most

component queue {
  state last: Priority = 0
  operation submit(priority: Priority) -> bool {
    branch submitted { last' = priority reply next(0) == 1 }
  }
  observe all { last }
}

fun next(now: int 0..length) of queue -> int 0..length = if now < 1 then now + 1 else 0

witness submits of queue: last > 0

instance tiny of queue { most = 1 length = 2 }
scenario "once" of queue { most = 1 length = 2 do submit(1) -> submitted }
"""


def test_a_constant_that_only_bounds_types_is_told(tmp_path: Path) -> None:
    assert tell(BOUNDED, tmp_path) == (
        "all questions have length = 2 (of int 1..9), most = 1 (of int 0..9); an instance with"
        " another value of length, most, whose name begins with `tiny`, gets questions of its own"
    )


def test_a_constant_that_bounds_types_with_several_values_is_not_told(tmp_path: Path) -> None:
    wide = 'scenario "wide" of queue { most = 2 length = 2 do submit(2) -> submitted }\n'
    assert tell(BOUNDED + wide, tmp_path).startswith("all questions have length = 2 (of int 1..9);")


def test_the_instances_of_questions_that_were_found_count(tmp_path: Path) -> None:
    charter = tmp_path / "timer.charter"
    high = "branch high when last > 1 reply false\n    branch submitted {"
    text = BOUNDED.replace("branch submitted {", high)
    charter.write_text(f"{text}instance tiny_wide of queue {{ most = 2 length = 2 }}\n")
    wanted = api.SuiteRequest(charter, search=True, out=tmp_path / "suite")
    api.make_suite(wanted, lambda *_: None)
    values = api.bounding_constants(charter, api.load(charter), "queue")
    assert {name: sorted(one.values) for name, one in values.items()} == {
        "most": [1, 2], "length": [2],
    }  # fmt: skip
