"""Which edits of a charter compile together."""

from __future__ import annotations

from charter import api

LAMP = """protocol test.lamp
component lamp {
  state on: bool = false
  operation press() -> bool cites silent { branch pressed { on' = true  reply true } }
}
always dark of lamp cites silent: on or not on
witness lit of lamp: on
instance tiny of lamp {}
variant bright cites silent { drop property dark }
mutant stuck in tiny { replace update on of lamp.press/pressed with false } caught by dark
"""


def test_a_mutant_can_be_chosen_in_a_variant_that_drops_its_property() -> None:
    """Models of mutants are made in every variant."""
    model = api.load_text(LAMP, api.Selection("bright", "stuck"))
    assert [prop.name for prop in model.properties] == ["lit"]
