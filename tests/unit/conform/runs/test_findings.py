"""Findings of a run: grouped by cause, the gravest first, with the same id in every run."""

import json
from dataclasses import replace
from types import MappingProxyType

import pyarrow as pa
import pytest
from tests.support.toy import charter, vectors

from charter.formats.run import RunFinding, ShrunkQuestion
from conform.console.errors import BadRun
from conform.runs.findings.findings import (
    CHOSEN,
    FIRST,
    FindingGroup,
    GivenState,
    print_shrunk,
    read_findings,
    run_findings,
    sentence,
)
from conform.runs.judged_rows import JudgedRows
from conform.runs.shrink import find_given_states
from conform.storage.bucket_store import RunFolder
from conform.storage.tables import DEVIATIONS, OBSERVATIONS, TRANSITIONS, VERDICTS, DatasetRows
from conform.suites.cache import open_suite

YES, NO = {"case": "yes"}, {"case": "no"}


def row(vector, step=1, **given):
    rest = {"severity": "state", "entry": "", "cause": "c" * 20, "expected": (YES, {"x": 1}),
            "observed": (YES, {"x": 2}), "image": None, **given}  # fmt: skip
    reply, observation = rest["expected"]
    allowed = [{"branch": "go/done", "reply": reply, "observation": observation}]
    seen = dict(zip(("reply", "observation"), rest["observed"], strict=True))
    seen |= {"image": rest["image"]} if rest["image"] else {}
    return (vector, step, "go", "{}", "go/done", ["go/done"], rest["severity"], "null",
            json.dumps(allowed), json.dumps(seen), rest["entry"], rest["cause"], ["x"],
            [])  # fmt: skip


def list_findings(tmp_path, *rows, operations=(), starts=MappingProxyType({})):
    tables = {"verdicts": VERDICTS, "deviations": DEVIATIONS, "observations": OBSERVATIONS,
              "transitions": TRANSITIONS}  # fmt: skip
    held = {name: DatasetRows(schema) for name, schema in tables.items()}
    for one in rows:
        held["deviations"].add(*one)
    for vector, judged, left in operations:
        shown = (3, "go/done", "state", 1, True)
        held["verdicts"].add(vector, "diverges", "", *shown, judged, left, ["go/done"], "b", ["go"])
    folder = RunFolder(str(tmp_path))
    folder.commit(0, held, {})
    return run_findings(JudgedRows.of(folder), starts)


def tell(**more):
    return sentence(dict(zip(DEVIATIONS.names, row("v", **more), strict=True)))


def test_gravest_is_first_and_what_the_overlay_explains_is_last(tmp_path):
    kinds = ["image", "reply", "state", "fault"]
    rows = [row("v", severity=kind, cause=kind * 10) for kind in kinds]
    listed = list_findings(tmp_path, *rows, row("v", severity="fault", entry="known other"))
    assert [one.severity for one in listed] == ["fault", "state", "reply", "image", "fault"]
    assert [one.id for one in listed][-2:] == ["f-imageimage", "known"]
    assert [one.new for one in listed] == [True] * 4 + [False]


def test_example_is_the_vector_that_shows_it_earliest(tmp_path):
    (one,) = list_findings(tmp_path, row("a", 5), row("b", 3), row("b", 4), row("c", 3))
    assert (one.vector, one.step, one.vectors, one.deviations) == ("b", 3, 3, 4)
    assert one.id == "f-cccccccccc"


def test_of_vectors_that_show_it_equally_early_the_shortest_is_the_example(tmp_path):
    lengths = (("a", 3, 2), ("b", 3, 1), ("c", 4, 1))
    (one,) = list_findings(tmp_path, row("a", 3), row("b", 3), row("c", 3), operations=lengths)
    assert one.vector == "b"


def test_a_vector_from_the_first_state_is_preferred_to_one_whose_state_the_solver_chose(tmp_path):
    rows = (row("a", 1), row("b", 6), row("d", 1, cause="d" * 20))
    starts = dict.fromkeys("ad", GivenState(chosen=True, size=9))
    one, other = sorted(list_findings(tmp_path, *rows, starts=starts), key=lambda each: each.id)
    assert (one.vector, one.step, one.chosen) == ("b", 6, False)
    assert (other.vector, other.chosen) == ("d", True)


def test_of_vectors_that_begin_in_given_states_the_one_with_the_smallest_is_the_example(tmp_path):
    sizes = {"a": 90, "b": 40, "c": 60}
    starts = {name: GivenState(size=size) for name, size in sizes.items()}
    (one,) = list_findings(tmp_path, *(row(name, 1) for name in sizes), starts=starts)
    assert (one.vector, one.chosen) == ("b", False)


@pytest.mark.parametrize("entry", ["", "leader_stays"])
def test_the_given_states_of_vectors_are_found_whether_an_entry_explains_them_or_not(
    tmp_path, entry
):
    state = charter.initial({"Node": ["n1", "n2"]})
    one = vectors.vector(("elect", {}), given=charter.encode(state))
    other = vectors.vector(("elect", {}))
    vectors.write_toy_vectors(tmp_path / "suite", [one, other])
    rows = pa.table({"id": [one.id, other.id], "entry": [entry, entry]})
    found = find_given_states(rows, open_suite(str(tmp_path / "suite"), 1))
    assert found.keys() == {one.id} and found[one.id].size > 0


def test_finding_names_one_before_it_with_the_same_operation_and_variables(tmp_path):
    causes = {"a": ["done.k1"], "b": ["done.k2", "reply.case"], "c": ["held"], "d": ["reply.case"]}
    rows = [(*row(name, cause=name * 20)[:12], paths, []) for name, paths in causes.items()]
    rows.append((*row("e", cause="e" * 20, entry="known")[:12], ["done"], []))
    rows.append((*row("f", cause="f" * 20)[:12], ["reply.case"], []))
    like = {one.id: one.like for one in list_findings(tmp_path, *rows)}
    ids = [f"f-{name * 10}" for name in "abcdf"]
    assert like == {**dict.fromkeys((*ids, "known"), ""), ids[1]: ids[0]}


def test_sentence_says_what_was_expected_and_what_was_seen():
    assert tell() == "go/done: expected x = 1, got 2"
    different = tell(observed=(NO, {"x": 1}))
    assert different == "go/done: expected the reply yes, got no"
    deep = tell(expected=({"case": "yes", "n": 1}, {}), observed=({"case": "yes", "n": 2}, {}))
    assert deep == "go/done: expected reply.n = 1, got 2"
    fault = tell(observed=({"fault": "Oops"}, None))
    assert fault == "go/done: expected yes, got the fault Oops"
    assert tell(observed=(YES, {"x": 1}), image={"x": 3}) == "go/done: expected image.x = 1, got 3"
    part = tell(observed=(YES, {"x": 1, "y": 1}), image={"x": 3})  # an image may leave out y
    assert part == "go/done: expected image.x = 1, got 3"
    failed = tell(observed=(YES, {"x": 1}), image={"fault": "Oops", "message": "no x"})
    assert failed == "go/done: expected an image, got the fault Oops"
    many = tell(observed=(YES, {"w": 0, "x": 1, "y": 0, "z": 0}))
    assert many.endswith("; and in 1 more")


def test_the_example_of_a_finding_is_the_gravest_then_the_earliest():
    group = FindingGroup("leader_stays")
    about = {"operation": "expire", "branch": "expire/expired", "entry": "leader_stays throws"}
    for vector, step, severity in (("a", 1, "reply"), ("b", 9, "state"), ("b", 7, "state")):
        group.add({"id": vector, "step": step, "severity": severity, "cause": severity,
                   "paths": ["leader"], **about}, 9)  # fmt: skip
    assert (group.first.id, group.first.step, group.severity) == ("b", 7, "state")
    assert (group.deviations, [*group.cases], group.also) == (3, ["a", "b"], {"throws": 3})


def test_long_values_are_cut_so_that_the_first_difference_shows():
    items = [{"customer": f"c{number}", "id": "~1", "seats": 1} for number in range(9)]
    other = [*items[:7], {**items[7], "seats": 2}, items[8]]
    said = tell(expected=(YES, {"held": items}), observed=(YES, {"held": other}))
    wanted, _, seen = said.partition(", got …")
    assert wanted.startswith("go/done: expected held = …") and "id: ~1, seats: 1}," in wanted
    assert "id: ~1, seats: 2}," in seen
    assert len(said) < 160


def test_a_given_state_that_the_solver_chose_is_told_as_such():
    question = {"given": {"x": 1}, "operations": [{"operation": "go", "args": {}}]}
    shrunk = ShrunkQuestion("0" * 20, 1, 1, question, ("go", "  x  1  2"), chosen=True)
    assert print_shrunk(shrunk)[:2] == ("given {x: 1}", CHOSEN)
    assert CHOSEN not in print_shrunk(replace(shrunk, chosen=False))


SHRUNK = ShrunkQuestion("0" * 20, 1, 2, {"given": None, "operations": []}, ("go",), chosen=True)
LISTED = RunFinding(
    "f-1", "", "state", "go/done", 1, 2, "1" * 20, 3, "differs", "old", ("go",), SHRUNK, True, 4,
    "f-0",
)  # fmt: skip


@pytest.mark.parametrize("finding", [LISTED, replace(LISTED, shrunk=None)])
def test_a_finding_is_read_as_it_was_listed(finding):
    assert read_findings({"findings": [finding.json()]}) == (finding,)


def test_an_earlier_version_lists_fewer_fields():
    first = ("id", "entry", "severity", "rule", "vectors", "deviations", "vector", "step")
    earlier = {name: value for name, value in LISTED.json().items() if name in first}
    plain = RunFinding("f-1", "", "state", "go/done", 1, 2, "1" * 20, 3)
    assert read_findings({"findings": [earlier]}) == (plain,)
    assert read_findings({}) == ()


@pytest.mark.parametrize("damage", [
    None, {"vectors": "1"}, {"vectors": True}, {"shown": [1]}, {"shrunk": [1]}, {"id": None},
    {"shrunk": {"vector": "0"}}, {"shrunk": {**SHRUNK.json(), "question": {"operations": [{}]}}},
])  # fmt: skip
def test_a_damaged_list_of_findings_is_one_sentence(damage):
    listed = [1] if damage is None else [{**LISTED.json(), **damage}]
    with pytest.raises(BadRun, match=r"summary\.json is not what `conform run` writes") as told:
        read_findings({"findings": listed})
    assert "\n" not in str(told.value)


def test_the_example_of_a_finding_begins_in_the_first_state_if_one_does():
    """A state that was given may be one that nobody reaches, however grave what it shows is."""
    group = FindingGroup("f-1")
    about = {"operation": "go", "branch": "go/done", "entry": "", "paths": ["x"]}
    for vector, severity, start in (
        ("given", "state", GivenState(False, 20)),
        ("long", "reply", FIRST),
        ("short", "reply", FIRST),
    ):
        step = 2 if vector == "short" else 5
        group.add({"id": vector, "step": step, "severity": severity, "cause": "c", **about},
                  step, start)  # fmt: skip
    assert group.first.id == "short"
    assert min(group.cases, key=lambda name: group.cases[name]) == "short"
    assert max(group.cases, key=lambda name: group.cases[name]) == "given"
