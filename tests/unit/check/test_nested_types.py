"""Types that are nested deeply, or have many parts, take neither minutes nor the stack."""

import pytest

from charter import api

CHARTER = """
protocol a.nested

counter C

{records}

component c {{
  state held: option R{last} = none
  operation ask(over: map option R{last} -> bool) -> bool cites silent {{
    branch done reply true
  }}
}}

witness w of c: held == none
"""


def codes(length, field, tmp_path):
    first = f"record R0 {{ a: {field} }}"
    rest = [f"record R{n + 1} {{ x: R{n}, y: R{n} }}" for n in range(length)]
    text = CHARTER.format(records="\n".join([first, *rest]), last=length)
    path = tmp_path / "nested.charter"
    path.write_text(text, encoding="utf-8")
    return [item.code for item in api.check_charter(path)]


@pytest.mark.parametrize(("field", "expected"), [("bool", []), ("C", ["type/not-finite"])])
def test_record_that_holds_another_twice_is_looked_at_once(field, expected, tmp_path):
    assert codes(7, field, tmp_path) == expected


def test_type_with_too_many_parts_is_refused(tmp_path):
    """Engines have a place for each part: a search of two to the power of ninety did not end."""
    assert codes(90, "bool", tmp_path) == ["type/too-large"]


def test_types_that_are_nested_too_deeply_are_refused(tmp_path):
    assert "syntax/too-deep" in codes(1000, "bool", tmp_path)
