"""Compares a suite, and the models in generated/, with what the compiler makes of the charter."""

from __future__ import annotations

import ast
import contextlib

from charter.api.generated import text_of
from charter.api.models import model_files, open_protocol, variant_models
from charter.api.protocol_files import protocols
from charter.formats.project import Project
from charter.formats.suite import Manifest
from charter.project.sources import Missing
from charter.render.python_model.delta import sibling_text
from charter.render.python_model.emit import prelude_text
from charter.suites.make import open_subject
from charter.suites.subject import PACKAGE


def suite_digests(project: Project, manifest: Manifest) -> tuple[str, str]:
    """The digest of the rules of a suite's component as the charters of a project are now, and that
    of what its questions are made from besides; "" if they lack the protocol or the component.
    Raises `Refused` and `Unreadable`."""
    for found in protocols(project):
        if found.name == manifest.protocol:
            asked = manifest.variant, manifest.component
            with contextlib.suppress(Missing):
                now = open_subject(project.root / found.place, found.sources, *asked)
                full = "states" in manifest.counts
                return now.spec_digest, now.full_digest if full else now.asked_digest
    return "", ""


def find_changed_models(project: Project, manifest: Manifest) -> tuple[str, ...]:
    """The files of the model of a suite under generated/ that do something else than the code
    that its charter in the project gives: edited ones, or those of another version of conform.
    Comments do not count. None if the project lacks the charter. Raises `Refused`, or `Missing` if
    there is no such variant."""
    found = [protocol for protocol in protocols(project) if protocol.name == manifest.protocol]
    files: dict[str, str] = {}
    for protocol in found:
        opened = open_protocol(protocol, manifest.component)
        files |= {f"{PACKAGE}/prelude.py": prelude_text(), f"{PACKAGE}/sibling.py": sibling_text()}
        plain = opened.whole.get(manifest.component)
        files |= model_files(plain.module, plain.texts) if plain else {}
        if manifest.variant:
            models = variant_models(opened, manifest.variant, manifest.component)
            files |= {f"{PACKAGE}/{path}": text for path, text in models.items()}
    folder = project.generated
    return tuple(
        path
        for path, text in files.items()
        if not (folder / path).is_file() or not _same_code(text_of(folder / path), text)
    )


def _same_code(one: str, other: str) -> bool:
    """Whether two modules differ only in comments, docstrings and the tables of instances, by which
    no step is judged."""
    return one == other or _bare(one) == _bare(other)


def _bare(text: str) -> str:
    """A module without comments, docstrings and instances; as it is if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = node.body[1:] if ast.get_docstring(node) else node.body
    tree.body = [node for node in tree.body if not _is_instances(node)]
    return ast.dump(tree)


def _is_instances(node: ast.stmt) -> bool:
    """Whether a statement is a table of instances."""
    match node:
        case ast.AnnAssign(target=ast.Name(id="INSTANCES" | "PRELUDES" | "PRELUDE_CALLS")):
            return True
        case _:
            return False
