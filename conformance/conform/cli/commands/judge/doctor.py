"""`conform doctor`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import orjson

from charter.formats.canonical import Json
from charter.formats.target import Target
from conform.adapters.doctor import NOT_CHECKED, NOT_YET, Check, Probes, check_adapter
from conform.adapters.given_state_check import select_given
from conform.adapters.leftover_state import sample_of
from conform.adapters.operation_trials import trials_of
from conform.adapters.projects import model_folders
from conform.adapters.targets import java, model_values, prepare, target, targets
from conform.cli.output.staleness import older_than_charter
from conform.cli.set_options import add_set, read_set
from conform.console.errors import BadSuite, ConformError
from conform.console.extras import is_installed, remedy
from conform.console.terminal import columns, out, out_json, say
from conform.judging.model import use_folders
from conform.judging.verdict import VectorItem
from conform.runs.select import suite_for, variables
from conform.suites.cache import Suite, cache_folder, open_suite

EXAMPLES = """examples:
  conform doctor
  conform doctor --adapter kafka-controller --release 4.3.1
  conform doctor --adapter ./my-adapter --sorts '{"Node": {"n1": 0, "n2": 7}}'

Without --adapter: checks this machine. With it: checks the adapter against the protocol, with
operations of the target's suite if it has one. --sorts and --consts are for a target without.

`-` marks what is optional and not installed, or could not be checked.

Exit code 0: all is well; 1: the adapter breaks a rule of the protocol; 2: something is missing
here, or the adapter cannot be started.
"""


_ABSENT = "not installed"
_GOES_BY_DATES = (
    "`prepare` calls cargo, which goes by the dates of files: where a file is restored with its old"
    " date, the old program is judged; `conform generate --adapter rust CHARTER --out NEW` writes a"
    " prepare.py that goes by contents, and the line for adapter.toml"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--adapter", default="", help="id or folder of a target")
    parser.add_argument("--release", default="", help="release of the target")
    add_set(parser)
    parser.add_argument("--sorts", default="", help="sorts for the questions, as JSON")
    parser.add_argument("--consts", default="", help="values of constants, as JSON")
    parser.add_argument("--model", default="", help="module of a model (target reference)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    checks = _of_adapter(arguments) if arguments.adapter else _of_machine()
    broken = sum(not check.ok for check in checks)
    if arguments.json:
        out_json([check.json() for check in checks])
    else:
        rows = [[_mark(check), check.rule, check.detail] for check in checks]
        out(columns(rows))
        if arguments.adapter and broken:
            rules = "1 rule" if broken == 1 else f"{broken} rules"
            out(f"NOT: the adapter breaks {rules}; mend what is said there, then repeat the command"
                " (`conform help adapter` is the protocol)")  # fmt: skip
    return (1 if arguments.adapter else 2) if broken else 0


def _mark(check: Check) -> str:
    if not check.ok:
        return "NOT"
    return "-" if check.detail.startswith((_ABSENT, NOT_CHECKED, NOT_YET)) else "ok"


def _of_adapter(arguments: argparse.Namespace) -> list[Check]:
    sorts, consts = _json(arguments, "sorts"), _json(arguments, "consts")
    chosen = target(arguments.adapter)
    asked_by_hand = bool(arguments.sorts or arguments.consts)
    suite = None if asked_by_hand else _suite(chosen, arguments.release)
    if isinstance(suite, Suite):
        probes, types = probes_of(suite), suite.manifest.consts
    else:
        world = {"sorts": sorts, **({"consts": consts} if consts else {})}
        if suite and chosen.protocol:
            raise ConformError(
                f"{suite}; run `conform generate` or `conform test` first, since questions without"
                " sorts and constants say nothing about an adapter; --sorts and --consts give some"
            )
        unknown = suite or "--sorts and --consts stand in for the suite"
        probes, types = Probes(world, unknown=unknown), dict.fromkeys(consts, "int")
    model = arguments.model or (probes.manifest.models.charter if probes.manifest else "")
    if not model and any("{model}" in part for part in chosen.start):
        raise ConformError(
            f"{chosen.id} runs a generated model: name its module, as in --model"
            " charter_models.kafka_replication.controller"
        )
    folders = model_folders(model, target=chosen.folder)
    use_folders(folders)
    if chosen.prepare[:1] == ("cargo",):
        say(_GOES_BY_DATES)
    prepared = prepare(
        chosen, arguments.release, model_values(model, folders), read_set(arguments.parameters)
    )
    if probes.manifest:
        older = older_than_charter(arguments.adapter, arguments.release)
        if older.told:
            say(older.told)
    return list(check_adapter(replace(prepared.start, consts=types), probes, chosen))


def _suite(chosen: Target, release: str) -> Suite | str:
    """The suite that a run of the target would judge, or why there is none."""
    if not chosen.protocol:
        return "adapter.toml names no `protocol`"
    try:
        return open_suite(suite_for(chosen, release), os.cpu_count() or 1)
    except BadSuite as error:
        return str(error)


def probes_of(suite: Suite) -> Probes:
    """Operations with their arguments as the first operation of vectors of a suite, all with the
    sorts and constants that most of these vectors have."""
    calls: dict[str, dict[str, dict[str, Json]]] = {}
    for item in _items(suite):
        question = orjson.loads(item.question)
        world = {name: question[name] for name in ("sorts", "consts") if name in question}
        for call in question["operations"][:1]:
            held = calls.setdefault(orjson.dumps(world).decode(), {})
            held.setdefault(call["operation"], call["args"])
    if not calls:
        return Probes({"sorts": {}}, manifest=suite.manifest)
    chosen = max(sorted(calls), key=lambda world: len(calls[world]))
    trials, sample = trials_of(_items(suite)), sample_of(_items(suite))
    return Probes(orjson.loads(chosen), calls[chosen], trials, suite.manifest, sample=sample,
                  given=select_given(_items(suite)), variables=variables(suite))  # fmt: skip


def _items(suite: Suite) -> Iterator[VectorItem]:
    return (item for bucket in range(suite.buckets) for item in suite.items(bucket))


def _json(arguments: argparse.Namespace, option: str) -> dict[str, Json]:
    try:
        found: dict[str, Json] = orjson.loads(getattr(arguments, option) or "{}")
    except orjson.JSONDecodeError as error:
        raise ConformError(f"--{option} is no JSON ({error})") from None
    if not isinstance(found, dict):
        raise ConformError(f"--{option} is not a JSON object; conform doctor --help shows one")
    return found


def _of_machine() -> list[Check]:
    found = [
        Check("Python", sys.version_info >= (3, 11), sys.version.split()[0]),
        _module("z3", "proofs, and vectors that only a solver finds"),
        _module("pyspark", "runs of more vectors than one process judges in seconds"),
        _java(),
        _program("mvn", "adapters that fetch Java implementations; install Maven"),
        _cache(),
    ]
    try:
        found.append(Check("targets", True, ", ".join(item.id for item in targets()) or "none"))
    except ConformError as error:
        found.append(Check("targets", False, str(error)))
    return found


def _java() -> Check:
    try:
        done = subprocess.run(
            [java(), "-version"], capture_output=True, timeout=20, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        what = "Spark and adapters in Java; install a JDK, 17 or newer, or set JAVA_HOME"
        return Check("Java", True, f"{_ABSENT}; for {what}")
    # Java begins with the options that the environment gives it.
    lines = [line for line in done.stderr.strip().splitlines() if "Picked up" not in line] or [""]
    return Check("Java", done.returncode == 0, lines[0])


def _program(name: str, why: str) -> Check:
    found = shutil.which(name)
    return Check(name, True, found or f"{_ABSENT}; for {why}")


def _module(name: str, why: str) -> Check:
    absent = f"{_ABSENT}; for {why}: {remedy(name)}"
    return Check(name, True, "installed" if is_installed(name) else absent)


def _cache() -> Check:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return Check("cache", False, f"{folder}: {error.strerror}; set CHARTER_CACHE")
    writable = os.access(folder, os.W_OK)
    free = shutil.disk_usage(folder).free >> 30
    detail = f"{folder}, {free} GB free" if writable else f"{folder} is not writable"
    return Check("cache", writable and free > 0, detail)
