"""The native engine by itself: layout, cache, journal, memory, what it refuses."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from tests.support import spec
from tests.support.engines import counts, verdicts

from charter import api
from charter.cache.files import from_cache, to_cache
from charter.core import nodes as n
from charter.core import types as t
from charter.diagnostics import NOWHERE
from charter.explore.native.memory.index import OtherSearch, SearchIndex
from charter.explore.native.memory.layout import CannotCompile, Layout, Packing
from charter.explore.native.program.compile_instance import CodeSource
from charter.explore.native.search import levels
from charter.explore.native.search.explore import (
    Choices,
    Exploration,
    NativeOptions,
    SearchCounts,
    explore,
)
from charter.explore.native.states.reached import Reached
from charter.semantics.values import Universe

SPEC = Path(__file__).resolve().parents[3] / "spec"
EXAMPLE = SPEC / "examples" / "primary_backup.charter"
APART = Choices(symmetry=False)
WORKERS = (1, 2, 3)


@pytest.fixture(scope="module")
def model() -> n.Model:
    return api.load(EXAMPLE)


@pytest.fixture(scope="module")
def kafka() -> n.Model:
    return spec.model("kafka")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("code")


@pytest.fixture(scope="module")
def whole(model: n.Model, cache: Path) -> Exploration:
    return explore(model, model.instances[0], NativeOptions(cache=cache))


def test_values_come_back_when_they_are_laid_out() -> None:
    universe = Universe({"S": ("a", "b", "c")}, {"most": 3})
    layout = Layout(universe)
    sort, number = t.Sort("S"), t.Int(t.Limit("", -2), t.Limit("most", 0))
    case = t.Union("U", (("one", (("x", number),)), ("two", (("y", t.Set(sort)), ("z", sort)))))
    kinds = (number, t.Option(number), case, t.Ranking(sort), t.Map(sort, t.Option(number)))
    for kind in kinds:
        packing = Packing.of(layout.bits(kind))
        for value in universe.domain(kind)[::3]:
            slots = layout.encode(kind, value)
            assert packing.unpack(packing.pack(slots)) == slots
            assert layout.decode(kind, slots) == value


def test_no_slot_is_torn_and_the_mark_stays_free_when_states_are_packed() -> None:
    packing = Packing.of([7] * 30 + [64, 63, 1, 0])
    taken: set[tuple[int, int]] = {(0, 63)}
    for word, low, width in packing.places:
        bits = {(word, low + i) for i in range(width)}
        assert low + width <= 64 and not bits & taken
        taken |= bits


def test_code_is_made_anew_when_a_file_of_the_cache_is_damaged(tmp_path: Path) -> None:
    model = api.load_text(MANY.replace("15", "1"))
    options = NativeOptions(cache=tmp_path)
    whole = explore(model, model.instances[0], options)
    (file,) = tmp_path.glob("*.o")
    sound = file.read_bytes()
    for damaged in (sound[:-1], sound[:100] + b"x" + sound[101:], b""):
        file.write_bytes(damaged)
        assert from_cache(file) is None
        again = explore(model, model.instances[0], options)
        assert counts(again) == counts(whole)
        assert file.read_bytes() == sound


def test_a_long_search_goes_on_in_optimized_code(
    model: n.Model, whole: Exploration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert whole.search.program.optimizing_source is not None  # it was short
    monkeypatch.setattr(CodeSource, "optimize_after_seconds", 1e-9)  # in the second chunk
    options = NativeOptions(cache=tmp_path, workers=2)
    found = explore(model, model.instances[0], options)
    assert (counts(found), verdicts(found)) == (counts(whole), verdicts(whole))
    assert found.search.program.optimizing_source is None
    assert len([*tmp_path.glob("*.o")]) == 2
    monkeypatch.undo()
    again = explore(model, model.instances[0], options)
    assert (
        again.search.program.optimizing_source is None
    )  # optimized code is taken where it is there
    assert again.search.program.digest == whole.search.program.digest
    assert (counts(again), verdicts(again)) == (counts(whole), verdicts(whole))


def test_few_transitions_that_are_dear_make_a_search_go_on_in_optimized_code(
    model: n.Model, whole: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = iter(range(1_000_000))
    clock = SimpleNamespace(process_time=lambda: float(next(used)), monotonic=time.monotonic)
    monkeypatch.setattr(levels, "time", clock)  # each chunk takes a second
    found = explore(model, model.instances[0], NativeOptions())
    assert found.search.program.optimizing_source is None
    assert (counts(found), verdicts(found)) == (counts(whole), verdicts(whole))


def test_code_comes_back_from_the_cache(tmp_path: Path) -> None:
    to_cache(tmp_path / "new" / "x.o", b"code")
    assert from_cache(tmp_path / "new" / "x.o") == b"code"
    assert (tmp_path / "new" / "x.o").read_bytes() == sha256(b"code").digest() + b"code"


class Killed(Exception):
    """What ends a search in its middle."""


def kill(model: n.Model, instance: n.Instance, options: NativeOptions, depth: int) -> None:
    """Explore up to a depth, and stop there without a word."""

    def stop(now: SearchCounts) -> None:
        if now.depth == depth:
            raise Killed

    with pytest.raises(Killed):
        explore(model, instance, options, stop)


@pytest.mark.parametrize("depth", [1, 9, 20])
def test_search_goes_on_where_it_was_killed(
    model: n.Model, whole: Exploration, cache: Path, tmp_path: Path, depth: int
) -> None:
    options = NativeOptions(cache=cache, journal=tmp_path, workers=2)
    kill(model, model.instances[0], options, depth)
    for _ in range(2):
        again = explore(model, model.instances[0], options)
        assert again.message == ""
        assert (counts(again), verdicts(again)) == (counts(whole), verdicts(whole))
        assert [b.seen for b in again.branches] == [b.seen for b in whole.branches]


def test_search_goes_on_before_the_damage_when_a_journal_is_damaged(
    model: n.Model, whole: Exploration, cache: Path, tmp_path: Path
) -> None:
    options = NativeOptions(cache=cache, journal=tmp_path)
    kill(model, model.instances[0], options, 15)
    data = bytearray((tmp_path / "levels").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "levels").write_bytes(data)
    again = explore(model, model.instances[0], options)
    assert "is damaged" in again.message and counts(again) == counts(whole)
    (tmp_path / "journal.json").write_text('{"program": ')
    again = explore(model, model.instances[0], options)
    assert "starts again" in again.message and counts(again) == counts(whole)


def test_a_count_that_was_changed_in_a_journal_changes_no_verdict(
    cache: Path, tmp_path: Path
) -> None:
    path = SPEC / "examples" / "two_phase_commit.charter"
    edited = api.load(path, api.Selection(mutant="commits_at_the_first_vote"))
    options = NativeOptions(cache=cache, journal=tmp_path)
    whole = explore(edited, edited.instances[0], options)
    assert not whole.fine
    index = tmp_path / "journal.json"
    said = json.loads(index.read_text())
    for level in said["levels"]:
        level["notes"] = [[0, 0, 0, 0] for _ in level["notes"]]
    index.write_text(json.dumps(said))
    again = explore(edited, edited.instances[0], options)
    assert "is damaged" in again.message
    assert (counts(again), verdicts(again)) == (counts(whole), verdicts(whole))


def test_a_search_stops_with_what_it_knows_when_its_journal_cannot_be_written(
    model: n.Model, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(index: SearchIndex, head: object, rows: list[object]) -> None:
        if len(rows) > 5:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(SearchIndex, "write", full)
    found = explore(model, model.instances[0], NativeOptions(cache=cache, journal=tmp_path))
    assert not found.counts.complete and found.counts.distinct > 1
    assert f"the journal in {tmp_path} cannot be written (No space left" in found.stopped


def test_journal_of_another_search_is_left_alone(
    model: n.Model, cache: Path, tmp_path: Path
) -> None:
    kill(model, model.instances[0], NativeOptions(cache=cache, journal=tmp_path), 5)
    before = (tmp_path / "levels").read_bytes()
    with pytest.raises(OtherSearch, match="name another folder"):
        explore(model, model.instances[0], NativeOptions(APART, journal=tmp_path))
    assert (tmp_path / "levels").read_bytes() == before


def test_files_are_used_when_memory_is_short(model: n.Model, cache: Path) -> None:
    options = NativeOptions(APART, cache=cache)
    roomy = explore(model, model.instances[0], options)
    tight = explore(model, model.instances[0], NativeOptions(APART, cache=cache, memory=200_000))
    assert (counts(tight), verdicts(tight)) == (counts(roomy), verdicts(roomy))
    assert tight.search.room.spilled > 0 and not roomy.search.room.spilled
    assert tight.search.room.used < roomy.search.room.used


@pytest.mark.parametrize("apart", [False, True])
def test_fingerprints_count_what_whole_states_count(
    model: n.Model, cache: Path, apart: bool
) -> None:
    whole = explore(
        model, model.instances[0], NativeOptions(Choices(symmetry=not apart), cache=cache)
    )
    choices = Choices(symmetry=not apart, fingerprints=True, seed=7)
    hashed = explore(model, model.instances[0], NativeOptions(choices, workers=2, cache=cache))
    assert (counts(hashed), verdicts(hashed)) == (counts(whole), verdicts(whole))
    assert hashed.search.plan.memory == "fingerprints"
    pairs = hashed.counts.distinct * (hashed.counts.distinct - 1) // 2
    assert hashed.storage.lossy == pytest.approx(pairs / 2**64) and whole.storage.lossy == 0


@pytest.mark.slow
@pytest.mark.parametrize("fingerprints", [False, True])
def test_search_of_states_that_are_kept_beside_their_keys_goes_on(
    kafka: n.Model, tmp_path: Path, fingerprints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small keys are treated like wide ones. (The code has a cache of its own: what is changed here
    is no part of the names in it.)"""
    monkeypatch.setattr("charter.explore.native.program.compile_instance.NARROW", 0)
    instance = next(i for i in kafka.instances if i.name == "tiny_elr")
    options = NativeOptions(Choices(fingerprints=fingerprints), cache=tmp_path / "code")
    whole = explore(kafka, instance, options)
    assert whole.search.plan.raw
    assert whole.search.plan.memory == ("fingerprints" if fingerprints else "numbers")
    options = replace(options, journal=tmp_path / "journal", workers=2)
    kill(kafka, instance, options, 7)
    again = explore(kafka, instance, options)
    assert (counts(again), verdicts(again)) == (counts(whole), verdicts(whole))


@pytest.mark.parametrize(
    "wide", ["tiny_shutdown", pytest.param("tiny_elr", marks=pytest.mark.slow)]
)
def test_keys_are_compared_where_their_hashes_are_the_same(
    kafka: n.Model, model: n.Model, wide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a hash of twelve bits there are many; fingerprints take such states for one. (The code
    has a cache of its own: what is changed here is no part of the names in it.)"""
    monkeypatch.setattr("charter.explore.native.program.compile_instance.NARROW", 0)
    chosen = next(i for i in kafka.instances if i.name == wide)
    good = [explore(kafka, chosen), explore(model, model.instances[0])]
    monkeypatch.setattr("charter.explore.native.program.visited_set.multipliers", few_bits)
    for (of, instance), right in zip(
        ((kafka, chosen), (model, model.instances[0])), good, strict=True
    ):
        for workers in WORKERS:
            found = explore(of, instance, NativeOptions(workers=workers, cache=tmp_path))
            assert (counts(found), verdicts(found)) == (counts(right), verdicts(right))
    merged = explore(model, model.instances[0], NativeOptions(Choices(fingerprints=True)))
    assert merged.counts.distinct < good[1].counts.distinct


def few_bits(seed: int, count: int) -> tuple[int, ...]:
    random = Random(seed)
    return tuple(random.getrandbits(12) << 116 for _ in range(count))


MANY = """protocol many
component box {
  state a: int 0..15 = 0
  state b: int 0..15 = 0
  state c: int 0..15 = 0
  operation ab(x: int 0..15, y: int 0..15) -> bool cites silent {
    branch set { a' = x  b' = y  reply true }
  }
  operation bc(x: int 0..15, y: int 0..15) -> bool cites silent {
    branch set { b' = x  c' = y  reply true }
  }
}
witness full of box: a == 15 and b == 15 and c == 15
instance tiny of box {}
"""
"""512 outcomes of each state: more than the buffers hold for a block of states."""


def test_several_workers_find_what_one_finds_when_states_have_many_outcomes(cache: Path) -> None:
    many = api.load_text(MANY)
    one, *several = (
        explore(many, many.instances[0], NativeOptions(workers=workers, cache=cache))
        for workers in WORKERS
    )
    assert one.counts.distinct == 4096 and one.counts.generated == 4096 * 512
    for found in several:
        assert (counts(found), verdicts(found)) == (counts(one), verdicts(one))
        assert [b.seen for b in found.branches] == [b.seen for b in one.branches]


@pytest.mark.parametrize("workers", WORKERS)
def test_every_state_is_asked_and_counted_when_a_search_gives_up(
    model: n.Model, cache: Path, workers: int
) -> None:
    options = NativeOptions(cache=cache, most_states=1_000, workers=workers)
    found = explore(with_truth(model), model.instances[0], options)
    assert sum(found.counts.levels) == found.counts.distinct and not found.counts.complete
    assert next(p.seen for p in found.properties if p.name == "truth") == found.counts.distinct


def with_truth(model: n.Model) -> n.Model:
    """With a witness that is found in every state."""
    of_it = model.instances[0].machine
    body = n.Literal(True, type=t.Bool())
    truth = n.Property(kind="witness", name="truth", machine=of_it, body=body, citations=(),
                       span=NOWHERE)  # fmt: skip
    return replace(model, properties=(*model.properties, truth))


def test_states_of_earlier_levels_are_moved_to_files(
    model: n.Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = NativeOptions(APART, cache=cache)
    roomy = explore(model, model.instances[0], options)
    needed = roomy.search.room.used
    for place in ("memory.state_store", "program.visited_set"):
        monkeypatch.setattr(f"charter.explore.native.{place}.BLOCK_BITS", 8)
    monkeypatch.setattr("charter.explore.native.memory.state_store.BLOCK_ROWS", 256)
    monkeypatch.setattr("charter.explore.native.memory.blocks.BLOCK_ROWS", 256)
    tight = explore(model, model.instances[0], NativeOptions(APART, memory=needed - 600_000))
    assert (counts(tight), verdicts(tight)) == (counts(roomy), verdicts(roomy))
    assert tight.search.states.moved > 0 and tight.storage.spilled > 0


def test_search_stops_with_its_numbers_when_memory_and_disk_are_full(
    model: n.Model, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(free=1 << 20)
    monkeypatch.setattr("charter.explore.native.memory.arrays.shutil.disk_usage", lambda _: full)
    found = explore(with_truth(model), model.instances[0], NativeOptions(APART, memory=22_300_000))
    assert next(p.seen for p in found.properties if p.name == "truth") == found.counts.distinct
    assert not found.counts.complete and not found.fine and found.storage.spilled == 0
    assert re.fullmatch(
        r"\d+ MiB of memory are used and \S+ has only 1 MiB left; [\d,]+ states were found, at \d+ "
        r"bytes each, and [\d,]+ of them were not searched further", found.stopped,
    )  # fmt: skip


def test_what_was_not_seen_is_unknown_when_the_search_gives_up(model: n.Model, cache: Path) -> None:
    found = explore(model, model.instances[0], NativeOptions(cache=cache, most_states=100))
    assert not found.counts.complete and not found.fine and 100 <= found.counts.distinct < 4137


def test_sets_of_counters_are_refused() -> None:
    text = """
    protocol test.refused
    counter Term
    component clerk {
      state seen: set Term = {}
      operation see(x: bool) -> bool cites silent { branch done { reply true } }
    }
    witness seen_once of clerk: seen == {}
    instance tiny of clerk { }
    """
    model = api.load_text(text)
    with pytest.raises(CannotCompile, match="Term"):
        explore(model, model.instances[0])


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("Nonce", "a set of Nonce, a counter, which has no bounds"),
        (
            "option Nonce",
            "a set of option Nonce, which holds the counter Nonce, which has no bounds",
        ),
        ("Note", "a set of Note, whose field nonce is the counter Nonce, which has no bounds"),
        ("Letter", "a set of Letter, whose field inner.nonce is the counter Nonce, which has no"),
        ("Card", "a set of Card, whose field last holds the counter Nonce, which has no bounds"),
        ("Message", "a set of Message, whose parameter ask.nonce is the counter Nonce, which has"),
    ],
)
def test_set_without_bounds_is_named_as_its_author_writes_it(kind: str, sentence: str) -> None:
    text = f"""
    protocol test.refused
    counter Nonce
    record Note {{ late: bool, nonce: Nonce }}
    record Letter {{ late: bool, inner: Note }}
    record Card {{ late: bool, last: option Nonce }}
    union Message {{ hush, ask(late: bool, nonce: Nonce) }}
    component clerk {{
      state seen: set {kind} = {{}}
      operation see() -> bool cites silent {{ branch done {{ reply true }} }}
    }}
    witness nothing of clerk: seen == {{}}
    instance tiny of clerk {{ }}
    """
    model = api.load_text(text)
    with pytest.raises(CannotCompile) as refused:
        explore(model, model.instances[0])
    assert str(refused.value).startswith(sentence)
    told = "; a bounded `int` in its place makes it native (<text>:9:7)"
    assert str(refused.value).endswith(told)


def test_the_remedy_for_an_opaque_value_is_a_sort() -> None:
    text = """
    protocol test.refused
    opaque Ticket
    component clerk {
      state seen: set Ticket = {}
      operation see() -> bool cites silent { branch done { reply true } }
    }
    witness nothing of clerk: seen == {}
    instance tiny of clerk { }
    """
    model = api.load_text(text)
    with pytest.raises(CannotCompile, match=r"; a `sort` in its place makes it native \(.*:5:7\)"):
        explore(model, model.instances[0])


def test_the_place_of_an_expression_is_named_when_it_cannot_be_compiled() -> None:
    text = """
    protocol test.refused
    component clerk {
      state seen: int 0..4294967296 = 0
      operation see(x: int 0..3) -> bool cites silent {
        branch far when x == 3
            and seen * seen > 0 { reply true }
        branch done { reply true }
      }
    }
    witness nothing of clerk: seen == 0
    instance tiny of clerk { }
    """
    model = api.load_text(text)
    with pytest.raises(CannotCompile, match=r"more than 64 bits \(<text>:7:17\)"):
        explore(model, model.instances[0])


@pytest.fixture(scope="module")
def wide() -> Exploration:
    """Of a state with more outcomes than there is room for at first."""
    model = api.load_text(
        """
        protocol wide
        component counter {
          state got: int 0..99 = 0
          operation add(x: int 0..32, y: int 0..32, z: int 0..32) -> bool {
            branch last when x == 32 and y == 32 and z == 32 and got == 0 { got' = 99 reply true }
            branch other { reply false }
          }
        }
        witness the_last of counter: took add/last
        instance tiny of counter {}
        """
    )
    return explore(model, model.instances[0])


def test_a_witness_is_told_when_it_is_the_last_of_very_many_outcomes(wide: Exploration) -> None:
    (witness,) = wide.properties
    assert [step.args for step in witness.trace or ()] == [(32, 32, 32)]


def test_a_state_is_kept_when_its_step_is_the_last_of_very_many_outcomes(
    wide: Exploration,
) -> None:
    ((numbers, _, sources, steps, args, sums),) = Reached.of(wide, None).chunks(10)
    assert (numbers, sources, steps) == ([0, 1], [None, 0], [None, "add/last"])
    assert (args, sums) == ([None, '{"x":32,"y":32,"z":32}'], [0, 99])
