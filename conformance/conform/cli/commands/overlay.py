"""Finds out which releases each entry of a target's overlay applies to, by means of the
compiler."""

from __future__ import annotations

from collections.abc import Mapping

from charter.formats.target import OVERLAY, Target
from conform.console.errors import ConformError


def releases_of(chosen: Target) -> Mapping[str, tuple[str, str]]:
    """First and last release of each entry of the target's overlay.charter, if it has one.

    Raises `ConformError` if the overlay cannot be read.
    """
    path = chosen.folder / OVERLAY
    if not path.is_file():
        return {}
    from charter import api

    try:
        entries = api.overlay_entries(path)
    except (api.Refused, api.Unreadable) as error:
        raise ConformError(f"{path} cannot be read ({error}); `conform check` shows why") from None
    return {entry.name: (entry.first_release, entry.last_release) for entry in entries}
