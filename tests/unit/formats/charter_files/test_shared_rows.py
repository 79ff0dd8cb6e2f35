"""Tables that leave out the rows of another file."""

from __future__ import annotations

import pytest

from charter.formats.canonical import Json
from charter.formats.charter_files.shared_rows import with_shared_rows, without_shared_rows
from charter.formats.charter_files.taken_rows import with_taken_entries
from charter.formats.reading import BadVector

BASE: dict[str, Json] = {"variant": "", "rows": [["a", 1], ["b", 2]], "other": []}


def test_a_table_is_the_same_again_when_its_shared_rows_were_left_out() -> None:
    value: dict[str, Json] = {"variant": "v", "rows": [["b", 2], ["c", 3]], "more": [{"x": 1}]}
    short = without_shared_rows(value, BASE)
    assert short == {"variant": "v", "rows": [1, ["c", 3]], "more": [{"x": 1}]}
    assert with_shared_rows(short, BASE) == value


@pytest.mark.parametrize("row", [2, -1, True])
def test_a_number_is_refused_when_the_other_file_has_no_such_row(row: Json) -> None:
    with pytest.raises(BadVector, match=f"rows: there is no row {row}"):
        with_shared_rows({"rows": [row]}, BASE)


def test_a_row_is_kept_as_its_difference_when_the_other_file_has_one_of_that_name() -> None:
    base: dict[str, Json] = {
        "ledger": [["branch register/clean", "covered", 7, ""]],
        "mutants": [{"name": "forgets", "doc": "It is forgotten.", "killed": True}],
    }
    value: dict[str, Json] = {
        "ledger": [["branch register/clean", "covered", 12, ""]],
        "mutants": [{"name": "forgets", "doc": "It is forgotten.", "killed": False}],
    }
    short = without_shared_rows(value, base)
    assert short == {"ledger": [[0, {"2": 12}]], "mutants": [[0, {"killed": False}]]}
    assert with_shared_rows(short, base) == value


def test_a_row_is_kept_whole_when_it_has_other_parts_or_its_difference_is_longer() -> None:
    value: dict[str, Json] = {"rows": [["a", 1, 2], ["b", "a long text that is not there"]]}
    short = without_shared_rows(value, BASE)
    assert short == value
    assert with_shared_rows(short, BASE) == value


@pytest.mark.parametrize("row", [[0, {"2": 1}], [0, {"x": 1}], [7, {"1": 1}]])
def test_a_difference_is_refused_when_the_other_file_has_no_such_part(row: Json) -> None:
    with pytest.raises(BadVector, match="rows: "):
        with_shared_rows({"rows": [row]}, BASE)


STUCK: dict[str, Json] = {"overlay": "bulbs", "name": "stuck", "first_release": "2", "text": ["x"]}
TAKEN: dict[str, Json] = {"overlay": "lamps", "name": "stuck", "first_release": "1"}


def test_an_entry_says_what_that_from_which_it_is_taken_says_but_its_releases() -> None:
    rows: list[Json] = [STUCK, {**TAKEN, "taken_from": "bulbs"}]
    whole = with_taken_entries({"entries": rows, "variant": ""})
    assert whole == {"entries": [STUCK, {**STUCK, **TAKEN}], "variant": ""}
    assert with_taken_entries({"variant": ""}) == {"variant": ""}


def test_an_entry_is_refused_when_it_is_taken_from_an_overlay_that_lacks_it() -> None:
    with pytest.raises(BadVector, match="entries: the overlay bulbs has no entry stuck"):
        with_taken_entries({"entries": [{**TAKEN, "taken_from": "bulbs"}]})
