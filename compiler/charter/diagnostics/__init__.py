"""What the compiler tells its user, and the texts and spans that it points into."""

from __future__ import annotations

from charter.diagnostics.collected import Diagnostic, Diagnostics, Refused
from charter.diagnostics.source import BUILTIN, NOWHERE, Source, Span

__all__ = ["BUILTIN", "NOWHERE", "Diagnostic", "Diagnostics", "Refused", "Source", "Span"]
