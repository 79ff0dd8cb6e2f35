"""Joins the suites of several variants of a protocol: each variant gets the questions of the others
that its own rules allow, with its own answers. So releases that are judged against different
variants have questions in common."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_object
from charter.formats.suite import LINES, MANIFEST, digest_line, lines_digest
from charter.formats.vector import Vector, read_vector
from conform.console.errors import CannotWrite
from conform.judging.answer import CannotAnswer, answer_of
from conform.judging.model import JudgeModel, is_of, load, use_folders
from conform.judging.verdict import VectorItem
from conform.suites.cache import Suite, vector_of
from conform.suites.importing import importer_digest

_ORIGIN = "made_of"
"""The file that says of which suites a joined one was made."""


def join_suites(own: Suite, others: Sequence[Suite], folders: Sequence[str], place: Path) -> str:
    """The folder of a suite with the vectors of `own`, and the questions of `others` that its model
    (in one of the `folders`) answers. It is written to `place`, and stays there while the suites
    are the same: a model lists outcomes in any order, and a run that goes on needs the same suite.
    Without such a question, or without a model of the same rules, it is that of `own`. Raises
    `CannotWrite`."""
    module = own.manifest.models.charter
    use_folders(folders)
    if not others or not is_of(module, own.manifest.spec_digest):
        return str(own.folder)
    made_of = "\n".join([importer_digest(), *(one.manifest.digest for one in (own, *others))])
    if _read_origin(place) == made_of:
        return str(place)
    vectors = {item.id: vector_of(item) for item in _items(own)}
    held = len(vectors)
    model, opaque = load(module), OpaqueTypes.of(own.manifest.read_types())
    for item in (item for other in others for item in _items(other)):
        if item.id not in vectors and (one := _answer(item, model, opaque)):
            vectors[item.id] = one
    if len(vectors) == held:
        return str(own.folder)
    ordered = [vectors[name] for name in sorted(vectors)]
    manifest = replace(own.manifest, vectors=len(ordered))
    manifest = manifest.seal(lines_digest(map(digest_line, ordered)))
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / _ORIGIN).unlink(missing_ok=True)  # the command may be killed here
        text = "".join(f"{one.line()}\n" for one in ordered)
        (place / LINES).write_text(text, encoding="utf-8", newline="\n")
        about = json.dumps(manifest.json(), indent=1, sort_keys=True, ensure_ascii=False)
        (place / MANIFEST).write_text(f"{about}\n", encoding="utf-8", newline="\n")
        (place / _ORIGIN).write_text(made_of, encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{place} cannot be written: {error.strerror}") from None
    return str(place)


def _read_origin(place: Path) -> str:
    """Of which suites the one in a folder was made; "" if there is none."""
    path = place / _ORIGIN
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _items(suite: Suite) -> Iterator[VectorItem]:
    for bucket in range(suite.buckets):
        yield from suite.items(bucket)


def _answer(item: VectorItem, model: JudgeModel, opaque: OpaqueTypes) -> Vector | None:
    """The question of another suite with the answer of a model; None if its rules do not allow it.
    It asks no obligation, since those of the other suite are about other rules."""
    question = own_object(orjson.loads(item.question))
    try:
        answer = answer_of(model, question, opaque)
    except CannotAnswer:
        return None
    content = own_object(orjson.loads(orjson.dumps(answer)))
    why = own_object(orjson.loads(item.why))
    whole: Json = {
        "question": question,
        "answer": {"question": item.id, "digest": canonical.digest(content), **content},
        "why": {**why, "obligations": [], "purpose": []},
    }
    return read_vector(whole, f"vector {item.id}")
