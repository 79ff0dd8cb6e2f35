"""What of a suite lies in generated/: the small one whole, its ledger, its kills, and sections.json
for reports. Of the full one only its digest and its counts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.suite import LINES, MANIFEST, Manifest
from charter.suite.make import in_order
from charter.suite.record import Record
from charter.suite.sections import sections
from charter.suite.smoke import Smoke, smoke
from charter.suite.store import concluded, manifest_text
from charter.suite.subject import PACKAGE, Subject

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


def published(about: Subject) -> Published:
    """Everything about the suite of a component. Raises ScenarioFails."""
    small = smoke(about)
    about = replace(about, canaries=small.canaries())
    records = in_order(Record.of(entry.vector) for entry in small.entries)
    manifest = concluded(about.manifest(small.counts()), [r.digest_line() for r in records])
    folder = suite_place(about)
    title = f"Obligations of {about.model.protocol}, {about.component.name}"
    if about.model.variant:
        title += f", variant {about.model.variant}"
    files = {
        f"{folder}/{LINES}": "".join(f"{record.line()}\n" for record in records),
        f"{folder}/{MANIFEST}": manifest_text(manifest),
        f"{folder}/ledger.json": pretty(small.ledger.json()),
        f"{folder}/ledger.md": small.ledger.markdown(title),
        f"{folder}/kills.json": pretty(kills_json(small)),
        sections_place(about): pretty(sections(about, small)),
    }
    return Published(files, tuple(about.canaries))


def sections_place(about: Subject) -> str:
    """Beside the model, with its name."""
    package = about.model.protocol.replace(".", "_")
    inside = f"{package}_variants/{about.model.variant}" if about.model.variant else package
    return f"{PACKAGE}/{inside}/{about.component.name}.sections.json"


def kills_json(small: Smoke) -> Json:
    """For each mutant the vectors that tell it, and who found them."""
    sources = {entry.vector.id: entry.vector.why.source for entry in small.entries}
    return {
        kill.mutant: {
            "killed": bool(kill.surely or kill.maybe),
            "surely": [{"vector": key, "source": sources[key]} for key in kill.surely],
            "in_some_runs": [{"vector": key, "source": sources[key]} for key in kill.maybe],
        }
        for kill in small.kills
    }


def full_json(manifest: Manifest) -> str:
    """What is kept of a full suite."""
    return pretty(
        {
            "digest": manifest.digest,
            "spec_digest": manifest.spec_digest,
            "vectors": manifest.vectors,
            "counts": dict(manifest.counts),
        }
    )


def keep_full(root: Path, about: Subject, manifest: Manifest) -> Path | None:
    """Note digest and counts of a full suite beside the small one, where there is one."""
    folder = root / "generated" / suite_place(about)
    if not folder.is_dir():
        return None
    (folder / FULL).write_text(full_json(manifest), encoding="utf-8", newline="\n")
    return folder / FULL


def pretty(value: Json) -> str:
    """JSON for people and for diffs."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def judged_variants(root: Path, protocol: str) -> tuple[str, ...]:
    """The variants that targets of a protocol are judged against, the plain one ("") first; none
    if no target implements it."""
    found: set[str] = set()
    for path in sorted((root / "conformance" / "adapters").glob("*/adapter.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        if content.get("protocol") == protocol:
            found |= {"", *content.get("variants", {}).values()}
    return tuple(sorted(found))
