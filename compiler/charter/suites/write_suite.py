"""Writes suites: JSON lines in the order of the ids, with a manifest beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from charter.formats.suite import LINES, MANIFEST, Manifest, lines_digest
from charter.suites.vector_texts import VectorRecord

UNREACHED_KEY = '"unreached":'
"""What the reasons of a vector have that begins in a given state."""


def write_records(folder: Path, records: Iterable[VectorRecord], about: Manifest) -> Manifest:
    """Write records in the order of their ids, and the manifest last, with the digest and the
    number of vectors that were written. An earlier suite in the folder stays until all is written,
    also if this process is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    written, about_it = folder / f".{LINES}.part", folder / f".{MANIFEST}.part"
    lines: list[str] = []
    unreached = 0
    with written.open("w", encoding="utf-8", newline="\n") as out:
        for record in records:
            out.write(f"{record.line()}\n")
            lines.append(record.digest_line())
            unreached += UNREACHED_KEY in record.why
    if unreached:
        about = replace(about, counts={**about.counts, "unreached": unreached})
    manifest = conclude(about, lines)
    about_it.write_text(manifest_text(manifest), encoding="utf-8", newline="\n")
    (folder / MANIFEST).unlink(missing_ok=True)
    written.replace(folder / LINES)
    about_it.replace(folder / MANIFEST)
    return manifest


def conclude(about: Manifest, lines: list[str]) -> Manifest:
    """The manifest of a suite whose vectors have these digest lines."""
    return replace(about, vectors=len(lines)).seal(lines_digest(lines))


def manifest_text(manifest: Manifest) -> str:
    """The content of manifest.json."""
    return json.dumps(manifest.json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
