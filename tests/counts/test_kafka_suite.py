"""What the committed searches cover of the controller, with the solver and without it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tests.support.suites import seal

from charter.api import generated as generate
from charter.formats.project import project_at
from charter.formats.suite import read_lines, read_manifest
from charter.suites import make
from charter.suites.committed_suite import FULL
from charter.suites.search_results import place, read_found
from charter.suites.smoke import Smoke, kills, list_covering, smoke, without
from charter.suites.subject import Subject

ROOT = Path(__file__).resolve().parents[2]
SUITES = ROOT / "generated" / "suites" / "kafka_replication"
KAFKA = ROOT / "spec" / "kafka"
pytestmark = pytest.mark.xdist_group("kafka suite")


@cache
def about() -> Subject:
    (kafka,) = (p for p in generate.protocols(project_at(ROOT)) if p.name == "kafka.replication")
    return make.open_subject(KAFKA, kafka.sources, "", "")


@cache
def small() -> Smoke:
    return smoke(about())


OPEN = {
    "heartbeat/stops_fenced partition several",
    "heartbeat/shuts_down all_know[1] true",
    "heartbeat/fenced_unsure partition several",
    "delete_topic/deleted partition several",
}  # fmt: skip
"""What neither a vector shows nor a proof excludes: docs/design/suites.md."""
UNREACHED: set[str] = set()
"""What only vectors from given states show."""
STATES_CHOSEN_BEFORE_PATHS = 111
"""Vectors whose state the solver chose, when no instance had a prelude."""


def test_every_obligation_is_covered_infeasible_or_one_of_few_that_are_open() -> None:
    """By the committed ledger, which is fresh: tests/unit/api/test_generated.py."""
    text = (SUITES / "controller" / "ledger.md").read_text(encoding="utf-8")
    settled, _, rest = text.partition("## Open\n")
    rest, _, infeasible = rest.partition("## Infeasible\n")
    left, _, unreached = rest.partition("## From unreached states only\n")
    assert {row.partition(" ")[2] for row in _rows(unreached)} == UNREACHED
    assert {row.partition(" ")[2] for row in _rows(left)} == OPEN
    assert f"{len(OPEN)} are open" in settled
    kinds = {row.split()[0] for row in _rows(rest + infeasible)}
    assert kinds.isdisjoint({"branch", "reply"}) and "- mcdc " in infeasible


def _rows(text: str) -> list[str]:
    return [line[2:].replace("\\|", "|") for line in text.splitlines() if line.startswith("- ")]


def test_vectors_begin_in_the_first_state_as_far_as_a_path_was_found() -> None:
    given = [v for v in read_lines(SUITES / "controller" / "vectors.jsonl") if v.question.given]
    chosen = sum(vector.why.source == "solver" for vector in given)
    assert chosen <= STATES_CHOSEN_BEFORE_PATHS / 4
    assert all(vector.why.unreached for vector in given)
    assert read_manifest(SUITES / "controller").counts["unreached"] == len(given)


def test_every_mutant_is_killed_by_a_vector() -> None:
    told = json.loads((SUITES / "controller" / "kills.json").read_text(encoding="utf-8"))
    assert len(told) >= 12 and all(kill["surely"] or kill["in_some_runs"] for kill in told.values())
    assert len(read_manifest(SUITES / "controller").canaries) == 4


@pytest.mark.slow
def test_the_ledger_is_that_of_the_suite() -> None:
    rows = small().ledger.rows
    assert {row.name.partition(" ")[2] for row in rows if row.status == "open"} == OPEN
    assert all(row.status == "covered" for row in rows if row.kind in ("branch", "reply"))
    assert not [kill.mutant for kill in small().kills if not (kill.surely or kill.maybe)]
    assert len(small().kills) >= 12 and len(small().canaries()) == 4


@pytest.mark.parametrize("name", ["controller", "controller_pre_kip_966"])
def test_every_committed_question_has_an_answer(name: str) -> None:
    counts = read_manifest(SUITES / name).counts
    assert (counts["stale_questions"], counts["scenarios_failed"]) == (0, 0)


@pytest.mark.slow
def test_every_question_of_the_suite_has_an_answer() -> None:
    assert small().stale == ()


@pytest.mark.slow
def test_less_is_covered_when_the_solver_is_taken_away() -> None:
    left = without(small().entries, "solver")
    met = {name for name in list_covering(left) if name in {r.name for r in small().ledger.rows}}
    settled = small().ledger.count_rows("covered") + small().ledger.count_rows("infeasible")
    assert small().ledger.count_rows("infeasible") > 0
    assert len(met) < small().ledger.count_rows("covered") < settled


@pytest.mark.slow
def test_as_many_mutants_are_killed_when_the_solver_is_taken_away() -> None:
    """Each is killed by a vector of the exploration, too."""
    left = without(small().entries, "solver")
    killed = [kill for kill in kills(about(), left) if kill.surely]
    assert len(killed) == sum(bool(kill.surely) for kill in small().kills)


@pytest.mark.parametrize("name", ["controller", "controller_pre_kip_966"])
def test_a_committed_suite_is_what_its_manifest_says(name: str) -> None:
    manifest = read_manifest(SUITES / name)
    vectors = list(read_lines(SUITES / name / "vectors.jsonl"))
    assert seal(manifest, vectors) == manifest and len(vectors) == manifest.vectors
    assert set(manifest.canaries) == set(manifest.models.mutants)
    assert {v for ids in manifest.canaries.values() for v in ids} <= {v.id for v in vectors}


def test_variants_that_targets_are_judged_against_have_searches() -> None:
    found = read_found(place(KAFKA, "pre_kip_966"))
    assert found.asked and found.proofs
    assert {asked.question.variant for asked in found.asked} == {"pre_kip_966"}


def test_the_full_suites_whose_counts_are_kept_are_as_large_as_is_promised() -> None:
    """`conform generate --check` refuses the counts of a full suite of anything older."""
    for path in SUITES.rglob(FULL):
        counts = json.loads(path.read_text(encoding="utf-8"))
        assert counts["counts"]["transitions"] >= 100_000
        assert counts["counts"]["state_branch_pairs"] >= 20_000
