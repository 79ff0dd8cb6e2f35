"""`python -m editors` writes the grammars anew; `python -m editors FILE.vsix` also writes the
package for VS Code."""

from __future__ import annotations

import sys
from pathlib import Path

from editors.files import make_files, vsix


def main() -> None:
    """Write what was asked for."""
    for path, text in make_files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in sys.argv[1:]:
        Path(name).write_bytes(vsix())


if __name__ == "__main__":
    main()
