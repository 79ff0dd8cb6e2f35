"""The committed tables of what the instances of spec/kafka reach, and of which steps follow each
other there, are what `conform coverage` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import spec

from conform.cli.commands.coverage_pairs import pair_tables, pairs_markdown
from conform.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "spec" / "kafka" / "coverage" / "README.md"
STEPS = TABLE.with_name("steps.md")
SAMPLE = ("tiny_follower",)
"""Small instances; the others are searched in `make slow`."""


def table(tmp_path: Path, pattern: str, *options: str) -> list[str]:
    page = tmp_path / "table.md"
    main(["coverage", "spec/kafka", *options, "--instance", pattern, "--write", str(page)])
    return page.read_text(encoding="utf-8").splitlines()


def sections(page: str) -> dict[str, str]:
    """The text of each section of a page, by its heading."""
    _, *parts = f"{page.rstrip()}\n".split("\n## ")
    return {heading: text.strip() for heading, _, text in (part.partition("\n") for part in parts)}


@pytest.mark.parametrize("instance", SAMPLE)
def test_the_row_of_an_instance_is_up_to_date(
    instance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    committed = TABLE.read_text(encoding="utf-8").splitlines()
    (row,) = (r for r in table(tmp_path, instance) if r.startswith(f"| `{instance}` |"))
    assert row in committed


def test_the_pairs_of_steps_of_a_small_machine_are_up_to_date() -> None:
    model = spec.model("kafka")
    most = {i.name: 200_000 for i in model.instances if i.machine == "consumer"}
    made = sections(pairs_markdown(Path("spec/kafka"), pair_tables(model, most)))
    committed = sections(STEPS.read_text(encoding="utf-8"))
    assert [*made] == ["consumer"] and made["consumer"] == committed["consumer"]


@pytest.mark.slow
def test_the_whole_table_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert table(tmp_path, "*") == TABLE.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_all_pairs_of_steps_are_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert table(tmp_path, "*", "--pairs") == STEPS.read_text(encoding="utf-8").splitlines()
