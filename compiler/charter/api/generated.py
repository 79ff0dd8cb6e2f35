"""Writes generated/, or reports which of its files are stale; one code path does both.

The tree holds models of all protocols under spec/ and of all overlays of the adapters, the small
suites of components that targets implement, with the models that these need. A sibling model is
stored as its difference from another model (charter_models.sibling)."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping
from pathlib import Path

from charter.api.models import (
    HEADER,
    OpenedProtocol,
    Tree,
    base_models,
    mutant_models,
    open_protocol,
    variant_models,
)
from charter.api.overlay_models import overlay_models
from charter.api.protocol_files import Protocol, protocols
from charter.api.text_changes import show_changes
from charter.formats.canonical import Json
from charter.formats.charter_files.obligations import UNSEARCHED, read_ledger
from charter.formats.project import BadProject, Project
from charter.formats.suite import MANIFEST
from charter.project.sources import Missing, read_source
from charter.render.python_model.delta import sibling_text
from charter.render.python_model.emit import prelude_text
from charter.suites.adapters import list_judged
from charter.suites.committed_suite import FULL, beside_base, publish, sections_place
from charter.suites.make import open_subject
from charter.suites.subject import PACKAGE, digest, module_name, overlays_in

__all__ = [
    "PACKAGE",
    "OpenedProtocol",
    "Protocol",
    "Tree",
    "base_models",
    "digest",
    "explain_outdated",
    "module_name",
    "mutant_models",
    "open_protocol",
    "overlay_models",
    "protocols",
    "stale",
    "tree",
    "variant_models",
    "write",
    "write_files",
]  # fmt: skip

PACKAGE_TEXT = f'{HEADER}"""The models that `conform generate` wrote."""\n'


def tree(project: Project) -> Tree:
    """All files of generated/. Raises `Refused` for a charter with errors, `Missing` for a variant
    that it does not have, or `Unreadable`."""
    files = {
        f"{PACKAGE}/__init__.py": PACKAGE_TEXT,
        f"{PACKAGE}/py.typed": "",
        f"{PACKAGE}/prelude.py": prelude_text(),
        f"{PACKAGE}/sibling.py": sibling_text(),
    }
    for protocol in protocols(project):
        opened = open_protocol(protocol)
        files.update(base_models(opened))
        files.update(overlay_models(opened, overlays_in(project, protocol.name)))
        files.update(suites(project, opened))
    return dict(sorted(files.items()))


def suites(project: Project, opened: OpenedProtocol) -> Tree:
    """The small suites of the components of a protocol that some target implements, with the models
    that they need: those of the variants that targets are judged against, and of a few mutants.
    Models of other components are not included."""
    protocol = opened.protocol
    files: dict[str, str] = {}
    models: dict[str, str] = {}
    plain: dict[str, str] = {}
    for named, variant in list_judged(project, protocol.name):
        about = open_subject(project.root / protocol.place, protocol.sources, variant, named)
        component = about.component.name
        if variant:
            models.update(variant_models(opened, variant, component))
        made = publish(about)
        files.update(made.files)
        table = sections_place(about)
        if not variant:
            plain[component] = table
        elif base := plain.get(component):
            place = posixpath.relpath(base, posixpath.dirname(table))
            files[table] = beside_base(files[table], files[base], place)
        for mutant in made.mutants:
            models.update(mutant_models(opened, mutant, variant, component))
    return files | {f"{PACKAGE}/{path}": text for path, text in models.items()}


# --- the tree on disk ----------------------------------------------------------------------------


def write(project: Project) -> tuple[str, ...]:
    """Bring generated/ up to date; returns the paths that were written or removed. Raises
    `BadProject` if the folder holds other files."""
    files = tree(project)
    folder = project.generated
    _check_ours(project)
    stray = [path for path in _present(folder) if path not in files]
    for path in stray:
        (folder / path).unlink()
    return (*write_files(files, folder), *stray)


def _check_ours(project: Project) -> None:
    """Raises `BadProject` if the folder for generated files holds none, but others: they would be
    removed."""
    mark = project.generated / PACKAGE / "__init__.py"
    if _present(project.generated) and not (mark.is_file() and HEADER in read_source(mark).text):
        raise BadProject(
            f"{project.generated} holds files that `conform generate` did not write, and would"
            " remove; name another folder as `generated` in the project file"
        )


def stale(project: Project) -> str:
    """What is stale in generated/: a sentence, and the difference of the first stale file; "" if
    everything is fresh."""
    files = tree(project)
    folder = project.generated
    name = project.relative(folder)
    present = _present(folder)
    for path, text in files.items():
        old = text_of(folder / path) if path in present else ""
        if path not in present or old != text:
            changes = show_changes(f"{name}/{path}", old, text)
            return f"{name}/{path} is stale; run `conform generate`\n{changes}"
    stray = [path for path in present if path not in files]
    return f"{name}/{stray[0]} was not generated; remove it" if stray else explain_outdated(project)


def text_of(path: Path) -> str:
    """The text of a file; what is no UTF-8 in it differs from all that is generated."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def explain_outdated(project: Project) -> str:
    """A sentence if the counts of a full suite are of other rules, obligations, questions or
    instances, with the command that updates them; "" if not. `generate` does not make full suites.
    Raises `Refused` for a charter with errors."""
    known = {protocol.name: protocol for protocol in protocols(project)}
    for path in sorted((project.generated / "suites").rglob(FULL)):
        small = path.with_name(MANIFEST)
        manifest = _object(small) if small.exists() else {}
        where = project.relative(path)
        protocol = known.get(str(manifest.get("protocol")))
        if protocol is None:
            return f"{where} has no suite beside it; remove it"
        if not _is_full_of(project, protocol, manifest, _object(path)):
            variant = f" --variant {manifest['variant']}" if manifest.get("variant") else ""
            command = f"conform vectors {protocol.place} --profile full{variant}"
            return (
                f"{where} is of an older version of the charter, or of conform; run `{command}`, or"
                " remove it"
            )
    return ""


def _is_full_of(
    project: Project, protocol: Protocol, small: Mapping[str, Json], full: Mapping[str, Json]
) -> bool:
    """Whether the counts of a full suite are of the charter as it is, and of the small suite that
    lies beside them. The rest is compared first, which needs no compiler."""
    told = [(one.get("spec_digest"), _obligations(one)) for one in (full, small)]
    if told[0] != told[1] or full.get("small_suite") != small.get("digest"):
        return False
    variant, component = str(small.get("variant", "")), str(small.get("component", ""))
    place = project.root / protocol.place
    try:
        about = open_subject(place, protocol.sources, variant, component)
    except Missing:  # a variant or a component that there is no more
        return False
    return full.get("made_from") == about.full_digest


def _obligations(suite: Mapping[str, Json]) -> Json:
    """How many obligations a suite was made for: a later version of conform may derive others."""
    counts = suite.get("counts")
    return counts.get("obligations") if isinstance(counts, dict) else None


def unsearched_suites(project: Project) -> tuple[str, ...]:
    """For each suite that lacks vectors since nobody looked for questions a sentence with the
    command that does: only scenarios need no search."""
    places = {protocol.name: protocol.place for protocol in protocols(project)}
    told: list[str] = []
    for path in sorted((project.generated / "suites").rglob(MANIFEST)):
        found = _object(path)
        lacks = _lacks(project, found)
        if lacks and found.get("protocol") in places:
            command = ["conform", "vectors", places[str(found["protocol"])], "--search"]
            command += ["--component", str(found.get("component"))]
            command += ["--variant", str(found["variant"])] if found.get("variant") else []
            told.append(
                f"the suite of {found.get('component')} has {lacks}, as no questions were looked"
                f" for: `conform test` does, or `{shlex.join(command)}`"
            )
    return tuple(told)


def _lacks(project: Project, manifest: Mapping[str, Json]) -> str:
    """What a suite lacks as long as nobody looks for questions; "" if that is nothing."""
    if manifest.get("vectors") == 0:
        return "no vectors"
    models = manifest.get("models")
    module = str(models.get("charter")) if isinstance(models, dict) else ""
    ledger = read_ledger(project.generated / f"{module.replace('.', '/')}.sections.json")
    statuses = [] if ledger is None else [*ledger.statuses.values()]
    unsought = statuses.count(UNSEARCHED)
    return f"nothing for {unsought} of {len(statuses)} obligations" if unsought else ""


def _object(path: Path) -> dict[str, Json]:
    """The object in a file; an empty one if the file is damaged."""
    try:
        value: Json = json.loads(text_of(path))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _present(folder: Path) -> tuple[str, ...]:
    """The files under a folder, apart from Python's own caches and the counts of full suites."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    kept = (p for p in paths if "__pycache__" not in p.parts and p.name != FULL)
    return tuple(sorted(path.relative_to(folder).as_posix() for path in kept))


def write_files(files: Tree, folder: Path) -> list[str]:
    """Write the files that are new or changed; returns their paths."""
    written: list[str] = []
    for path, text in files.items():
        place = folder / path
        if place.exists() and text_of(place) == text:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written
