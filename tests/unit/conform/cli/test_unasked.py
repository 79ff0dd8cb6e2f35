"""What an adapter without `load` is not asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charter.formats.charter_files.kills import KillingVector, MutantKills, read_kills
from charter.formats.suite import read_manifest
from conform.cli.output.suite_gaps import explain_unasked, mutants_told
from conform.console.errors import BadSuite

SUITE = Path(__file__).parents[4] / "generated" / "suites" / "kafka_replication" / "controller"


def lines() -> list[str]:
    return (SUITE / "vectors.jsonl").read_text(encoding="utf-8").splitlines()


def test_obligations_and_mutants_with_vectors_from_given_states_only_are_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "vectors.jsonl").write_text("\n".join(lines()), encoding="utf-8")
    manifest = read_manifest(SUITE)
    places: dict[str, set[bool]] = {}
    given: list[str] = []
    for line in lines():
        vector = json.loads(line)
        loaded = vector["question"]["given"] is not None
        given += [vector["answer"]["question"]] if loaded else []
        for name in vector["why"]["obligations"]:
            places.setdefault(name, set()).add(loaded)
    left = [name for name, held in places.items() if held == {True}]
    assert left and given
    of = f"{len(left)} of {manifest.counts['obligations_covered']} covered obligations ("
    assert explain_unasked(tmp_path, manifest).startswith(of)
    solver = KillingVector(given[0], "solver")
    kills = {
        "never_shown": MutantKills(True, False, (solver,), ()).json(),
        "survives": MutantKills(False, False, (), ()).json(),
    }
    (tmp_path / "kills.json").write_text(json.dumps(kills), encoding="utf-8")
    assert " and 1 mutant (never_shown): all vectors" in explain_unasked(tmp_path, manifest)


def test_nothing_is_told_of_a_suite_that_starts_where_implementations_start(
    tmp_path: Path,
) -> None:
    plain = [line for line in lines() if json.loads(line)["question"]["given"] is None]
    assert plain
    (tmp_path / "vectors.jsonl").write_text("\n".join(plain), encoding="utf-8")
    assert explain_unasked(tmp_path, read_manifest(SUITE)) == ""


def test_kills_are_written_as_they_were_read() -> None:
    held = json.loads((SUITE / "kills.json").read_text(encoding="utf-8"))
    assert held and {name: kill.json() for name, kill in read_kills(SUITE).items()} == held


KILL = b'{"a":{"killed":true,"killed_in_some_runs":false,"surely":%b,"in_some_runs":[]}}'
DAMAGED = {
    "empty": b"",
    "no object": b"[]",
    "no text": b"\xff",
    "deep": b"[" * 100_000,
    "no fields": b'{"thief": {}}',
    "no array": KILL % b"1",
    "no vector": KILL % b"[{}]",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_of_kills_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "kills.json").write_bytes(content)
    with pytest.raises(BadSuite, match=r"kills\.json") as told:
        mutants_told(tmp_path)
    assert "\n" not in str(told.value)
