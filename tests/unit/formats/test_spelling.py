"""What a wrong name probably means."""

import pytest

from charter.formats.spelling import nearest, suggest


@pytest.mark.parametrize(
    ("word", "known", "like"),
    [
        ("QUEUED", ("queued", "running"), "queued"),
        ("Queud", ("QUEUED", "queue"), "queue"),
        ("lock", ("Lock", "lock"), "lock"),
        ("LOCKS", ("Lock", "lock"), "Lock"),
        ("elsewhere", ("queued", "running"), ""),
    ],
)
def test_nearest_name_ignores_capitals_only_where_nothing_is_near(word, known, like):
    assert nearest(word, known) == like
    assert suggest(word, known) == (f"did you mean {like}?" if like else "")
