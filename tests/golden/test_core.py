"""The core of a charter that uses every form of the language, as the dump shows it.

`CHARTER_GOLDEN=write` writes the file anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

from charter import api

FOLDER = Path(__file__).parent


def test_core_of_everything_is_as_written() -> None:
    shown = api.core_text(FOLDER / "surface" / "everything.charter")
    golden = FOLDER / "core" / "everything.txt"
    if os.environ.get("CHARTER_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")
