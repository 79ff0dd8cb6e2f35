"""Edits of variants, mutants and overlays, applied to the surface tree."""

from __future__ import annotations

from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx


def apply_selection(
    files: sx.Protocol, variant: str, mutant: str, diagnostics: Diagnostics
) -> sx.Protocol:
    """The protocol in a variant ("" for the plain one), bent by a mutant ("" for none)."""
    return files


def apply_overlay(
    files: sx.Protocol, overlay: sx.Protocol, entries: tuple[str, ...], diagnostics: Diagnostics
) -> sx.Protocol:
    """The protocol with the named entries of an overlay applied, in the order of the overlay."""
    return files
