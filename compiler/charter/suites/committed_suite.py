"""Writes the part of a suite that is committed in generated/: the smoke suite whole, its ledger,
kill matrix and sections.json; of the full suite its digest and counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.charter_files.kills import KILLS, KillingVector, MutantKills
from charter.formats.charter_files.shared_rows import without_shared_rows
from charter.formats.project import Project
from charter.formats.suite import LINES, MANIFEST
from charter.suites.make import Made, in_order
from charter.suites.sections import sections
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import PACKAGE, Subject
from charter.suites.vector_texts import VectorRecord
from charter.suites.write_suite import conclude, manifest_text
from charter.vectors.ledger import tell_hidden

FULL = "full.json"


@dataclass(frozen=True, slots=True)
class Published:
    """Files by their path under generated/, and the mutants whose models the suite needs."""

    files: Mapping[str, str]
    mutants: tuple[str, ...]


def suite_place(about: Subject) -> str:
    """The folder of a component's suite under generated/."""
    name = "_".join(part for part in (about.component.name, about.model.variant) if part)
    return f"suites/{about.model.protocol.replace('.', '_')}/{name}"


def publish(about: Subject) -> Published:
    """The committed files of the suite of a component. Raises ScenarioFails."""
    small = smoke(about)
    about = replace(about, canaries=small.canaries())
    records = in_order(VectorRecord.of(entry.vector) for entry in small.entries)
    manifest = conclude(about.manifest(small.counts()), [r.digest_line() for r in records])
    folder = suite_place(about)
    files = {
        f"{folder}/{LINES}": "".join(f"{record.line()}\n" for record in records),
        f"{folder}/{MANIFEST}": manifest_text(manifest),
        f"{folder}/ledger.md": small.ledger.markdown(about.title) + tell_hidden(about.component),
        f"{folder}/{KILLS}": in_rows(kills_json(small)),
        sections_place(about): in_rows(sections(about, small, manifest.digest)),
    }
    return Published(files, tuple(about.canaries))


def sections_place(about: Subject) -> str:
    """Beside the model, with its name."""
    package = about.model.protocol.replace(".", "_")
    inside = f"{package}_variants/{about.model.variant}" if about.model.variant else package
    return f"{PACKAGE}/{inside}/{about.component.name}.sections.json"


def beside_base(variant: str, base: str, place: str) -> str:
    """The sections.json of a variant, with numbers for the rows that stand in that of the charter,
    too. `place`: where that one is, from the variant's."""
    value, known = json.loads(variant), json.loads(base)
    return in_rows({**without_shared_rows(value, known), "base": place})


def kills_json(small: Smoke) -> dict[str, Json]:
    """For each mutant the vectors that distinguish it in all or in some of its runs, and their
    sources."""
    sources = {entry.id: entry.vector.why.source for entry in small.entries}
    return {
        kill.mutant: MutantKills(
            kill.outcome == "killed",
            kill.outcome == "killed_in_some_runs",
            tuple(KillingVector(key, sources[key]) for key in kill.surely),
            tuple(KillingVector(key, sources[key]) for key in kill.maybe),
        ).json()
        for kill in small.kills
    }


def full_json(about: Subject, made: Made) -> str:
    """The counts of a full suite that are committed, with what the suite was made from: the digest
    of the small suite that is part of it, and that of the rest."""
    manifest = made.manifest
    return pretty(
        {
            "digest": manifest.digest,
            "spec_digest": manifest.spec_digest,
            "small_suite": made.small,
            "made_from": about.full_digest,
            "vectors": manifest.vectors,
            "counts": dict(manifest.counts),
        }
    )


def keep_full(project: Project, about: Subject, made: Made) -> Path | None:
    """Write digest and counts of a full suite beside the small one, if there is one."""
    folder = project.generated / suite_place(about)
    if not folder.is_dir():
        return None
    (folder / FULL).write_text(full_json(about, made), encoding="utf-8", newline="\n")
    return folder / FULL


def in_rows(value: Mapping[str, Json]) -> str:
    """JSON in which each item of a list has one line, so that a long table stays small and its
    differences readable."""
    members = ",\n".join(f"{_text(name)}: {_rows(value[name])}" for name in sorted(value))
    return f"{{\n{members}\n}}\n"


def _rows(value: Json) -> str:
    if not isinstance(value, list) or not value:
        return _text(value)
    items = ",\n".join(map(_text, value))
    return f"[\n{items}\n]"


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def pretty(value: Json) -> str:
    """JSON for people and for diffs."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
