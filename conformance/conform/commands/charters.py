"""What the commands about charters share: reading one, with its errors as they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from conform.errors import ConformError
from conform.terminal import out

if TYPE_CHECKING:
    from charter.api import Model


class Errors(ConformError):
    """The charter has errors, which were shown."""

    exit_code = 1


def loaded(path: Path, variant: str = "", mutant: str = "") -> Model:
    """The core of a charter. Raises `ConformError` if it cannot be read, and `Errors` after it
    has shown all errors."""
    try:
        return api.load(path, api.Selection(variant, mutant))
    except api.Unreadable as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        for item in refused.diagnostics:
            out(item.show())
        count = len(refused.diagnostics.errors)
        noun = "error" if count == 1 else "errors"
        raise Errors(f"{path} has {count} {noun}; `conform explain CODE` tells more") from None
