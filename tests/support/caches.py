"""A cache for one test, or for a few."""

from __future__ import annotations

from pathlib import Path

from charter.cache.files import cache_folder

BY_CONTENT = ("checked", "core", "derived", "engine", "kills", "trees")
"""What is kept by a digest of all that it was made from: whoever made it, it is the same."""


def own_cache(folder: Path) -> str:
    """Makes a cache in `folder`, where the tests' own one must be the current one. It is empty but
    for what is kept by content, which it shares."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in BY_CONTENT:
        shared = cache_folder(kind).resolve()
        shared.mkdir(parents=True, exist_ok=True)
        if not (folder / kind).exists():
            (folder / kind).symlink_to(shared, target_is_directory=True)
    return str(folder)
