"""A state whose only steps an instance leaves out is no deadlock, to every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from charter import api
from charter.core import nodes as n
from charter.explore.result import SearchResult
from charter.explore.simulate import WalkPlan, simulate
from conform.cli.main import main

Engine = Literal["native", "reference"]

CHARTER = """protocol left.out

const top: int 0..9

system counting {{
  state n: int 0..9 = 0
  state stuck: bool = false
  step up(by: int 1..3) {{
    require not stuck and n + by <= top
    n' = n + by
  }}
  step jam() {{
    require n == 2 and not stuck
    stuck' = true
  }}
  step again() {{
    require n >= 3 and not stuck
    n' = 0
  }}
}}

witness begun of counting: n == 1

instance tiny of counting {{ top = 4  {line} }}
"""


CASES: list[tuple[str, list[int], int]] = [
    ("", [1], 0),  # where it is stuck, nothing can happen
    ("only jam if false", [], 0),
    ("only up if n + by <= 3  only again if false", [1], 1),  # 3 could go on
    ("offers up, jam", [1], 1),  # 4 could begin again
    ("offers up, jam  only up if n + by < 2", [], 1),  # at 1 it could count on
    ("offers up  only up if by == 2", [], 1),  # at 4 it could begin again
]


def model_of(line: str) -> n.Model:
    return api.load_text(CHARTER.format(line=line))


def search(line: str, engine: Engine) -> SearchResult:
    return api.explore(model_of(line), "tiny", api.ExploreOptions(engine=engine), ignore)


def ignore(*_: object) -> None:
    pass


def deadlocks(found: SearchResult) -> list[int]:
    return [one.seen for one in found.failures]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("line", "deadlock", "cut"), CASES)
def test_states_whose_steps_are_left_out_are_counted_apart(
    line: str, deadlock: list[int], cut: int, engine: Engine
) -> None:
    found = search(line, engine)
    assert (deadlocks(found), found.counts.cut) == (deadlock, cut)


def test_spark_counts_them_as_the_other_engines(spark: object) -> None:
    model = model_of("offers up, jam")
    options = api.ExploreOptions(engine="spark", session=spark)
    assert (
        api.explore(model, "tiny", options, ignore).counts
        == search("offers up, jam", "native").counts
    )


@pytest.mark.parametrize(("line", "deadlock"), [(line, bool(seen)) for line, seen, _ in CASES])
def test_walks_fail_only_where_nothing_at_all_can_happen(line: str, deadlock: bool) -> None:
    model = model_of(line)
    walks = simulate(model, model.instances[0], WalkPlan(steps=12, walks=40, seed=3))
    assert ("deadlock" in walks.failures) == deadlock


LARGE = """protocol left.out.large

sort Node

system growing {
  state seen: set Node = {}
  step see(n: Node) {
    require not n in seen
    seen' = seen | {n}
  }
  step forget(all: set set Node) {
    require size(all) == 2
    seen' = {}
  }
}

witness begun of growing: seen != {}

instance tiny of growing { Node = 4  offers see  only see if size(seen) < LIMIT }
"""


@pytest.mark.parametrize(("limit", "by_reference"), [(3, False), (9, True)])
def test_a_step_that_is_left_out_need_not_be_supported(limit: int, by_reference: bool) -> None:
    model = api.load_text(LARGE.replace("LIMIT", str(limit)))
    found = api.explore(model, "tiny", api.ExploreOptions(), ignore)
    assert (found.why_reference != "") == by_reference
    assert (found.failures, found.counts.cut) == ((), 1)


def test_an_instance_can_say_that_it_shows_a_deadlock() -> None:
    assert search("fails deadlock", "native").fine
    assert search("fails deadlock", "native").expected == ("deadlock",)
    assert search("fails deadlock  only jam if false", "native").not_failed == ("deadlock",)


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("only up if n + by <= 3  only again if false  only jam if false", True),
        ("only up if by == 1  only again if false", False),  # it is stuck at 2
    ],
)
def test_a_run_that_ends_where_it_is_cut_says_so(
    line: str, cut: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "left_out.charter"
    live = "eventually full of counting: n == 4\n"
    path.write_text(CHARTER.format(line=line) + live, encoding="utf-8")
    assert main(["explore", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "and then nothing changes any more" in shown
    assert ("by what the instance leaves out (`offers`, `only`)" in shown) == cut
