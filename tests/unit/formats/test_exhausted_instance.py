"""The instance whose transitions a suite asks, in its manifest."""

from __future__ import annotations

from charter.formats.reading import JsonReader
from charter.formats.suite import ExhaustedInstance

TINY = ExhaustedInstance("tiny", {"Book": 2}, {}, ("put",), (), 9, 45, 1, 2, 0)


def test_one_of_an_earlier_version_lacks_no_operation() -> None:
    written = TINY.json()
    assert written.pop("unsupported") == 0
    assert ExhaustedInstance.read(JsonReader(written, "exhausts")) == TINY
