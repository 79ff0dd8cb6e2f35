"""Diagnostics with the source texts and spans that they point into."""

from __future__ import annotations

from charter.diagnostics.collected import Diagnostic, Diagnostics, Refused
from charter.diagnostics.source import BUILTIN, NOWHERE, Source, Span

__all__ = ["BUILTIN", "NOWHERE", "Diagnostic", "Diagnostics", "Refused", "Source", "Span"]
