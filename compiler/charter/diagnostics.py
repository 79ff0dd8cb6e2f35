"""What the compiler tells its user. Only the command line prints; everybody else collects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from charter.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a charter.

    `code` is a name such as `type/mismatch`; docs/diagnostics/ has a page for each.
    `notes` point at other places that explain the error; `hint` says how to mend it.
    """

    code: str
    message: str
    span: Span
    hint: str = ""
    notes: tuple[tuple[str, Span], ...] = ()
    severity: Severity = "error"

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
    """A collector, handed down through the phases; no phase stops at its first error."""

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

    def warn(self, code: str, message: str, span: Span, *, hint: str = "") -> None:
        """Record a warning; warnings never refuse a charter."""
        self._add(Diagnostic(code, message, span, hint, (), "warning"))

    def _add(self, item: Diagnostic) -> None:
        if item not in self.items:
            self.items.append(item)

    def __iter__(self) -> Iterator[Diagnostic]:
        ranked = sorted(self.items, key=lambda d: (d.span.source.name, d.span.start, d.code))
        return iter(ranked)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors in the order of the text."""
        return tuple(item for item in self if item.severity == "error")

    def refuse_if_any(self) -> None:
        """Raise `Refused` if an error was recorded."""
        if self.errors:
            raise Refused(self)


class Refused(Exception):
    """The charter has errors; `diagnostics` holds all of them."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(f"{len(diagnostics.errors)} errors")
        self.diagnostics = diagnostics
