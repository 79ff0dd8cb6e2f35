"""Checks the hello of an adapter against the charter: operations, observed variables, constants."""

from __future__ import annotations

from collections.abc import Collection

from charter.formats.adapter import Welcome
from charter.formats.spelling import meant
from charter.formats.suite import Manifest
from conform.console.errors import BadHello
from conform.judging import model


def check_hello(welcome: Welcome, manifest: Manifest) -> None:
    """Raises `BadHello` for a name that the charter does not have. Names that the adapter leaves
    out are no error: their vectors are not judged, and the run says so."""
    module = manifest.models.charter
    if module:
        found = model.load(module)
        operations: Collection[str] = getattr(found, "OPERATIONS", welcome.operations)
        observes: Collection[str] = getattr(found, "OBSERVES", welcome.observes)
        _check("operation", "operations", welcome.operations, operations)
        _check("variable", "observes", welcome.observes, observes)
    _check("constant", "consts", welcome.consts, manifest.consts)


def _check(what: str, field: str, named: Collection[str], known: Collection[str]) -> None:
    for name in sorted(set(named) - set(known)):
        like = meant(name, known)
        there = ", ".join(known) or "none"
        raise BadHello(
            f"the hello of the adapter names the {what} {name!r} in {field}, which the charter does"
            f" not have{f'; {like}' if like else f' (it has: {there})'}"
        )
