"""Names of SDKs that the types of a charter must not take: a new one cannot be forgotten."""

from __future__ import annotations

import re

import pytest
from tests.support.drawn.hostile import PAGES, SDKS, code

from charter.render.adapters import go, java, node, python, rust
from charter.render.adapters.names import pascal

TYPE = re.compile(r"(?<![\w.$@])(?<!::)[A-Z]\w*")
"""A name of a type that is not looked up in something."""
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|`[^`]*`')
GO = re.compile(r"^(?:func|type|var|const) ([A-Z]\w*)", re.M)
PUBLIC = re.compile(r"^pub (?:struct|enum|trait|type|fn|const) ([A-Z]\w*)", re.M)


def names(folder, *files, of=TYPE):
    """The names in some sources, not in texts, that a type of a charter can get."""
    found = {name for file in files for name in of.findall(TEXT.sub(" ", code(folder / file)))}
    return {name for name in found if pascal(name) == name and len(name) > 1}


@pytest.mark.parametrize(("taken", "used"), [
    (go._SDK, names(SDKS, "go/charter/sdk.go", "go/charter/values.go", of=GO)),
    (go._SDK, names(PAGES, "protocol.go.j2", of=GO)),
    (java._TAKEN, names(PAGES, "Protocol.java.j2", "Main.java.j2")),
    (node._TAKEN, names(PAGES, "protocol.js.j2", "adapter.js.j2")),
    (python._TAKEN, names(PAGES, "protocol.py.j2")),
    (rust._TAKEN, names(SDKS, "rust/src/charter/mod.rs")),
    (rust._TAKEN, names(SDKS, "rust/src/charter/values.rs", of=PUBLIC)),
    (rust._TAKEN, names(PAGES, "protocol.rs.j2", "main.rs.j2")),
])  # fmt: skip
def test_type_of_a_charter_never_has_the_name_of_an_sdk(taken, used):
    assert used
    assert used <= {*taken}, sorted(used - {*taken})
