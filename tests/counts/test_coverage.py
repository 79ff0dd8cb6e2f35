"""The committed tables of what the instances of spec/kafka reach, and of which steps follow each
other there, are what `conform coverage` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import spec

from charter import api
from charter.api import coverage
from charter.formats.charter_files.white_pairs import FILE, read_white_pairs
from conform.cli.main import main
from conform.cli.output.coverage_pairs import pair_tables, pairs_markdown

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


@pytest.mark.slow
@pytest.mark.parametrize("instance", SAMPLE)
def test_the_row_of_an_instance_is_up_to_date(
    instance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    committed = TABLE.read_text(encoding="utf-8").splitlines()
    (row,) = (r for r in table(tmp_path, instance) if r.startswith(f"| `{instance}` |"))
    assert row in committed


def cells(section: str) -> Iterator[tuple[str, str, str]]:
    """Each cell of the table of a section: the steps of its row and its column, and its text."""
    rows = [row[1:-1].split("|") for row in section.splitlines() if re.match(r"\| \d", row)]
    steps = [row[1].strip(" `") for row in rows]
    for step, row in zip(steps, rows, strict=True):
        for other, text in zip(steps, row[2:], strict=True):
            yield step, other, text.strip()


@pytest.fixture(scope="module")
def wider() -> api.Model:
    """Kafka's charter with the scenarios and instances beside the classes."""
    return coverage.with_walked(api.load_charter(spec.SPEC / "kafka")[0], STEPS.parent)


def test_each_pair_of_steps_that_no_instance_shows_is_in_a_scenario_or_has_a_reason(
    wider: api.Model,
) -> None:
    reasons = read_white_pairs(STEPS.with_name(FILE))
    given = {(one.machine, *pair) for one in reasons for pair in one.pairs}
    white = set()
    for machine, section in sections(STEPS.read_text(encoding="utf-8")).items():
        told = coverage.scenario_pairs(wider, machine)
        assert not told.failed
        for first, second, cell in cells(section):
            if not cell.isdigit():
                assert cell == ("s" if (first, second) in told.titles else "·"), (first, second)
            if cell == "·":
                white.add((machine, first, second))
        shown = {(first, second) for first, second, _ in cells(section)}
        assert shown.issuperset(told.titles)
    assert sorted(white) == sorted(given)


def test_the_pairs_of_steps_of_a_small_machine_are_up_to_date(wider: api.Model) -> None:
    most = {i.name: 200_000 for i in wider.instances if i.machine == "consumer"}
    reasons = read_white_pairs(STEPS.with_name(FILE))
    made = sections(pairs_markdown(Path("spec/kafka"), pair_tables(wider, most, reasons)[0]))
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
