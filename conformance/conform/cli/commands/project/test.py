"""`conform test`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.api import generated
from charter.api.as_json import search_json
from charter.formats.canonical import Json
from charter.formats.files import need_writable
from charter.formats.project import FILE, Project, check_named, find_project
from charter.formats.suite import MANIFEST, read_manifest
from charter.formats.target import OVERLAY, Target
from charter.suites.proofs import list_searched, list_unsearched, proof_instances
from conform.adapters.projects import project_here
from conform.adapters.targets import name_lookup, target_of, targets_of
from conform.cli.commands.compiler.generate import writing_into
from conform.cli.commands.compiler.vectors import (
    MOST,
    UNSEARCHED,
    no_question,
    not_explored,
    too_large,
)
from conform.cli.covered_suite import CoveredSuites, is_of_run, name_suite
from conform.cli.entry_sets import SetsOfEntries
from conform.cli.larger_suites import tell_larger
from conform.cli.main import suggest
from conform.cli.output.charters import Errors, check_charter, diagnostics_json, tally
from conform.cli.output.charters import read as read_charter
from conform.cli.output.constants import one_value_only, sentence
from conform.cli.output.each_instance import CANNOT, code_of
from conform.cli.output.missing_operations import list_unwritten
from conform.cli.output.numbers import count_or_all
from conform.cli.output.overlay import overlay_warnings, releases_of
from conform.cli.output.run_output import UNLOADED, near, show, write_command
from conform.cli.output.search_note import costing
from conform.cli.output.story import show_story
from conform.cli.output.suite_gaps import explain_unasked, list_untold, mutants_told, not_seen
from conform.cli.output.tested import Tested
from conform.cli.output.vacuity import show_unmet
from conform.cli.output.walk_options import (
    WALKS_OF_TEST,
    add_crosschecks,
    add_walks,
    add_without_remembered,
    choose_walks,
    read_walks,
)
from conform.cli.output.walks_told import name_least_walks
from conform.cli.output.written_types import list_outdated_types
from conform.cli.set_options import add_set, read_set, select_declared, write_set
from conform.console.errors import ConformError, UnknownTarget
from conform.console.extras import is_installed, remedy
from conform.console.progress import searching, tasks
from conform.console.terminal import out, out_json, plural, say
from conform.reports.build_site import write as write_report
from conform.runs.conclusion import Finished
from conform.runs.execute import run_target
from conform.runs.findings.baseline import NO_BASELINE, Baseline, read_baseline
from conform.runs.not_compared import read as read_left
from conform.runs.options import RunOptions
from conform.runs.reproduce.written import read_written

if TYPE_CHECKING:
    from charter.api import Model

EXAMPLES = """examples:
  conform test
  conform test one.charter
  conform test --adapter lease-go
  conform test --walks 2000 --seed 7

For each charter of the project: checks it, runs its scenarios, explores its instances, looks for
questions if its rules changed, brings generated/ up to date, tells how many obligations the small
suite leaves open, judges each implementation of its components with it (with all states of the
smallest instance, if some operation only answers), and writes a report. Findings that
baselines/ID.toml lists with a reason are known (ID: that of the adapter). What failed is remembered
on this machine and put first in later runs; `conform keep` brings it into the suite for good.

Exit code 0: all is well; 1: an error in a charter, a violated property, a failing scenario, or a
new finding on an implementation; 2: something is missing here; 3: a run is incomplete or not to be
trusted; 4: vacuous, a property that no instance searches, or `misses` or `fails` is wrong. The
first of 1, 3 and 4 counts.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, nargs="?", help="default: all of the project")
    parser.add_argument("--adapter", default="", help="id or folder (default: all that fit)")
    parser.add_argument("--release", default="", help="release of the target (default: its own)")
    add_set(parser)
    parser.add_argument(
        "--most", type=count_or_all, default=MOST, metavar="N",
        help=f"give up an instance after N states (default: {MOST:,}; 0: never); it is left out of"
        " the search for questions, too",
    )  # fmt: skip
    add_walks(parser, WALKS_OF_TEST)
    add_crosschecks(parser, in_test=True)
    add_without_remembered(parser)
    parser.add_argument("--continue", action="store_true", dest="go_on", help="go on with"
                        " interrupted runs although adapter.toml has no `sources`; the result says"
                        " so")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    try:
        project = _project(arguments.charter)
        with writing_into(project):
            return _run(project, arguments)
    except KeyboardInterrupt as ended:
        ended.add_note("not all was tested; the next `conform test` begins with the checks again")
        raise


def _run(project: Project, arguments: argparse.Namespace) -> int:
    check_named(project)
    charters = [arguments.charter.resolve()] if arguments.charter else _charters(project)
    chosen = _targets(project, arguments.adapter)
    inside = "" if find_project(Path()) == project else str(project.root)
    if inside:
        say(f"in {inside}")
        os.chdir(inside)  # paths that are shown are relative to the project
    charters = [Path(near(str(path))) for path in charters]
    need_writable(project.runs)
    for path in charters:
        api.need_place_of_questions(path)
    tested = Tested(arguments.json, arguments.most, inside, arguments.go_on, read_walks(arguments),
                    read_set(arguments.parameters, chosen),
                    arguments.without_remembered, arguments.crosschecks)  # fmt: skip
    models = {path: _check(path, tested) for path in charters}
    runs: list[Finished] = []
    if tested.exit_code in (0, 4):
        _check_targets(chosen, models, bool(arguments.adapter) or not arguments.charter)
        runs = _judge(project, models, chosen, arguments.release, tested)
    report = _report(project, runs, tested)
    _conclude(tested, runs, report)
    return tested.exit_code


def _project(charter: Path | None) -> Project:
    """The project of a charter, or the one around the working folder."""
    if charter is None:
        return project_here()
    if not charter.exists():
        raise ConformError(f"{charter} does not exist")
    found = find_project(charter)
    if found is None:
        raise ConformError(
            f"{charter} is in no project, and implementations are judged by the charters of one:"
            " `conform init` makes a project, and the charter goes into its spec/; `conform check`"
            " and `conform explore` need none"
        )
    if not charter.resolve().is_relative_to(found.charters):
        raise ConformError(
            f"{charter} is not in {near(str(found.charters))}, the folder of the charters by which"
            f" implementations are judged: move it there, or name another folder as `charters` in"
            f" {near(str(found.root / FILE))}; `conform check` and `conform explore` work anywhere"
        )
    return found


def _charters(project: Project) -> list[Path]:
    """The charters of a project."""
    found = [project.root / one.place for one in generated.protocols(project)]
    if not found:
        raise ConformError(f"{project.charters} has no charter; name one, or write one there")
    return found


def _targets(project: Project, wanted: str) -> list[Target]:
    """The targets of the project, or the one that was asked for. Raises `UnknownTarget`, and
    `BadProject`."""
    return [target_of(project, wanted)] if wanted else targets_of(project)


def _check_targets(chosen: Sequence[Target], models: dict[Path, Model], each: bool) -> None:
    """Raises `UnknownTarget` for an adapter of a component that its charter lacks and, if `each`
    adapter must fit, for one that implements none of the charters."""
    components = {m.protocol: [c.name for c in m.components] for m in models.values()}
    for target in chosen:
        known = components.get(target.protocol)
        if known is None and each:
            raise UnknownTarget(
                f"the adapter {target.id} is of the protocol {target.protocol!r}, not of"
                f" {', '.join(sorted(components))}; {suggest(target.protocol, components)}mend"
                " its adapter.toml, or name its charter"
            )
        if known is not None and target.component not in known:
            raise UnknownTarget(
                f"the adapter {target.id} is of the component {target.component!r}, but"
                f" {target.protocol} has {', '.join(known) or 'none'};"
                f" {suggest(target.component, known)}mend its adapter.toml"
            )


# --- the charter ---------------------------------------------------------------------------------


def _check(path: Path, tested: Tested) -> Model:
    """Check a charter with its variants and mutants, as `conform check` does, and explore its
    instances. Raises `Errors` unless all errors are scenarios that fail."""
    found = check_charter(path)
    failing = [one for one in found.errors if one.code == "scenario/fails"]
    refused = len(failing) < len(found.errors)
    tested.tell("check", f"{path}: {tally(found)}")
    if refused or not tested.quiet:
        for item in found:
            out(item.show())
    if refused:
        raise Errors(f"{path} has errors; `conform explain CODE` explains more")
    _, model = read_charter(path, api.Selection())
    if failing:
        tested.codes.append(1)
    tested.tell("scenarios", f"{len(model.scenarios)}, {plural(len(failing), 'failure')}")
    explored = [_explore(model, instance.name, tested) for instance in model.instances]
    tested.charters.append(
        {
            "charter": str(path),
            "diagnostics": diagnostics_json(found),
            "instances": list[Json](explored),
            "unsearched": [*_list_unsearched(model, tested)],
        }
    )
    return model


def _list_unsearched(model: Model, tested: Tested) -> tuple[str, ...]:
    """The properties and witnesses that no instance searches: nothing is known of them."""
    searched = {instance.machine for instance in model.instances}
    every = [(one.machine, one.name) for one in model.properties]
    every += [(one.machine, one.name) for one in model.liveness]
    for machine in dict.fromkeys(name for name, _ in every if name not in searched):
        names = ", ".join(name for of, name in every if of == machine)
        tested.codes.append(4)
        tested.tell(
            "explore",
            f"{machine} has no instance, so nothing searches {names}; write one, as in `instance"
            f" tiny of {machine} {{ ... }}`",
        )
    return tuple(name for machine, name in every if machine not in searched)


def _explore(model: Model, instance: str, tested: Tested) -> dict[str, Json]:
    """Explore one instance."""
    try:
        with searching(costing(model, instance), tested.most) as progress:
            options = api.ExploreOptions(most_states=tested.most)
            found = api.explore(model, instance, options, progress)
    except CANNOT as error:
        tested.codes.append(code_of(error))
        tested.tell("explore", f"{instance}: {error}")
        return {"instance": instance, "cannot": str(error)}
    states = plural(found.counts.distinct, "state")
    stories = tuple(api.tell(model, instance, one) for one in found.wrong)
    if stories:
        tested.codes.append(1)
        tested.tell("explore", f"{instance}: {states}, {len(stories)} violated")
    elif not found.complete:
        tested.given_up.append(instance)
        why = found.stopped or f"{states} (--most {tested.most})"
        tested.tell("explore", f"{instance}: not searched to the end: {why}")
    elif found.vacuous or found.not_missed or found.not_failed:
        tested.codes.append(4)
        wrong = "vacuous" if found.vacuous else "what it lists under `misses` was met"
        if found.not_failed and not found.vacuous:
            wrong = "what it lists under `fails` holds"
        tested.tell("explore", f"{instance}: {states}, {wrong}")
    else:
        said = f", but for {', '.join(found.expected)}, as it says" if found.expected else ""
        tested.tell("explore", f"{instance}: {states}, nothing is violated{said}")
    if not tested.quiet:
        for story in stories:
            show_story(story)
        if found.complete:
            show_unmet(found)
    return search_json(found, stories)


# --- the implementations -------------------------------------------------------------------------


def _judge(
    project: Project,
    models: dict[Path, Model],
    targets: Sequence[Target],
    release: str,
    tested: Tested,
) -> list[Finished]:
    """Look for questions, generate, and judge the targets that implement a charter."""
    pairs = [
        (path, target)
        for path, model in models.items()
        for target in targets
        if target.protocol == model.protocol
    ]
    if not pairs:
        command = "conform generate --adapter LANGUAGE CHARTER --out FOLDER"
        told = f"no adapter in {project.adapters} is of these protocols; `{command}` begins one"
        tested.tell("judge", f"nothing: {told}")
        return []
    judged = dict.fromkeys((path, target.component) for path, target in pairs)
    for path, component in judged:
        _look(path, (models[path], component), tested)
    _generate(project, models, judged, tested)
    for path, component in judged:
        _obligations(project, path, (models[path], component), tested)
    finished, covers = list[Finished](), CoveredSuites(tested.tell)
    for path, target in pairs:
        given = select_declared(tested.parameters, target)
        folder = Path(near(str(target.folder)))
        for told in list_outdated_types(models[path], target.component, path, folder):
            tested.tell("types", told)
        if warnings := overlay_warnings(target):
            tested.tell("overlay", f"{folder / OVERLAY}: {plural(len(warnings), 'warning')}")
        for warning in warnings if not tested.quiet else ():
            out(warning)
        options = RunOptions(
            target=str(target.folder),
            release=release,
            suite=covers.open_suite(path, models[path], (target, release)),
            baseline=_baseline(project, target),
            go_on=tested.go_on,
            walks=choose_walks(models[path], target.component, tested),
            command=("conform", "test", "--adapter", name_lookup(target), *write_set(given)),
            parameters=given, without_remembered=tested.without_remembered,
            set_models=SetsOfEntries(target), crosschecks=tested.crosschecks,
        )  # fmt: skip
        finished.append(replace(run_target(options, say, releases_of), inside=tested.inside))
        tested.codes.append(finished[-1].exit_code)
        tested.runs.append(finished[-1].json())
        if not tested.quiet:
            out("")
            show(finished[-1])
            out("")
            _tell_unasked(project, finished[-1], tested)
    larger = [pair for pair, one in zip(pairs, finished, strict=True) if _answers_well(one)]
    if larger:
        tell_larger(*larger[0], tested)
    return finished


def _tell_unasked(project: Project, finished: Finished, tested: Tested) -> None:
    """Tell what only vectors ask for that the adapter was not asked, as it does not claim `load`:
    the suite covers it, but this run shows nothing of it."""
    left = [one.what for one in read_left(finished.summary["not_compared"])]
    if UNLOADED not in left or finished.summary["adapter_trouble"]:
        return
    for place in _manifests(project):
        found = read_manifest(place.parent)
        if is_of_run(found, finished.run) and (told := explain_unasked(place.parent, found)):
            tested.tell("not asked", told)


def _answers_well(finished: Finished) -> bool:
    """Whether a run has no new finding, and the adapter answered: more questions are worth
    asking."""
    return not finished.summary["adapter_trouble"] and not finished.summary["new_deviations"]


def _baseline(project: Project, target: Target) -> Baseline:
    """The known findings of a target, if the project has a file of them. Raises `BadBaseline`."""
    place = project.baselines / f"{target.id}.toml"
    return read_baseline(str(place)) if place.exists() else NO_BASELINE


def _generate(
    project: Project,
    models: dict[Path, Model],
    judged: Collection[tuple[Path, str]],
    tested: Tested,
) -> None:
    """Bring generated/ up to date; where obligations are open of which the last search says
    nothing, look for questions again."""
    changed = {*generated.write(project)}
    manifests = [read_manifest(place.parent) for place in _manifests(project)]
    left = {(one.protocol, one.component) for one in manifests
            if one.counts["obligations_open"] and not one.variant}  # fmt: skip
    for path, component in judged:
        opened = (models[path].protocol, component) in left
        if opened and _look_for_questions(path, component, tested.most, thorough=True):
            tested.tell("vectors", f"{component}: looked again for what no question showed")
            changed |= {*generated.write(project)}
    told = [f"{plural(len(changed), 'file')} changed" if changed else "up to date"]
    told += [f"but {stale}" for stale in [generated.explain_outdated(project)] if stale]
    tested.tell("generate", ", ".join(told))


def _manifests(project: Project) -> list[Path]:
    return sorted((project.generated / "suites").rglob(MANIFEST))


def _look_for_questions(path: Path, component: str, most: int, thorough: bool = False) -> bool:
    """Look for questions where it is needed; whether it was."""
    with tasks("vectors") as progress:
        wanted = api.SuiteRequest(path, component=component, most=most)
        return api.look_if_stale(wanted, progress, thorough)


def _look(path: Path, about: tuple[Model, str], tested: Tested) -> None:
    """Look for questions, unless this was done for the same rules."""
    model, component = about
    looked = _look_for_questions(path, component, tested.most)
    if not list_searched(model, component):
        tested.tell("vectors", f"{component}: {UNSEARCHED}")
    elif others := list_unsearched(model, component):
        tested.tell("vectors", f"{component}: {not_explored([one.name for one in others])}")
    if left_out := api.left_out(path, model, component):
        tested.tell("vectors", f"{component}: {too_large(left_out, '--most N')}")
    if not looked:
        tested.tell("vectors", f"{component}: the questions are of these rules")
        return
    left = "" if is_installed("z3") else f"; those that only a solver finds: {remedy('z3')}"
    tested.tell("vectors", f"{component}: looked for questions{left}")


def _obligations(project: Project, path: Path, about: tuple[Model, str], tested: Tested) -> None:
    """Tell how many obligations of a component its small suites cover, one for each variant."""
    model, component = about
    for place in _manifests(project):
        found = read_manifest(place.parent)
        if (found.protocol, found.component) != (model.protocol, component):
            continue
        covered, proved, left = (
            found.counts[f"obligations_{name}"] for name in ("covered", "infeasible", "open")
        )
        command = ["conform", "vectors", str(path), "--component", component]
        command += ["--variant", found.variant] if found.variant else []
        name = f"{component}, variant {found.variant}" if found.variant else component
        listed = f"; `{write_command(command, tested.inside)}` lists the open ones" if left else ""
        places = ", ".join(one.name for one in proof_instances(model, component))
        where = f" in {places}" if proved else ""
        tested.tell(
            "ledger",
            f"{name}: {covered} obligations covered, {proved} proved infeasible{where},"
            f" {left} open{listed}",
        )
        if unreached := found.counts.get("unreached", 0):
            begin = "begins" if unreached == 1 else "begin"
            where = "a state to which no search found a path (`conform explain unreached`)"
            told = f"{name}: {plural(unreached, 'vector')} {begin} in {where}"
            tested.tell("unreached", told)
        # Two that ask the same are one question.
        scenarios = sum(one.instance.machine == component for one in model.scenarios)
        if not found.variant and found.counts["scenarios"] < scenarios:
            for title, why in api.list_unasked_scenarios(path, component).items():
                tested.tell("scenario", no_question(title, why))
        if pairs := api.branch_pairs(path, model, component, found.variant):
            tested.tell("pairs", f"{name}: of branches in a row, {pairs}")
        if mutants := mutants_told(place.parent):
            tested.tell("mutants", f"{name}: {mutants}")
            tested.untold += [one for one in list_untold(place.parent) if one not in tested.untold]
        bounding = api.bounding_constants(path, model, component, found.variant)
        if fixed := one_value_only(place.parent, found, bounding):
            tested.tell("constants", f"{name}: {sentence(fixed, found, model)}")
        counts: dict[str, Json] = {"covered": covered, "infeasible": proved, "open": left}
        tested.obligations.append({"component": component, "variant": found.variant, **counts})


def _report(project: Project, runs: Sequence[Finished], tested: Tested) -> str:
    """Write the report of the runs; its front page."""
    places = [Path(one.folder.place) for one in runs]
    folder = project.runs.parent / "report"
    return str(write_report(places, folder, None, read_written()).index) if places else ""


def _conclude(tested: Tested, runs: Sequence[Finished], report: str) -> None:
    """The last lines, or the JSON."""
    if tested.quiet:
        out_json({"charters": tested.charters, "obligations": tested.obligations,
                  "runs": tested.runs, "report": report, "exit": tested.exit_code})  # fmt: skip
        return
    if report:
        tested.tell("report", report)
    match tested.exit_code:
        case 0:
            known = sum(int(str(one.summary["deviations"])) for one in runs)
            but = f", but for {plural(known, 'deviation')} that are known" if known else ""
            by = " and ".join(filter(None, (name_suite(runs), name_least_walks(runs))))
            told = f"fine by {by}{but}{not_seen(tested.untold)}"
            out(told if runs else "fine, but no implementation was judged")
            if tested.given_up:
                out(f"not searched to the end: {', '.join(tested.given_up)}")
        case 1 if not runs:
            out("exit 1: mend the charter; no implementation was judged")
        case 1:
            out("exit 1: look at a finding with the `conform replay` above, mend, test again")
        case 3 if any(list_unwritten(one) for one in runs):
            out("exit 3: write what is missing in the adapter, as is said above, and test again")
        case 3:
            out("exit 3: a run is not complete, or not to be trusted; its last line says why")
        case _:
            out("exit 4: a rule, a property or a witness was never met; what is listed above")
