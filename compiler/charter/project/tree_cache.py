"""Content-addressed cache of the trees of files without syntax errors: keyed by the text with its
name, and the compiler's own files. To read one takes a quarter of the time of parsing."""

from __future__ import annotations

from hashlib import sha256

from charter.cache.files import cache_folder, from_cache, to_cache
from charter.cache.rows import Rows
from charter.diagnostics import Diagnostic, Diagnostics, Source, source
from charter.project.compiler_digest import compiler
from charter.syntax import nodes as sx

_ROWS = Rows(source, sx)
SHORTEST = 2_000
"""Characters of a text whose tree is kept: a shorter one is parsed as fast as its tree is read."""
MOST = 500
"""The most trees in the cache: some 20 kB each."""


def parse_file(text: Source) -> tuple[sx.File | None, tuple[Diagnostic, ...]]:
    """The tree of a file without the declarations that have syntax errors, or None if it has no
    head, and these errors."""
    if len(text.text) < SHORTEST:
        return _parse_file(text)
    path = cache_folder("trees") / f"{_digest(text)}.tree"
    known = from_cache(path)
    if known is not None:
        tree = _ROWS.decode(known)
        assert isinstance(tree, sx.File)
        return tree, ()
    found, errors = _parse_file(text)
    if found is not None and not errors:
        to_cache(path, _ROWS.encode(found), MOST)
    return found, errors


def _parse_file(text: Source) -> tuple[sx.File | None, tuple[Diagnostic, ...]]:
    from charter.syntax.parse import parse_rest  # what is cached needs no parser

    diagnostics = Diagnostics()
    return parse_rest(text, diagnostics), tuple(diagnostics.items)


def _digest(text: Source) -> str:
    return sha256(repr((compiler(), text.name, text.text)).encode()).hexdigest()
