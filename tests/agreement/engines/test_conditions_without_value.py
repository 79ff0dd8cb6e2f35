"""A condition of an instance that has no value is a finding of a search, with the shortest trace,
and no bug of an engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import both

from charter import api

CHARTER = """
protocol toy
component box {
  state held: option int 0..3 = present(1)
  operation put(n: int 0..3) -> bool {
    ASSUMED
    branch put { held' = present(n) reply true }
  }
  operation take() -> bool {
    branch took { held' = none reply true }
  }
}
witness full of box: held == present(3)
instance tiny of box { ONLY }
"""
CONDITION = "n >= value(held)"


@pytest.mark.parametrize("place", ["ASSUMED", "ONLY"])
def test_it_is_found_after_the_same_steps(place: str, tmp_path: Path) -> None:
    charter = tmp_path / "toy.charter"
    clause = {"ASSUMED": f"assume {CONDITION}", "ONLY": f"only put if {CONDITION}"}[place]
    text = CHARTER.replace(place, clause).replace("ASSUMED", "").replace("ONLY", "")
    charter.write_text(text, encoding="utf-8")
    model = api.load(charter)
    (instance,) = model.instances
    for result in both(model, instance):
        (found,) = [one for one in result.failures if one.kind == "undefined"]
        assert found.name == "put" and found.trace is not None
        assert [step.operation for step in found.trace] == ["take", "put"]
        assert "value(none)" in found.detail
