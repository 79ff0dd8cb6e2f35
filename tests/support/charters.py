"""Small charters that the tests of the checker share."""

from __future__ import annotations

from charter import api
from charter.core import nodes as ir
from charter.core.show import show_expr, show_model
from charter.diagnostics import Source
from charter.project.pipeline import check_texts

WORDS = """protocol test.words
sort Broker
sort Topic
counter Epoch
opaque counter Session
opaque Id
const limit: int 0..9
enum Status { ON, OFF }
record Row { owner: option Broker, epoch: Epoch, isr: set Broker }
union Reply { granted(epoch: Epoch), rejected(status: Status), nothing }
"""

LAMP = """protocol lamp

component lamp {
  state lit: bool = false
  operation press() -> bool cites silent {
    branch on when dark: not lit { lit' = true reply true }
    branch off { lit' = false reply false }
  }
  observe all { lit }
}

stepwise toggles of lamp: took press/on implies lit'
witness shines of lamp: lit
mutant stays_dark in tiny { replace in lamp.press branch on
  when dark: not lit { lit' = false reply true } } caught by toggles
instance tiny of lamp { }
"""
"""A component with one variable, and all that a project needs to judge it."""


def load(text: str, *, variant: str = "", mutant: str = "") -> ir.Model:
    """The core of `WORDS` and `text`."""
    return api.load_text(WORDS + text, api.Selection(variant, mutant))


def dump(text: str, *, variant: str = "", mutant: str = "") -> list[str]:
    """The lines of the dump that `WORDS` alone does not have."""
    plain = frozenset(show_model(load("")).splitlines())
    lines = show_model(load(text, variant=variant, mutant=mutant)).splitlines()[1:]
    return [line for line in lines if line not in plain]


def codes(text: str) -> list[str]:
    """The codes of all errors of `WORDS` and `text`, in the order of the text."""
    return [item.code for item in check_texts((Source("test", WORDS + text),)).errors]


def body(text: str, result: str = "bool", params: str = "") -> str:
    """The core of the body of a function, as the dump shows it."""
    return show_expr(load(f"fun f({params}) -> {result} = {text}").functions[0].body)


def branch(text: str) -> list[str]:
    """The core of a branch of a component with some state, as the dump shows it."""
    lines = dump(
        f"""component c {{
  state row: map Topic -> Row = [t in Topic: Row {{ owner: none, epoch: 0, isr: {{}} }}]
  state count: int 0..limit = 0
  state light: map Status -> bool = [s in Status: false]
  operation go(t: Topic, u: Topic, b: Broker) -> Reply {{ branch only {{ {text}  reply nothing }} }}
}}
witness w of c: took go/only"""
    )
    start = lines.index("    branch only")
    return [line.strip() for line in lines[start + 1 : lines.index("      reply nothing()")]]
