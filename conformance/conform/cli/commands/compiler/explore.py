"""`conform explore`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.analysis.instance_table import limits_of
from charter.api.as_json import search_json
from charter.formats.canonical import Json
from charter.semantics.scenario import failing
from conform.cli.output.charters import (
    add_bounds,
    exit_code,
    read_rest,
    set_bounds,
    settings_line,
    settings_of,
)
from conform.cli.output.each_instance import CANNOT, NotSearched
from conform.cli.output.instance_limits import show_limits
from conform.cli.output.mutants import MutantStatus, choose_instances, judge_mutant, try_all
from conform.cli.output.numbers import count, count_or_all, gibibytes
from conform.cli.output.search_note import FoundSoFar, costing
from conform.cli.output.states import (
    add_states,
    first_story,
    keep,
    load_with_condition,
    ready,
    show_where,
)
from conform.cli.output.story import add_pictures, draw, refuse_two_outputs, show_story
from conform.cli.output.vacuity import show_unmet
from conform.console.errors import ConformError, Interrupted
from conform.console.extras import need
from conform.console.progress import SearchListener, searching
from conform.console.terminal import columns, number, out, out_json, plural, say, shorten

if TYPE_CHECKING:
    from charter.analysis.instance_table import InstanceLimits
    from charter.api import Charter, LoadedRest, Model, Selection
    from charter.explore.result import SearchResult
    from charter.render.story.tell import Story
    from charter.semantics.scenario import ScenarioFails

EXAMPLES = """examples:
  conform explore spec/kafka --instance tiny_elr
  conform explore spec/kafka --instance 'tiny_*'
  conform explore spec/kafka --instance 'pair_*' --bounds
  conform explore spec/kafka --mutant elr_without_gate --picture wrong.svg
  conform explore spec/examples/paxos.charter --mutant '*'
  conform explore spec/examples/primary_backup.charter --instance standard --no-symmetry --json
  conform explore spec/examples/primary_backup.charter --instance standard --journal build/search
  conform explore spec/kafka --instance trio --most 20000000 --fingerprints --memory 4
  conform explore spec/examples/primary_backup.charter --set crashes=2 --set length=2
  conform explore spec/examples/paxos.charter --where 'some a in Acceptor: acceptor[a].highest == 2'
  conform explore spec/kafka --instance tiny_elr --keep build/states
  conform explore spec/kafka --instance trio --engine spark --master local[2] --journal build/trio
  conform explore spec/kafka --engine spark --master spark://HOST:7077 --journal s3://BUCKET/trio

A search of several instances ends with a table. Below each row stands what limits the instance: how
many elements each sort has, how often the steps with a budget can happen, which operations are
offered, with which arguments, and which constants and start values are not those of most of these
instances. --bounds prints this without a search, of one instance with its constants and all start
values that it sets; --json has all of it.

A search of more than a second first tells how many operations or steps, with their arguments, the
first state offers, and how many states are possible, if that is known. While it runs it tells how
many states it has found, when it may end if its levels shrink, and when it reaches --most.

It also runs the scenarios of the component or system, with the variant but not with a mutant.

Exit code 0: searched completely, nothing violated; 1: a property or a scenario fails, a system has
a deadlock, or the charter asks for a value that does not exist; 3: the search gave up, or a
property is unknown, or one of several instances cannot be searched at all, which is told; 4:
vacuous, or the instance lists a name under `misses` that was met, or under `fails` that holds (with
a variant or mutant that is only told), or a mutant is not caught by the property that it names. A
property that the instance lists under `fails` and that fails is shown, but does not count.

Vacuous: the search never met a witness, the condition of a property (the left side of an `implies`,
the members of a `forall`), a branch or a step, and the instance does not list it under `misses`.
`misses` is about the instance's own bounds: with --set, what was never met is printed, but the exit
code is 0. With --mutant '*', 0 means that all mutants are caught.

If all errors of the charter lie in scenarios, instances and mutants that were not asked for by
name, these are told and left out. The exit code is then 2 in place of 0; others stay.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--instance", default="", metavar="NAME",
        help="default: the mutant's instance, else `tiny`, else the first whose name begins with "
        "tiny, else the only one; 'tiny_*' searches all that match",
    )  # fmt: skip
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument(
        "--mutant", default="",
        help="a mutant of the charter; '*' tries all, each in the instance that it names",
    )  # fmt: skip
    add_bounds(parser)
    parser.add_argument(
        "--bounds", action="store_true", dest="bounds_only",
        help="search nothing: print the table of what limits each instance",
    )  # fmt: skip
    parser.add_argument(
        "--most", type=count_or_all, default=0, metavar="N",
        help="give up after N states or more (default: 0, search all); Spark gives up only at the"
        " end of a level",
    )  # fmt: skip
    parser.add_argument(
        "--engine", choices=("auto", "native", "reference", "spark"), default="auto",
        help="native: compiled code; reference: Python, slow; auto: native if possible (default); "
        "spark: the native engine in Spark jobs, for searches too large for one machine",
    )  # fmt: skip
    parser.add_argument("--master", help="Spark master, with --engine spark (default: local[*])")
    parser.add_argument(
        "--no-symmetry",
        action="store_true",
        help="count states that differ only by the names of elements separately; without it they "
        "count once, for the sorts that are shown as `symmetry`",
    )
    parser.add_argument(
        "--workers", type=count, default=0,
        help="threads; the result does not depend on their number (default: one for each core)",
    )  # fmt: skip
    parser.add_argument(
        "--journal", type=_journal, metavar="DIR",
        help="write each finished level to this folder; the same command continues from it; for a "
        "cluster a URI, such as s3://BUCKET/FOLDER",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=gibibytes, default=0, metavar="GIB",
        help="use files beyond this much memory (default: three fifths of the free memory)",
    )  # fmt: skip
    parser.add_argument(
        "--fingerprints", type=int, nargs="?", const=0, metavar="SEED",
        help="remember only a 64-bit hash of each state: less memory, but states may be lost (the "
        "probability is printed); SEED selects the hash (default: states are compared whole)",
    )  # fmt: skip
    add_states(parser)
    add_pictures(parser)
    parser.add_argument(
        "--json", action="store_true",
        help="print JSON, a trace in ITF with each finding (conform help search)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    refuse_two_outputs(arguments)
    several_mutants = "*" in arguments.mutant
    selection = api.Selection(arguments.variant, "" if several_mutants else arguments.mutant)
    rest = read_rest(arguments.charter, selection, "*" if several_mutants else arguments.instance)
    charter, model = rest.charter, rest.model
    if several_mutants:
        return try_all(rest, _options(arguments), arguments)
    names = choose_instances(model, arguments)
    several = "*" in arguments.instance
    if arguments.bounds_only:
        return _show_bounds(rest, names, arguments)
    others = () if arguments.instance or arguments.mutant else _others(model, names)
    if several and (arguments.journal is not None or arguments.keep is not None):
        raise ConformError("--journal and --keep are for one instance; name one with --instance")
    explored: list[_Explored] = []
    failed = NotSearched()
    for place, name in enumerate(names, 1):
        arguments.instance = name
        order = f" ({place} of {len(names)} instances)" if several else ""
        try:
            explored.append(_explore(charter, model, selection, arguments, order))
        except CANNOT as error:
            if not several:
                raise _end_with(error) from None
            failed.add(name, error)
            continue
        if not arguments.json:
            _show(explored[-1])
            _show_scenarios(explored)
    if len(explored) > 1 and not arguments.json:
        out("")
        show_limits(_overview(explored), [one.limits for one in explored])
    if others and not arguments.json:
        listed = shorten(", ".join(others))
        say(
            f"only {names[0]} was searched, of {len(others) + 1} instances; --instance NAME or '*'"
            f" searches others: {listed}"
        )
    if arguments.json:
        rows = [one.json() for one in explored]
        whole: dict[str, Json] = {"instances": list[Json](rows), "not_searched": {**failed.why}}
        out_json(whole if several else rows[0])
    draw([story for one in explored for story in one.stories], arguments)
    codes = [failed.code, *map(_status, explored)]
    return exit_code(min(codes, key=_WORST.index), rest.broken)


def _end_with(error: Exception) -> Exception:
    """What ends the search of the only instance."""
    return ConformError(str(error)) if isinstance(error, api.CannotExplore) else error


def _show_bounds(rest: LoadedRest, names: Sequence[str], arguments: argparse.Namespace) -> int:
    """Prints what limits some instances. The exit code says whether the charter has errors."""
    models = ((set_bounds(rest.model, name, arguments.bounds), name) for name in names)
    found = [limits_of(model, api.select_instance(model, name)) for model, name in models]
    if arguments.json:
        out_json({"instances": [one.row() for one in found]})
    else:
        rows = [[one.instance, one.machine, number(len(one.misses))] for one in found]
        show_limits([["instance", "of", "misses"], *rows], found)
    return exit_code(0, rest.broken)


def _others(model: Model, names: Sequence[str]) -> tuple[str, ...]:
    """The instances of the charter that are not among `names`."""
    return tuple(known.name for known in model.instances if known.name not in names)


@contextmanager
def _interruptible(progress: SearchListener, journal: Path | str | None) -> Iterator[FoundSoFar]:
    """Reports, if a search is interrupted, what it has found, how far it was and which results are
    kept."""
    found = FoundSoFar(progress)
    try:
        yield found
    except api.CannotExplore:
        found.say()
        raise
    except KeyboardInterrupt as ended:
        found.say()
        so_far = f" after {progress.last}" if progress.last else ""
        raise Interrupted(
            f"interrupted{so_far}; the rest was not searched, and nothing is kept "
            "(--journal DIR keeps each finished level)"
            if journal is None
            else f"interrupted{so_far}; the same command continues from the levels in {journal}",
            ended,
        ) from None


_WORST = (1, 3, 4, 0)
"""Exit codes; of several searches the first of these is that of all."""


@dataclass(frozen=True, slots=True)
class _Explored:
    """The result of searching one instance: the bounds that were set, the status of the mutant, the
    stories of the findings, the story of the first state that `--where` found, the failing
    scenarios of its machine (none are run for a mutant), whether a variant or mutant edits the
    charter, and what limits the instance."""

    found: SearchResult
    bounds: dict[str, int]
    mutant: MutantStatus | None
    violated: tuple[Story, ...]
    first: Story | None
    scenarios: tuple[ScenarioFails, ...]
    edited: bool
    limits: InstanceLimits

    @property
    def stories(self) -> tuple[Story, ...]:
        """The traces that can be drawn: those of findings first."""
        return self.violated if self.first is None else (self.first, *self.violated)

    def json(self) -> dict[str, Json]:
        """The result as `--json` prints it."""
        mutant = None if self.mutant is None else self.mutant.json()
        whole = search_json(self.found, self.violated, self.first)
        failing = [one.json() for one in self.scenarios]
        whole |= {"limits": self.limits.json(), "set": {**self.bounds}}
        return whole | {"mutant": mutant, "failing_scenarios": failing}


def _status(one: _Explored) -> int:
    if one.found.wrong or one.scenarios:
        return 1
    if not one.found.complete:
        return 3
    if one.mutant is not None and one.mutant.answer == "missed":
        return 4
    denied = one.found.not_missed or one.found.not_failed
    said_wrong = one.found.vacuous or (denied and not one.edited)
    return 4 if said_wrong and not one.bounds else 0


def _explore(
    charter: Charter,
    model: Model,
    selection: Selection,
    arguments: argparse.Namespace,
    order: str,
) -> _Explored:
    """The result of searching an instance; `order` is its place among several."""
    model = set_bounds(model, arguments.instance, arguments.bounds)
    try:
        model = load_with_condition(charter, model, selection, arguments)
        ready(model, arguments)
        options = _options(arguments)
        cost = costing(model, arguments.instance, order)
        with (
            searching(cost, arguments.most) as progress,
            _interruptible(progress, arguments.journal) as so_far,
        ):
            options = replace(options, on_violation=so_far.add)
            found = api.explore(model, arguments.instance, options, progress)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    if found.why_reference:
        say(f"the reference engine was used, which is slow: {found.why_reference}")
    for counter, names in found.bumped_apart.items():
        say(
            f"values of {counter} below the greatest may be bumped ({', '.join(names)}), so states"
            " that differ in their numbers are different states: `conform help types` says why"
        )
        for sentence in found.why_apart[counter]:
            say(f"  {sentence}")
    for message in (found.journal, found.stopped):
        if message:
            say(message)
    if arguments.keep is not None:
        keep(found, arguments.keep)
    return _Explored(
        found,
        settings_of(found.bounds, arguments.bounds),
        judge_mutant(model, arguments.mutant, found),
        tuple(api.tell(model, found.instance.name, one) for one in found.violated),
        first_story(model, found),
        () if arguments.mutant else failing(model, found.instance.machine),
        selection != api.Selection(),
        limits_of(model, api.select_instance(model, found.instance.name)),
    )


def _options(arguments: argparse.Namespace) -> api.ExploreOptions:
    """The options of a search, with a Spark session if one is needed. Raises `ConformError`."""
    options = api.ExploreOptions(
        engine=arguments.engine,
        most_states=arguments.most,
        symmetry=not arguments.no_symmetry,
        workers=arguments.workers,
        journal=None if _is_uri(arguments.journal) else arguments.journal,
        memory=arguments.memory,
        fingerprints=arguments.fingerprints,
        states=arguments.keep is not None,
        limit=arguments.limit,
        mutant=arguments.mutant,
    )
    if arguments.engine != "spark":
        if arguments.master is not None:
            raise ConformError("--master is for --engine spark; add that, or leave --master out")
        if _is_uri(arguments.journal):
            raise ConformError("--journal URI is for --engine spark; name a folder, or add that")
        return options
    for option in ("where", "keep", "fingerprints"):
        if getattr(arguments, option) is not None:
            raise ConformError(f"--engine spark has no --{option}; --engine native has")
    need("pyspark", "--engine spark", "use --engine native")
    from conform.runs.engines.spark_start import session

    master = arguments.master or "local[*]"
    store = _store(arguments.journal, master)
    return replace(options, session=session(master, "--engine native"), store=store)


def _journal(value: str) -> Path | str:
    """A folder, or a URI."""
    return value if "://" in value else Path(value)


def _is_uri(journal: Path | str | None) -> bool:
    return isinstance(journal, str)


def _store(journal: Path | str | None, master: str) -> str:
    """The URI of the journal, "" for a folder of this machine. Raises `ConformError`."""
    from conform.runs.engines.cluster import is_local
    from conform.storage.bucket_store import RunFolder

    if isinstance(journal, str):
        RunFolder(journal).check_reachable("--journal")
        return journal
    if is_local(master):
        return ""
    raise ConformError(
        f"--master {master} needs --journal URI: a folder that this machine and all workers reach,"
        " such as file:///FOLDER or s3://BUCKET/FOLDER"
    )


def _show(one: _Explored) -> None:
    found = one.found
    out(
        f"{found.instance.machine} in the instance {found.instance.name}{settings_line(one.bounds)}"
    )
    out(columns(_table(found)))
    if found.storage is not None and found.storage.lossy:
        out(
            f"states are stored as fingerprints (seed {found.fingerprints}): the "
            f"probability that one was lost is at most {found.storage.lossy:.1e}"
        )
    if found.storage is not None and found.storage.spilled:
        out(
            f"{found.storage.spilled / (1 << 30):,.1f} GiB went to files because memory was "
            f"used up (--memory); a state takes {found.storage.bytes_each} bytes"
        )
    if found.symmetry is not None:
        for name, why in found.symmetry.apart.items():
            out(f"elements of {name} are not treated as interchangeable: {why}")
    for story in one.violated:
        show_story(story)
    if found.expected:
        out(f"as the instance says under `fails`: {', '.join(found.expected)}")
    for live in found.liveness:
        if live.answer == "unknown":
            out(f"eventually {live.name}: unknown, {live.detail}")
    show_unmet(found)
    show_where(found, one.first)
    if one.mutant is not None:
        out(one.mutant.sentence(found.instance.name))
    if not found.complete:
        out("the search stopped early: what it did not reach is unknown")
    elif found.fine and not one.scenarios:
        out("nothing else is violated" if found.expected else "nothing is violated")


def _show_scenarios(explored: Sequence[_Explored]) -> None:
    """Shows the failing scenarios of the last result, unless an earlier result of the same machine
    has shown them."""
    *before, last = (one.found.instance.machine for one in explored)
    for one in () if last in before else explored[-1].scenarios:
        out(f"{one.span.where()}: {one.sentence()}")
        out(one.span.excerpt())


def _overview(explored: Sequence[_Explored]) -> list[list[str]]:
    """A row for each instance: its size, what it shows, and how much it is too small to meet."""
    rows = [["instance", "of", "distinct", "depth", "seconds", "misses", "result"]]
    for one in explored:
        found, counts = one.found, one.found.counts
        rows.append([
            found.instance.name,
            found.instance.machine,
            number(counts.distinct),
            number(len(counts.levels)),
            f"{found.seconds:.1f}",
            number(len(found.instance.misses)),
            _outcome(one),
        ])  # fmt: skip
    return rows


def _outcome(one: _Explored) -> str:
    found = one.found
    said = [f"violated: {', '.join(sorted({bad.name for bad in found.wrong}))}"] * bool(found.wrong)
    said += [f"{plural(len(one.scenarios), 'scenario')} failed"] * bool(one.scenarios)
    said += ["unknown, it stopped early"] * (not found.complete)
    said += [f"never met: {len(found.vacuous)}"] * bool(found.vacuous)
    for told, names in (
        ("fails as it says", found.expected),
        ("does not fail", found.not_failed),
        ("met after all", found.not_missed),
    ):
        said += [f"{told}: {', '.join(names)}"] * bool(names)
    return "; ".join(said) or "holds"


def _table(found: SearchResult) -> list[list[str]]:
    counts = found.counts
    rows = [
        ["distinct", number(counts.distinct)],
        ["generated", number(counts.generated)],
        ["outside", number(counts.outside)],
        *([["cut", number(counts.cut)]] if counts.cut else []),
        ["depth", number(len(counts.levels))],
        ["seconds", str(round(found.seconds, 3))],
        ["engine", found.engine],
    ]
    if found.symmetry is not None and found.symmetry.permuted:
        rows.append(["symmetry", ", ".join(found.symmetry.permuted)])
    return rows
