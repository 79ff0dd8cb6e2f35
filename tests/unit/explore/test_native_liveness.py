"""`eventually` on the native graph: in little memory, without room, and what it cannot do."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from charter import api
from charter.core import nodes as n
from charter.explore.native.liveness import runs
from charter.explore.native.liveness.check_liveness import check_liveness, explore_live
from charter.explore.native.memory.arrays import Array, NoRoom, Room
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.memory.machine_context import MARGIN
from charter.explore.native.program import transition_graph
from charter.explore.native.search.explore import (
    Choices,
    NativeOptions,
    SearchCounts,
)
from charter.explore.native.search.levels import Search
from charter.explore.reference import liveness as plain
from charter.explore.reference.search import (
    Progress,
    ReferenceExploration,
    ReferenceOptions,
    explore,
)
from charter.render.story.itf import itf
from charter.semantics.fairness import LivenessResult

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"

WORK = """protocol test.work
sort Client
system work {{
  state done: map Client -> int 0..3 = [c in Client: 0]
  state log: seq int 0..3 max 2 = <>
  step go(c: Client) {{ require done[c] < 3  done[c]' = done[c] + 1 }}
  step maybe(c: option Client) {{ require c != none  log' = <> }}
  step note(c: Client) {{ require size(log) < 2  log' = append(log, done[c]) }}
}}
witness w of work: size(log) > 0
eventually p of work fair {fair}: {body}
instance tiny of work {{ Client = 2 }}
"""


DEFAULT = NativeOptions()
REACHED = "forall c in Client: done[c] == 0 leads to done[c] == 3"


def tell(one: LivenessResult) -> tuple[object, ...]:
    """A verdict with its steps as they are told."""
    ways = [[(s.operation, s.args, s.branch) for s in steps] for steps in (one.stem, one.cycle)]
    return one.name, one.answer, one.binding, one.detail, ways


def by_reference(model: n.Model) -> list[tuple[object, ...]]:
    instance, options = model.instances[0], ReferenceOptions()
    found = explore(model, instance, options)
    return [tell(one) for one in plain.check_liveness(model, instance, found, options)]


def natively(model: n.Model, options: NativeOptions = DEFAULT) -> list[tuple[object, ...]]:
    return [tell(one) for one in check_liveness(model, model.instances[0], options)]


def work(fair: str, body: str) -> n.Model:
    return api.load_text(WORK.format(fair=fair, body=body))


@pytest.mark.parametrize(
    "body",
    [
        "forall c in Client: done[c] == 1 leads to log[1] == 3",
        "forall c in Client: log[0] == 1 leads to done[c] == 3",
    ],
)
def test_a_question_without_a_value_is_unknown_and_says_where(body: str) -> None:
    model = work("go(c)", body)
    ((_, answer, _, detail, _),) = found = natively(model)
    assert answer == "unknown" and "of a sequence of 0" in str(detail)
    assert found == by_reference(model)


@cache
def two_phase_commit(mutant: str) -> tuple[n.Model, list[tuple[object, ...]]]:
    """The example or a mutant of it, with what the reference engine says."""
    path = EXAMPLES / "two_phase_commit.charter"
    model = api.load(path, api.Selection(mutant=mutant))
    return model, by_reference(model)


@pytest.mark.parametrize("mutant", ["", "waits_for_ever"])
@pytest.mark.parametrize(
    "workers", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)]
)
def test_edges_in_many_small_arrays_and_in_files_are_the_same(
    mutant: str,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, expected = two_phase_commit(mutant)
    made: list[int] = []

    class Counted(runs.Graph):
        def chunk(self) -> runs.Array:
            made.append(0)
            return super().chunk()

    monkeypatch.setattr(runs, "CHUNK", MARGIN + 60)
    monkeypatch.setattr(transition_graph, "PENDING", 3)
    monkeypatch.setattr("charter.explore.native.liveness.check_liveness.Graph", Counted)
    assert natively(model, NativeOptions(memory=1, workers=workers)) == expected
    assert len(made) > 10


def test_a_graph_without_room_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: runs.Graph) -> runs.Array:
        raise NoRoom("no room for edges")

    monkeypatch.setattr(runs.Graph, "chunk", full)
    ((_, answer, _, detail, _),) = natively(work("go(c)", REACHED))
    assert (answer, detail) == ("unknown", "no room for edges")


def test_the_plain_graph_answers_where_the_native_one_cannot() -> None:
    model = work("maybe(c), go(c)", REACHED)
    with pytest.raises(CannotCompile, match="a large parameter of maybe"):
        natively(model)
    found = api.explore(model, "tiny", api.ExploreOptions(), lambda *_: None)
    assert found.engine == "native" and found.verdicts == {"w": "found", "p": "holds"}
    assert found.why_reference == (
        "for `eventually`, fairness for each value of a large parameter of maybe"
    )
    assert found.seconds_liveness is not None and 0 < found.seconds_liveness < found.seconds


def test_the_native_engine_alone_refuses_what_only_the_plain_one_can() -> None:
    model = work("maybe(c), go(c)", REACHED)
    with pytest.raises(api.CannotExplore) as refused:
        api.explore(model, "tiny", api.ExploreOptions(engine="native"), lambda *_: None)
    assert str(refused.value) == (
        "the native engine cannot check `eventually` in tiny: fairness for each value of a "
        "large parameter of maybe; --engine reference can, slowly"
    )


def test_the_progress_says_that_the_plain_engine_works_before_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    first: list[str] = []
    begin = explore

    def begin_search(
        model: n.Model, instance: n.Instance, options: ReferenceOptions, tell: Progress
    ) -> ReferenceExploration:
        first.extend(said[-1:])
        return begin(model, instance, options, tell)

    def tell(_a: int, _b: int, _c: int, _d: int, doing: str = "", /) -> None:
        said.append(doing)

    monkeypatch.setattr("charter.explore.reference.checker.explore", begin_search)
    api.explore(work("maybe(c), go(c)", REACHED), "tiny", api.ExploreOptions(), tell)
    assert first == ["eventually, on the reference engine"]


def test_a_fair_step_that_the_instance_does_not_offer_is_never_neglected() -> None:
    text = WORK.format(fair="go(c), note(c)", body=REACHED)
    model = api.load_text(text.replace("{ Client = 2 }", "{ Client = 2  offers go, maybe }"))
    assert natively(model) == by_reference(model)


def test_the_progress_tells_the_search_and_then_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "CHUNK_SECONDS_MIN", -1.0)
    said: list[tuple[str, SearchCounts]] = []
    model = api.load(EXAMPLES / "two_phase_commit.charter")
    options = NativeOptions(Choices(symmetry=False))
    explore_live(model, model.instances[0], options, lambda now, doing: said.append((doing, now)))
    order = [doing for doing, _ in said]
    assert order == sorted(order) and set(order) == {"", "eventually, steps"}
    assert said[-1][1].queue == 0


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_interrupt_does_not_wait_for_the_rest_of_the_graph(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "CHUNK_SECONDS_MIN", -1.0)
    monkeypatch.setattr(runs, "BLOCK", 1)
    left: list[int] = []

    def interrupt(now: SearchCounts, doing: str) -> None:
        if doing == "eventually, steps":
            left.append(now.queue)
            raise KeyboardInterrupt

    model = api.load(EXAMPLES / "two_phase_commit.charter")
    with pytest.raises(KeyboardInterrupt):
        check_liveness(model, model.instances[0], NativeOptions(workers=workers), interrupt)
    assert min(left) > 100


EARLY = r"the search gave up before its end, at \d+ states; --most N goes on to N"
ALL = r"the search for runs gave up, at 135 states, more than 30; --most N allows N"


@pytest.mark.parametrize(
    ("fair", "options", "told"),
    [
        ("go(c)", api.ExploreOptions(), EARLY),
        ("go", api.ExploreOptions(), ALL),
        ("maybe(c), go(c)", api.ExploreOptions(), EARLY),
        ("go(c)", api.ExploreOptions(engine="reference", most_states=20), EARLY),
        ("go(c)", api.ExploreOptions(most_states=10), EARLY),
    ],
)
def test_a_graph_that_is_too_large_is_unknown_and_says_what_to_do(
    fair: str, options: api.ExploreOptions, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("charter.explore.native.liveness.check_liveness.MOST", 30)
    monkeypatch.setattr("charter.explore.select.MOST_BY_REFERENCE", 20)
    body = REACHED if fair != "go" else "size(log) == 1 leads to size(log) == 2"
    found = api.explore(work(fair, body), "tiny", options, lambda *_: None)
    (unknown,) = found.liveness
    assert not found.complete
    assert re.fullmatch(told, unknown.detail)


def test_a_search_that_goes_on_from_a_journal_and_gives_up_tells_how_many_states_there_are(
    tmp_path: Path,
) -> None:
    model = work("go", ENDS)
    for most in (100, 10):
        options = api.ExploreOptions(most_states=most, journal=tmp_path)
        found = api.explore(model, "tiny", options, lambda *_: None)
    (unknown,) = found.liveness
    assert found.counts.distinct > 20
    assert f"before its end, at {found.counts.distinct} states;" in unknown.detail


EPOCHS = """protocol test.epochs
counter Epoch
system epochs {
  state epoch: Epoch = 0
  state seen: Epoch = 0
  state never: bool = false
  step tick() { epoch' = bump(epoch) }
  step learn(e: Epoch) { require e == epoch  seen' = e }
}
witness w of epochs: epoch != seen
eventually p of epochs fair learn: epoch != seen leads to never
eventually q of epochs fair learn, tick: epoch == seen leads to epoch != seen
instance tiny of epochs {}
"""


def test_a_run_is_found_again_where_states_are_kept_beside_their_keys() -> None:
    model = api.load_text(EPOCHS)
    found = natively(model)
    assert [answer for _, answer, *_ in found] == ["fails", "holds"]
    assert found == by_reference(model)


def test_a_run_that_must_leave_the_instance_does_not_stop_there() -> None:
    """Without its `require`, which the checker would ask for, a step leads out of the range."""
    text = MANY.replace("x == 40 and a < 35", "x == 40 and a < 40")
    model = api.load_text(text)
    assert [answer for _, answer, *_ in natively(model)] == ["fails"]
    (system,) = model.systems
    (step,) = system.steps
    body = tuple(line for line in step.body if not isinstance(line, n.Require))
    edited = replace(model, systems=(replace(system, steps=(replace(step, body=body),)),))
    ((_, answer, _, detail, _),) = found = natively(edited)
    assert answer == "holds" and "leave the instance" in str(detail)
    assert found == by_reference(edited)


MANY = """protocol test.many
type Number = int 0..40
system many {
  state x: Number = 0
  step up() { require x < 40  x' = x + 1 }
}
witness w of many: x > 0
eventually p of many: forall a in Number: x == a leads to x == 40 and a < 35
instance tiny of many {}
"""


def test_a_property_may_have_more_cases_than_a_word_has_bits() -> None:
    model = api.load_text(MANY)
    ((_, answer, _, _, _),) = found = natively(model)
    assert answer == "fails" and found == by_reference(model)
    (one,) = check_liveness(model, model.instances[0])
    assert [value for _, value in one.binding] == [35]


@pytest.mark.parametrize("mutant", ["waits_for_ever", pytest.param("", marks=pytest.mark.slow)])
def test_keys_are_compared_where_their_hashes_are_the_same(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few_bits(seed: int, count: int) -> tuple[int, ...]:
        random = Random(seed)
        return tuple(random.getrandbits(12) << 116 for _ in range(count))

    monkeypatch.setattr("charter.explore.native.program.visited_set.multipliers", few_bits)
    model, expected = two_phase_commit(mutant)
    assert natively(model) == expected


def count_searches(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[int]]:
    """How many searches are there when another one is made, and the memory that each may use."""
    alive: list[int] = []
    budgets: list[int] = []
    gc.freeze()  # so that `get_objects` lists what is made from here on
    prepare = Search._prepare

    def prepare_search(self: Search) -> None:
        alive.append(sum(isinstance(one, Search) for one in gc.get_objects()) - 1)
        budgets.append(self.room.budget)
        prepare(self)

    monkeypatch.setattr(Search, "_prepare", prepare_search)
    return alive, budgets


@pytest.mark.parametrize("keeps", [False, True])
def test_the_first_search_is_gone_before_its_states_are_searched_again(
    keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = work("go(c)", REACHED)
    alive, budgets = count_searches(monkeypatch)
    options = api.ExploreOptions(states=keeps, memory=1 << 26)
    found = api.explore(model, "tiny", options, lambda *_: None)
    assert found.verdicts == {"w": "found", "p": "holds"}
    assert (found.states is not None) is keeps
    assert alive == [0, int(keeps)]
    assert (budgets[1] < 1 << 26) is keeps


def test_one_search_answers_safety_and_liveness_where_elements_count_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive, _ = count_searches(monkeypatch)
    found = api.explore(work("go, note", GROWS), "tiny", api.ExploreOptions(), lambda *_: None)
    assert found.verdicts == {"w": "found", "p": "holds"} and alive == [0]
    assert found.symmetry is not None and found.symmetry.permuted == ("Client",)


def test_a_run_is_looked_for_where_elements_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive, _ = count_searches(monkeypatch)
    found = api.explore(work("go", ENDS), "tiny", api.ExploreOptions(), lambda *_: None)
    (fails,) = found.liveness
    assert found.verdicts["p"] == "violated" and alive == [0, 0]
    assert fails.has_run and fails.stem


GROWS = "(some c in Client: done[c] == 0) leads to size(log) > 0"
ENDS = "size(log) == 1 leads to size(log) == 2"
"""It fails. There are 135 states; 226 where elements are told apart."""


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_what_fails_is_violated_though_no_run_can_be_shown(
    engine: Literal["auto", "reference"],
) -> None:
    model = work("go", ENDS)
    options = api.ExploreOptions(engine=engine, most_states=150)
    found = api.explore(model, "tiny", options, lambda *_: None)
    assert (found.verdicts, found.complete) == ({"w": "found", "p": "violated"}, True)
    (fails,) = found.liveness
    assert fails.answer == "fails" and not fails.has_run
    assert re.fullmatch(f"no run is shown: without symmetry, {EARLY}", fails.detail)
    story = api.tell(model, "tiny", fails)
    assert story.steps_json() == [] and "loop" not in itf(story)
    assert "no run is shown" in api.draw(story, "text")


def test_what_fails_is_violated_though_the_graph_of_its_run_has_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chunk = runs.Graph.chunk

    def full(self: runs.Graph) -> runs.Array:
        if self.states > 135:
            raise NoRoom("no room for edges")
        return chunk(self)

    monkeypatch.setattr(runs.Graph, "chunk", full)
    ((_, answer, _, detail, ways),) = natively(work("go", ENDS))
    assert (answer, ways) == ("fails", [[], []])
    assert detail == "no run is shown: without symmetry, no room for edges"


def test_files_beside_memory_are_in_the_folder_of_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[Path] = []
    file = Room.file

    def note(self: Room, length: int) -> Array:
        places.append(self.folder)
        return file(self, length)

    monkeypatch.setattr(Room, "file", note)
    model, journal = work("go(c)", REACHED), tmp_path / "journal"
    options = NativeOptions(memory=1, journal=journal)
    answers = natively(model, options)
    assert places and journal not in places and not journal.exists()
    journal.mkdir()
    places.clear()
    assert natively(model, options) == answers
    assert {*places} == {journal} and not [*journal.iterdir()]
