"""The explorer on Spark against the native engine: counts, verdicts, traces that the definition
follows; going on after an interruption."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs
from tests.support.engines import counts, verdicts

from charter import api
from charter.core import nodes as n
from charter.explore.native.memory.index import OtherSearch, SearchIndex
from charter.explore.native.program.compile_instance import Program, program
from charter.explore.native.search import search_files as files
from charter.explore.native.search import spark as engine
from charter.explore.native.search.explore import (
    Choices,
    Exploration,
    NativeOptions,
    SearchCounts,
    explore,
    result_of,
)
from charter.explore.native.search.search_files import Store
from charter.explore.native.search.spark import Failed, SparkRow, SparkSearch
from charter.explore.native.search.tasks import KEPT, Expand, Insert, write_bucket

SPEC = Path(__file__).resolve().parents[3] / "spec"
EXAMPLES = sorted(path.stem for path in (SPEC / "examples").glob("*.charter"))
KAFKA = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics", "pair",
]  # fmt: skip
ALWAYS = [("dining_philosophers", "tiny")]
"""Each level of this is a job of Spark in every run of the tests; of the others by `make slow`."""
SLOW = [
    pytest.param(*place, marks=pytest.mark.slow)
    for place in (*((name, "tiny") for name in EXAMPLES), *(("kafka", name) for name in KAFKA))
    if place not in ALWAYS
]

BITS = 2
"""Four buckets in a level, since each file takes time."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("code")


def choose(charter: str, name: str, mutant: str = "") -> tuple[n.Model, n.Instance]:
    path = SPEC / "kafka" if charter == "kafka" else SPEC / "examples" / f"{charter}.charter"
    model = api.load(path, api.Selection(mutant=mutant))
    return model, next(i for i in model.instances if i.name == name)


def quickly(model: n.Model, instance: n.Instance, cache: Path | None) -> Program:
    """The program in code that is not optimized: to optimize takes longer than these searches."""
    return program(model, instance, Choices(), cache, optimized=False)


def on_spark(search: SparkSearch) -> Exploration:
    search.run()
    return result_of(search, search.message)


def count_notes(found: Exploration) -> list[tuple[str, str, int, int]]:
    """How often everything was seen, and how long the way there is."""
    every = (*found.properties, *found.branches, *found.failures)
    return [(f.kind, f.name, f.seen, len(f.trace or ())) for f in every]


def same(found: Exploration, native: Exploration) -> None:
    assert counts(found) == counts(native)
    assert verdicts(found) == verdicts(native)
    assert count_notes(found) == count_notes(native)
    assert found.counts == native.counts
    assert (found.fine, found.storage.bits) == (native.fine, native.storage.bits)


@pytest.mark.parametrize(("charter", "name"), [*ALWAYS, *SLOW])
def test_spark_finds_what_the_native_engine_finds(
    spark: object, cache: Path, tmp_path: Path, charter: str, name: str
) -> None:
    model, instance = choose(charter, name)
    compiled = quickly(model, instance, cache)
    search = SparkSearch(compiled, spark, Store(str(tmp_path)), alone=0, bits=BITS)
    same(on_spark(search), explore(model, instance, NativeOptions(cache=cache)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("charter", "split"),
    [
        ("two_phase_commit", (1 << 15, 4)),
        ("two_phase_commit", (235, 4)),
        ("primary_backup", (1 << 15, 4)),
        ("primary_backup", (2200, 5)),
    ],
)
def test_counts_do_not_depend_on_who_does_a_level(
    spark: object, cache: Path, tmp_path: Path, charter: str, split: tuple[int, int]
) -> None:
    """Levels of at most so many states in this process: of the second case the others are jobs of
    Spark."""
    alone, bits = split
    model, instance = choose(charter, "tiny")
    choices = Choices(symmetry=False)
    compiled = program(model, instance, choices, cache)
    search = SparkSearch(compiled, spark, Store(str(tmp_path)), alone=alone, bits=bits)
    same(on_spark(search), explore(model, instance, NativeOptions(choices, cache=cache)))


GAPS = """
protocol test.gaps
counter Stamp
enum Way { NONE, A, B, C, D, E, F }

component register {
  state way: Way = NONE
  state settled: bool = false
  state low: Stamp = 0
  state high: Stamp = 0

  operation go(w: Way) -> bool cites silent {
    branch gone when chosen: w != NONE and way == NONE and not settled { way' = w  reply true }
    branch late  reply false
  }
  operation settle() -> bool cites silent {
    branch early when early: way == NONE  reply false
    branch apart when apart: way in {WIDE} {
      high' = bump(bump(high))  way' = NONE  settled' = true  reply true
    }
    branch near { high' = bump(high)  way' = NONE  settled' = true  reply true }
  }
  operation write(s: Stamp) -> bool cites silent {
    branch between when between: low < s and s < high { low' = s  reply true }
    branch beside  reply false
  }
}

witness between of register: took write/between

instance tiny of register { }
"""
"""The states behind `settle` are alike but for the number between `low` and `high`, which is free
or not: what is offered next depends on which of them was reached first."""


@pytest.mark.parametrize("wide", ["A", "A, C, E", "B, D, F", "B, C, D, E, F"])
def test_the_state_that_is_found_first_stands_for_those_like_it(tmp_path: Path, wide: str) -> None:
    model = api.load_text(GAPS.replace("WIDE", wide))
    instance = model.instances[0]
    native = explore(model, instance, NativeOptions())
    search = SparkSearch(quickly(model, instance, None), Nowhere(), Store(str(tmp_path)), bits=4)
    found = on_spark(search)
    same(found, native)
    rows = [{tuple(e.search.states.get(i)[0]) for i in range(8)} for e in (found, native)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("charter", "mutant"),
    [
        ("dining_philosophers", "no_order"),
        pytest.param("two_phase_commit", "gives_up_after_voting", marks=pytest.mark.slow),
    ],
)
def test_what_is_violated_has_a_shortest_trace(
    spark: object, cache: Path, tmp_path: Path, charter: str, mutant: str
) -> None:
    model, instance = choose(charter, "tiny", mutant)
    compiled = quickly(model, instance, cache)
    found = on_spark(SparkSearch(compiled, spark, Store(str(tmp_path)), bits=BITS))
    same(found, explore(model, instance, NativeOptions(cache=cache)))
    assert not found.fine


class Killed(Exception):
    """What ends a search in its middle."""


@pytest.fixture(scope="module")
def small(cache: Path) -> tuple[Program, Exploration]:
    model, instance = choose("ring_election", "small")
    native = explore(model, instance, NativeOptions(cache=cache))
    return quickly(model, instance, cache), native


def kill(compiled: Program, spark: object, folder: Path, depth: int) -> None:
    def stop(now: SearchCounts) -> None:
        if now.depth == depth:
            raise Killed

    with pytest.raises(Killed):
        SparkSearch(compiled, spark, Store(str(folder)), bits=BITS).run(stop)


DAMAGES = ["missing"]
SLOW_DAMAGES = ["", "count", "part", "journal", "cut off", "version"]


@pytest.mark.parametrize(
    "damage", [*DAMAGES, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW_DAMAGES)]
)
def test_search_goes_on_from_the_last_level_that_is_whole(
    spark: object, small: tuple[Program, Exploration], tmp_path: Path, damage: str
) -> None:
    compiled, native = small
    kill(compiled, spark, tmp_path, 9)
    (file, *_) = sorted((tmp_path / "level-00006").iterdir())
    told = "level 7 is damaged: the search continues before it"
    match damage:
        case "part":  # of a level that was in work
            folder = tmp_path / "level-00010"
            folder.mkdir()
            (folder / "bucket-00003.parquet").write_bytes(file.read_bytes())
            told = ""
        case "cut off":
            file.write_bytes(file.read_bytes()[:-1])
        case "missing":
            file.unlink()
        case "journal":
            (tmp_path / "spark.json").write_text('{"program": ')
            told = "the journal is damaged: the search starts again"
        case "version":
            index = SearchIndex(tmp_path / "spark.json", compiled.digest)
            index.write({"bits": 4}, index.read().rows)
            told = "the journal is of another version of charter: the search starts again"
        case "count":
            said = json.loads((tmp_path / "spark.json").read_text())
            said["levels"][6]["counts"][0][0] += 1
            (tmp_path / "spark.json").write_text(json.dumps(said))
        case _:
            told = ""
    found = on_spark(SparkSearch(compiled, spark, Store(str(tmp_path)), bits=BITS))
    assert found.message == told
    same(found, native)
    again = on_spark(SparkSearch(compiled, spark, Store(str(tmp_path))))
    assert again.message == ""
    same(again, native)


def test_a_folder_of_another_search_is_left_alone(
    spark: object, small: tuple[Program, Exploration], cache: Path, tmp_path: Path
) -> None:
    compiled, _ = small
    kill(compiled, spark, tmp_path, 3)
    before = (tmp_path / "spark.json").read_bytes()
    other = quickly(*choose("ring_election", "tiny"), cache)
    with pytest.raises(OtherSearch, match="name another folder"):
        SparkSearch(other, spark, Store(str(tmp_path))).run()
    assert (tmp_path / "spark.json").read_bytes() == before


def test_what_was_not_seen_is_unknown_when_a_search_gives_up(
    spark: object, small: tuple[Program, Exploration], tmp_path: Path
) -> None:
    compiled, native = small
    found = on_spark(SparkSearch(compiled, spark, Store(str(tmp_path)), most=500, bits=BITS))
    assert not found.counts.complete and not found.fine
    assert 500 <= found.counts.distinct < native.counts.distinct
    assert found.counts.levels == native.counts.levels[: len(found.counts.levels)]


def test_a_task_that_fails_is_told_in_a_sentence(
    spark: object, small: tuple[Program, Exploration], tmp_path: Path
) -> None:
    compiled, _ = small
    kill(compiled, spark, tmp_path, 3)
    search = SparkSearch(compiled, spark, Store(str(tmp_path)), alone=0)

    def damage(now: SearchCounts) -> None:
        (file, *_) = sorted((tmp_path / f"level-{now.depth:05}").iterdir())
        file.write_bytes(b"no Parquet")

    told = (
        r"^a task of Spark failed \(.*\); the same command continues .* "
        rf"{re.escape(str(tmp_path))}$"
    )
    with pytest.raises(Failed, match=told) as failed:
        search.run(damage)
    assert "\n" not in str(failed.value)


PLACES, SLOW_PLACES = (0.5,), (0, 4, 0.3, 0.8, -9, -5, -1)


@pytest.mark.parametrize(
    "place", [*PLACES, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW_PLACES)]
)
def test_a_level_is_searched_again_when_a_byte_of_it_was_flipped(
    spark: object, small: tuple[Program, Exploration], tmp_path: Path, place: float
) -> None:
    compiled, native = small
    kill(compiled, spark, tmp_path, 9)
    (file, *_) = sorted((tmp_path / "level-00006").iterdir())
    content = bytearray(file.read_bytes())
    content[int(place * len(content)) if isinstance(place, float) else place] ^= 0x10
    file.write_bytes(content)
    found = on_spark(SparkSearch(compiled, spark, Store(str(tmp_path)), bits=BITS))
    assert found.message == "level 7 is damaged: the search continues before it"
    same(found, native)


@pytest.mark.parametrize("kept", [True, False])
def test_a_level_that_is_damaged_meanwhile_is_told_in_a_sentence(
    small: tuple[Program, Exploration], tmp_path: Path, kept: bool
) -> None:
    """In this process."""
    compiled, _ = small
    search = SparkSearch(compiled, Nowhere(), Store(str(tmp_path)), bits=4, kept=kept)

    def damage(now: SearchCounts) -> None:
        (file, *_) = sorted((tmp_path / f"level-{now.depth:05}").iterdir())
        file.write_bytes(b"no Parquet")

    remedy = "the same command continues from the levels" if kept else "nothing is kept"
    with pytest.raises(Failed, match=rf"^the levels .* cannot be read .*; {remedy}") as failed:
        search.run(damage)
    assert "\n" not in str(failed.value)


class Context:
    """A cluster that does nothing."""

    defaultParallelism = 1

    def cancelAllJobs(self) -> None: ...


class Nowhere:
    """A session whose jobs say nothing; `error` is what they raise."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sparkContext = Context()
        self.error = error

    def range(self, start: int, end: int, step: int, numPartitions: int) -> Nowhere:
        return self

    def mapInArrow(self, func: Expand, schema: str) -> Nowhere:
        return self

    def repartition(self, count: int, column: str, /) -> Nowhere:
        return self

    def groupBy(self, column: str, /) -> Nowhere:
        return self

    def applyInArrow(self, func: Insert, schema: str) -> Nowhere:
        return self

    def collect(self) -> list[SparkRow]:
        if self.error is not None:
            raise self.error
        return []


class Late(Future[list[SparkRow]]):
    """Is done between two looks: each look that has a limit comes too early."""

    def result(self, timeout: float | None = None) -> list[SparkRow]:
        if timeout is not None:
            raise TimeoutError
        return super().result()


class Pool:
    """Does at once what it is given."""

    def __init__(self, workers: int) -> None: ...

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, work: Callable[[], list[SparkRow]]) -> Late:
        job = Late()
        job.set_result(work())
        return job


def test_a_job_counts_when_it_ends_between_two_looks(
    small: tuple[Program, Exploration], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "ThreadPoolExecutor", Pool)
    search = SparkSearch(small[0], Nowhere(), Store(str(tmp_path)), alone=0, bits=4)
    search.run()
    assert search.complete and search.levels == [1]


@pytest.mark.parametrize(
    ("kept", "remedy"),
    [
        (True, "; the same command continues from the levels in {}"),
        (False, "; nothing is kept (--journal DIR keeps each finished level)"),
    ],
)
def test_a_failure_says_what_is_kept(
    small: tuple[Program, Exploration], tmp_path: Path, kept: bool, remedy: str
) -> None:
    session = Nowhere(RuntimeError("no room"))
    search = SparkSearch(small[0], session, Store(str(tmp_path)), alone=0, bits=4, kept=kept)
    with pytest.raises(Failed) as failed:
        search.run()
    said = f"a task of Spark failed (no room){remedy.format(tmp_path)}"
    assert str(failed.value) == said


def test_two_attempts_at_a_bucket_do_not_write_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table([[b"k"], [None], [None], [7]], schema=KEPT)
    hidden: list[str] = []

    class Spy:
        """A file system that notes what is moved."""

        def __init__(self) -> None:
            self.system = fs.LocalFileSystem()
            self.create_dir, self.open_output_stream = (
                self.system.create_dir, self.system.open_output_stream
            )  # fmt: skip

        def move(self, made: str, target: str) -> None:
            hidden.append(made)
            self.system.move(made, target)

    store, name = Store(str(tmp_path)), "level-00001/bucket-00003.parquet"
    with monkeypatch.context() as patch:
        patch.setattr(files, "_filesystem", lambda place: (Spy(), place))
        first, second = write_bucket(table, store, name), write_bucket(table, store, name)
    assert first == second and len(set(hidden)) == 2
    assert {Path(made).name[0] for made in hidden} == {"."}
    path = tmp_path / name
    assert store.is_whole(name, *first) and list(path.parent.iterdir()) == [path]


def test_search_in_a_folder_named_by_a_uri_is_the_same_and_goes_on(
    small: tuple[Program, Exploration], cache: Path, tmp_path: Path
) -> None:
    compiled, native = small
    store = Store(f"file://{tmp_path}/search")
    search = SparkSearch(compiled, Nowhere(), store, most=9, bits=BITS)
    search.run()
    assert not search.complete
    same(on_spark(SparkSearch(compiled, Nowhere(), store, bits=BITS)), native)
    other = quickly(*choose("ring_election", "tiny"), cache)
    with pytest.raises(OtherSearch, match=f"file://{tmp_path}/search holds another search"):
        SparkSearch(other, Nowhere(), store).run()


def test_what_killed_attempts_left_is_removed(
    small: tuple[Program, Exploration], tmp_path: Path
) -> None:
    left = tmp_path / "level-00002" / ".bucket-00001-0123.part"
    left.parent.mkdir()
    left.write_bytes(b"half")
    SparkSearch(small[0], Nowhere(), Store(str(tmp_path)), most=100, bits=BITS).run()
    assert not left.exists()
