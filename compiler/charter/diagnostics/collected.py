"""Diagnostics as values: collected by the compiler, printed only by the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from charter.diagnostics.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a charter.

    `code` is a name such as `type/mismatch`; docs/diagnostics/ has a page for each.
    `notes` point at other places that explain the error; `hint` says how to mend it. Findings with
    the same `once` are one mistake at several places: it is told once.
    """

    code: str
    message: str
    span: Span
    hint: str = ""
    notes: tuple[tuple[str, Span], ...] = ()
    severity: Severity = "error"
    once: str = ""

    def show(self) -> str:
        """The text for a terminal: position, message, excerpt with carets, notes and hint."""
        parts = [f"{self.span.where()}: {self.severity}: [{self.code}] {self.message}"]
        parts.append(self.span.excerpt())
        for text, span in self.notes:
            parts.append(f"      note: {text} ({span.where()})")
        if self.hint:
            parts.append(f"      hint: {self.hint}")
        return "\n".join(parts)


@dataclass(slots=True)
class Diagnostics:
    """Collects diagnostics through the phases; no phase stops at its first error."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        hint: str = "",
        notes: tuple[tuple[str, Span], ...] = (),
    ) -> None:
        """Record an error; the same error at the same place is recorded once."""
        self._add(Diagnostic(code, message, span, hint, notes, "error"))

    def error_once(self, code: str, message: str, span: Span, *, hint: str = "") -> None:
        """Record an error that is one mistake at every place with this message: it is shown at the
        first, with the number of the others."""
        self._add(Diagnostic(code, message, span, hint, (), "error", once=message))

    def warn(self, code: str, message: str, span: Span, *, hint: str = "") -> None:
        """Record a warning; warnings never refuse a charter."""
        self._add(Diagnostic(code, message, span, hint, (), "warning"))

    def _add(self, item: Diagnostic) -> None:
        if item not in self.items:
            self.items.append(item)

    @property
    def everywhere(self) -> list[Diagnostic]:
        """All findings in the order of the text, also those that are one mistake."""
        return sorted(self.items, key=lambda d: (d.span.source.name, d.span.start, d.code))

    def __iter__(self) -> Iterator[Diagnostic]:
        ranked = self.everywhere
        places: dict[str, dict[Span, None]] = {}
        for item in ranked:
            places.setdefault(item.once, {})[item.span] = None
        for item in ranked:
            first, *more = places[item.once] if item.once else (item.span,)
            if item.span == first:
                yield _with_places(item, more) if more else item

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors in the order of the text."""
        return tuple(item for item in self if item.severity == "error")

    def refuse_if_any(self) -> None:
        """Raise `Refused` if an error was recorded."""
        if self.errors:
            raise Refused(self)


def _with_places(item: Diagnostic, more: list[Span]) -> Diagnostic:
    """A finding, and that it is one at more places too."""
    text = "and 1 more place" if len(more) == 1 else f"and {len(more)} more places, the next one"
    return replace(item, notes=(*item.notes, (text, more[0])))


class Refused(Exception):
    """The charter has errors; `diagnostics` holds all of them."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(f"{len(diagnostics.errors)} errors")
        self.diagnostics = diagnostics
