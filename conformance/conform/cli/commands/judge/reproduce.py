"""`conform reproduce`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.files import write_whole
from charter.formats.findings.reproductions import Reproduction
from charter.formats.findings.reviewed import ReviewedFinding
from charter.formats.reading import own_object
from charter.formats.releases import numbers, within
from charter.formats.run import RunFinding
from charter.formats.spelling import suggest
from charter.formats.target import FILE, Target
from conform.adapters.projects import project_here
from conform.adapters.targets import check_reproduction, release_of, target
from conform.cli.output.overlay import releases_of
from conform.cli.output.run_output import near
from conform.cli.set_options import add_set, read_set
from conform.console.errors import CannotWrite, ConformError
from conform.console.terminal import out, out_json, plural
from conform.reports.reproduction import ReproducedFinding, file_name, write_reproduction
from conform.runs.asked_vectors import AskedVectors
from conform.runs.findings.findings import read_findings
from conform.runs.reproduce.case import LEFT_OUT, SHOWS, CannotReproduce, Question, ReproducedCase
from conform.runs.reproduce.paths import FindingPath, open_suites, path_in_run, path_of
from conform.runs.reproduce.perform import CaseRunner
from conform.runs.reproduce.written import doubt_releases, read_one
from conform.runs.select import ResolvedRun, RunSelection, resolve
from conform.storage.bucket_store import RunFolder

EXAMPLES = """examples:
  conform reproduce cleared_elr_stays_in_index --as junit
  conform reproduce cleared_elr_stays_in_index --as junit --check
  conform reproduce f-d28d595dca --run build/runs/kafka-controller-4.3.1-9f01c2aa

Writes one file that shows a finding among the tests of the implementation. The finding is the name
of an overlay's entry, of which a person has written docs/findings/NAME.toml. With --run it may be
any finding of a run, of which the smallest vector counts. The operations are performed on the
target first. What is expected after them comes from the charter.

The file has two cases. One has all operations, and fails with the sentence of the finding. The
other one leaves its causes out, and passes. --check builds and runs both. With a --release that the
finding is not known for, both have to pass there: it is mended, or has not appeared yet.

Exit code 0: the file is written, and with --check its cases are as they should be; 1: the finding
does not show on this release, or a case is not as it should be; 2: an error that you can fix.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("finding", help="name of an overlay's entry, or id of a finding of --run")
    parser.add_argument("--as", dest="kind", default="", metavar="KIND",
                        help="what to write, by adapter.toml (default: the first)")  # fmt: skip
    parser.add_argument("--run", default="", help="take target, release, suite and path from it")
    parser.add_argument("--target", default="", help="id or folder of the target")
    parser.add_argument("--release", default="", help="release of the target")
    parser.add_argument("--suite", default="", help="folder or digest (default: the generated one)")
    parser.add_argument("--out", type=Path, default=Path("build/reproductions"),
                        help="folder to write to (default: build/reproductions)")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="build and run what is written")
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    project = project_here()
    reviewed = read_one(project, arguments.finding)
    if reviewed is None and not arguments.run:
        place = near(str(project.findings / f"{arguments.finding}.toml"))
        raise ConformError(
            f"nobody has written about {arguments.finding}: there is no {place}; write it (`conform"
            " help finding`), or name a run that shows it with --run"
        )
    name = arguments.target or (reviewed.target if reviewed and not arguments.run else "")
    chosen = target(name) if name else None
    releases = ReproducedOn(arguments.release)
    if chosen:
        releases = _releases(chosen, arguments, reviewed)
    selection = RunSelection(
        arguments.run, name, releases.shown_by or releases.built_for, arguments.suite,
        read_set(arguments.parameters),
    )  # fmt: skip
    resolved = resolve(selection, releases_of)
    chosen = resolved.prepared.target
    built_for = releases.built_for or resolved.prepared.release
    kind = choose_kind(chosen, arguments.kind, built_for)
    wanted = _Wanted(arguments.finding, reviewed, arguments.run, bool(arguments.suite))
    path = _find_path(resolved, wanted)
    path = replace(path, question=number_elements(path.question))
    found = reproduce(resolved, wanted, path)
    if releases.shown_by:
        found = pass_instead(
            resolve(replace(selection, release=built_for), releases_of), found, path
        )
    text = write_reproduction(chosen.folder, kind, found)
    place = arguments.out / file_name(kind, found)
    write_whole(place, text, CannotWrite)
    said = _check(chosen, kind, found, place) if arguments.check else {}
    wrong = list_wrong(found, said) if arguments.check else ()
    if arguments.json:
        out_json(_describe(found, place, said, wrong))
    else:
        _print(found, kind, place)
        for line in list_outcome(found, said, wrong) if arguments.check else ():
            out(line)
    return 1 if wrong else 0


@dataclass(frozen=True, slots=True)
class ReproducedOn:
    """The release that a file is for ("": the default), and, if that does not show the finding, the
    one that does."""

    built_for: str
    shown_by: str = ""


def _releases(
    chosen: Target, arguments: argparse.Namespace, reviewed: ReviewedFinding | None
) -> ReproducedOn:
    """The releases that a finding is performed on: without a wish, one that shows it. Where a wish
    does not, the default release shows it if it can, since the path was tried there."""
    if arguments.run or arguments.finding not in (ranges := releases_of(chosen)):
        return ReproducedOn(arguments.release)
    first, last = ranges[arguments.finding]
    if reviewed:
        if why := doubt_releases(reviewed, chosen, first, last):
            raise ConformError(f"the file of {reviewed.name} is stale: {why}")
        first, last = reviewed.bound_releases(first, last)
    shown = [one for one in chosen.releases if within(one, first, last)]
    wanted = release_of(chosen, arguments.release)
    if not shown or within(wanted, first, last):
        return ReproducedOn(wanted)
    if not arguments.release:
        return ReproducedOn(shown[-1])
    usual = release_of(chosen, "")
    if within(usual, first, last):
        return ReproducedOn(wanted, usual)
    return ReproducedOn(wanted, shown[0] if numbers(wanted) < numbers(shown[0]) else shown[-1])


def choose_kind(chosen: Target, wanted: str, release: str) -> Reproduction:
    """The reproduction of a target with this name, or the first that works on a release. Raises
    `ConformError`."""
    known = {one.name: one for one in chosen.reproductions}
    if not known:
        raise ConformError(
            f"{chosen.folder / FILE} lists no [reproductions.NAME]; `conform help adapter` says how"
        )
    fitting = [one.name for one in known.values() if one.works_on(release)]
    kind = known.get(wanted or [*fitting, *known][0])
    if kind is None:
        like = suggest(wanted, known)
        raise ConformError(
            f"{chosen.id} has no reproduction {wanted!r}; it has {', '.join(known)}"
            f"{like and f'; {like}'}"
        )
    if not kind.works_on(release):
        raise ConformError(
            f"the reproduction {kind.name} of {chosen.id} cannot be built for {release}, only for"
            f" {', '.join(kind.releases)}; name one with --release"
        )
    return kind


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The finding to reproduce, what a person has written about it, and the run that shows it. If a
    suite is `named`, only that may have the path."""

    name: str
    reviewed: ReviewedFinding | None
    run: str
    named: bool


def reproduce(resolved: ResolvedRun, wanted: _Wanted, path: FindingPath) -> ReproducedFinding:
    """Perform a finding on its target. Raises `ConformError`."""
    prepared = resolved.prepared
    runner = CaseRunner(prepared.start, resolved.suite, resolved.entries)
    shows, left_out = runner.reproduce(path, wanted.name)
    sorts = {
        sort: {element: int(str(number)) for element, number in own_object(ids).items()}
        for sort, ids in own_object(path.question["sorts"]).items()
    }
    return ReproducedFinding(
        wanted.name, path.says, prepared.target.id, prepared.release, sorts, shows, left_out,
        wanted.reviewed,
    )  # fmt: skip


def pass_instead(
    elsewhere: ResolvedRun, found: ReproducedFinding, path: FindingPath
) -> ReproducedFinding:
    """A finding performed on a release that does not show it. Raises `ConformError`."""
    prepared = elsewhere.prepared
    runner = CaseRunner(prepared.start, elsewhere.suite, elsewhere.entries)
    shows, left_out = runner.pass_instead(path, found.name, found.shows.checks)
    return replace(
        found, release=prepared.release, shows=shows, left_out=left_out, shown_by=found.release
    )


def _find_path(resolved: ResolvedRun, wanted: _Wanted) -> FindingPath:
    """The operations that lead to a finding."""
    if wanted.reviewed is not None:
        only = wanted.named or wanted.run
        suites = (resolved.suite,) if only else open_suites(resolved.prepared.target)
        return path_of(suites, wanted.reviewed)
    finding = _finding_of(wanted)
    vectors = AskedVectors(resolved.suite, RunFolder(str(Path(wanted.run).resolve())))
    return path_in_run(vectors, finding)


def _finding_of(wanted: _Wanted) -> RunFinding:
    folder = RunFolder(str(Path(wanted.run).resolve()))
    summary = folder.read_json("summary.json") if folder.has("summary.json") else {}
    found = [one for one in read_findings(summary) if one.id == wanted.name]
    if not found:
        raise CannotReproduce(
            f"the run in {wanted.run} has no finding {wanted.name}; `conform explain {wanted.name}`"
            " says which runs have it"
        )
    return found[0]


def number_elements(question: Question) -> Question:
    """A question whose elements have the numbers 1, 2, 3: a reader has to tell them apart."""
    sorts: dict[str, Json] = {
        sort: {element: number for number, element in enumerate(sorted(own_object(ids)), 1)}
        for sort, ids in own_object(question["sorts"]).items()
    }
    return {**question, "sorts": sorts}


def _check(
    chosen: Target, kind: Reproduction, found: ReproducedFinding, place: Path
) -> dict[str, str]:
    """What each case of a written file says. Raises `ConformError`."""
    if not kind.check:
        raise ConformError(
            f"{chosen.folder / FILE} has no command `check` for the reproduction {kind.name}; run"
            " it yourself, without --check"
        )
    said = check_reproduction(chosen, kind, found.release, place)
    for case in (SHOWS, LEFT_OUT):
        if case not in said:
            raise ConformError(
                f"`check` of the reproduction {kind.name} said nothing of the case {case!r}; it"
                f" prints an object with {SHOWS!r} and {LEFT_OUT!r}"
            )
    return said


def list_wrong(found: ReproducedFinding, said: dict[str, str]) -> tuple[str, ...]:
    """What is not as it should be: one case fails with the sentence where the finding shows, and
    the other one passes."""
    wrong = []
    if found.shown_by:
        if said[SHOWS]:
            wrong.append(f"{SHOWS}: it fails, and should pass on {found.release}")
    elif not said[SHOWS]:
        wrong.append(f"{SHOWS}: it passes, and should fail")
    elif found.says not in said[SHOWS]:
        wrong.append(f"{SHOWS}: it fails without the sentence of the finding")
    if said[LEFT_OUT]:
        wrong.append(f"{LEFT_OUT}: it fails, and should pass")
    return tuple(wrong)


def _print(found: ReproducedFinding, kind: Reproduction, place: Path) -> None:
    steps = plural(len(found.shows.steps), "operation")
    shows = f"does not show, as on {found.shown_by}," if found.shown_by else "shows"
    out(f"{found.name} {shows} on {found.target} {found.release} after {steps}:")
    for step in found.shows.steps:
        out(f"  {step.number}  {step.call}")
    for line in list_differences(found.shows):
        out(f"  {line}")
    out(f"left out in the second case: {' and '.join(found.left_out.gone)}")
    out(f"{near(str(place))}: {kind.help}")


def list_differences(case: ReproducedCase) -> tuple[str, ...]:
    """What differs after the last operation, a line for each place."""
    from conform.judging.written_values import show

    return tuple(
        f"{one.place}: expected {show(one.expected)}, observed {show(one.observed)}"
        for one in case.checks
    )


def list_outcome(
    found: ReproducedFinding, said: dict[str, str], wrong: tuple[str, ...]
) -> tuple[str, ...]:
    """What the built file did."""
    if not wrong and found.shown_by:
        return ("built and run: passes, and passes without its cause",)
    if not wrong:
        return (f"built and run: fails with {found.says!r}, and passes without its cause",)
    shown = (f"  {case} said: {text or 'nothing'}" for case, text in said.items())
    return (*(f"built and run, but {one}" for one in wrong), *shown)


def _describe(
    found: ReproducedFinding, place: Path, said: dict[str, str], wrong: tuple[str, ...]
) -> dict[str, Json]:
    return {
        "finding": found.name,
        "target": found.target,
        "release": found.release,
        "shown_by": found.shown_by,
        "file": near(str(place)),
        "operations": [step.call for step in found.shows.steps],
        "left_out": [*found.left_out.gone],
        "differs": [
            {"path": one.place, "expected": one.expected,
             "observed": one.observed}
            for one in found.shows.checks
        ],
        "said": {**said},
        "wrong": [*wrong],
    }  # fmt: skip
