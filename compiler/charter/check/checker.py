"""All checks of one protocol, in one run."""

from __future__ import annotations

from charter.check.elaborate import elaborate
from charter.diagnostics import Diagnostics
from charter.ir import nodes as ir
from charter.syntax import nodes as sx


def check_protocol(files: sx.Protocol, variant: str, diagnostics: Diagnostics) -> ir.Model:
    """The core of a protocol whose edits have been applied; every error goes to `diagnostics`,
    and then the result must not be used."""
    model = elaborate(files, variant, diagnostics)
    return model
