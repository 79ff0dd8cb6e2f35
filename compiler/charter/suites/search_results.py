"""Reads and writes the committed results of searches: questions, proofs of infeasibility, and
search bounds for open obligations.

A search takes minutes and needs a solver; answering its questions takes seconds. So the questions
are committed (`found/*.jsonl` beside the charter), and answers and covered obligations are computed
from the charter when needed. No search writes `findings.jsonl`: it has questions for findings on
implementations that no search leads to, by hand or by `conform keep`.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.core import nodes as n
from charter.core.show import show_expr, show_lines, show_model
from charter.core.walk import prelude_of
from charter.diagnostics import Span
from charter.formats.canonical import Json, text
from charter.formats.files import regular
from charter.formats.project import BadProject
from charter.formats.reading import BadVector, JsonReader
from charter.formats.vector import Question, read_question
from charter.passes.narrow import narrow
from charter.project.sources import list_files
from charter.suites.proofs import list_searched, partial
from charter.vectors.ledger import Searched
from charter.vectors.plan import OPEN

FOLDER = "found"
FILE_OF_FINDINGS = "findings.jsonl"
QUESTIONS = ("exploration.jsonl", FILE_OF_FINDINGS, "solver.jsonl")
_FILES = {"solver": "solver.jsonl", "finding": FILE_OF_FINDINGS}
PROOFS = "proofs.json"

_COMMENT = re.compile(r'("[^"\n]*")|--[^\n]*')

NO_NOTE = "the last search kept no note of it"
NO_SEARCH = "no search was made"
OTHER_RULES = "the rules changed since the last search"
NO_SOLVER = "the solver was not asked, as z3 is not installed"
NOT_AS_WRITTEN = "proofs.json is not as a search wrote it, so its proofs do not count"
NO_INSTANCE = " has no instance"
LEFT_OUT = "left out, with "
"""Notes of obligations that nothing looked for, or how such notes end or begin."""
NO_PATH_SOUGHT = f"no search looks for paths of the questions in {FILE_OF_FINDINGS}"
"""What a question says that nobody searched, and that begins in a given state."""

OBLIGATIONS = 6
"""Raised whenever other obligations are derived from the same rules: earlier searches are stale."""

FULL_SUITES = 3
"""Raised whenever another full suite is made of the same charter: other walks, paths or states."""


@dataclass(frozen=True, slots=True)
class FoundQuestion:
    """A question found by a search. `instance` has the bounds for its answer; the title says what
    the search was for."""

    question: Question
    instance: str
    source: str
    title: str
    purpose: tuple[str, ...]
    label: str = OPEN

    def json(self) -> Json:
        """One line of a file."""
        return {
            "question": self.question.json(),
            "instance": self.instance,
            "source": self.source,
            "title": self.title,
            "purpose": list(self.purpose),
            **({} if self.label == OPEN else {"label": self.label}),
        }


@dataclass(frozen=True, slots=True)
class Found:
    """The questions and proofs that searches found. `proofs` maps obligations to the reason why
    nothing meets them; they rest on the properties `lemmas`, and on the rules with the digest
    `rules`. `notes` maps open obligations to how far the search went, and why no further.
    `instances` has digests of the bounds of the instances that were searched, `mutants` those of
    the texts of the mutants that were asked for; `pairs` says how many pairs of branches in a row
    are taken, or why not. `left_out` are the instances that have more states than were to be
    searched, with that number. `paths` says where a search looked for paths from the first state
    ("": it was made before conform did). `systems` has digests of the rules of the systems whose
    traces it looked at."""

    asked: tuple[FoundQuestion, ...] = ()
    proofs: Mapping[str, str] | None = None
    lemmas: tuple[str, ...] = ()
    rules: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    instances: Mapping[str, str] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)
    pairs: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    paths: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)

    @property
    def unreached(self) -> str:
        """What a vector says that begins in a given state."""
        return self.paths or ("" if self.rules else NO_SEARCH)

    def is_of(self, model: n.Model) -> bool:
        """Whether a search was made, of the rules of this model."""
        return bool(self.rules) and rules_digest(model, self.lemmas) == self.rules

    def select_current(self, model: n.Model, component: str) -> Searched:
        """The proofs and notes, if they are about the rules of this model; none otherwise. A proof
        that is not about all instances that it must be about is a note."""
        if not self.rules:
            return Searched({}, {}, NO_SEARCH)
        if not self.is_of(model):
            return Searched({}, {}, OTHER_RULES)
        proofs = self.proofs or {}
        partly = partial(proofs, model, component)
        whole = {row: reason for row, reason in proofs.items() if row not in partly}
        return Searched(whole, {**self.notes, **partly}, NO_NOTE)

    def still_left_out(self, model: n.Model, component: str) -> dict[str, int]:
        """The instances that the search left out and that have the same bounds now, with the number
        of states that they exceed."""
        now = bounds_digests(model, component)
        return {
            name: states
            for name, states in self.left_out.items()
            if name in now and self.instances.get(name) == now[name]
        }


NOTHING = Found()


def name_broken(kept: FoundQuestion, why: str) -> str:
    """What to do about a question that is kept, and that breaks an assumption, as `why` says."""
    file = _FILES.get(kept.source, QUESTIONS[0])
    search = f"`conform vectors CHARTER --search` writes {file} again"
    remedy = "remove its line" if kept.source == "finding" else search
    return (
        f"{file}: the question `{kept.title}` ({kept.question.id}) cannot happen: {why}; {remedy}"
    )


def tells_of_search(note: str) -> bool:
    """Whether the note of an open obligation tells of a search for it."""
    nothing = ("", NO_NOTE, NO_SEARCH, OTHER_RULES, NO_SOLVER, NOT_AS_WRITTEN)
    return any(
        not (one in nothing or one.endswith(NO_INSTANCE) or one.startswith(LEFT_OUT))
        for one in note.split("; ")
    )


def rules_digest(model: n.Model, lemmas: Collection[str]) -> str:
    """A digest of the rules, of how obligations are derived from them, and of these properties.
    Comments, citations, layout, other properties, scenarios, systems and instances do not change
    it, nor do the functions that only these use."""
    kept = tuple(p for p in model.properties if p.name in lemmas)
    bare = replace(
        model, properties=kept, liveness=(), scenarios=(), mutants=(), systems=(), instances=()
    )
    told = show_model(drop_citations(narrow(bare, "")))
    histories = [v.name for c in model.components for v in c.state if v.is_history]
    apart = f"without {histories}\n" if histories else ""  # since what these compare has no rows
    return hashlib.sha256(f"{OBLIGATIONS}\n{apart}{told}".encode()).hexdigest()[:20]


def drop_citations(model: n.Model) -> n.Model:
    """The rules and properties without what they cite."""
    return replace(
        model,
        functions=tuple(replace(function, citations=()) for function in model.functions),
        properties=tuple(replace(prop, citations=()) for prop in model.properties),
        components=tuple(
            replace(c, operations=tuple(map(_drop_citations, c.operations)))
            for c in model.components
        ),
    )


def _drop_citations(operation: n.Operation) -> n.Operation:
    branches = tuple(replace(branch, citations=()) for branch in operation.branches)
    assumes = tuple(replace(assumed, citations=()) for assumed in operation.assumes)
    return replace(operation, branches=branches, citations=(), assumes=assumes)


def bounds_digests(model: n.Model, component: str) -> dict[str, str]:
    """For each of these instances a digest of its bounds and of what it offers."""
    return {i.name: _bounds_digest(i) for i in list_searched(model, component)}


def _bounds_digest(instance: n.Instance) -> str:
    shown = [
        [(name, show_expr(e)) for name, e in part] for part in (instance.starts, instance.only)
    ]
    bounds = (instance.sorts, instance.consts, instance.offers, shown)
    lines = [*show_lines(prelude_of(instance))]
    whole = repr((*bounds, lines) if lines else bounds)
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def list_renewed(model: n.Model, component: str, found: Found) -> tuple[str, ...]:
    """The searched instances that are new or have other bounds since the search, by their names;
    none if the search did not note its instances."""
    if not found.instances:
        return ()
    now = bounds_digests(model, component)
    return tuple(name for name in now if found.instances.get(name) != now[name])


def mutants_of(model: n.Model, component: str) -> tuple[n.Mutant, ...]:
    """The mutants of a component."""
    machines = {i.name: i.machine for i in model.instances}
    return tuple(m for m in model.mutants if machines.get(m.instance) == component)


def mutants_digests(model: n.Model, component: str) -> dict[str, str]:
    """For each mutant of a component a digest of its text, without comments and layout."""
    return {m.name: _text_digest(m.span) for m in mutants_of(model, component)}


def _text_digest(span: Span) -> str:
    text = _COMMENT.sub(lambda found: found[1] or " ", span.source.text[span.start : span.end])
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]


def list_unasked_mutants(model: n.Model, component: str, found: Found) -> tuple[str, ...]:
    """The mutants that are new or were edited since the search, by their names; none if the search
    did not note its mutants."""
    if not found.instances:
        return ()
    now = mutants_digests(model, component)
    return tuple(name for name in now if found.mutants.get(name) != now[name])


def beside(model: n.Model, component: str) -> str:
    """The folder of a component in that of its charter: "" for the first one."""
    return "" if model.components[0].name == component else component


def place(charter: Path, variant: str, inside: str = "") -> Path:
    """The folder with the search results for a charter (its folder or file) in a variant: `found`
    for a folder of several files, `found/NAME` beside the file NAME.charter. `inside` is that of
    the component."""
    files = list_files(charter)
    one = len(files) == 1  # other protocols may come to lie beside it
    folder = files[0].parent / FOLDER / files[0].stem if one else charter / FOLDER
    return folder / (variant or "charter") / inside


def read_found(folder: Path) -> Found:
    """The results in a folder; empty if it does not exist. Raises `BadProject`."""
    asked: list[FoundQuestion] = []
    for name in QUESTIONS:
        path = folder / name
        if path.exists():
            with _explain_damage(path):
                lines = regular(path).read_text(encoding="utf-8").splitlines()
                for number, line in enumerate(lines, 1):
                    asked.append(
                        _read_question(_parse(line, f"{path}:{number}"), f"{path}:{number}")
                    )
    path = folder / PROOFS
    if not path.exists():
        return Found(tuple(asked))
    with _explain_damage(path):
        return _read_proofs(path, tuple(asked))


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
    """Raises `BadProject`, with what to do, if a file in a folder of search results is damaged."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadProject(f"{path}: no UTF-8 text (byte {error.start}); {_remedy(path)}") from None
    except BadVector as error:
        raise BadProject(f"{error}; {_remedy(path)}") from None


def _remedy(path: Path) -> str:
    """What to do about a damaged file in a folder of search results."""
    if path.name == _FILES["finding"]:
        return "no search writes this file: mend the line, or remove it"
    above = [*path.parts[:-1]]
    at = len(above) - 1 - above[::-1].index(FOLDER) if FOLDER in above else len(above) - 1
    beside, inside = Path(*above[:at]), above[at + 1 :]
    charter = beside / f"{inside[0]}.charter" if inside else beside
    charter, inside = (charter, inside[1:]) if charter.is_file() else (beside, inside)
    command = ["conform", "vectors", charter.as_posix(), "--search"]
    command += ["--variant", inside[0]] if inside and inside[0] != "charter" else []
    command += ["--component", inside[1]] if len(inside) > 1 else []
    return (
        "a search wrote this file: bring an earlier version of it back, or remove it and make it"
        f" anew: `{shlex.join(command)}`"
    )


def _parse(content: str, where: str) -> Json:
    """A value in JSON. Raises `BadVector`."""
    try:
        value: Json = json.loads(content)
        return value
    except (ValueError, RecursionError) as error:
        told = (
            f"{error.msg}, column {error.colno}"
            if isinstance(error, json.JSONDecodeError)
            else str(error)
        )
        raise BadVector(f"{where}: no JSON, as if the file was cut off ({told})") from None


def _read_proofs(path: Path, asked: tuple[FoundQuestion, ...]) -> Found:
    """The questions with what a file of proofs says. Raises `BadVector`."""
    held = JsonReader(
        _parse(regular(path).read_text(encoding="utf-8"), str(path)), str(path)
    ).object()
    content = {
        "lemmas": [], "open": {}, "instances": {}, "mutants": {}, "pairs": "", "left_out": {},
        "paths": "", "systems": {},
        **held,
    }  # fmt: skip
    content.pop("bound", None)  # older files have one sentence for all open obligations
    digest = content.pop("digest", "")
    reader = JsonReader(content, str(path))
    names = ("rules", "lemmas", "proofs", "open", "instances", "mutants", "pairs", "left_out")
    reader.fields(*names, "paths", "systems")
    proofs, lemmas = _reasons(reader.item("proofs")), reader.item("lemmas").texts()
    rules, notes = reader.text("rules"), _reasons(reader.item("open"))
    if proofs and digest != _proofs_digest(rules, lemmas, proofs):
        proofs, notes = {}, {**notes, **dict.fromkeys(proofs, NOT_AS_WRITTEN)}
    return Found(
        asked,
        proofs,
        lemmas,
        rules,
        notes,
        _reasons(reader.item("instances")),
        _reasons(reader.item("mutants")),
        reader.text("pairs"),
        {name: item.integer() for name, item in reader.item("left_out").entries()},
        reader.text("paths"),
        _reasons(reader.item("systems")),
    )


def _proofs_digest(rules: str, lemmas: Sequence[str], proofs: Mapping[str, str]) -> str:
    """A digest of proofs and of what they are about: a row that was added by hand does not fit."""
    told = text([rules, [*lemmas], dict(proofs)])
    return hashlib.sha256(told.encode()).hexdigest()[:20]


def _reasons(reader: JsonReader) -> dict[str, str]:
    return {name: str(item.raw) for name, item in reader.entries()}


def _read_question(value: Json, where: str) -> FoundQuestion:
    if isinstance(value, dict):
        value = {"label": OPEN, **value}
    reader = JsonReader(value, where)
    reader.fields("question", "instance", "source", "title", "purpose", "label")
    return FoundQuestion(
        read_question(reader.value("question"), f"{where}: question"),
        reader.text("instance"),
        reader.text("source"),
        reader.text("title"),
        reader.item("purpose").texts(),
        reader.text("label"),
    )


def write_found(folder: Path, found: Found) -> None:
    """Replace the files in a folder, except for `findings.jsonl`; questions are in the order of
    source, title and id."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (name for name in QUESTIONS if name != _FILES["finding"]):
        chosen = [a for a in found.asked if _FILES.get(a.source, QUESTIONS[0]) == name]
        _write(folder / name, (text(a.json()) for a in in_order(chosen)))
    told = {
        "rules": found.rules,
        "lemmas": list(found.lemmas),
        "proofs": dict(sorted((found.proofs or {}).items())),
        "open": dict(sorted(found.notes.items())),
        "instances": dict(found.instances),
        "mutants": dict(found.mutants),
        "pairs": found.pairs,
        "digest": _proofs_digest(found.rules, found.lemmas, found.proofs or {}),
        **({"left_out": dict(found.left_out)} if found.left_out else {}),
        **({"paths": found.paths} if found.paths else {}),
        **({"systems": dict(found.systems)} if found.systems else {}),
    }
    content = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / PROOFS).write_text(content + "\n", encoding="utf-8", newline="\n")


def in_order(asked: Iterable[FoundQuestion]) -> list[FoundQuestion]:
    """Without repeats, those of the solver last, by source, title and id."""
    unique = {a.question.id: a for a in reversed(list(asked))}
    return sorted(
        unique.values(), key=lambda a: (a.source == "solver", a.source, a.title, a.question.id)
    )


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
