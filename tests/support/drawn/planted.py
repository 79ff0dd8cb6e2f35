"""The two bugs that are planted in each example of an adapter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

BUGS: Final = re.compile(
    r"((?:token_?is_?reused|released_?is_?renewed)\b[^=\n]*= ?)true", re.IGNORECASE
)


def mend(folder: Path) -> None:
    """Switch the bugs of the example in a folder off."""
    mended = 0
    sources = [path for path in folder.rglob("[lL]ease*.*") if path.is_file()]
    for path in (path for path in sources if path.suffix not in (".pyc", ".class")):
        off = "False" if path.suffix == ".py" else "false"
        text, count = BUGS.subn(rf"\g<1>{off}", path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        mended += count
    assert mended == 2
