"""Checks the hello of an adapter against the charter, and against its adapter.toml."""

from __future__ import annotations

from collections.abc import Collection

from charter.formats.adapter import Welcome
from charter.formats.spelling import suggest
from charter.formats.suite import Manifest
from charter.formats.target import FILE, IMAGE, Target
from conform.console.errors import BadHello, BadSuite
from conform.judging import model
from conform.judging.refutations import LOAD

_PROTOCOL = (LOAD, IMAGE)


def check_hello(welcome: Welcome, manifest: Manifest) -> None:
    """Raises `BadHello` for a name that the charter does not have, and `BadSuite` for an adapter of
    another component. Names that the adapter leaves out are no error: their vectors are not judged,
    and the run says so."""
    if welcome.component != manifest.component:
        raise BadSuite(
            f"the adapter drives the component {welcome.component}, but the suite is about"
            f" {manifest.component}; choose another with --suite"
        )
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
        like = suggest(name, known)
        there = ", ".join(known) or "none"
        raise BadHello(
            f"the hello of the adapter names the {what} {name!r} in {field}, which the charter does"
            f" not have{f'; {like}' if like else f' (it has: {there})'}"
        )


def disagreement(welcome: Welcome, chosen: Target) -> str:
    """About what hello and the adapter.toml of a target disagree, component or capability, with the
    remedy; "" if they agree. Hello is what counts. A release may lack a capability that its
    adapter.toml lists; one without `capabilities` says nothing."""
    if chosen.component not in ("", welcome.component):
        return (
            f"hello says that the adapter drives the component {welcome.component!r}, but {FILE}"
            f" says {chosen.component!r}; correct one of them"
        )
    listed = chosen.capabilities
    known = {*_PROTOCOL, *(listed or ())}
    for name in sorted(welcome.capabilities - known):
        like = suggest(name, known)
        return (
            f"hello claims the capability {name!r}, which is not one of {', '.join(sorted(known))};"
            f" {like and f'{like} '}one of the adapter's own goes into `capabilities` of {FILE}"
        )
    both = welcome.capabilities & set(listed or ())
    for name in sorted(both.difference(_PROTOCOL)):
        if like := suggest(name, _PROTOCOL):
            return (
                f"hello and {FILE} have the capability {name!r}; {like} If it is one of the"
                " adapter's own, give it a name that is less like it"
            )
    if listed is None:
        return ""
    for name in sorted(welcome.capabilities - set(listed)):
        return (
            f"hello claims the capability {name!r}, but {FILE} does not list it; add it to"
            " `capabilities` there, or remove it from hello"
        )
    for name in sorted(set(listed) - welcome.capabilities) if not chosen.releases else ():
        if name not in _PROTOCOL and (like := suggest(name, _PROTOCOL)):
            return f"{FILE} lists the capability {name!r}; {like}"
        return (
            f"{FILE} lists the capability {name!r}, but hello does not claim it, and hello is what"
            " counts; claim it in what the adapter says about itself (see its README), or remove it"
            f" from {FILE}"
        )
    return ""
