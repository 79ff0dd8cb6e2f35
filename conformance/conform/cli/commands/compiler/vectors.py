"""`conform vectors`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from charter import api
from charter.formats.suite import word_count
from conform.cli.output.charters import exit_code, tell_left_out
from conform.cli.output.numbers import count_or_all
from conform.console.errors import CannotWrite, ConformError
from conform.console.extras import is_installed, remedy
from conform.console.progress import tasks
from conform.console.terminal import columns, number, out, out_json, plural, say

EXAMPLES = """examples:
  conform vectors spec/kafka
  conform vectors spec/kafka --profile standard
  conform vectors spec/streams --profile cover
  conform vectors spec/kafka --profile full --instance tiny_elr
  conform vectors spec/kafka --profile full --variant pre_kip_966
  conform vectors spec/kafka --search

A suite with a state cover has, besides the small one, each state of the smallest instance after a
shortest path, and there all operations that only answer. `conform test` makes it, too.

A standard suite has some thousand vectors: the small suite, a question for each triple of
operations of which each writes what the next one reads or writes, and for each variable one that
sets, clears and sets it again. ledger.md in its folder says which were not found, and within which
bounds. Before a suite is made, it is said what it costs at most. --instance makes one of a single
instance.

The full suite is also stored in the judge's cache, so that its runs begin at once. Parts of it are
kept: what did not change since an earlier call is not made again.

The small suite (smoke) is also in generated/; `conform generate` keeps it up to date. --search
looks for questions that cover more obligations, by exploration of the instances whose names begin
with tiny, and with the solver if it is installed, which also proves that nothing can cover some of
them. Questions and proofs are written into the folder found/ beside the charter (those of a second
component into a folder of its own in it), and both suites are made from there. Old questions stay
if they still have an answer; to start again, remove the folder. Instances that are new or have
other bounds are searched again, too. An instance with more states than --most says is left out of
the search, and of the full suite. If instances differ in constants, each branch, and each side of a
comparison that reads a constant, is asked for with the constants of each. Each branch is asked for
right after each other one, in at most 250 pairs, those that change the state first; an instance
with more than 25,000 operations in all of its states is left out of that.

Exit code 0: the suite is made, even if obligations are open; 1: the charter has errors, an initial
value does not exist, or a scenario fails (the suite is made without it); 2: the charter cannot be
read, no instance or scenario is of the component, or the small suite is made without scenarios,
instances and mutants that have errors, which is told; 4: the suite has no vectors, so it can judge
nothing: --search looks for questions. With --search, and with other profiles than the small one,
nothing may have errors.
"""


UNSEARCHED = (
    "no instance of it is searched for questions, since none has a name that begins with `tiny`:"
    " rename a small one"
)

_NAMED, _REASONS = 3, 5


def not_explored(names: Sequence[str]) -> str:
    """A sentence about the instances that are not searched for questions."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"not explored for questions: {', '.join(names[:_NAMED])}{more} (only instances whose names"
        " begin with `tiny` are)"
    )


MOST = 200_000
"""The most states of an instance that is searched for questions, unless --most says otherwise."""


def too_large(names: Mapping[str, int], option: str) -> str:
    """A sentence about the instances that the search for questions left out; `option` allows more
    states."""
    told = ", ".join(f"{name} (more than {number(most)} states)" for name, most in names.items())
    return (
        f"left out of the search for questions, and of the full suite: {told}; give it fewer"
        f" elements or smaller constants, or allow more states with {option}"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--profile", choices=("smoke", "cover", "standard", "full"), default="smoke",
        help="the small suite, that with a state cover, one of some thousand vectors, or all that"
        " instances give (default: smoke)",
    )  # fmt: skip
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--component", default="", help="the component (default: the first)")
    parser.add_argument(
        "--instance", default="", help="the only instance of the suite (default: all)"
    )
    parser.add_argument("--search", action="store_true", help="search for more questions first")
    parser.add_argument(
        "--most", type=count_or_all, default=MOST, metavar="N",
        help="with --search: leave out instances with more than N states"
        f" (default: {MOST:,}; 0: none)",
    )  # fmt: skip
    place = "build/suites/..., and the counts of a full suite go into generated/"
    parser.add_argument("--out", type=Path, help=f"folder of the suite (default: {place})")
    parser.add_argument("--json", action="store_true", help="print JSON")


@dataclass(slots=True)
class _PartsMade:
    """How many parts were made, of how many."""

    done: int = 0
    total: int = 0

    def telling(self, progress: Callable[[str, int, int], None]) -> Callable[[str, int, int], None]:
        """The same function, whose calls are counted here."""

        def tell(name: str, done: int, total: int) -> None:
            self.done, self.total = done, total
            progress(name, done, total)

        return tell


def run(arguments: argparse.Namespace) -> int:
    wanted = api.SuiteRequest(
        charter=arguments.charter,
        variant=arguments.variant,
        component=arguments.component,
        profile=arguments.profile,
        search=arguments.search,
        out=arguments.out,
        most=arguments.most,
        instance=arguments.instance,
    )
    if arguments.search and not is_installed("z3"):
        say(f"without z3, what only the solver finds or proves is left out ({remedy('z3')})")
    seen = _PartsMade()
    try:
        with tasks("vectors") as progress:
            made = api.make_suite(wanted, seen.telling(progress), _tell_cost)
    except KeyboardInterrupt as ended:
        ended.add_note("the suite was not written")
        if arguments.profile == "full" and seen.done and not arguments.search:
            ended.add_note(
                f"{seen.done} of {seen.total} parts are kept, and the same command makes the others"
            )
        raise
    except (api.Unreadable, api.Missing) as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        for item in refused.diagnostics:
            say(item.show())
        return 1
    if arguments.json:
        out_json(made.json())
    else:
        show(made, full=arguments.profile != "smoke")
        _tell_new(made, arguments)
    if arguments.profile == "full":
        _keep_for_runs(str(made.folder))
    for sentence in made.failed:
        say(sentence)
    for title, why in made.unasked.items():
        say(no_question(title, why))
    tell_left_out(made.errors, [one.told for one in made.broken])
    vacuous = 0 if made.manifest.vectors else 4
    return exit_code(1 if made.failed else vacuous, made.broken)


def _tell_cost(vectors: int, operations: int, seconds: float) -> None:
    """Tell what a suite costs at most, before it is made."""
    say(
        f"at most {plural(vectors, 'vector')} with {plural(operations, 'operation')}, some"
        f" {number(max(1, round(seconds)))} s of processor time"
    )


def no_question(title: str, why: str) -> str:
    """What to say of a scenario that is left out of the suite."""
    return f'the scenario "{title}" is left out of the suite, no implementation is asked it: {why}'


def _keep_for_runs(folder: str) -> None:
    """Store a large suite in the judge's cache, so that its runs begin at once."""
    from conform.suites.cache import open_suite

    with contextlib.suppress(CannotWrite):  # a run says so
        open_suite(folder, os.cpu_count() or 1)


def show(made: api.MadeSuite, *, full: bool) -> None:
    """Prints a summary of the new suite; of a full one, which counts are of the small suite."""
    counts = made.manifest.counts
    rows = [["vectors", number(made.manifest.vectors)]]
    told = {name: word_count(name) if full else name.replace("_", " ") for name in sorted(counts)}
    rows += [[words, number(counts[name])] for name, words in told.items()]
    rows.append(["digest", made.manifest.digest])
    out(columns(rows))
    for note in dict.fromkeys(made.open.values()):
        out(f"open, {note}:")
        for name in made.open:
            if made.open[name] == note:
                out(f"  {name}")
    for why, amount in sorted(made.refused.items(), key=lambda pair: -pair[1])[:_REASONS]:
        out(f"{number(amount)} vectors not made: {why.partition(': ')[2] or why}")
    if made.pairs:
        out(f"branches in a row: {made.pairs}")
    if made.cover:
        out(f"state cover: {made.cover}")
    out(f"suite: {made.folder}")


def _tell_new(made: api.MadeSuite, arguments: argparse.Namespace) -> None:
    """Tell which instances the small suite has no questions of, or that it has no vectors at all,
    and how it gets them."""
    if not made.searched:
        say(UNSEARCHED)
        return
    if made.unsearched:
        say(not_explored(made.unsearched))
    command = ["conform", "vectors", str(arguments.charter), "--search"]
    for option in ("component", "variant"):
        chosen = getattr(arguments, option)
        command += [f"--{option}", chosen] if chosen else []
    if made.left_out:
        say(too_large(made.left_out, "--search --most N"))
    if not made.manifest.vectors:
        say(f"the suite has no vectors; `{shlex.join(command)}` searches for questions")
        return
    if made.new:
        say(
            f"new, or with other bounds, since the last search for questions: "
            f"{', '.join(made.new)}; `{shlex.join(command)}` looks there"
        )
    elif not made.looked:
        say(f"`{shlex.join(command)}` searches for questions")
