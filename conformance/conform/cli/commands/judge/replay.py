"""`conform replay`."""

from __future__ import annotations

import argparse
import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path

import orjson
import pyarrow.compute as pc

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.labels import legend
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_list, own_object, texts
from charter.formats.target import other_than_default
from charter.formats.vector import Vector
from charter.formats.verdict import Kind, Severity, Verdict
from conform.adapters.prepared import digest_prepared
from conform.adapters.sources import files_digest, sources_digests
from conform.adapters.targets import name_lookup
from conform.cli.output.explain_finding import example_of
from conform.cli.output.overlay import releases_of
from conform.cli.output.staleness import older_suite
from conform.cli.set_options import add_set, read_set, write_set
from conform.console.errors import BadSuite, ConformError
from conform.console.terminal import one_line, out, out_json, plural, say
from conform.judging.differ import image_paths, paths, value_at
from conform.judging.model import load
from conform.judging.relabel import key
from conform.judging.siblings import show_entries
from conform.judging.verdict import VectorItem
from conform.judging.written_values import call_text, show
from conform.runs.engines.one_vector import Replayed, Shown, replay
from conform.runs.findings.findings import CHOSEN_START, constants, is_chosen, read_findings
from conform.runs.kept_vectors import read_kept, remedy
from conform.runs.select import ResolvedRun, RunSelection, resolve
from conform.runs.shrink import read_shrunk
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite
from conform.suites.importing import item_of

_FINDING = "f-"
"""How the id of a finding begins; that of a vector has digits alone."""

EXAMPLES = """examples:
  conform replay 3b0c91 --run build/runs/kafka-controller-4.3.1-9f01c2aa
  conform replay 3b0c91 --target kafka-controller --release 4.0.2 --suite 9f01c2aa

A prefix of the id is enough; of a finding of the run (f- and ten digits) it shows the example.
Exit code 0: it conforms; 1: it diverges; 3: it was not judged.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="id of the vector, a prefix of it, or id of a finding")
    parser.add_argument("--run", default="", help="take target, release, parameters and suite from"
                        " this run")  # fmt: skip
    parser.add_argument("--target", default="", help="id or folder of the target")
    parser.add_argument("--release", default="", help="release of the target")
    add_set(parser)
    parser.add_argument("--suite", default="", help="folder or digest")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.id.startswith(_FINDING):
        arguments.id = _example(arguments.run, arguments.id)
    selection = RunSelection(
        arguments.run, arguments.target, arguments.release, arguments.suite,
        read_set(arguments.parameters),
    )  # fmt: skip
    resolved = resolve(selection, releases_of)
    item, title = _item(arguments, resolved)
    prepared = resolved.prepared
    replayed = replay(
        prepared.start, item, resolved.suite.manifest, resolved.entries, prepared.target.crosschecks
    )
    verdict = replayed.assessment.verdict
    in_run = _in_run(arguments.run, verdict.id)
    older = older_suite(resolved.suite.manifest, arguments.suite)
    if older.told:
        say(older.told)
    if arguments.json:
        out_json(
            {
                "id": verdict.id,
                "kind": str(verdict.kind),
                "detail": verdict.detail,
                "question": orjson.loads(item.question),
                "why": orjson.loads(item.why),
                "chosen": is_chosen(orjson.loads(item.question), orjson.loads(item.why)),
                "in_run": in_run,
                "older_charter": older.by,
                "steps": [step.json() for step in replayed.steps],
            }
        )
    else:
        _show(replayed, resolved, title, item)
        out(_last_line(verdict, older.by))
        for line in replayed.said:
            out(f"  | {one_line(line)}")
        if verdict.kind is Kind.CONFORMS and in_run == Kind.DIVERGES:
            out(_otherwise(RunFolder(arguments.run), resolved))
    if verdict.kind is Kind.DIVERGES:
        return 1
    return 0 if verdict.kind in (Kind.CONFORMS, Kind.INCONCLUSIVE) else 3


def _example(run: str, name: str) -> str:
    """The id of the vector that shows a finding. Raises `ConformError`, and `BadRun`."""
    if not run:
        raise ConformError(
            f"{name} is a finding: name its run with --run; `conform explain {name}` says which"
            " runs have it"
        )
    return example_of(RunFolder(str(Path(run).resolve())), name)


def _item(arguments: argparse.Namespace, resolved: ResolvedRun) -> tuple[VectorItem, str]:
    """The vector with this id, and its title: a shrunk one of the run, or one of the suite."""
    folder, manifest = RunFolder(str(Path(arguments.run).resolve())), resolved.suite.manifest
    module, opaque = manifest.models, OpaqueTypes.of(manifest.read_types())
    if arguments.run and module.charter and folder.has("summary.json"):
        summary = folder.read_json("summary.json")
        item = read_shrunk(summary, arguments.id, load(module.charter), opaque)
        if item is not None:
            return item, "shrunk"
    vector = _find_vector(arguments, resolved.suite)
    return item_of(vector), vector.why.title


def _find_vector(arguments: argparse.Namespace, suite: Suite) -> Vector:
    """The vector of a suite, or of what the run kept of it. Raises `BadSuite`."""
    try:
        return suite.find(arguments.id)
    except BadSuite:
        run = Path(arguments.run).resolve()
        kept = read_kept(run) if arguments.run else None
        if kept is not None and kept.folder != suite.folder:  # it has the walks of the run, too
            with contextlib.suppress(BadSuite):
                return kept.find(arguments.id)
        if not arguments.run or not suite.folder.resolve().is_relative_to(run):
            raise
        raise BadSuite(
            "the run kept only vectors that did not conform, and none of them starts with"
            f" {arguments.id!r}; {remedy(RunFolder(str(run)).read_run())}"
        ) from None


def _in_run(run: str, vector: str) -> str:
    """The verdict on a vector in an earlier run; "" if there is no run, or none in it. A shrunk
    vector diverged: that is why the run names it."""
    if not run:
        return ""
    folder = RunFolder(str(Path(run).resolve()))
    rows = folder.table("verdicts", ["kind"], pc.field("id") == vector)
    if rows.num_rows:
        return str(rows["kind"][0].as_py())
    return str(Kind.DIVERGES) if _is_shrunk(folder, vector) else ""


def _is_shrunk(folder: RunFolder, vector: str) -> bool:
    listed = read_findings(folder.read_json("summary.json")) if folder.has("summary.json") else ()
    return any(one.shrunk is not None and one.shrunk.vector == vector for one in listed)


def _otherwise(run: RunFolder, resolved: ResolvedRun) -> str:
    """What to think of a vector that diverged in the run and conforms now."""
    about, prepared = run.read_run(), resolved.prepared
    same = about.adapter == files_digest(prepared.target)
    same = same and about.prepared == digest_prepared(prepared.files)
    same = same and about.sources == sources_digests(prepared.target)
    same = same and about.parameters == prepared.parameters
    if not same or about.release != prepared.release:
        return "it diverged in the run, with another adapter or program than this one"
    given = write_set(other_than_default(prepared.target.parameters, prepared.parameters))
    asks = shlex.join(["conform", "doctor", "--adapter", name_lookup(prepared.target), *given])
    return (
        "it diverged in the run, and the adapter's files are the same: if its implementation is,"
        " too, it keeps state of an earlier question, or answers otherwise each time;"
        f" {asks} asks it"
    )


def _show(replayed: Replayed, resolved: ResolvedRun, title: str, item: VectorItem) -> None:
    verdict, question = replayed.assessment.verdict, orjson.loads(item.question)
    target = resolved.prepared.target
    out(f"vector {verdict.id} {title}".rstrip())
    out(f"target {target.title} {resolved.prepared.release}".rstrip())
    consts = question.get("consts")
    if isinstance(consts, dict) and consts:
        out(f"with {constants(consts)}")
    if is_chosen(question, orjson.loads(item.why)):
        out(CHOSEN_START)
    if not replayed.steps:
        _show_asked(question)
    before: Json = None
    for step in replayed.steps:
        out("")
        _show_step(step, before)
        before = step.observation
    if explained := legend(key(step.json()).decode() for step in replayed.steps):
        out(f"\n({explained})")
    out("")


def _last_line(verdict: Verdict, older: str) -> str:
    """The verdict, and by what if that is `older` than the charter."""
    last = f"{str(verdict.kind).replace('_', ' ')}: {plural(verdict.judged, 'step')} judged"
    if verdict.not_judged:
        last += f", {verdict.not_judged} not"
    if verdict.detail:
        last += f" ({verdict.detail})"
    return f"{last}; by {older}" if older else last


def _show_asked(question: Mapping[str, Json]) -> None:
    """Shows what a vector asks: of an adapter that broke no step is known."""
    given = question["given"]
    out("")
    if given is not None:
        out(f"given {show(given)}")
    for number, call in enumerate(own_calls(question), 1):
        out(f"{number}  {call_text(str(call['operation']), own_object(call['args']))}")


def _show_step(step: Shown, before: Json) -> None:
    call = call_text(step.operation, own_object(step.args)) if step.operation else "start"
    branch = f"   {step.branch}" if step.branch else ""
    out(f"{step.step}  {call}{branch}")
    if step.operation:
        out(f"     reply {show(step.reply)}")
    for path in paths(before, step.observation, "") if before is not None else ("",):
        out(f"     {path or 'state'} = {show(value_at(step.observation, path))}")
    if isinstance(step.deviation, dict):
        _show_deviation(step.deviation)


def _show_deviation(deviation: dict[str, Json]) -> None:
    entries = deviation["entries"]
    known = ", ".join(map(show_entries, texts(entries))) or "new"
    image = deviation["severity"] == Severity.IMAGE
    then = "the broker's image differs" if image else "the charter allows"
    out(f"     DIVERGES ({deviation['severity']}; {known}); {then}:")
    observed, expected = own_object(deviation["observed"]), own_list(deviation["expected"])
    if image:
        _show_image(observed["image"], observed["observation"])
        return
    for allowed in map(own_object, expected):
        out(f"       {allowed['branch']}")
        for part in ("reply", "observation"):
            for path in differing(observed[part], allowed[part]):
                name = f"{part}.{path}" if path else part
                out(f"         {name} = {show(value_at(allowed[part], path))}")
    values = deviation["values"]
    for told in values if isinstance(values, list) else ():
        out(f"       {told}")


def differing(observed: Json, allowed: Json) -> tuple[str, ...]:
    """The paths to show; the whole value where it is another case, which has other fields."""
    match observed, allowed:
        case {"case": one}, {"case": other} if one != other:
            return ("",)
        case _:
            return tuple(paths(observed, allowed, ""))


def _show_image(image: Json, observation: Json) -> None:
    """Shows the state that a broker derives from the log, where it differs from the
    controller's."""
    failed = ("image.fault", "image.message") if is_fault(image) else ()
    for path in failed or image_paths(observation, image):
        out(f"         {path} = {show(value_at({'image': image}, path))}")
