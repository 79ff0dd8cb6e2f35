"""What an adapter without `load` is not asked for."""

from __future__ import annotations

import json
from pathlib import Path

from charter.formats.suite import read_manifest
from conform.cli.commands.unasked import unasked

SUITE = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication" / "controller"


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
    assert unasked(tmp_path, manifest).startswith(of)
    kills = {
        "never_shown": {"surely": [{"source": "solver", "vector": given[0]}]},
        "survives": {"surely": []},
    }
    (tmp_path / "kills.json").write_text(json.dumps(kills), encoding="utf-8")
    assert " and 1 mutant (never_shown): all vectors" in unasked(tmp_path, manifest)


def test_nothing_is_told_of_a_suite_that_starts_where_implementations_start(
    tmp_path: Path,
) -> None:
    plain = [line for line in lines() if json.loads(line)["question"]["given"] is None]
    assert plain
    (tmp_path / "vectors.jsonl").write_text("\n".join(plain), encoding="utf-8")
    assert unasked(tmp_path, read_manifest(SUITE)) == ""
