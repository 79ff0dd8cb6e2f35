"""Images of a question that has operations inserted."""

import pytest

from conform.runs.crosschecks.inserted_calls import InsertedPlace

PLACE = InsertedPlace(start=2, size=2)


@pytest.mark.parametrize(
    ("short", "long"), [("each", "each"), ([], [4]), ([1, 3], [1, 4, 5]), ([2, 7], [2, 4, 9])]
)
def test_an_image_is_shown_behind_the_same_operation_and_behind_what_is_inserted(short, long):
    assert PLACE.insert_images(short) == long
    assert PLACE.leave_out_images(long) == short
