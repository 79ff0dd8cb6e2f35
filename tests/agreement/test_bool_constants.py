"""Constants of the type `bool`: the engines agree, TLC gets its own word for them, and adapters get
a bool."""

from __future__ import annotations

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api
from charter.formats import canonical
from charter.formats.canonical import Json
from conform import sdk

CHARTER = """protocol test.bell
const loud: bool
component bell {
  state rings: int 0..3 = 0
  operation ring() -> bool {
    branch enough when loud and rings >= 1 reply false
    branch tired when rings == 3 reply false
    branch rung { rings' = rings + 1 reply true }
  }
}
witness often of bell: rings == 3
instance tiny of bell { loud = true }
instance tiny_quiet of bell { loud = false }
"""


@pytest.mark.parametrize(("name", "states"), [("tiny", 2), ("tiny_quiet", 4)])
def test_the_engines_agree_on_a_constant_that_is_true_or_false(name: str, states: int) -> None:
    model = api.load_text(CHARTER)
    fast, plain = both(model, next(i for i in model.instances if i.name == name))
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    assert counts(fast).distinct == states


def test_tla_has_its_own_word_for_true() -> None:
    files, _ = api.export_tla(api.load_text(CHARTER), "tiny")
    assert "  loud = TRUE\n" in files["bell_tiny.cfg"]


class Bell(sdk.Adapter):
    """An adapter that shows its constant."""

    about = sdk.About("bell", "1", "bell", ("ring",), ("loud",), (), ("loud",))

    def start(self, question: sdk.Question) -> None:
        self.loud = question.consts["loud"]

    def observe(self) -> Json:
        return {"loud": self.loud}


def test_an_adapter_gets_a_bool() -> None:
    asked = {"id": "1", "nonce": "n", "sorts": {}, "consts": {"loud": True}, "given": None}
    question = {**asked, "operations": [], "delta": "each"}
    answer = sdk.answer_message(Bell(), {"run": "r", "questions": [question]})
    assert '"loud":true' in canonical.text(answer)
