"""Suites on disk, for tests: written as the compiler writes them."""

from collections.abc import Iterable
from pathlib import Path

from charter.formats.suite import Manifest
from charter.formats.vector import Vector
from charter.suites.make import in_order
from charter.suites.record import VectorRecord
from charter.suites.store import write_records


def write_suite(folder: Path, vectors: Iterable[Vector], about: Manifest) -> Manifest:
    """Write vectors in any order. Digest and number of `about` become what was written."""
    return write_records(folder, in_order(VectorRecord.of(vector) for vector in vectors), about)
