"""The committed table of what the instances of spec/kafka reach is what `conform coverage`
writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "spec" / "kafka" / "coverage" / "README.md"
SAMPLE = ("tiny_follower",)
"""Small instances; the others are searched in `make slow`."""


def table(tmp_path: Path, pattern: str) -> list[str]:
    page = tmp_path / "table.md"
    main(["coverage", "spec/kafka", "--instance", pattern, "--write", str(page)])
    return page.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("instance", SAMPLE)
def test_the_row_of_an_instance_is_up_to_date(
    instance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    committed = TABLE.read_text(encoding="utf-8").splitlines()
    (row,) = (r for r in table(tmp_path, instance) if r.startswith(f"| `{instance}` |"))
    assert row in committed


@pytest.mark.slow
def test_the_whole_table_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert table(tmp_path, "*") == TABLE.read_text(encoding="utf-8").splitlines()
