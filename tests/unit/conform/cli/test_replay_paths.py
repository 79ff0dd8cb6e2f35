"""What `conform replay` shows of a value that the charter allows."""

from conform.cli.commands.judge.replay import differing


def test_the_fields_that_differ_are_shown() -> None:
    assert differing({"l1": None, "l2": 1}, {"l1": 2, "l2": 1}) == ("l1",)


def test_another_case_is_shown_whole() -> None:
    """It has other fields: those of the observed case would be shown as null."""
    written = {"case": "written", "revision": "#5"}
    assert differing(written, {"case": "refused", "error": "CONFLICT"}) == ("",)
    assert differing(written, {"case": "written", "revision": "#4"}) == ("revision",)
