"""The estimate of a search: how much is left, and where nothing can be said."""

from __future__ import annotations

import re
import threading

import pytest
from tests.support import spec

from charter.analysis.search_size import SearchSize
from charter.explore.result import FirstViolation
from conform.cli.output.search_note import FoundSoFar, cost, costing
from conform.console.progress import JudgedLines, Pace, SearchListener, bar, left, searching, span


def lines(sizes: list[int]) -> list[str]:
    """What is said at the end of each level of a search that expands 100 states in a second."""
    pace, said, done = Pace(0.0), list[str](), 0
    for level, (size, after) in enumerate(zip(sizes, [*sizes[1:], 0], strict=True), 1):
        done += size
        said.append(pace.line(done / 100, done + after, 5 * done, level, after))
    return said


def test_nothing_is_said_when_levels_grow() -> None:
    assert left([10, 20, 40], 40) is None
    assert not [line for line in lines([1, 10, 100, 1000, 5000]) if "to the end" in line]


def test_nothing_is_said_when_there_were_too_few_levels() -> None:
    assert left([100, 10], 10) is None


def test_what_is_left_is_a_sum_of_shrinking_levels() -> None:
    assert left([800, 400, 200], 50) == 50 + 200


def test_the_slower_of_the_last_two_shrinkings_counts() -> None:
    assert left([1000, 800, 80], 0) == 320


def test_the_estimate_is_near_when_levels_halve() -> None:
    sizes = [10, 1000, 10_000, 5_000, 2_500, 1_250, 600, 300, 150, 75]
    (first, *_) = (line for line in lines(sizes) if "to the end" in line)
    assert "depth 5" in first
    assert "about 25 s to the end" in first  # 2,375 states are left, a hundred in a second


def test_nothing_is_said_of_an_engine_that_does_not_tell_its_queue() -> None:
    pace = Pace(0.0)
    said = [pace.line(i, 1000 * i, 9000 * i, i, 0) for i in range(1, 9)]
    assert not [line for line in said if "to the end" in line]


def test_the_line_of_a_search_tells_how_many_violations_it_has_found() -> None:
    said: list[str] = []
    listener = SearchListener(said.append)
    so_far = FoundSoFar(listener)
    for name, steps in (("p", 6), ("p", 9), ("q", 7)):
        so_far.add(FirstViolation("always", name, steps, 100))
        listener(100, 300, 8, 10)
    assert said[0].endswith(", 10 in the queue; 1 violation, after 6 steps")
    # A search that begins anew tells it again.
    assert said[1].endswith(", 10 in the queue; 1 violation, after 9 steps")
    assert said[2].endswith("; 2 violations, the first after 7 steps")
    assert listener.last.endswith(", 10 in the queue")


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.4, "3 s"), (99, "99 s"), (150, "2 min"), (9_000, "2.5 h")]
)
def test_times_are_rounded(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in its only place."""
    clock = [100.0]
    monkeypatch.setattr("conform.console.progress.time.monotonic", lambda: clock[0])
    return clock


def test_a_search_says_how_far_it_is_where_stderr_is_no_terminal(
    capsys: pytest.CaptureFixture[str], now: list[float]
) -> None:
    with searching() as tell:
        for seconds in range(1, 200):
            now[0] = 100.0 + seconds
            tell(100 * seconds, 200 * seconds, 1, 5)
    lines = capsys.readouterr().err.splitlines()
    states = [f"{100 * seconds:,}" for seconds in (10, 20, 40, 80, 140)]
    assert lines == [
        f"conform: {n} states (100/s), {2 * int(n.replace(',', '')):,} transitions, depth 1, "
        "5 in the queue"
        for n in states
    ]
    assert tell.last.startswith("19,900 states (100/s)")


def test_what_is_done_beside_the_search_has_a_pace_of_its_own(
    capsys: pytest.CaptureFixture[str], now: list[float]
) -> None:
    with searching() as tell:
        now[0] = 110.0
        tell(1000, 2000, 3, 0)
        tell(5, 9, 1, 4, "eventually, states")
        now[0] = 120.0
        tell(50, 90, 2, 40, "eventually, states")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("conform: 1,000 states (100/s)")
    assert second.startswith("conform: eventually, states: 50 states (5/s)")


def test_a_run_says_how_far_it_is_and_since_when_nothing_came() -> None:
    judged = [640, 640, 700]
    lines = JudgedLines("lease-go", 2_000, lambda: judged.pop(0), at=0.0)
    assert lines.line(10.0) == "lease-go: 640 of 2,000 vectors judged"
    told = "lease-go: 640 of 2,000 vectors judged, none of them in the last 20 s"
    assert lines.line(30.0) == told
    assert lines.line(60.0) == "lease-go: 700 of 2,000 vectors judged"


def test_lines_come_while_the_work_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conform.console.progress.SOONEST", 0.01)
    monkeypatch.setattr("conform.console.progress.LATEST", 0.01)
    asked = threading.Event()

    def count_done() -> int:
        asked.set()
        return 3

    with bar("lease-go", 9, count_done):
        assert asked.wait(60)
    assert "conform: lease-go: 3 of 9 vectors judged" in capsys.readouterr().err


def test_a_search_that_is_no_short_one_says_its_cost_first(
    capsys: pytest.CaptureFixture[str], now: list[float]
) -> None:
    with searching(lambda: "the cost") as tell:
        now[0] = 100.5
        tell(10, 20, 1, 5)
        assert not capsys.readouterr().err
        for seconds in (1, 2, 12):
            now[0] = 100.0 + seconds
            tell(100, 200, 1, 5)
    assert [line[:20] for line in capsys.readouterr().err.splitlines()] == [
        "the cost", "conform: 100 states "
    ]  # fmt: skip


def test_a_limit_of_states_gives_an_estimate(now: list[float]) -> None:
    said: list[str] = []
    listener = SearchListener(said.append, most=1_000)
    for now[0], states in ((110.0, 1), (120.0, 101)):
        listener(states, 300, 1, 50)
    assert said[0].endswith(", 50 in the queue")  # what was compiled before tells nothing
    assert said[1].endswith(", 50 in the queue, some 90 s until 1,000 states, where it gives up")


def test_levels_that_grow_have_no_end_in_sight() -> None:
    said = lines([1, 10, 100, 1000, 5000])
    assert said[3].endswith("no end in sight, as a level has 10.0 times the states of the last")
    assert not [line for line in said[:3] if "no end" in line]


def test_the_cost_names_the_instance_and_what_makes_it_less() -> None:
    model = spec.model("primary_backup")
    told = costing(model, "tiny", " (2 of 3 instances)")()
    assert re.match(
        r"tiny \(2 of 3 instances\): \d+ steps with arguments in the first state; the number of"
        r" its states is known at the end\. Fewer .*`offers` and `only`.* --most N ", told
    )  # fmt: skip
    bounded = costing(spec.model("two_phase_commit"), "tiny")()
    assert re.search(r"; it can have [0-9,]+ states at most\. ", bounded)


def test_a_search_of_few_states_has_no_cost() -> None:
    assert cost(SearchSize("tiny", is_system=False, acts=4, states=1_000), "") == ""
    assert cost(SearchSize("tiny", is_system=False, acts=4, states=1_001), "")
