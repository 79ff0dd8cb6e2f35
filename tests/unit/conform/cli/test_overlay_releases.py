"""The releases of an overlay's entries: what cannot be read is told, and a bug is no such thing."""

import pytest

from charter import api
from charter.diagnostics import Diagnostics, Refused
from conform.adapters.targets import target
from conform.cli.output.overlay import releases_of
from conform.console.errors import ConformError


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (Refused(Diagnostics()), ConformError),
        (api.Unreadable("no text"), ConformError),
        (RuntimeError("a bug, or an import that was interrupted"), RuntimeError),
    ],
)
def test_only_what_the_compiler_refuses_cannot_be_read(raised, expected, monkeypatch):
    def entries(_):
        raise raised

    monkeypatch.setattr("charter.project.pipeline.overlay_entries", entries)
    with pytest.raises(expected):
        releases_of(target("kafka-controller"))


def test_entries_that_are_taken_have_the_releases_of_the_target():
    found = releases_of(target("kafka-controller-experimental-elr"))
    assert found["elr_keeps_strangers"][1] == "3.9.2"
    assert releases_of(target("kafka-controller"))["elr_keeps_strangers"] == ("4.0.0", "")
