"""What a refused charter looks like on a terminal, word for word.

`CHARTER_GOLDEN=write` writes the files anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

FOLDER = Path(__file__).parent / "refused"
CASES = sorted(FOLDER.glob("*.charter"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_refused_charter_shows_all_its_errors(path: Path) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    shown = "\n".join(item.show() for item in check_texts((source,))) + "\n"
    golden = path.with_suffix(".txt")
    if os.environ.get("CHARTER_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_goldens_and_charters_come_in_pairs() -> None:
    assert {path.stem for path in CASES} == {path.stem for path in FOLDER.glob("*.txt")}
