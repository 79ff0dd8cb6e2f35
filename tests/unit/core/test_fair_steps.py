"""Fairness conditions name a step of a system or an operation of a component."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter import api
from charter.core import nodes as n
from charter.core.transition import steps_of
from charter.core.valid import InvalidCore, validate
from charter.passes.companions import TRUE

LAMP = """protocol lamp
component lamp {
  state lit: bool = false
  observe all { lit }
  operation press(hard: bool) -> bool cites silent { branch pressed { lit' = hard reply true } }
}
witness shines of lamp: lit
instance tiny of lamp { }
"""


def with_fairness(step: str, *params: str) -> n.Model:
    live = n.Eventually("shines", "lamp", (), None, TRUE, (n.Fair(step, params),), ())
    return replace(api.load_text(LAMP), liveness=(live,))


def test_an_operation_of_a_component_can_be_fair() -> None:
    validate(with_fairness("press"), "here")
    validate(with_fairness("press", "hard"), "here")
    assert [*steps_of(with_fairness("press"), "lamp")] == ["press"]


@pytest.mark.parametrize(("step", "params"), [("blow", ()), ("press", ("soft",))])
def test_what_is_no_operation_or_no_parameter_is_refused(step: str, params: tuple[str]) -> None:
    with pytest.raises(InvalidCore, match=f"unknown fair step {step}"):
        validate(with_fairness(step, *params), "here")
