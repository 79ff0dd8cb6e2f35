"""Content-addressed cache of compiled core, of what is derived from it, and of which charters were
checked and have no errors: keyed by the texts with their names, the chosen edits, and the
compiler's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256

from charter.cache.files import cache_folder, from_cache, read_or_make, to_cache
from charter.core.encoding import decode, encode
from charter.core.nodes import Model
from charter.diagnostics import Diagnostics, Source
from charter.project.compiler_digest import compiler
from charter.project.sources import PLAIN, Selection


def load_or_compile(
    sources: Sequence[Source], selection: Selection, make: Callable[[], Model]
) -> Model:
    """The core of these texts and edits from the cache, or else from `make`, whose exceptions are
    passed on."""
    path = cache_folder("core") / f"{_digest(sources, selection)}.core"
    known = from_cache(path)
    if known is not None:
        return decode(known)
    model = make()
    to_cache(path, encode(model))
    return model


@lru_cache(maxsize=8)
def core_of(sources: tuple[Source, ...], selection: Selection) -> Model:
    """The core of these texts and edits from the cache, or compiled. Raises `Refused` with every
    error, or `Missing`. Kept, since callers ask for the same core again and again, and core cannot
    be changed."""

    def make() -> Model:
        from charter.project.compile import compile_core  # what is cached needs no parser

        return compile_core(sources, selection)

    return load_or_compile(sources, selection, make)


def check_once(sources: Sequence[Source], check: Callable[[], Diagnostics]) -> Diagnostics:
    """What `check` finds in these texts. It is not called if it has found nothing in the same ones
    before, neither an error nor a warning."""
    path = cache_folder("checked") / _digest(sources, PLAIN)
    if from_cache(path) is not None:
        return Diagnostics()
    found = check()
    if not found.items:
        to_cache(path, b"nothing was found\n")
    return found


def derive(
    sources: Sequence[Source], selection: Selection, what: str, make: Callable[[], bytes]
) -> bytes:
    """What `make` makes of the core of these texts and edits, from the cache if it is there. `what`
    names it, with all else that it depends on."""
    named = f"{_digest(sources, selection)} {what}"
    return read_or_make(cache_folder("derived") / sha256(named.encode()).hexdigest(), make)


def _digest(sources: Sequence[Source], selection: Selection) -> str:
    edits = (selection.variant, selection.mutant, selection.entries)
    texts = (*sources, *selection.overlay)
    said = (compiler(), edits, *((text.name, text.text) for text in texts))
    return sha256(repr(said).encode()).hexdigest()
