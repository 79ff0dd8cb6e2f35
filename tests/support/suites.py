"""Writes suites to disk as the compiler does."""

from collections.abc import Iterable
from pathlib import Path

from charter.formats.suite import Manifest, digest_line, lines_digest
from charter.formats.vector import Vector
from charter.suites.make import in_order
from charter.suites.vector_texts import VectorRecord
from charter.suites.write_suite import write_records


def write_suite(folder: Path, vectors: Iterable[Vector], about: Manifest) -> Manifest:
    """Writes vectors in any order; returns `about` with the digest and the number of what was
    written."""
    return write_records(folder, in_order(VectorRecord.of(vector) for vector in vectors), about)


def seal(about: Manifest, vectors: Iterable[Vector]) -> Manifest:
    """`about` with the digest that it has with these vectors."""
    return about.seal(lines_digest(digest_line(vector) for vector in vectors))
