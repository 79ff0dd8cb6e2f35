"""What is read off a model about its counters, where names have several meanings."""

import pytest
from tests.support.engines import natively

from charter import api

TEXT = """protocol names
sort G
opaque counter T
component c {{
  state t: map G -> option T = [g in G: none]
  state newest: T = 0
  operation put(g: G) -> bool cites silent {{
    branch full when some h in G: t[h] != none reply false
    branch done {{ t[g]' = present(bump(newest))  newest' = bump(newest)  reply true }}
  }}
  operation move(g: G) -> bool cites silent {{
    branch no when not (exactly one h in G: t[h] != none) reply false
    {lets}
    branch done {{ t[g]' = t[{used}]  reply true }}
  }}
}}
witness w of c: took put/done
instance tiny of c {{ G = 2 }}
"""
LETS = [
    ("let s = the s in G: t[s] != none", "s"),
    ("let s = the h in G: (some s in G: t[s] != none) and t[h] != none", "s"),
]


@pytest.mark.parametrize(("lets", "used"), LETS)
def test_a_quantifier_may_have_the_name_of_a_let(lets: str, used: str) -> None:
    plain = api.load_text(TEXT.format(lets="let s = the h in G: t[h] != none", used="s"))
    model = api.load_text(TEXT.format(lets=lets, used=used))
    counts = [natively(one, one.instances[0]).counts for one in (plain, model)]
    assert counts[0].distinct == counts[1].distinct >= 3
    assert counts[0].generated == counts[1].generated
