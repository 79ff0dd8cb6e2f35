"""Edits TOML files that people and commands both write."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

from charter.formats.files import regular


def read_toml(path: Path, refused: Callable[[str], Exception]) -> dict[str, object]:
    """The content of a file. Raises what `refused` makes of a sentence."""
    try:
        return tomllib.loads(regular(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise refused(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise refused(f"{path} is no TOML: {error}") from None


def toml_string(text: str) -> str:
    """A text as TOML has it: as JSON does, apart from the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
